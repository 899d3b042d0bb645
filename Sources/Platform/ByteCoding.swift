/// Encodes numbers, texts and lists as bytes.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func write(byte: UInt8) { bytes.append(byte) }

  /// Writes a non-negative number of up to 63 bits, with seven bits in each byte, the lowest first. The
  /// highest bit is set in all bytes except the last. A negative number is written as 0.
  package mutating func write(_ number: Int) {
    var rest = UInt64(max(0, number))
    while rest > 0x7F {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  package mutating func write(_ content: some Collection<UInt8>) {
    write(content.count)
    bytes += content
  }

  package mutating func write(_ text: String) { write(text.utf8) }

  /// Writes a text or nil.
  package mutating func write(_ text: String?) {
    write(byte: text == nil ? 0 : 1)
    if let text { write(text) }
  }

  package mutating func write<Element>(
    list: [Element], _ each: (Element, inout ByteWriter) -> Void
  ) {
    write(list.count)
    for element in list { each(element, &self) }
  }
}

/// The bytes do not contain the value that a ``ByteReader`` expects.
package struct MalformedBytes: Error {
  package init() {}
}

/// Decodes the bytes of a ``ByteWriter``. It never reads beyond the end, and never reserves more
/// memory than the input justifies.
package struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private var place: Int

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    place = bytes.startIndex
  }

  package var isAtEnd: Bool { place == bytes.endIndex }

  package mutating func byte() throws(MalformedBytes) -> UInt8 {
    guard place < bytes.endIndex else { throw MalformedBytes() }
    defer { place += 1 }
    return bytes[place]
  }

  package mutating func number() throws(MalformedBytes) -> Int {
    var result: UInt64 = 0
    for shift in stride(from: 0, to: 63, by: 7) {
      let byte = try byte()
      result |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte & 0x80 == 0 { return Int(result) }
    }
    throw MalformedBytes()
  }

  package mutating func content() throws(MalformedBytes) -> ArraySlice<UInt8> {
    let count = try number()
    guard count <= bytes.endIndex - place else { throw MalformedBytes() }
    defer { place += count }
    return bytes[place..<place + count]
  }

  package mutating func text() throws(MalformedBytes) -> String {
    String(decoding: try content(), as: UTF8.self)
  }

  package mutating func optionalText() throws(MalformedBytes) -> String? {
    try byte() == 0 ? nil : try text()
  }

  package mutating func list<Element>(
    _ each: (inout ByteReader) throws(MalformedBytes) -> Element
  ) throws(MalformedBytes) -> [Element] {
    let count = try number()
    // Each element takes at least one byte.
    guard count <= bytes.endIndex - place else { throw MalformedBytes() }
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for _ in 0..<count { elements.append(try each(&self)) }
    return elements
  }
}

import SchemaModel

/// What can stand in a record of a replay, and be read from it.
package protocol Recordable {
  func write(to record: inout RecordWriter)
  init(from record: inout RecordReader) throws(DamagedRecord)
}

/// A record does not hold what it should.
package struct DamagedRecord: Error {}

/// Writes a record: numbers in as few bytes as they need, and what occurs often once.
package struct RecordWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// By their bytes: `==` takes two spellings of one character for equal.
  private var texts: [[UInt8]: Int] = [:]
  private var objects: [ObjectIdentifier: Int] = [:]

  /// Seven bits in each byte; all but the last have the eighth one set.
  mutating func write(number: UInt) {
    var rest = number
    while rest > 127 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func write(bytes more: some Collection<UInt8>) {
    more.count.write(to: &self)
    bytes += more
  }

  /// The number of one that was written before; one more than there are begins a new one.
  mutating func write(_ text: String) {
    let spelling = Array(text.utf8)
    let known = texts[spelling]
    (known ?? texts.count).write(to: &self)
    guard known == nil else { return }
    texts[spelling] = texts.count
    write(bytes: spelling)
  }

  /// - Parameter object: lives as long as the writer, and is known by its identity.
  mutating func write(_ object: SchemaObject) {
    let identity = ObjectIdentifier(object)
    let known = objects[identity]
    (known ?? objects.count).write(to: &self)
    guard known == nil else { return }
    objects[identity] = objects.count
    write(object.kind.rawValue)
    write(object.name)
    write(object.table)
    object.sql.write(to: &self)
    object.rootPage.write(to: &self)
  }
}

/// Reads what a `RecordWriter` has written, and trusts none of it.
package struct RecordReader {
  private let bytes: [UInt8]
  private var place = 0
  private var texts: [String] = []
  private var objects: [SchemaObject] = []

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  package var isAtEnd: Bool { place == bytes.count }

  mutating func number() throws(DamagedRecord) -> UInt {
    var number: UInt = 0
    for shift in stride(from: UInt(0), to: 64, by: 7) {
      guard place < bytes.count else { throw DamagedRecord() }
      let byte = bytes[place]
      place += 1
      number |= UInt(byte & 127) << shift
      if byte < 128 { return number }
    }
    throw DamagedRecord()
  }

  /// How many elements follow, each of which takes a byte at least.
  mutating func count() throws(DamagedRecord) -> Int {
    let count = try Int(from: &self)
    guard (0...bytes.count - place).contains(count) else { throw DamagedRecord() }
    return count
  }

  mutating func rawBytes() throws(DamagedRecord) -> ArraySlice<UInt8> {
    let count = try count()
    defer { place += count }
    return bytes[place..<place + count]
  }

  package mutating func text() throws(DamagedRecord) -> String {
    let index = try Int(from: &self)
    if texts.indices.contains(index) { return texts[index] }
    guard index == texts.count, let text = String(validating: try rawBytes(), as: UTF8.self) else {
      throw DamagedRecord()
    }
    texts.append(text)
    return text
  }

  mutating func object() throws(DamagedRecord) -> SchemaObject {
    let index = try Int(from: &self)
    if objects.indices.contains(index) { return objects[index] }
    guard index == objects.count, let kind = SchemaObject.Kind(rawValue: try text()) else {
      throw DamagedRecord()
    }
    let object = SchemaObject(
      kind: kind, name: try text(), table: try text(), sql: try String?(from: &self),
      rootPage: try Int64(from: &self))
    objects.append(object)
    return object
  }
}

extension Int: Recordable {
  package func write(to record: inout RecordWriter) { record.write(number: UInt(bitPattern: self)) }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self = Int(bitPattern: try record.number())
  }
}

extension Int64: Recordable {
  package func write(to record: inout RecordWriter) { Int(self).write(to: &record) }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(try Int(from: &record))
  }
}

extension Bool: Recordable {
  package func write(to record: inout RecordWriter) { record.write(number: self ? 1 : 0) }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self = try record.number() != 0
  }
}

extension String: Recordable {
  package func write(to record: inout RecordWriter) { record.write(self) }

  package init(from record: inout RecordReader) throws(DamagedRecord) { self = try record.text() }
}

extension Optional: Recordable where Wrapped: Recordable {
  package func write(to record: inout RecordWriter) {
    (self != nil).write(to: &record)
    self?.write(to: &record)
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self = try Bool(from: &record) ? try Wrapped(from: &record) : nil
  }
}

extension Array: Recordable where Element: Recordable {
  package func write(to record: inout RecordWriter) {
    count.write(to: &record)
    for element in self { element.write(to: &record) }
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    let count = try record.count()
    self.init()
    reserveCapacity(count)
    for _ in 0..<count { append(try Element(from: &record)) }
  }
}

extension Set: Recordable where Element: Recordable & Comparable {
  package func write(to record: inout RecordWriter) { sorted().write(to: &record) }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(try [Element](from: &record))
  }
}

extension Dictionary: Recordable where Key: Recordable & Comparable, Value: Recordable {
  package func write(to record: inout RecordWriter) {
    let entries = sorted { $0.key < $1.key }
    entries.map(\.key).write(to: &record)
    for entry in entries { entry.value.write(to: &record) }
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init()
    for key in try [Key](from: &record) { self[key] = try Value(from: &record) }
  }
}

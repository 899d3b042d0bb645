import SchemaPlatform
import SchemaSQLText

// A tree of values as bytes: what a program reads that has no YAML reader.

extension Document {
  /// The tree with all its places, for ``init(decoding:source:)``.
  package var encoded: [UInt8] {
    var writer = ByteWriter()
    if let root { root.encode(to: &writer) }
    return writer.bytes
  }

  /// Reads `encoded` again.
  ///
  /// - Parameter source: the file that the tree was read from.
  package init(decoding bytes: ArraySlice<UInt8>, source: SourceText) throws(MalformedBytes) {
    var reader = ByteReader(bytes)
    let root = reader.isAtEnd ? nil : try Node(decoding: &reader, in: source, depth: 0)
    guard reader.isAtEnd else { throw MalformedBytes() }
    self.init(root: root, source: source, diagnostics: [])
  }
}

extension Node {
  private static let maximumDepth = 200

  fileprivate func encode(to writer: inout ByteWriter) {
    switch content {
    case .scalar(let scalar):
      writer.write(byte: UInt8(ascii: "s"))
      writer.write(byte: scalar.style.code)
      writer.write(scalar.text)
      writer.write(scalar.range.lowerBound)
      writer.write(scalar.range.count)
    case .sequence(let elements):
      writer.write(byte: UInt8(ascii: "l"))
      writer.write(list: elements) { $0.encode(to: &$1) }
    case .mapping(let entries):
      writer.write(byte: UInt8(ascii: "m"))
      writer.write(list: entries) { entry, writer in
        entry.keyNode.encode(to: &writer)
        entry.value.encode(to: &writer)
      }
    }
    writer.write(position.line)
    writer.write(position.column)
    writer.write((end ?? -1) + 1)
  }

  fileprivate init(
    decoding reader: inout ByteReader, in source: SourceText, depth: Int
  ) throws(MalformedBytes) {
    guard depth < Self.maximumDepth else { throw MalformedBytes() }
    var scalar: (style: Scalar.Style, text: String, range: Range<Int>)?
    var content = Content.sequence([])
    switch try reader.byte() {
    case UInt8(ascii: "s"):
      guard let style = Scalar.Style(code: try reader.byte()) else { throw MalformedBytes() }
      let text = try reader.text()
      let start = try reader.number()
      let count = try reader.number()
      guard start <= source.bytes.count, count <= source.bytes.count - start else {
        throw MalformedBytes()
      }
      scalar = (style, text, start..<start + count)
    case UInt8(ascii: "l"):
      content = .sequence(
        try reader.list { (reader) throws(MalformedBytes) in
          try Node(decoding: &reader, in: source, depth: depth + 1)
        })
    case UInt8(ascii: "m"):
      content = .mapping(
        try reader.list { (reader) throws(MalformedBytes) in
          let key = try Node(decoding: &reader, in: source, depth: depth + 1)
          return Entry(
            keyNode: key, value: try Node(decoding: &reader, in: source, depth: depth + 1))
        })
    default: throw MalformedBytes()
    }
    let position = Position(line: try reader.number(), column: try reader.number())
    let end = try reader.number()
    if let scalar {
      content = .scalar(
        Scalar(
          text: scalar.text, style: scalar.style, position: position, range: scalar.range))
    }
    self.init(content, at: position, end: end == 0 ? nil : end - 1)
  }
}

extension Scalar.Style {
  private static let codes: [Scalar.Style] = [
    .plain, .singleQuoted, .doubleQuoted, .literal, .folded,
  ]

  fileprivate var code: UInt8 {
    switch self {
    case .plain: 0
    case .singleQuoted: 1
    case .doubleQuoted: 2
    case .literal: 3
    case .folded: 4
    }
  }

  fileprivate init?(code: UInt8) {
    guard Int(code) < Self.codes.count else { return nil }
    self = Self.codes[Int(code)]
  }
}

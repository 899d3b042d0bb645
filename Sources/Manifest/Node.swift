import SchemaPlatform
import SchemaSQLText

/// A YAML document as a tree, with those errors that do not prevent reading the rest.
package struct Document: Sendable {
  /// Nil if the file contains no document.
  package let root: Node?
  package let source: SourceText
  package let diagnostics: [Diagnostic]

  package init(root: Node?, source: SourceText, diagnostics: [Diagnostic]) {
    self.root = root
    self.source = source
    self.diagnostics = diagnostics
  }
}

/// A node of a YAML document, with its start position. Aliases are expanded; an expanded node has the
/// position of its anchor.
package struct Node: Sendable {
  package indirect enum Content: Sendable {
    case scalar(Scalar)
    case sequence([Node])
    case mapping([Entry])
  }

  /// A key of a mapping and its value. Entries have the order of the file.
  package struct Entry: Sendable {
    package let keyNode: Node
    package let value: Node

    package init(keyNode: Node, value: Node) {
      self.keyNode = keyNode
      self.value = value
    }

    /// The key, if it is a scalar; otherwise an empty text. Keys that are mappings (`{ blob: … }`) are
    /// possible only in value maps.
    package var key: Scalar {
      keyNode.scalar
        ?? Scalar(text: "", style: .plain, position: keyNode.position, range: 0..<0)
    }
  }

  package let content: Content
  package let position: Position
  /// The byte offset after the closing bracket of a flow list or flow mapping; nil for other nodes.
  package let end: Int?

  package init(_ content: Content, at position: Position, end: Int? = nil) {
    self.content = content
    self.position = position
    self.end = end
  }

  package init(_ scalar: Scalar) {
    self.init(.scalar(scalar), at: scalar.position)
  }

  package var scalar: Scalar? {
    if case .scalar(let scalar) = content { scalar } else { nil }
  }

  package var entries: [Entry]? {
    if case .mapping(let entries) = content { entries } else { nil }
  }

  package var elements: [Node]? {
    if case .sequence(let elements) = content { elements } else { nil }
  }

  package var isNull: Bool { scalar?.value == .null }

  // MARK: Mappings (other nodes have no keys)

  package func entry(_ key: String) -> Entry? { entries?.first { $0.key.text == key } }

  package subscript(key: String) -> Node? { entry(key)?.value }

  /// The elements of a list; empty if the key has no list.
  package func elements(_ key: String) -> [Node] { self[key]?.elements ?? [] }

  /// The position of a key; if the key is missing, the position of the mapping.
  package func position(of key: String) -> Position { entry(key)?.key.position ?? position }

  package var positions: [ExactText: Position] {
    Dictionary(
      (entries ?? []).map { ($0.key.text.exact, $0.key.position) },
      uniquingKeysWith: { first, _ in first })
  }
}

package struct Scalar: Sendable {
  /// Bundles store the raw values.
  package enum Style: UInt8, Sendable {
    case plain, singleQuoted, doubleQuoted, literal, folded
  }

  package let text: String
  package let style: Style
  /// The position of the first character, the opening quote, or the `|` or `>`.
  package let position: Position
  /// The byte range in the file, including quotes and the block header.
  package let range: Range<Int>
  /// The value. Only a plain scalar can be something other than text.
  package let value: ScalarValue

  package init(text: String, style: Style, position: Position, range: Range<Int>) {
    self.text = text
    self.style = style
    self.position = position
    self.range = range
    value = style == .plain ? ScalarValue(plain: text) : .text(text)
  }
}

// MARK: Binary form, for programs without a YAML reader

extension Document {
  /// The tree with all its positions, for ``init(decoding:source:)``.
  package var encoded: [UInt8] {
    var writer = ByteWriter()
    if let root { root.encode(to: &writer) }
    return writer.bytes
  }

  /// Decodes the bytes of ``encoded``.
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
  /// The levels of a document. libyaml's time is quadratic in the depth of flow collections.
  package static let maximumDepth = 64

  fileprivate func encode(to writer: inout ByteWriter) {
    switch content {
    case .scalar(let scalar):
      writer.write(byte: UInt8(ascii: "s"))
      writer.write(byte: scalar.style.rawValue)
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
      guard let style = Scalar.Style(rawValue: try reader.byte()) else { throw MalformedBytes() }
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

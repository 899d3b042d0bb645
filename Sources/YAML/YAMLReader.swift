import SchemaManifest
import SchemaSQLText

/// Reads a manifest.
///
/// - Parameter file: the name of the file in diagnostics.
/// - Throws: every problem of the file, in the order of the positions.
package func decodeManifest(_ bytes: [UInt8], file: String) throws(InvalidInput) -> Manifest {
  try decodeManifest(YAMLReader.read(bytes, file: file), file: file)
}

/// Reads one document. Its limits keep malicious input from using too much time or memory.
package struct YAMLReader: ~Copyable {
  static let maximumBytes = 8 << 20
  /// The maximum number of nodes after the expansion of aliases. A scalar counts one more for each 64 bytes
  /// of text.
  static let maximumNodes = 1_000_000

  private let file: String
  private let source: SourceText
  private var events: YAMLEventStream
  private var diagnostics: [Diagnostic] = []
  private var anchors: [ExactText: Anchor] = [:]
  private var nodes = 0
  /// The depth of the deepest node inside the node that is being read.
  private var deepest = 0

  private struct Anchor {
    var node: Node
    /// The number of nodes in it, as `maximumNodes` counts them.
    var weight: Int
    var height: Int
  }

  package static func read(_ bytes: [UInt8], file: String) throws(InvalidInput) -> Document {
    guard bytes.count <= maximumBytes else {
      throw InvalidInput([
        Diagnostic(
          file: file,
          message: "the file has \(bytes.count) bytes, but the limit is \(maximumBytes) bytes (8 "
            + "MiB)")
      ])
    }
    let source = SourceText(withoutMark(bytes))
    if let refusal = refusal(of: source, file: file) { throw InvalidInput([refusal]) }
    do {
      var reader = try YAMLReader(source, file: file)
      return try reader.document()
    } catch {
      throw InvalidInput([error])
    }
  }

  private init(_ source: SourceText, file: String) throws(Diagnostic) {
    self.file = file
    self.source = source
    events = try YAMLEventStream(source, file: file)
  }

  /// Refuses constructs that libyaml accepts: the line breaks of YAML 1.1, which editors do not count as
  /// lines, and directives, for which libyaml needs quadratic time.
  private static func refusal(of source: SourceText, file: String) -> Diagnostic? {
    let bytes = source.bytes
    func diagnostic(_ offset: Int, _ message: String) -> Diagnostic {
      Diagnostic(file: file, position: source.position(ofByte: offset), message: message)
    }
    var previous = UInt8.lineFeed
    for (offset, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "%"), previous.isLineBreak {
        let line = bytes[offset...].prefix(5)
        if line.starts(with: "%TAG".utf8) || line.starts(with: "%YAML".utf8) {
          return diagnostic(offset, "directives are not supported: remove this line")
        }
      } else if byte == 0xC2 || byte == 0xE2 {
        let name: String? =
          switch Array(bytes[offset...].prefix(byte == 0xC2 ? 2 : 3)) {
          case [0xC2, 0x85]: "U+0085"
          case [0xE2, 0x80, 0xA8]: "U+2028"
          case [0xE2, 0x80, 0xA9]: "U+2029"
          default: nil
          }
        if let name {
          return diagnostic(
            offset,
            "\(name) ends a line for some readers of YAML and not for others: "
              + "write it as \"\\u\(name.dropFirst(2))\" in double quotes")
        }
      }
      previous = byte
    }
    return nil
  }

  private mutating func document() throws(Diagnostic) -> Document {
    _ = try events.next()
    guard case .documentStart = try events.next().kind else { return finish(nil) }
    let root = try node(from: events.next(), depth: 1)
    _ = try events.next()
    let end = try events.next()
    guard case .streamEnd = end.kind else {
      throw refusal("a second document begins here: a file must have one document", at: end.start)
    }
    return finish(root)
  }

  private func finish(_ root: Node?) -> Document {
    Document(root: root, source: source, diagnostics: diagnostics)
  }

  private mutating func report(_ message: String, at position: Position) {
    diagnostics.append(refusal(message, at: position))
  }

  private func refusal(_ message: String, at position: Position) -> Diagnostic {
    Diagnostic(file: file, position: position, message: message)
  }

  private mutating func charge(_ weight: Int, at position: Position) throws(Diagnostic) {
    nodes += weight
    guard nodes <= Self.maximumNodes else {
      throw refusal(
        "the document is too large: it has more than \(Self.maximumNodes) nodes, "
          + "aliases expanded", at: position)
    }
  }

  private mutating func checkDepth(_ depth: Int, at position: Position) throws(Diagnostic) {
    deepest = max(deepest, depth)
    guard depth <= Node.maximumDepth else {
      throw refusal(
        "the document is nested more than \(Node.maximumDepth) levels deep", at: position)
    }
  }

  private mutating func node(from event: YAMLEvent, depth: Int) throws(Diagnostic) -> Node {
    if let tag = event.tag {
      report("tags are not supported: remove the tag \(quoted(shortTag(tag)))", at: event.start)
    }
    // An alias inside its own anchor has no value.
    if let anchor = event.anchor { anchors[anchor] = nil }
    let (nodesBefore, deepestBefore) = (nodes, deepest)
    deepest = 0
    try checkDepth(depth, at: event.start)
    let node: Node
    switch event.kind {
    case .alias(let name): node = try expand(name, at: event.start, depth: depth)
    case .sequenceStart: node = try sequence(at: event.start, depth: depth)
    case .mappingStart: node = try mapping(at: event.start, depth: depth)
    case .scalar(let text, let style):
      try charge(1 + text.utf8.count / 64, at: event.start)
      node = Node(scalar(text, style, event))
    default: throw refusal("the file is not valid YAML: a value is missing", at: event.start)
    }
    if let anchor = event.anchor {
      anchors[anchor] = Anchor(
        node: node, weight: nodes - nodesBefore, height: deepest - depth + 1)
    }
    deepest = max(deepest, deepestBefore)
    return node
  }

  private mutating func expand(
    _ name: String, at position: Position, depth: Int
  ) throws(Diagnostic) -> Node {
    guard let target = anchors[name] else {
      throw refusal(
        "the anchor \(quoted("&" + name)) is missing before the alias "
          + "\(quoted("*" + name))", at: position)
    }
    try charge(target.weight, at: position)
    try checkDepth(depth + target.height - 1, at: position)
    return target.node
  }

  private mutating func sequence(at position: Position, depth: Int) throws(Diagnostic) -> Node {
    try charge(1, at: position)
    var elements: [Node] = []
    while true {
      let event = try events.next()
      if case .sequenceEnd = event.kind {
        return Node(.sequence(elements), at: position, end: end(event))
      }
      elements.append(try node(from: event, depth: depth + 1))
    }
  }

  private mutating func mapping(at position: Position, depth: Int) throws(Diagnostic) -> Node {
    try charge(1, at: position)
    var entries: [Node.Entry] = []
    var places: [ScalarValue: Int] = [:]
    while true {
      let event = try events.next()
      if case .mappingEnd = event.kind {
        return Node(.mapping(entries), at: position, end: end(event))
      }
      let key = try node(from: event, depth: depth + 1)
      let value = try node(from: events.next(), depth: depth + 1)
      if let key = checkedKey(key, at: event.start, &places) {
        entries.append(Node.Entry(keyNode: key, value: value))
      }
    }
  }

  /// The end of a flow list or flow mapping; nil for a block, whose end event is empty.
  private func end(_ event: YAMLEvent) -> Int? {
    event.endIndex > event.startIndex ? source.offset(ofCodePoint: event.endIndex) : nil
  }

  /// Returns nil, and reports a diagnostic, if the key is invalid.
  private mutating func checkedKey(
    _ node: Node, at position: Position, _ places: inout [ScalarValue: Int]
  ) -> Node? {
    // The grammar decides whether a key may be a list or a mapping.
    guard let key = node.scalar else { return node }
    if key.style == .plain, key.text == "<<" {
      report("merge keys (`<<`) are not supported: write the keys out", at: position)
      return nil
    }
    if let line = places[key.value] {
      report("duplicate key \(quoted(key.text)): the first one is on line \(line)", at: position)
      return nil
    }
    places[key.value] = position.line
    return node
  }

  private func scalar(_ text: String, _ style: Scalar.Style, _ event: YAMLEvent) -> Scalar {
    var cursor = Cursor(
      position: event.start, offset: source.offset(ofCodePoint: event.startIndex))
    let end = source.offset(ofCodePoint: event.endIndex)
    if event.anchor != nil || event.tag != nil { skipProperties(&cursor, end: end) }
    return Scalar(
      text: text, style: style, position: cursor.position,
      range: cursor.offset..<max(cursor.offset, end))
  }

  /// libyaml reports the position of a scalar's anchor or tag. Moves the cursor to the scalar itself.
  private func skipProperties(_ cursor: inout Cursor, end: Int) {
    let bytes = source.bytes
    func skip(while condition: (UInt8) -> Bool) {
      while cursor.offset < end, condition(bytes[cursor.offset]) { cursor.advance(in: bytes) }
    }
    while cursor.offset < end,
      bytes[cursor.offset] == UInt8(ascii: "&")
        || bytes[cursor.offset] == UInt8(ascii: "!")
    {
      skip { !$0.isWhiteSpace }
      skip { $0.isWhiteSpace }
      while cursor.offset < end, bytes[cursor.offset] == UInt8(ascii: "#") {
        skip { !$0.isLineBreak }
        skip { $0.isWhiteSpace }
      }
    }
  }

  private func shortTag(_ tag: String) -> String {
    let core = "tag:yaml.org,2002:"
    return tag.hasPrefix(core) ? "!!" + tag.dropFirst(core.count) : tag
  }
}

/// A document that can be written in many styles.
indirect enum YAMLTree {
  /// A text that may be quoted; `other` is an alternative value.
  case text(String, other: String)
  /// A plain scalar: a number, a boolean, null.
  case plain(String, other: String)
  /// SQL, with an equivalent form of other white space, case and comments.
  case sql(String, same: String, other: String)
  case list([YAMLTree])
  case map([(YAMLTree, YAMLTree)])

  static func keys(_ entries: [(String, YAMLTree)]) -> YAMLTree {
    .map(entries.map { (.text($0.0, other: $0.0), $0.1) })
  }

  /// The document with one scalar replaced by its alternative, for each scalar.
  var changes: [YAMLTree] {
    switch self {
    case .text(let text, let other): text == other ? [] : [.text(other, other: other)]
    case .plain(_, let other): [.plain(other, other: other)]
    case .sql(_, _, let other): [.sql(other, same: other, other: other)]
    case .list(let elements):
      elements.indices.flatMap { index in
        elements[index].changes.map { change in
          var changed = elements
          changed[index] = change
          return .list(changed)
        }
      }
    case .map(let entries):
      entries.indices.flatMap { Self.changes(of: entries, at: $0) }
    }
  }

  private static func changes(of entries: [(YAMLTree, YAMLTree)], at index: Int) -> [YAMLTree] {
    let (key, value) = entries[index]
    let changed = key.changes.map { ($0, value) } + value.changes.map { (key, $0) }
    return changed.map { change in
      var entries = entries
      entries[index] = change
      return YAMLTree.map(entries)
    }
  }
}

/// Writes a tree in a random style.
struct YAMLWriter {
  var numbers: SeededNumbers
  var lineEnd = "\n"
  private(set) var text = ""

  init(seed: UInt64) {
    numbers = SeededNumbers(seed: seed)
    lineEnd = seed % 3 == 0 ? "\r\n" : "\n"
  }

  static func write(_ tree: YAMLTree, seed: UInt64) -> String {
    var writer = YAMLWriter(seed: seed)
    writer.block(tree, indentation: 0)
    return writer.text
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &numbers) < percent
  }

  private mutating func endLine() {
    if chance(20) { text += " # a comment" }
    text += lineEnd
    if chance(10) { text += lineEnd }
    if chance(10) { text += "  # another" + lineEnd }
  }

  /// Writes the part after `key:` or `-`, to the end of the line or of the block.
  private mutating func block(_ tree: YAMLTree, indentation: Int) {
    let margin = String(repeating: " ", count: indentation)
    switch tree {
    case .list(let elements) where !elements.isEmpty && (indentation == 0 || chance(60)):
      endLine()
      for element in elements {
        text += margin + "-"
        block(element, indentation: indentation + 2)
      }
    case .map(let entries) where !entries.isEmpty && (indentation == 0 || chance(60)):
      if indentation > 0 { endLine() }
      for (key, value) in entries.shuffled(using: &numbers) {
        text += margin + flow(key) + ":"
        block(value, indentation: indentation + 2)
      }
    default:
      text += " " + flow(tree)
      endLine()
    }
  }

  private mutating func flow(_ tree: YAMLTree) -> String {
    switch tree {
    case .text(let text, _): return quote(text)
    case .plain(let text, _): return text
    case .sql(let text, let same, _): return quote(chance(50) ? text : same)
    case .list(let elements):
      let written = elements.map { flow($0) }
      return "[" + written.joined(separator: chance(50) ? ", " : " , ") + "]"
    case .map(let entries):
      let written = entries.shuffled(using: &numbers).map { flow($0.0) + ": " + flow($0.1) }
      return "{ " + written.joined(separator: ", ") + " }"
    }
  }

  private mutating func quote(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    switch Int.random(in: 0..<3, using: &numbers) {
    case 0 where isPlain && text != "no": return text
    case 1 where !text.contains("\n"): return "'\(text.replacing("'", with: "''"))'"
    default:
      return "\""
        + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
          "\n", with: "\\n")
        + "\""
    }
  }
}

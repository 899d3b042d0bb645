import SQLText

/// A node of a YAML document and where it begins. Aliases are expanded: such a node keeps the
/// position of its anchor.
package struct YAMLNode: Sendable {
  package indirect enum Content: Sendable {
    case scalar(YAMLScalar)
    case sequence([YAMLNode])
    case mapping([Entry])
  }

  /// One key of a mapping, in the order written.
  package struct Entry: Sendable {
    package let keyNode: YAMLNode
    package let value: YAMLNode

    /// The key of all mappings but those by value, whose keys may be `{ blob: … }`.
    var key: YAMLScalar {
      keyNode.scalar
        ?? YAMLScalar(text: "", style: .plain, position: keyNode.position, range: 0..<0)
    }
  }

  package let content: Content
  let position: Position
  /// The byte behind the closing bracket of a list or mapping in brackets.
  let end: Int?

  init(_ content: Content, at position: Position, end: Int? = nil) {
    self.content = content
    self.position = position
    self.end = end
  }

  init(_ scalar: YAMLScalar) {
    self.init(.scalar(scalar), at: scalar.position)
  }

  var scalar: YAMLScalar? {
    if case .scalar(let scalar) = content { scalar } else { nil }
  }

  var entries: [Entry]? {
    if case .mapping(let entries) = content { entries } else { nil }
  }

  var elements: [YAMLNode]? {
    if case .sequence(let elements) = content { elements } else { nil }
  }

  var isNull: Bool { scalar?.value == .null }
}

package struct YAMLScalar: Sendable {
  enum Style: Sendable {
    case plain, singleQuoted, doubleQuoted, literal, folded
  }

  package let text: String
  let style: Style
  /// Where it begins: its first character, its opening quote, or its `|` or `>`.
  let position: Position
  /// Its bytes in the file, quotes and block header included.
  let range: Range<Int>
  /// What it means: anything but a plain scalar is text.
  package let value: ScalarValue

  init(text: String, style: Style, position: Position, range: Range<Int>) {
    self.text = text
    self.style = style
    self.position = position
    self.range = range
    value = style == .plain ? ScalarValue(plain: text) : .text(text)
  }
}

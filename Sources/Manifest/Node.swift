import SchemaSQLText

/// One document as a tree, and its errors, which do not prevent reading the rest.
package struct Document: Sendable {
  /// Nil when the file holds no document.
  package let root: Node?
  package let source: SourceText
  package let diagnostics: [Diagnostic]

  package init(root: Node?, source: SourceText, diagnostics: [Diagnostic]) {
    self.root = root
    self.source = source
    self.diagnostics = diagnostics
  }
}

/// A node of a YAML document and where it begins. Aliases are expanded: such a node keeps the
/// position of its anchor.
package struct Node: Sendable {
  package indirect enum Content: Sendable {
    case scalar(Scalar)
    case sequence([Node])
    case mapping([Entry])
  }

  /// One key of a mapping, in the order written.
  package struct Entry: Sendable {
    package let keyNode: Node
    package let value: Node

    package init(keyNode: Node, value: Node) {
      self.keyNode = keyNode
      self.value = value
    }

    /// The key of all mappings but those by value, whose keys may be `{ blob: … }`.
    package var key: Scalar {
      keyNode.scalar
        ?? Scalar(text: "", style: .plain, position: keyNode.position, range: 0..<0)
    }
  }

  package let content: Content
  package let position: Position
  /// The byte behind the closing bracket of a list or mapping in brackets.
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
}

package struct Scalar: Sendable {
  package enum Style: Sendable {
    case plain, singleQuoted, doubleQuoted, literal, folded
  }

  package let text: String
  package let style: Style
  /// Where it begins: its first character, its opening quote, or its `|` or `>`.
  package let position: Position
  /// Its bytes in the file, quotes and block header included.
  package let range: Range<Int>
  /// What it means: anything but a plain scalar is text.
  package let value: ScalarValue

  package init(text: String, style: Style, position: Position, range: Range<Int>) {
    self.text = text
    self.style = style
    self.position = position
    self.range = range
    value = style == .plain ? ScalarValue(plain: text) : .text(text)
  }
}

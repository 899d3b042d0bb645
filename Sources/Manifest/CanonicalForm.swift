import SchemaPlatform
import SchemaSQLText

/// The bytes that the canonical digest covers, version 1. This encoding must never change: locks in users'
/// repositories contain digests of it. A later grammar may add keys and operations, but the encoding of an
/// existing manifest must remain the same.
///
/// The digest covers the top-level keys `after`, `before`, `foreign_keys`, `operations`, `replaces` and
/// `requires`, as one mapping. A key that the manifest omits is omitted, so a default that is written out
/// results in another form. The digest ignores all other top-level keys, and the `lint` of an entry of
/// `operations`.
///
/// | node | encoding |
/// |---|---|
/// | mapping | `{`, each entry's key and value, `}`; sorted by the bytes of the encoded keys |
/// | list | `[`, the elements, `]` |
/// | SQL | `s`, each token as `<length>:<bytes>`, `;` |
/// | a word of a choice | as text, in the grammar's spelling |
/// | text | `t<length>:<bytes>` |
/// | integer | `i<decimal>;` with `-` for negative ones |
/// | real | `r<bits>;`: the IEEE 754 double's bits as 16 lower-case hexadecimal digits |
/// | boolean | `b1;` or `b0;` |
/// | null | `n;` |
///
/// Lengths are decimal and count bytes of UTF-8. Keys of the grammar are encoded as text; keys that the
/// author chooses are encoded by their shape. SQL tokens are `TokenizedSQL.canonicalTokens`: without white
/// space and comments, and with the reserved words of the list pinned in version 1 in upper case. Scalars are
/// encoded by their value, not by their style. A short form (`sql: x` for `sql: [x]`) is encoded as it is
/// written.
struct CanonicalForm {
  private(set) var bytes: [UInt8] = []

  /// The forms of the manifest's operations; empty for another node.
  private var operations: [[UInt8]] = []

  /// The form of a manifest. The validator must have accepted its root.
  ///
  /// - Parameter operations: the forms of its operations, as `form(of:_:)` returns them.
  static func manifest(_ root: Node, operations: [[UInt8]]) -> [UInt8] {
    let covered = (root.entries ?? []).filter { Grammar.canonicalKeys.contains($0.key.text) }
    var form = CanonicalForm(operations: operations)
    form.append(covered, .mapping(Grammar.manifest))
    return form.bytes
  }

  /// The form of one node.
  static func form(of node: Node, _ shape: Shape) -> [UInt8] {
    var form = CanonicalForm()
    form.append(node, shape)
    return form.bytes
  }

  private mutating func append(_ node: Node, _ shape: Shape) {
    switch node.content {
    case .sequence(let elements):
      let element = shape.element
      bytes.append(UInt8(ascii: "["))
      if case .operation = element {
        for form in operations { bytes += form }
      } else {
        for node in elements { append(node, element) }
      }
      bytes.append(UInt8(ascii: "]"))
    case .mapping(let entries):
      append(entries, shape)
    case .scalar(let scalar):
      append(scalar, shape)
    }
  }

  private mutating func append(_ entries: [Node.Entry], _ shape: Shape) {
    let keyShape = shape.keyShape
    var sorted: [(key: [UInt8], entry: Node.Entry)] = []
    for entry in entries {
      if case .operation = shape, entry.key.text == "lint" { continue }
      sorted.append((Self.form(of: entry.keyNode, keyShape), entry))
    }
    sorted.sort { $0.key.lexicographicallyPrecedes($1.key) }
    bytes.append(UInt8(ascii: "{"))
    for (key, entry) in sorted {
      bytes += key
      append(entry.value, shape.value(of: entry.key.text))
    }
    bytes.append(UInt8(ascii: "}"))
  }

  private mutating func append(_ scalar: Scalar, _ shape: Shape) {
    switch shape {
    case .nullable where scalar.value == .null: append("n;")
    case .nullable(let inner), .either(let inner, _), .oneOrMany(let inner): append(scalar, inner)
    case .sql, .expression, .script: appendSQL(scalar.text)
    case .choice(let choices):
      appendText(matchingChoice(scalar.text, among: choices) ?? scalar.text)
    default: append(scalar.value)
    }
  }

  private mutating func append(_ value: ScalarValue) {
    switch value {
    case .null: append("n;")
    case .boolean(let value): append(value ? "b1;" : "b0;")
    case .integer(let value): append("i\(value);")
    case .real(let value):
      append("r\(padded(String(value.bitPattern, radix: 16), 16));")
    case .text(let text), .ambiguous(let text): appendText(text)
    }
  }

  private mutating func appendText(_ text: String) {
    append("t\(text.utf8.count):")
    append(text)
  }

  private mutating func appendSQL(_ text: String) {
    append("s")
    for token in TokenizedSQL(text).canonicalTokens {
      append("\(token.count):")
      bytes += token
    }
    append(";")
  }

  private mutating func append(_ text: String) {
    bytes += text.utf8
  }
}

extension Node {
  /// The SQL expressions in a node of this shape.
  func expressions(_ shape: Shape) -> [Scalar] {
    switch content {
    case .sequence(let elements): elements.flatMap { $0.expressions(shape.element) }
    case .mapping(let entries):
      entries.flatMap { $0.value.expressions(shape.value(of: $0.key.text)) }
    case .scalar(let scalar): shape.isExpression && !isNull ? [scalar] : []
    }
  }
}

extension Shape {
  /// The shape of a list's elements.
  fileprivate var element: Shape {
    switch self {
    case .list(let element, _), .oneOrMany(let element): element
    case .nullable(let inner): inner.element
    default: .text(.any)
    }
  }

  fileprivate var isExpression: Bool {
    switch self {
    case .expression: true
    case .nullable(let inner), .either(let inner, _), .oneOrMany(let inner): inner.isExpression
    default: false
    }
  }

  fileprivate var keyShape: Shape {
    switch self {
    case .map(let key, _, _): key
    case .nullable(let inner): inner.keyShape
    default: .text(.any)
    }
  }

  fileprivate func value(of key: String) -> Shape {
    switch self {
    case .map(_, let value, _): value
    case .mapping(let rule), .either(_, let rule): rule.key(key)?.shape ?? .text(.any)
    case .literal, .columnDefault, .constant: Grammar.literal.key(key)?.shape ?? .text(.any)
    case .nullable(let inner): inner.value(of: key)
    case .operation: Grammar.operationsByName[key]?.shape ?? .text(.any)
    default: .text(.any)
    }
  }
}

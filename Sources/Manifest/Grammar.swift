import SchemaPlatform
import SchemaSQLText

/// The shape that a node of a file must have. Validation, the canonical form and the JSON Schema use the
/// shapes, so the grammar is written only once.
package indirect enum Shape: Sendable {
  case text(TextRule)
  /// A whole statement, or an argument of a module. A plain number, boolean or null is read as SQL text.
  case sql
  /// A single SQL expression. A plain number, boolean or null is read as SQL text.
  case expression
  /// SQL statements. A text that contains only comments is valid and does nothing.
  case script
  /// A value, `{ sql: … }` or `{ blob: … }`.
  case literal
  /// A literal for a column's `default`. A plain text that reads as an SQL expression is an error.
  case columnDefault
  /// A literal other than `{ sql: … }`, whose value is known without SQLite.
  case constant
  case integer(ClosedRange<Int64>)
  case number(ClosedRange<Double>)
  case boolean
  /// A consent: only `true` is valid.
  case consent
  /// One of the given words. Letter case (ASCII) does not matter, and a space counts as `_`.
  case choice([String])
  case list(of: Shape, atLeast: Int)
  case oneOrMany(Shape)
  case mapping(MappingRule)
  /// A mapping whose keys the author chooses.
  case map(key: Shape, value: Shape, atLeast: Int)
  /// Null, or a node of the shape.
  case nullable(Shape)
  /// The short form, or a mapping.
  case either(Shape, MappingRule)
  /// One entry of `operations`: one operation, and optionally `lint`.
  case operation
}

extension Shape {
  /// Whether the shape is a mapping that has the key.
  package func hasKey(_ name: String) -> Bool {
    if case .mapping(let rule) = self { rule.key(name) != nil } else { false }
  }
}

package enum TextRule: Sendable {
  case any
  /// A text that is not blank.
  case filled
  /// The name of a table, a column or a rule; not blank.
  case name
  /// The declared type of a column.
  case type
  /// Two hexadecimal digits for each byte.
  case hexadecimal
  /// A date, `2027-01-01`.
  case date
  /// A version of SQLite, `3.37` or `3.37.2`.
  case version
}

/// The keys of a mapping.
package struct MappingRule: Sendable {
  /// The name of the mapping in messages: `a column`.
  package let name: String
  package let keys: [KeyRule]
  /// Exactly one of these keys must be present. Empty for a mapping without such alternatives.
  package let exactlyOneOf: [String]

  package init(_ name: String, _ keys: [KeyRule], exactlyOneOf: [String] = []) {
    self.name = name
    self.keys = keys
    self.exactlyOneOf = exactlyOneOf
  }

  package func key(_ name: String) -> KeyRule? { keys.first { $0.name == name } }
}

package struct KeyRule: Sendable {
  package let name: String
  package let shape: Shape
  package let isRequired: Bool
  /// One line for the documentation and for editors.
  package let summary: String

  package static func required(_ name: String, _ shape: Shape, _ summary: String) -> KeyRule {
    KeyRule(name: name, shape: shape, isRequired: true, summary: summary)
  }

  package static func optional(_ name: String, _ shape: Shape, _ summary: String) -> KeyRule {
    KeyRule(name: name, shape: shape, isRequired: false, summary: summary)
  }
}

/// The declaration of an operation.
package struct OperationRule: Sendable {
  package let name: String
  package let summary: String
  package let shape: Shape
  /// Decodes the body of an operation. The result is valid only if no problem was reported.
  package let decode: @Sendable (inout ManifestDecoder, Node) -> Operation.Kind

  /// - Parameter shape: the shape of the body; nil for a mapping with these keys.
  package init(
    _ name: String, _ summary: String, _ keys: [KeyRule] = [], exactlyOneOf: [String] = [],
    shape: Shape? = nil,
    decode: @escaping @Sendable (inout ManifestDecoder, Node) -> Operation.Kind
  ) {
    self.name = name
    self.summary = summary
    self.shape =
      shape ?? .mapping(MappingRule("`\(name)`", keys, exactlyOneOf: exactlyOneOf))
    self.decode = decode
  }
}

/// The grammar of manifests and of the configuration: see `ManifestGrammar.swift` and
/// `Configuration.swift` for the declarations.
package enum Grammar {}

extension RawRepresentable where RawValue == String, Self: CaseIterable {
  /// The choice as a manifest spells it: `set_null` for SQL's `SET NULL`.
  package var word: String { String(rawValue.lowercased().map { $0 == " " ? "_" : $0 }) }
}

/// The word in `choices` that a text spells, or nil.
package func matchingChoice(_ text: String, among choices: [String]) -> String? {
  let word = String(
    decoding: text.utf8.map { $0 == .space ? UInt8(ascii: "_") : $0.lowercased }, as: UTF8.self)
  return choices.first { $0 == word }
}

// MARK: Wording

/// `1` and `0.5`
package func shown(_ number: Double) -> String {
  let text = "\(number)"
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// `a, b and c`
package func listed(_ words: [String], _ conjunction: String) -> String {
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return words.dropLast().joined(separator: ", ") + " \(conjunction) " + last
}

extension Node {
  /// A description of the node, for messages.
  var noun: String {
    switch content {
    case .sequence: "a list"
    case .mapping: "a mapping"
    case .scalar(let scalar):
      switch scalar.value {
      case .text: "the text \(quoted(scalar.text))"
      case .null: "null"
      case .boolean: "the boolean \(quoted(scalar.text))"
      case .integer, .real: "the number \(quoted(scalar.text))"
      case .ambiguous: quoted(scalar.text)
      }
    }
  }
}

extension Scalar {
  /// Advice for a scalar that reads as an expression but would be stored as a text; nil for any other scalar.
  func adviceAboutExpression(as shape: Shape) -> String? {
    let isExpression =
      switch shape {
      case .columnDefault: readsAsExpression(text)
      case .literal: isTimeKeyword(text)
      default: false
      }
    guard style == .plain, isExpression else { return nil }
    return "\(quoted(text)) would be stored as a text: write "
      + "`{ sql: \(isTimeKeyword(text) ? text : yamlQuoted(text)) }` for the expression, or "
      + "`\(yamlQuoted(text))` for the text"
  }
}

extension TextRule {
  var noun: String {
    switch self {
    case .any, .filled: "text"
    case .name: "a name"
    case .type: "a type name"
    case .hexadecimal: "hexadecimal digits"
    case .date: "a date"
    case .version: "a version"
    }
  }

  func complaint(about text: String) -> String? {
    switch self {
    case .any: nil
    case .name, .filled: text.isBlank ? "is empty: it must be \(noun)" : nil
    case .type:
      text.isBlank
        ? "is empty: it must be \(noun)"
        : isTypeName(text) ? nil : "must be a single type name, not \(quoted(text))"
    case .hexadecimal:
      text.utf8.count % 2 == 0 && text.utf8.allSatisfy(\.isHexDigit)
        ? nil : "must be two hexadecimal digits for each byte, not \(quoted(text))"
    case .date:
      isCalendarDate(text)
        ? nil : "must be a date such as 2027-01-31, not \(quoted(text))"
    case .version:
      SQLiteVersion(text) == nil
        ? "must be a version of SQLite such as '3.37' or '3.37.2', not \(quoted(text))" : nil
    }
  }
}

/// Whether a text is a type without a constraint or a second column: generated statements contain a type
/// without quotes.
private func isTypeName(_ text: String) -> Bool {
  let asked = TokenizedSQL(text)
  let tokens = TokenizedSQL("CREATE TABLE t (c \(text))")
  guard case .createTable(let table)? = try? parseCreate(tokens), table.columns.count == 1,
    table.columns[0].constraints.isEmpty, table.constraints.isEmpty,
    let range = table.columns[0].type?.range
  else { return false }
  return tokens.significant(in: range).count == asked.significant.count
    && !asked.tokens.contains(where: { $0.kind == .comment })
}

/// The problem of a text that closes the parentheses around it or ends the statement, instead of being an
/// expression, or that works only in a trigger; nil for an expression.
func complaint(aboutExpression text: String) -> String? {
  let sql = TokenizedSQL(text)
  // An open comment would contain the rest of the statement.
  let significant = sql.hasOpenComment ? [] : sql.significant
  // SQLite creates a table with such a constraint, but then refuses every INSERT.
  let raises = zip(significant, significant.dropFirst()).contains { token, next in
    token.kind == .word && sql.text(token).identifier == "raise" && sql.text(next) == "("
  }
  if raises { return "must not contain RAISE(), which works only in triggers" }
  var depth = 0
  for token in significant {
    let text = sql.text(token)
    depth += text == "(" ? 1 : text == ")" ? -1 : 0
    guard depth >= 0, text != ";", token.kind != .illegal else { break }
    if token == significant.last, depth == 0 { return nil }
  }
  return "must be a single expression, not \(quoted(text))"
    + (depth > 0
      ? ". Within { } and [ ] a text ends at a comma: quote a text that contains a comma" : "")
}

/// Whether a text is a day of the Gregorian calendar as `YYYY-MM-DD`.
package func isCalendarDate(_ text: String) -> Bool {
  let midnight = Timestamp(compact: text.filter { $0 != "-" } + "T000000Z")
  return midnight?.description.hasPrefix(text) == true && text.utf8.count == 10
}

extension Shape {
  /// A description of the expected value, for messages.
  var noun: String {
    switch self {
    case .text(let rule): rule.noun
    case .sql, .expression, .script: "SQL"
    case .literal, .columnDefault, .constant: "a value"
    case .integer: "a whole number"
    case .number: "a number"
    case .boolean: "true or false"
    case .consent: "true or left out"
    case .choice(let choices): listed(choices.map { "`\($0)`" }, "or")
    case .list: "a list"
    case .oneOrMany(let shape): "\(shape.noun) or a list"
    case .mapping(let rule): "a mapping\(rule.example)"
    case .map: "a mapping"
    case .nullable(let shape): shape.noun
    case .either(.consent, let rule): "true or a mapping\(rule.example)"
    case .either(let shape, let rule): "\(shape.noun) or a mapping\(rule.example)"
    case .operation: "a mapping such as `drop_table: { table: … }`"
    }
  }
}

extension MappingRule {
  /// The required keys, for the end of a message.
  var example: String {
    let required = keys.filter(\.isRequired).map { "`\($0.name)`" }
    if !required.isEmpty { return " with " + listed(required, "and") }
    return exactlyOneOf.isEmpty
      ? "" : " with " + listed(exactlyOneOf.map { "`\($0)`" }, "or")
  }
}

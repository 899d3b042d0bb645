import SchemaSQLText

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
  /// What it is, for messages.
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
      case .ambiguous(_, .boolean(let value)):
        "\(quoted(scalar.text)) (the boolean is written `\(value)`)"
      case .ambiguous: quoted(scalar.text)
      }
    }
  }
}

extension Scalar {
  /// How to write an expression that would be stored as a text; nil for any other scalar.
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
    case .hexadecimal: "hexadecimal digits"
    case .date: "a date"
    case .version: "a version"
    }
  }

  func complaint(about text: String) -> String? {
    switch self {
    case .any: nil
    case .name, .filled: text.isBlank ? "is empty: it must be \(noun)" : nil
    case .hexadecimal:
      text.utf8.count % 2 == 0 && text.utf8.allSatisfy(\.isHexDigit)
        ? nil : "must be two hexadecimal digits for each byte, not \(quoted(text))"
    case .date:
      isCalendarDate(text)
        ? nil : "must be a day of the calendar such as 2027-01-31, not \(quoted(text))"
    case .version:
      SQLiteVersion(text) == nil
        ? "must be a version of SQLite such as '3.37' or '3.37.2', not \(quoted(text))" : nil
    }
  }
}

/// Whether a text is a day of the Gregorian calendar as `YYYY-MM-DD`.
func isCalendarDate(_ text: String) -> Bool {
  let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
  guard parts.map(\.count) == [4, 2, 2], parts.joined().allSatisfy(\.isDigit) else { return false }
  let numbers = parts.compactMap { Int(Substring($0)) }
  guard numbers.count == 3, (1...12).contains(numbers[1]) else { return false }
  let isLeap = numbers[0] % 4 == 0 && (numbers[0] % 100 != 0 || numbers[0] % 400 == 0)
  let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][numbers[1] - 1]
  return (1...days).contains(numbers[2])
}

extension Shape {
  /// What must stand there, for messages.
  var noun: String {
    switch self {
    case .text(let rule): rule.noun
    case .sql, .script: "SQL"
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
    case .either(let shape, let rule): "\(shape.noun) or a mapping\(rule.example)"
    case .operation: "a mapping such as `drop_table: { table: … }`"
    }
  }
}

extension MappingRule {
  /// The keys that it cannot do without.
  var example: String {
    let required = keys.filter(\.isRequired).map { "`\($0.name)`" }
    if !required.isEmpty { return " with " + listed(required, "and") }
    return exactlyOneOf.isEmpty
      ? "" : " with " + listed(exactlyOneOf.map { "`\($0)`" }, "or")
  }
}

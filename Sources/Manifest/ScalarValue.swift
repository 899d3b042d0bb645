import SchemaPlatform
import SchemaSQLText

/// The value of a scalar in YAML 1.2's core schema. Texts that YAML readers interpret differently are
/// ``ambiguous(_:)``.
///
/// Texts are equal if their bytes are equal, as in SQLite. `String` also considers two spellings of one
/// character equal.
package enum ScalarValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  /// A text that YAML 1.1, YAML 1.2 and SQLite do not all interpret in the same way.
  case ambiguous(String)

  package init(plain text: String) {
    switch text {
    case "", "~", "null", "Null", "NULL": self = .null
    case "true", "True", "TRUE": self = .boolean(true)
    case "false", "False", "FALSE": self = .boolean(false)
    case _ where ["yes", "no", "on", "off"].contains(text.lowercased()): self = .ambiguous(text)
    default: self = Self.number(text) ?? .text(text)
    }
  }

  package static func == (a: ScalarValue, b: ScalarValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)), (.ambiguous(let a), .ambiguous(let b)):
      a.utf8.elementsEqual(b.utf8)
    default: false
    }
  }

  private static func number(_ text: String) -> ScalarValue? {
    var digits = text.utf8[...]
    if let first = digits.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      digits = digits.dropFirst()
    }
    guard let first = digits.first, first.isDigit || first == UInt8(ascii: ".") else { return nil }
    let isWord = [Array(".inf".utf8), Array(".nan".utf8)].contains(digits.map(\.lowercased))
    if isWord || isRadix(digits) { return .ambiguous(text) }
    let plain = digits.filter { $0 != UInt8(ascii: "_") }
    guard let isReal = isDecimal(plain) else { return nil }
    if plain.count < digits.count { return first.isDigit ? .ambiguous(text) : nil }
    if first == UInt8(ascii: "0"), digits.dropFirst().first?.isDigit == true {
      return .ambiguous(text)
    }
    guard isReal else { return Int64(text).map { .integer($0) } ?? .ambiguous(text) }
    guard let real = Double(text), real.isFinite else { return .ambiguous(text) }
    return .real(real)
  }

  /// Whether the number has a radix prefix, such as `0x1f`, `0o17` or `0b11`.
  private static func isRadix(_ digits: Substring.UTF8View) -> Bool {
    let prefix = digits.prefix(2).map(\.lowercased)
    guard [Array("0x".utf8), Array("0o".utf8), Array("0b".utf8)].contains(prefix) else {
      return false
    }
    let rest = digits.dropFirst(2)
    return !rest.isEmpty && rest.allSatisfy { $0.isHexDigit || $0 == UInt8(ascii: "_") }
  }

  /// Whether the digits are a real number (true) or an integer (false); nil for neither.
  private static func isDecimal(_ digits: [UInt8]) -> Bool? {
    if digits.allSatisfy(\.isDigit) { return false }
    // `Double` also reads numbers that YAML does not have, such as hexadecimal ones.
    guard digits.allSatisfy({ $0.isDigit || ".eE+-".utf8.contains($0) }) else { return nil }
    return Double(String(decoding: digits, as: UTF8.self)) == nil ? nil : true
  }
}

extension ScalarValue {
  /// The problem of an ambiguous value and the ways to write it clearly; nil for every other value.
  package var ambiguity: String? {
    guard case .ambiguous(let text) = self else { return nil }
    return
      "YAML readers disagree about \(quoted(text)): quote it ('\(abbreviated(text))' is text), "
      + "or write a decimal number or `true`/`false`"
  }

  /// The kind of a value that was found instead of a text, such as "a number"; nil for text.
  package var kindOtherThanText: String? {
    switch self {
    case .text: nil
    case .null: "null"
    case .boolean: "a boolean"
    case .integer, .real: "a number"
    case .ambiguous: "not text to every YAML reader"
    }
  }
}

/// The text for a message: on one line, and at most forty characters long.
package func abbreviated(_ text: String) -> String {
  let whole = text.unicodeScalars
  let start = whole.prefix(40)
  let text = start.map { $0 == "\n" ? "\\n" : $0 == "\t" ? "\\t" : String($0) }.joined()
  return text.visible + (start.endIndex < whole.endIndex ? "…" : "")
}

package func quoted(_ text: String) -> String { "`\(abbreviated(text))`" }

// MARK: Writing

/// The text as YAML that reads back as the same text: plain if no reader can misunderstand it, otherwise in
/// double quotes.
package func yamlScalar(_ text: String) -> String {
  isPlain(text) ? text : yamlQuoted(text)
}

/// Whether the text needs no quotes anywhere, not even inside `[]` and `{}`.
private func isPlain(_ text: String) -> Bool {
  guard let first = text.unicodeScalars.first, first.properties.isAlphabetic, !text.hasSuffix(" "),
    case .text = ScalarValue(plain: text), !readsAsExpression(text)
  else { return false }
  return text.unicodeScalars.allSatisfy { scalar in
    scalar.properties.isAlphabetic || " 0123456789_-.!?()/+'".unicodeScalars.contains(scalar)
  }
}

/// The text in double quotes, which YAML readers and people read as the same text.
package func yamlQuoted(_ text: String) -> String {
  doubleQuoted(text) { scalar in
    guard scalar.mustBeEscapedInYAML else { return nil }
    if scalar == "\n" || scalar == "\t" { return scalar.lineEscape }
    return scalar.value > 0xFFFF
      ? "\\U" + padded(String(scalar.value, radix: 16), 8) : scalar.shortEscape
  }
}

extension Unicode.Scalar {
  /// Whether YAML does not allow the character unescaped, some YAML readers treat it as a line end, or it
  /// changes the text direction, so that people see another text.
  package var mustBeEscapedInYAML: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .unassigned: true
    default: properties.isBidiControl || self == "\u{FEFF}"
    }
  }
}

/// Whether a text is an SQL expression that YAML reads as a text: `CURRENT_TIMESTAMP`, `uuid()`, `(1 + 2)`,
/// `x'00ff'`, with or without a sign.
///
/// A text that only contains an expression does not count (`see f(x)`, `:-(`), nor do words before a remark
/// in parentheses: `Größe (neu)`.
package func readsAsExpression(_ text: String) -> Bool {
  guard text.utf8.contains(where: { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "'") }) else {
    return isTimeKeyword(text)
  }
  let sql = TokenizedSQL(text)
  let tokens = sql.significant.drop { ["+", "-", "~"].contains(sql.text($0)) }
  guard let first = tokens.first, !tokens.contains(where: { $0.kind == .illegal }) else {
    return false
  }
  if first.kind == .blob { return true }
  let isName = first.kind == .word || first.kind == .quotedIdentifier
  let start = isName ? tokens.dropFirst() : tokens
  guard let open = start.first, sql.text(open) == "(" else { return false }
  if isName, first.range.upperBound < open.range.lowerBound {
    let inner = start.dropFirst().dropLast()
    let isCall = inner.isEmpty || inner.contains { $0.kind == .string || sql.text($0) == "(" }
    guard isCall else { return false }
  }
  var depth = 0
  for token in start {
    depth += sql.text(token) == "(" ? 1 : sql.text(token) == ")" ? -1 : 0
    if depth < 0 { return false }
  }
  return depth == 0
}

/// Whether the text is `CURRENT_TIMESTAMP`, `CURRENT_DATE` or `CURRENT_TIME`, in any letter case.
func isTimeKeyword(_ text: String) -> Bool {
  ["CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"].contains(text.uppercased())
}

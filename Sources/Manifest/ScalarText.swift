import SchemaPlatform
import SchemaSQLText

/// A text as YAML writes it so that it reads back the same: plain where that is plain to see, else
/// in double quotes.
package func yamlScalar(_ text: String) -> String {
  isPlain(text) ? text : yamlQuoted(text)
}

/// Whether the text can stand without quotes anywhere, also inside `[]` and `{}`.
private func isPlain(_ text: String) -> Bool {
  guard let first = text.unicodeScalars.first, first.properties.isAlphabetic, !text.hasSuffix(" "),
    case .text = ScalarValue(plain: text), !readsAsExpression(text)
  else { return false }
  return text.unicodeScalars.allSatisfy { scalar in
    scalar.properties.isAlphabetic || " 0123456789_-.!?()/+'".unicodeScalars.contains(scalar)
  }
}

/// A text in double quotes, as both YAML and people read it.
package func yamlQuoted(_ text: String) -> String {
  doubleQuoted(text) { scalar in
    guard mustBeEscaped(scalar) else { return nil }
    if scalar == "\n" || scalar == "\t" { return scalar.lineEscape }
    return scalar.value > 0xFFFF
      ? "\\U" + padded(String(scalar.value, radix: 16), 8) : scalar.shortEscape
  }
}

/// Characters that YAML does not print, that end a line for some of its readers, or that change the direction of
/// writing, so that a reader sees another text.
private func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator, .unassigned: true
  default: scalar.properties.isBidiControl || scalar == "\u{FEFF}"
  }
}

/// Whether a text is what SQL calls an expression and YAML calls a text: `CURRENT_TIMESTAMP`, `uuid()`,
/// `(1 + 2)`, `x'00ff'`, with or without a sign.
///
/// A text that merely contains such words is not one (`see f(x)`, `:-(`), nor are words with a remark
/// behind them: `Größe (neu)`.
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

/// `CURRENT_TIMESTAMP`, `CURRENT_DATE` or `CURRENT_TIME`, in letters of any case.
func isTimeKeyword(_ text: String) -> Bool {
  ["CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"].contains(text.uppercased())
}

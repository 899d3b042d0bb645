import SchemaSQLText

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

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

/// Quotes names and values for SQL, and unquotes names.
package enum Quoting {
  /// The name in double quotes, with those that it contains doubled.
  package static func quoted(_ name: String) -> String {
    String(decoding: wrapped(name.utf8, in: "\""), as: UTF8.self)
  }

  package static func quoted(_ name: Identifier) -> String { quoted(name.text) }

  /// The bare name if every SQLite version reads it as that name; otherwise in double quotes.
  package static func identifier(_ name: String) -> String {
    isPlain(name) ? name : quoted(name)
  }

  /// The text as a string literal. A text with a NUL becomes a cast blob, because a NUL would end
  /// the literal.
  package static func stringLiteral(_ text: String) -> String {
    text.utf8.contains(0)
      ? "CAST(\(blobLiteral(text.utf8)) AS TEXT)"
      : String(decoding: wrapped(text.utf8, in: "'"), as: UTF8.self)
  }

  /// `x'00ff'`.
  package static func blobLiteral(_ bytes: some Sequence<UInt8>) -> String {
    "x'\(hexadecimal(bytes))'"
  }

  /// Removes the quotes of a name, in any of the four styles. Returns other texts unchanged.
  package static func unquoted(_ text: String) -> String {
    String(decoding: unquoted(Array(text.utf8)[...]), as: UTF8.self)
  }

  static func unquoted(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let first = text.first, let last = text.last, text.count >= 2 else { return text }
    let inner = text.dropFirst().dropLast()
    switch (first, last) {
    case ("[", "]"):
      return inner
    case ("\"", "\""), ("'", "'"), ("`", "`"):
      return inner.contains(first) ? undoubled(inner, quote: first) : inner
    default:
      return text
    }
  }

  private static func undoubled(
    _ text: ArraySlice<UInt8>, quote: UInt8
  ) -> ArraySlice<UInt8> {
    var result: ArraySlice<UInt8> = []
    var isFirst = false
    for byte in text {
      isFirst = byte == quote && !isFirst
      if byte != quote || isFirst { result.append(byte) }
    }
    return result
  }

  static func wrapped(_ text: some Sequence<UInt8>, in quote: Unicode.Scalar) -> [UInt8] {
    let mark = UInt8(ascii: quote)
    var bytes = [mark]
    for byte in text {
      if byte == mark { bytes.append(mark) }
      bytes.append(byte)
    }
    bytes.append(mark)
    return bytes
  }

  private static func isPlain(_ name: String) -> Bool {
    guard let first = name.utf8.first, first.isLetter || first == "_" else { return false }
    return name.utf8.allSatisfy { $0.isLetter || $0.isDigitOrSeparator }
      && !Keywords.isKeyword(name) && !Keywords.contains(Keywords.values, name.utf8)
  }
}

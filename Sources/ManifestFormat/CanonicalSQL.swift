/// The tokens of SQL as the canonical form holds them.
func canonicalSQLTokens(_ text: String) -> [[UInt8]] {
  text.utf8.split(whereSeparator: \.isWhiteSpace).map(Array.init)
}

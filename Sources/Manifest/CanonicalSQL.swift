import SchemaSQLText

/// The tokens of SQL as the canonical form holds them.
func canonicalSQLTokens(_ text: String) -> [[UInt8]] {
  TokenizedSQL(text).canonicalTokens
}

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
      ? "CAST(\(blobLiteral(Array(text.utf8))) AS TEXT)"
      : String(decoding: wrapped(text.utf8, in: "'"), as: UTF8.self)
  }

  /// `x'00ff'`.
  package static func blobLiteral(_ bytes: [UInt8]) -> String {
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

/// The keywords of SQLite's grammar.
package enum Keywords {
  /// Whether the word is a keyword in any SQLite up to 3.53, regardless of ASCII case.
  package static func isKeyword(_ word: String) -> Bool {
    contains(all, word.utf8)
  }

  /// Whether the bare word is a value instead of a name in an expression. `NULL` is reserved
  /// anyway.
  package static func isValue(_ word: String) -> Bool { contains(values, word.utf8) }

  /// The words that can never be a bare identifier in SQLite 3.40: those for which `CREATE TABLE
  /// t(<word> INT)` fails.
  ///
  /// This list must never change: version 1 of the canonical digest folds the case of exactly these
  /// words, so one word more or less would invalidate every digest in every history lock. A keyword
  /// that a later SQLite reserves belongs in a list of its own.
  package static let reservedVersion1: Set<Identifier> = [
    "ADD", "ALL", "ALTER", "AND", "AS", "AUTOINCREMENT", "BETWEEN", "CASE", "CHECK", "COLLATE",
    "COMMIT", "CONSTRAINT", "CREATE", "DEFAULT", "DEFERRABLE", "DELETE", "DISTINCT", "DROP",
    "ELSE", "ESCAPE", "EXCEPT", "EXISTS", "FOREIGN", "FROM", "GROUP", "HAVING", "IN", "INDEX",
    "INSERT", "INTERSECT", "INTO", "IS", "ISNULL", "JOIN", "LIMIT", "NOT", "NOTHING", "NOTNULL",
    "NULL", "ON", "OR", "ORDER", "PRIMARY", "REFERENCES", "RETURNING", "SELECT", "SET", "TABLE",
    "THEN", "TO", "TRANSACTION", "UNION", "UNIQUE", "UPDATE", "USING", "VALUES", "WHEN", "WHERE",
  ]

  /// Keywords that cannot be bare names in an expression, type or DEFAULT (`TK_JOIN_KW` in SQLite's
  /// grammar).
  static let joins: Set<Identifier> = [
    "CROSS", "FULL", "INNER", "LEFT", "NATURAL", "OUTER", "RIGHT",
  ]

  /// Words that are values when bare, and names when quoted.
  static let values: Set<Identifier> = [
    "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "FALSE", "TRUE",
  ]

  /// Keywords that SQLite accepts as identifiers where they have no other meaning.
  private static let fallback: Set<Identifier> = [
    "ABORT", "ACTION", "AFTER", "ALWAYS", "ANALYZE", "ASC", "ATTACH", "BEFORE", "BEGIN", "BY",
    "CASCADE", "CAST", "COLUMN", "CONFLICT", "CURRENT", "CURRENT_DATE", "CURRENT_TIME",
    "CURRENT_TIMESTAMP", "DATABASE", "DEFERRED", "DESC", "DETACH", "DO", "EACH", "END", "EXCLUDE",
    "EXCLUSIVE", "EXPLAIN", "FAIL", "FILTER", "FIRST", "FOLLOWING", "FOR", "GENERATED", "GLOB",
    "GROUPS", "IF", "IGNORE", "IMMEDIATE", "INDEXED", "INITIALLY", "INSTEAD", "KEY", "LAST",
    "LIKE", "MATCH", "MATERIALIZED", "NO", "NULLS", "OF", "OFFSET", "OTHERS", "OVER", "PARTITION",
    "PLAN", "PRAGMA", "PRECEDING", "QUERY", "RAISE", "RANGE", "RECURSIVE", "REGEXP", "REINDEX",
    "RELEASE", "RENAME", "REPLACE", "RESTRICT", "ROLLBACK", "ROW", "ROWS", "SAVEPOINT", "TEMP",
    "TEMPORARY", "TIES", "TRIGGER", "UNBOUNDED", "VACUUM", "VIEW", "VIRTUAL", "WINDOW", "WITH",
    "WITHIN", "WITHOUT",
  ]

  private static let all = reservedVersion1.union(joins).union(fallback)

  /// Whether a set contains the word, regardless of ASCII case.
  static func contains(_ words: Set<Identifier>, _ word: some Collection<UInt8>) -> Bool {
    // The longest keyword, CURRENT_TIMESTAMP, has 17 letters.
    word.count <= 17 && words.contains(String(decoding: word, as: UTF8.self))
  }
}

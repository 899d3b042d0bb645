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

import SchemaCSQLite

extension Connection {
  /// Lowers what a hostile file or manifest could use to cost time and memory (Defense Against The
  /// Dark Arts, section 2.1), and takes nothing from a schema that SQLite's defaults allow: 2,000
  /// columns, statements of many megabytes and values of a gigabyte stay possible, and the depth of
  /// expressions and triggers is SQLite's own.
  func lowerLimits() {
    let limits = [
      // Nothing is ever attached, and VACUUM, which attaches, is never run.
      (SQLITE_LIMIT_ATTACHED, 0),
      // No thread but the one that asked.
      (SQLITE_LIMIT_WORKER_THREADS, 0),
      // `?250000` alone makes SQLite set up as many values; ours are a handful.
      (SQLITE_LIMIT_VARIABLE_NUMBER, Self.parameters),
      // Time grows with the product of pattern and text.
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10_000),
      // A manifest has 8 MiB at most; what is generated names each column a few times.
      (SQLITE_LIMIT_SQL_LENGTH, 100_000_000),
      // 24 bytes each: 600 MB.
      (SQLITE_LIMIT_VDBE_OP, 25_000_000),
    ]
    for (limit, value) in limits { sqlite3_limit(handle, limit, Int32(value)) }
  }

  private static var parameters: Int32 { 999 }

  /// Lets `body` compile what others have written, with as many parameters as SQLite takes when
  /// nobody has lowered its limits.
  package func withAllParameters<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, .max)
    defer { sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, Self.parameters) }
    return try body()
  }
}

import SchemaCSQLite

extension Connection {
  /// Lowers limits by which a malicious file or manifest could consume time and memory (Defense
  /// Against The Dark Arts, section 2.1). Every schema that SQLite's default limits allow remains
  /// possible: 2,000 columns, statements of many megabytes and values of a gigabyte. The limits for
  /// the depth of expressions and triggers are unchanged.
  func lowerLimits() {
    let limits = [
      // No database is ever attached, and VACUUM, which attaches one, never runs.
      (SQLITE_LIMIT_ATTACHED, 0),
      // Use only the calling thread.
      (SQLITE_LIMIT_WORKER_THREADS, 0),
      // `?250000` alone makes SQLite allocate that many values. Our statements have few.
      (SQLITE_LIMIT_VARIABLE_NUMBER, Self.parameters),
      // The time is proportional to the product of the lengths of pattern and text.
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10_000),
      // A manifest has at most 8 MiB. Generated SQL contains each column a few times.
      (SQLITE_LIMIT_SQL_LENGTH, 100_000_000),
      // 24 bytes each: 600 MB.
      (SQLITE_LIMIT_VDBE_OP, 25_000_000),
    ]
    for (limit, value) in limits { sqlite3_limit(handle, limit, Int32(value)) }
  }

  private static var parameters: Int32 { 999 }

  /// Allows `body` to compile foreign SQL with SQLite's default number of parameters.
  package func withAllParameters<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, .max)
    defer { sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, Self.parameters) }
    return try body()
  }
}

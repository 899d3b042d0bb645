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

/// Reports each unfinished transaction of another process that SQLite rolls back when it opens the
/// database, in SQLite's words, with the journal's name.
///
/// SQLite has no other way to report it (Atomic Commit In SQLite, section 4). The setting applies
/// to the whole process until it ends, and has no effect after the first use of SQLite (The Error
/// And Warning Log, section 2).
package func observeRollbacks(_ tell: @escaping (String) -> Void) {
  _ = schemactl_log(
    { context, code, message in
      guard let context, let message, code == SQLITE_NOTICE | 2 << 8 else { return }
      Unmanaged<RollbackObserver>.fromOpaque(context).takeUnretainedValue()
        .tell(String(cString: message))
    }, Unmanaged.passRetained(RollbackObserver(tell)).toOpaque())
}

private final class RollbackObserver {
  let tell: (String) -> Void

  init(_ tell: @escaping (String) -> Void) {
    self.tell = tell
  }
}

/// Disables SQLite's memory statistics, which take a lock for each allocation: a tenth of the time
/// of a replay, and more with two threads. Nothing reads the statistics, and only heap limits,
/// which are not used, need them.
///
/// The setting applies to the whole process, so that only a program, not a library, may change it.
/// It has no effect after the first use of SQLite (`SQLITE_CONFIG_MEMSTATUS`).
package func stopMemoryStatistics() {
  _ = schemactl_config_memstatus(0)
}

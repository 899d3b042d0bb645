/// Swift types for the SQLite library, without knowledge of schemas.
///
/// - ``Connection``: opens a database, prepares statements, registers functions, copies pages.
/// - ``Statement``, ``Script``, ``Value``: one statement, the statements of a text, one value.
/// - ``DatabaseError``: the result code, the message and the position in the SQL.
/// - ``WorkLimit``: the time and memory that a replay may use.

import SchemaCSQLite

/// Whether a text matches a pattern of SQLite's GLOB operator (`sqlite3_strglob`).
package func globMatches(_ pattern: String, _ text: String) -> Bool {
  sqlite3_strglob(pattern, text) == 0
}

/// Whether two names are equal for SQLite, which ignores the case of ASCII letters only
/// (`sqlite3_strnicmp`).
package func areSameNames(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool
{
  a.count == b.count && sqlite3_strnicmp(a.baseAddress, b.baseAddress, Int32(a.count)) == 0
}

// MARK: Settings of the process

/// Reports each unfinished transaction, usually of another process, that SQLite rolls back when it reads the
/// database, in SQLite's words, with the journal's name.
///
/// SQLite has no other way to report it (Atomic Commit In SQLite, section 4). The setting applies
/// to the whole process until it ends, and has no effect after the first use of SQLite (The Error
/// And Warning Log, section 2).
package func observeRollbacks(_ tell: @escaping (String) -> Void) {
  _ = schemactl_log(
    { context, code, message in
      guard let context, let message, code == SQLITE_NOTICE | 2 << 8 else { return }
      Box<(String) -> Void>.at(context).content(String(cString: message))
    }, Unmanaged.passRetained(Box(tell)).toOpaque())
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

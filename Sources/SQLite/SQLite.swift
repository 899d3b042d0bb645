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

/// Disables SQLite's memory statistics, which take a lock for each allocation: a tenth of the time
/// of a replay, and more with two threads. Nothing reads the statistics, and only heap limits,
/// which are not used, need them.
///
/// The setting applies to the whole process, so that only a program, not a library, may change it.
/// It has no effect after the first use of SQLite (`SQLITE_CONFIG_MEMSTATUS`).
package func stopMemoryStatistics() {
  _ = schemactl_config_memstatus(0)
}

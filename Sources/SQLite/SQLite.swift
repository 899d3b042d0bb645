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

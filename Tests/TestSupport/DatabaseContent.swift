import SchemaSQLText
import SchemaSQLite

/// The complete content of a database: the SQL of its schema, and every row with its rowid.
package struct DatabaseContent: Equatable {
  package let schema: [[Value]]
  package let rows: [String: [[Value]]]

  /// - Parameter isLeftOut: returns whether to ignore the table of this name.
  package init(_ connection: Connection, except isLeftOut: (String) -> Bool = { _ in false }) throws
  {
    schema = try connection.rows(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2"
    ).filter { !isLeftOut($0[2].text ?? "") }
    var rows: [String: [[Value]]] = [:]
    let tables = try connection.rows(
      "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')"
    )
    for table in tables {
      guard let name = table[0].text, name != "sqlite_schema", !isLeftOut(name) else { continue }
      let columns = try connection.rows(
        "SELECT name FROM pragma_table_xinfo(?1)", [.text(name)]
      ).compactMap { $0[0].text }
      let free = ["rowid", "_rowid_", "oid"].first { rowid in
        !columns.contains { $0.isSameName(as: rowid) }
      }
      let rowid = table[1] == 1 || name.hasPrefix("sqlite_") ? nil : free
      let terms = columns.map(Quoting.quoted).flatMap { ["typeof(\($0))", "quote(\($0))"] }
      // Sort the rows: SQLite may store rows of its own tables in another order.
      rows[name] = try connection.rows(
        "SELECT \(((rowid.map { [$0] } ?? []) + terms).joined(separator: ", ")) "
          + "FROM \(Quoting.quoted(name)) NOT INDEXED"
      ).sorted { "\($0)" < "\($1)" }
    }
    self.rows = rows
  }

  /// Describes the differences.
  package func differences(from other: DatabaseContent) -> [String] {
    var found: [String] = []
    for row in schema where !other.schema.contains(row) { found.append("gone: \(row)") }
    for row in other.schema where !schema.contains(row) { found.append("new: \(row)") }
    for (name, old) in rows.sorted(by: { $0.key < $1.key }) where other.rows[name] != old {
      found.append("rows of \(name): \(old.prefix(3)) became \((other.rows[name] ?? []).prefix(3))")
    }
    return found
  }
}

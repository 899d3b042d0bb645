import SchemaSQLText
import SchemaSQLite

/// The rows of a table, written into another one by one statement.
package struct RowCopy: Sendable {
  /// The user's table.
  package let table: String
  /// The name of the new one.
  package let target: String
  package let statement: String
  /// The columns that are not copied from one of the same name, and their values.
  let computed: [(column: String, value: String)]
  let filter: String?

  /// - Parameters:
  ///   - columns: the columns to fill, and their values over a row of `table`; all quoted.
  ///   - scan: how all rows are read (`Connection.fullScan`).
  ///   - filter: the rows that are copied; nil is all.
  init(
    of table: String, to target: String, columns: [(name: String, value: String)],
    scan: String, filter: String? = nil
  ) {
    self.table = table
    self.target = target
    self.filter = filter
    computed = columns.filter { $0.name.exact != $0.value.exact }
      .map { (Quoting.unquoted($0.name), $0.value) }
    // ABORT: no conflict clause of the target may replace a row, leave it out or change a value.
    statement =
      "INSERT OR ABORT INTO main.\(Quoting.quoted(target)) (\(columns.map(\.name).joined(separator: ", "))) "
      + "SELECT \(columns.map(\.value).joined(separator: ", ")) "
      + "FROM main.\(Quoting.quoted(table)) \(scan)" + (filter.map { " WHERE \($0)" } ?? "")
  }
}

extension Connection {
  /// Makes a query read the table itself, in its own order, after the table's name in FROM. Any other
  /// index may be damaged, and would give rows that the table does not have.
  package func fullScan(of table: String) throws(DatabaseError) -> String {
    // NOT INDEXED allows any index of a table without rowid.
    try value(
      """
      SELECT i.name FROM pragma_table_list(?1) AS t, pragma_index_list(?1, 'main') AS i
      WHERE t.schema = 'main' AND t.wr AND i.origin = 'pk'
      """, [.text(table)])?.text.map { "INDEXED BY \(Quoting.quoted($0))" } ?? "NOT INDEXED"
  }
}

/// Gives one column of a table's rows another value.
package struct RowUpdate: Sendable {
  package let table: String
  let column: String
  /// An expression over a row as it was.
  let value: String
  /// Of the rows that change; nil is all.
  let condition: String?

  package var statement: String {
    // ABORT: no conflict clause of the table may remove a row or leave it as it was.
    "UPDATE OR ABORT main.\(Quoting.quoted(table)) SET \(Quoting.quoted(column)) = \(value)"
      + (condition.map { " WHERE \($0)" } ?? "")
  }
}

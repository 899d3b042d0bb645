import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// What SQLite reports about an expression over a row of a table.
struct RowExpression {
  /// Whether it reads anything but its own row: other rows of the table, another table, a view.
  let readsOtherRows: Bool
  /// The column whose stored value it is, in whatever spelling; nil for a value that it computes.
  let column: String?

  private static let row = "schemactl_row"

  /// Compiles the expression over a separate table that represents the row, so that the authorizer reports
  /// everything else that it reads. There each column has a type of its own, which SQLite reports for a
  /// result that is a plain column (`sqlite3_column_decltype`).
  ///
  /// - Parameter scratch: holds the schema, and is left as it was.
  /// - Throws: when SQLite has no memory.
  init(_ expression: String, of table: ParsedTable, on scratch: Connection) throws(DatabaseError) {
    let columns = table.parsed.columns.map(\.name.text)
    let definitions = columns.indices.map { "\(Quoting.quoted(columns[$0])) c\($0)" }
    try scratch.execute(
      "SAVEPOINT schemactl_row; CREATE TABLE main.\(Self.row) (\(definitions.joined(separator: ", ")))"
    )
    var readsOtherRows = false
    var type: String?
    scratch.setAuthorizer { event in
      if event.action == .read, event.first != Self.row { readsOtherRows = true }
      return .allow
    }
    do {
      type =
        try scratch.prepare(
          "SELECT \(expression) FROM main.\(Self.row) AS \(Quoting.quoted(table.name))"
        ).declaredTypes.first ?? nil
    } catch  where !error.isFault {
      // A temporary table, for one, is not known here.
      readsOtherRows = true
    }
    scratch.setAuthorizer(nil)
    try scratch.execute("ROLLBACK TO schemactl_row; RELEASE schemactl_row")
    self.readsOtherRows = readsOtherRows
    let place = type.flatMap { $0.hasPrefix("c") ? Int($0.dropFirst()) : nil }
    let isRowid = type?.identifier == "integer"
    column =
      if readsOtherRows {
        nil
      } else if let place, columns.indices.contains(place) {
        columns[place]
      } else {
        isRowid ? table.rowidName : nil
      }
  }
}

extension Schema {
  /// Asks about an expression on a scratch database of its own.
  func rowExpression(
    _ expression: String, of table: ParsedTable, _ application: Application
  ) throws(DatabaseError) -> RowExpression {
    try RowExpression(expression, of: table, on: try scratch(application))
  }
}

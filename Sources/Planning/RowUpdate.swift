import SchemaSQLText

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

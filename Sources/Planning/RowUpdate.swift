import SQLText

/// Gives one column of a table's rows another value.
package struct RowUpdate: Sendable {
  package let table: String
  private let column: String
  private let value: String
  private let condition: String?
  /// A name of the rowid, as SQL; nil where a row's value may follow from other rows, or where rows
  /// have no rowid.
  private let rowid: String?

  /// - Parameters:
  ///   - value: an expression over a row as it was.
  ///   - condition: of the rows that change; nil is all.
  init(table: String, column: String, value: String, condition: String?, rowid: String?) {
    self.table = table
    self.column = column
    self.value = value
    self.condition = condition
    self.rowid = rowid
  }

  /// All rows at once.
  package var statement: String { statement(where: condition) }

  /// The rows whose rowids lie between the two values that are bound; nil where the table cannot be
  /// changed a stretch at a time.
  package var ofStretch: String? {
    rowid.map { rowid in
      let stretch = "\(rowid) BETWEEN ?1 AND ?2"
      return statement(where: condition.map { "\(stretch) AND (\($0))" } ?? stretch)
    }
  }

  private func statement(where condition: String?) -> String {
    // ABORT: no conflict clause of the table may remove a row or leave it as it was.
    "UPDATE OR ABORT main.\(Quoting.quoted(table)) SET \(Quoting.quoted(column)) = \(value)"
      + (condition.map { " WHERE \($0)" } ?? "")
  }
}

import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// Values that a schema accepts and that generated rows do not have.
extension LossJudge {
  /// Whether the step keeps every row if one column holds a value of another type, for each column.
  func convertsTypes(in table: FilledDatabase.Table) throws(Failure) -> Bool {
    for (index, column) in table.shape.columns.enumerated() {
      let cell = Cell(table: table.shape.key, row: 0, column: index)
      for value in column.affinity == .text
        ? [.blob([65])] : ["abc", .real(1.5), .blob([65])] as [Value]
      {
        guard let change = setting(cell, to: value) else { continue }
        let outcome = try experiment.run([change])
        // A CHECK may refuse the value before the step runs.
        if outcome == nil, experiment.failure != nil { return false }
        // Rows of the kind `otherTypes` show whether a step that reads types omits rows.
        if let outcome, !text.readsTypes, outcome.contents.rowCount != base.contents.rowCount {
          return false
        }
      }
    }
    return true
  }

  /// Whether the step fails if the column, which is part of the primary key, holds NULL, or omits the row by
  /// OR IGNORE. With a WHERE clause, it omits such rows on purpose.
  func failsOnNull(
    in column: DeviceTable.Column, of table: FilledDatabase.Table
  ) throws(Failure) -> Bool {
    guard let index = table.index(of: column.key),
      let change = setting(Cell(table: table.shape.key, row: 0, column: index), to: .null)
    else { return false }
    guard let outcome = try experiment.run([change]) else { return experiment.failure != nil }
    return text.ignoresRows && outcome.contents.rowCount != base.contents.rowCount
  }
}

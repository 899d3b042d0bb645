import SchemaSQLText

extension Probe {
  /// Returns the change with the columns that ADD COLUMN added and with the new CHECKs.
  ///
  /// - Parameter moved: the columns that `move_column` creates in the migration.
  func judged(_ change: TableChange, moved: Set<Identifier>) -> TableChange {
    guard let before = change.before, let after = change.after else { return change }
    var change = change
    let renamed = Set(change.renamedColumns.values)
    for column in after.columns
    where !change.isRebuilt && before.column(column.name) == nil && !renamed.contains(column.key) {
      change.addedInPlace.insert(column.key)
    }
    let known = before.checks.map { $0.renaming(change.renamedColumns) }
    let removed = known.filter { !after.checks.contains($0) }
    let checked = known.reduce(into: Set()) { $0.formUnion($1.columns) }
    let kept = change.keptColumns
    let settled = settledColumns(of: after, change, kept: Set(kept.map(\.new.key)).union(moved))
    let neverNull = Set(
      kept.lazy.filter { before.isNeverNull($0.old) }.map(\.new.key))
    change.newChecks = after.checks.filter { !known.contains($0) }.compactMap { check in
      let isTightened = removed.contains { !$0.columns.isDisjoint(with: check.columns) }
      let isBounded = isTightened || check.columns.isSubset(of: checked)
      func new(_ refused: String?) -> NewCheck {
        NewCheck(check: check, refused: refused, isTightened: isTightened)
      }
      switch refused(by: check, of: after, after: known, settled: settled, neverNull: neverNull) {
      case .values(let values): return new(values)
      case .never: return nil
      case .nothing where isBounded: return nil
      case .nothing, .unknown: return new(nil)
      }
    }
    return change
  }

  /// The SQL value of each column that ADD COLUMN added. It is the same in every existing row.
  private func settledColumns(
    of table: TableShape, _ change: TableChange, kept: Set<Identifier>
  ) -> [Identifier: String] {
    let new = table.columns.filter { column in
      !kept.contains(column.key) && !column.isGenerated && change.addedInPlace.contains(column.key)
    }
    return Dictionary(
      new.map { ($0.key, $0.defaultText ?? "NULL") }, uniquingKeysWith: { first, _ in first })
  }
}

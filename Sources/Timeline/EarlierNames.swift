import SchemaSQLText

extension Timeline {
  /// The names of a table and a column before the migration and before each earlier migration, back
  /// to the migration that created the table or the column. Within a rebuild over several
  /// migrations, the table may not exist.
  package func names(
    of table: Identifier, _ column: Identifier?, upTo migration: Int
  ) -> some Sequence<LossEvidence.Key> {
    sequence(first: LossEvidence.Key(migration: migration, table: table, column: column)) {
      self.previous($0)
    }
  }

  private func previous(_ name: LossEvidence.Key) -> LossEvidence.Key? {
    let migration = name.migration - 1
    guard migration >= 0 else { return nil }
    guard let change = changes(in: migration).first(where: { $0.after?.key == name.table }) else {
      return LossEvidence.Key(migration: migration, table: name.table, column: name.column)
    }
    guard let before = change.before else {
      // The table may be a copy that replaced an older table of this name, if the migration renamed that one or
      // a later migration filled it.
      return changes.last {
        $0.migration <= migration && $0.isReplacedLater && $0.before?.key == name.table
      }.map { LossEvidence.Key(migration: $0.migration, table: name.table, column: name.column) }
    }
    guard let column = name.column else {
      return LossEvidence.Key(migration: migration, table: before.key)
    }
    let renamed = change.renamedColumns.first { $0.value == column }?.key
    let isKept = before.column(column) != nil && !change.droppedColumns.contains(column)
    guard let old = renamed ?? (isKept ? column : nil) else { return nil }
    return LossEvidence.Key(migration: migration, table: before.key, column: old)
  }
}

import SchemaSQLText
import SchemaTimeline

extension Timeline {
  /// New foreign keys on columns that already hold values.
  var danglingValues: [Draft] {
    changes.flatMap { change -> [Draft] in
      guard let after = change.after else { return [] }
      return change.newForeignKeys(self).map { key in
        let columns = after.names(of: key.columns).joined(separator: ", ")
        return draft(
          "the foreign key `\(after.name)` (\(columns)) fails if a row refers to a row of "
            + "`\(key.parent)` that does not exist",
          at: change.place(ofConstraintOver: key.columns),
          keys: ["references", "foreign_keys", "columns", "column", "table"],
          object: "\(after.name).\(columns)", table: after.name, severity: .warning)
      }
    }
  }
}

extension TableChange {
  fileprivate func newForeignKeys(_ timeline: Timeline) -> [TableShape.ForeignKey] {
    guard let before, let after else { return [] }
    let kept = Set(keptColumns.map(\.new.key)).subtracting(created)
    return after.foreignKeys.filter { key in
      kept.isSuperset(of: key.columns)
        && !key.columns.contains { isPrepared($0, timeline) }
        && !before.foreignKeys.contains { old in
          renamed(old.columns) == key.columns
            && (old.parent.identifier == key.parent.identifier
              || timeline.renames(old.parent, to: key.parent, in: migration))
        }
    }
  }
}

extension Timeline {
  fileprivate func renames(_ table: String, to name: String, in migration: Int) -> Bool {
    change(of: name, in: migration)?.before?.key == table.identifier
  }
}

import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaTimeline

extension Timeline {
  /// Columns that become NOT NULL while rows may hold NULL.
  var nullValues: [Draft] {
    changes.flatMap { change -> [Draft] in
      guard let after = change.after else { return [] }
      return change.columnsThatRefuseNull(self).map { column in
        draft(
          "`\(after.name).\(column.name)` becomes NOT NULL, and nothing fills the rows in which it is "
            + "NULL",
          about: column, of: after, at: change.newest(of: [change.place(of: column.name)]),
          keys: ["not_null", "columns", "column", "table"], fix: filling(column, of: after), .before
        )
      }
    }
  }

  private func filling(_ column: TableShape.Column, of table: TableShape) -> String {
    let value = yamlQuoted(column.defaultText ?? Literal.empty(ofType: column.type).sql)
    return operationSnippet(
      "update",
      [
        ("table", yamlScalar(table.name)), ("set", "{ \(yamlScalar(column.name)): \(value) }"),
        ("where", yamlScalar("\(Quoting.identifier(column.name)) IS NULL")),
      ])
  }
}

extension TableChange {
  fileprivate func columnsThatRefuseNull(_ timeline: Timeline) -> [TableShape.Column] {
    guard let before, !timeline.losses.isUntried(self, timeline) else { return [] }
    return keptColumns.compactMap { old, new in
      guard old.notNull == nil, let action = new.notNull, !old.isGenerated, !new.isGenerated,
        before.rowidAlias != old.key, !created.contains(new.key),
        !timeline.losses.acceptsNull(in: old.name, of: self),
        !(isRebuilt && action == .replace && new.defaultText != nil),
        !isRefilled(new.name, timeline),
        !isUpdated(new.key, timeline, since: 0), !isUpdated(old.key, timeline, since: 0),
        !isCleared(old.key, timeline)
      else { return nil }
      return new
    }
  }

  /// Whether an operation states how the column of the new table is computed from the old row.
  private func isRefilled(_ column: String, _ timeline: Timeline) -> Bool {
    guard let operation = timeline.operation(place(of: column)),
      case .rebuildTable(let rebuild) = operation.kind
    else { return false }
    return rebuild.copy.contains { $0.column.identifier == column.identifier }
      || rebuild.where != nil
  }
}

import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let newRequiredColumn = Rule(
    id: "new-required-column",
    section: .breaksDevices,
    severities: Severities(.off, .error, .error),
    concernsOlderVersions: true,
    why: """
      The migration gives existing rows a value for the column. A device with an older version of \
      the app does not know the column, so its rows have no value for it. NOT NULL without a \
      default refuses each of these rows on every newer device. If the migration does not fill the \
      column either, the finding is `fails-on-data`.
      """,
    fix: "Give the column a default, or make it nullable.",
    examples: Example(.additive),
    wrong: move(to: "not_null: true"),
    right: move(to: "not_null: true, default: 0"),
    check: .history { timeline, scope in
      timeline.tables.filter { scope.syncs($0.after.name, in: $0.change.migration) }.flatMap {
        change, after in
        change.requiredColumns(timeline).map { column in
          let place = change.newestPlace(of: column)
          return timeline.draft(
            "`\(after.name).\(column.name)` is new, NOT NULL and has no default: existing rows get "
              + "a value. Every INSERT of an older version of the app fails, because it does not "
              + "name the column",
            about: column, of: after, at: place, keys: ["to", "column", "columns", "table"],
            fix: timeline.operation(place)?.definition(ofColumn: column.name)?.withDefault().yaml)
        }
      }
    })
}

extension TableChange {
  /// The new columns that every INSERT must set, unless the migration fails on existing rows.
  fileprivate func requiredColumns(_ timeline: Timeline) -> [TableShape.Column] {
    guard let before, let after else { return [] }
    let fails = timeline.rowFailures.contains { failure in
      failure.place.migration == migration && failure.constraint == .notNull && !failure.isOfMap
        && !failure.tables.isDisjoint(with: [before.key, after.key])
    }
    let required = keptColumns.filter { $0.old.notNull != nil }.map(\.new.key)
    return after.columns.filter { column in
      before.column(column.key) == nil && column.notNull != nil && column.defaultText == nil
        && !column.isGenerated && !after.isInPrimaryKey(column) && !required.contains(column.key)
        // ADD COLUMN of such a column fails on every row.
        && !fails && !addedInPlace.contains(column.key)
    }
  }
}

private func move(to keys: String) -> String {
  """
  operations:
    - move_column:
        table: reminders
        from: isCompleted
        to: { name: status, type: INTEGER, \(keys) }
        map: { 0: 0, 1: 1 }
        keep_source: true
  """
}

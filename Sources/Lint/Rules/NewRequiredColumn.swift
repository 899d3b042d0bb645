import SchemaTimeline

extension Rule {
  static let newRequiredColumn = Rule(
    id: "new-required-column",
    section: .breaksDevices,
    severities: Severities(.off, .error, .error),
    concernsOlderVersions: true,
    why: """
      The migration fills the column in the rows that are there, but a device with an older version \
      of the app does not know it: the rows that it writes have no value for the column, and NOT NULL \
      without a default refuses each of them on every device that is newer. Where the migration does \
      not even fill it, it is add-not-null-without-default.
      """,
    fix: "Give the column a default, or let it be NULL.",
    bad: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER, not_null: true }
            map: { 0: 0, 1: 1 }
            keep_source: true
      """),
    good: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER, not_null: true, default: 0 }
            map: { 0: 0, 1: 1 }
            keep_source: true
      """),
    check: .history { timeline, scope in
      timeline.changes.flatMap { change -> [Draft] in
        guard let after = change.after, scope.syncs(after.name, in: change.migration) else {
          return []
        }
        return change.requiredColumns(timeline).filter(\.isFilled).map { column, place, _ in
          timeline.draft(
            "\(after.name).\(column.name) is new, NOT NULL and has no default: rows that are there get "
              + "their value, and every INSERT of an older version of the app, which does not name "
              + "the column, fails",
            at: place, keys: ["to", "column", "columns", "table"], column: column.name,
            object: "\(after.name).\(column.name)", table: after.name,
            fix: timeline.operation(place)?.definition(ofColumn: column.name)?.withDefault().yaml)
        }
      }
    })
}

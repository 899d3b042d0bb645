import SchemaPlanning
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let changeType = Rule(
    id: "change-type",
    section: .breaksDevices,
    severities: Severities(.warning, .error, .error),
    concernsOlderVersions: true,
    isAboutFailures: true,
    why: """
      After the migration the column stores values of another kind: 1 becomes '1', and the two are \
      not equal. An older version of the app writes and expects the old kind. A device that has \
      not updated sends it, so the column then contains both kinds. Only a change of affinity \
      counts: VARCHAR(10) and TEXT are the same to SQLite. If the change also loses values, the \
      finding is `loses-values`.
      """,
    fix: "Add a column of the new type with `move_column` and `keep_source: true`.",
    examples: Example(.additive),
    wrong: "- alter_column: { table: reminders, column: isCompleted, type: TEXT }",
    right: """
      - move_column:
          table: reminders
          from: isCompleted
          to: { name: state, type: TEXT, not_null: true, default: open }
          map: { 0: open, 1: done }
          keep_source: true
      """,
    check: .history { timeline, scope in
      timeline.tables.flatMap { change, after in
        let syncs = scope.syncs(after.name, in: change.migration)
        let happens =
          syncs
          ? "devices that have not updated continue to send values of the old kind"
          : "an older version of the app reads values of a kind that it does not expect"
        return change.retypedColumns.compactMap { old, new -> Draft? in
          let place = change.newestPlace(of: new)
          // A change of the primary key is a finding of `primary-key-change`.
          guard !after.isInPrimaryKey(new), change.before?.isInPrimaryKey(old) != true,
            !timeline.losses.loses(old.name, of: change), syncs || !timeline.convertsKey(place)
          else { return nil }
          return timeline.draft(
            "the type of `\(after.name).\(new.name)` changes from \(old.typeInWords) to \(new.typeInWords): "
              + happens,
            about: new, of: after, at: place,
            keys: ["type", "columns", "column", "table"])
        }
      }
    })
}

extension TableShape.Column {
  fileprivate var typeInWords: String { type ?? "no type" }
}

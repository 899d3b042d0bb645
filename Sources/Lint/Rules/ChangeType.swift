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
      The column stores values of another kind from now on: 1 becomes '1', which is not equal to it. \
      An older version of the app writes and expects the old kind, and a device that has not updated \
      sends it, so that both stand in one column. Only a change of affinity counts: VARCHAR(10) and \
      TEXT are one to SQLite. Where values are lost as well it is loses-values.
      """,
    fix: "Add a column of the new type with move_column and `keep_source: true`.",
    bad: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - alter_column: { table: reminders, column: isCompleted, type: TEXT }
      """),
    good: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: state, type: TEXT, not_null: true, default: open }
            map: { 0: open, 1: done }
            keep_source: true
      """),
    check: .history { timeline, scope in
      timeline.changes.flatMap { change -> [Draft] in
        guard let after = change.after else { return [] }
        let happens =
          scope.syncs(after.name, in: change.migration)
          ? "devices that have not updated go on sending values of the old kind"
          : "an older version of the app meets values of a kind that it does not know"
        return change.changedTypes.compactMap { old, new in
          guard !timeline.losses.loses(old.name, of: change) else { return nil }
          return timeline.draft(
            "\(after.name).\(new.name) was \(old.typeInWords) and becomes \(new.typeInWords): "
              + happens,
            at: change.newest(of: [change.place(of: new.name)]),
            keys: ["type", "columns", "column", "table"], column: new.name,
            object: "\(after.name).\(new.name)", table: after.name)
        }
      }
    })
}

extension TableShape.Column {
  fileprivate var typeInWords: String { type ?? "a column without a type" }
}

extension TableChange {
  /// The columns whose values are stored otherwise now. Columns of the primary key are judged as such.
  fileprivate var changedTypes: [(old: TableShape.Column, new: TableShape.Column)] {
    guard let before, let after else { return [] }
    return keptColumns.filter { old, new in
      !before.isInPrimaryKey(old) && !after.isInPrimaryKey(new) && !old.isGenerated
        && !new.isGenerated && before.affinity(of: old).storage != after.affinity(of: new).storage
    }
  }
}

extension TableShape {
  /// In a STRICT table ANY keeps every value as it is (STRICT Tables, section 2).
  fileprivate func affinity(of column: Column) -> Affinity {
    isStrict && column.type?.identifier == "any" ? .blob : column.affinity
  }
}

extension Affinity {
  /// INTEGER and NUMERIC store alike; they differ in CAST alone.
  fileprivate var storage: Affinity { self == .numeric ? .integer : self }
}

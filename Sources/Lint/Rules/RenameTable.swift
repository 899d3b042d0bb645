import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let renameTable = Rule(
    id: "rename-table",
    section: .removes,
    severities: Severities(.warning, .error, .error),
    concernsOlderVersions: true,
    why: """
      For every version of the app that knows the old name, a renamed table is a dropped table: \
      the version's next statement fails. Sync engines identify a table by its name, so devices \
      with the old name and devices with the new name never exchange rows. A rename within a \
      rebuild, after which another table with the same rows has the name, is not a finding.
      """,
    fix: "Keep the name in the database, and use another name in the app.",
    examples: Example(.additive),
    wrong: "- rename_table: { table: reminders, to: tasks }",
    right: """
      - create_view:
          name: tasks
          sql: CREATE VIEW tasks AS SELECT id, title, isCompleted FROM reminders
      """,
    check: .history { timeline, scope in
      timeline.changes.compactMap { change in
        guard change.isRenamed, !change.isReplacedLater, let table = change.before?.name,
          let name = change.after?.name, let place = change.removal,
          !timeline.isUndone(change, where: { $0.isRenamed && $0.after?.key == change.before?.key })
        else { return nil }
        let harm = scope.profile(table, in: place.migration).harm(ofLosing: table)
        return timeline.draft(
          "this renames the table `\(table)` to `\(name)`: \(harm)", at: place,
          keys: ["table", "name"], object: table, table: table)
      }
    })
}

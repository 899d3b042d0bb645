import SchemaTimeline

extension Rule {
  static let renameTable = Rule(
    id: "rename-table",
    section: .removes,
    severities: Severities(.warning, .error, .error),
    concernsOlderVersions: true,
    why: """
      To everybody who knows a table by its name, renaming it is dropping it: an older version of \
      the app fails on its next statement, and engines that sync know tables by nothing but their \
      names, so the rows of devices with the old name and with the new one never meet again. A \
      rename that is part of a rebuild, after which another table with the same rows has the name, \
      is none.
      """,
    fix: "Keep the name in the database, and call the table otherwise in the app.",
    bad: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - rename_table: { table: reminders, to: tasks }
      """),
    good: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - create_view:
            name: tasks
            sql: CREATE VIEW tasks AS SELECT id, title, isCompleted FROM reminders
      """),
    check: .history { timeline, scope in
      timeline.changes.compactMap { change in
        guard change.isRenamed, !change.isSucceeded, let table = change.before?.name,
          let name = change.after?.name, let place = change.removal
        else { return nil }
        let happens =
          scope.syncs(table, in: place.migration)
          ? "a device that still runs an older version writes \(table), and its rows can no longer "
            + "be stored"
          : "an older version of the app can no longer use the database"
        return timeline.draft(
          "renaming the table \(table) to \(name): \(happens)", at: place, keys: ["table", "name"],
          object: table, table: table)
      }
    })
}

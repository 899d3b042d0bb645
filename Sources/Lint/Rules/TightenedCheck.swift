import SchemaSQLText

extension Rule {
  static let tightenedCheck = Rule(
    id: "tightened-check",
    section: .breaksDevices,
    severities: Severities(.off, .error, .error),
    concernsOlderVersions: true,
    why: """
      A device that does not know the CHECK writes rows that break it, in good faith, and every \
      device that knows it refuses them, for good: the two never agree again. A CHECK on a new \
      column is none such, because older versions do not write it; nor is one that takes all that \
      the old one took. Lint tries the values that both checks name, and shows one that is refused.
      """,
    fix: "Let the app look at what a user enters, and the database take what other devices send.",
    bad: Rule.Example(
      .additive, syncedCheckManifest,
      """
      operations:
        - update: { table: tasks, set: { status: "1" }, where: status = 2 }
        - alter_column: { table: tasks, column: status, check: "status IN (0, 1)" }
      """),
    good: Rule.Example(
      .additive, syncedCheckManifest,
      """
      operations:
        - alter_column:
            { table: tasks, column: status, check: "status IN (0, 1, 2, 3)" }
      """),
    check: { timeline, scope in
      timeline.changes.flatMap { change -> [Draft] in
        guard let after = change.after, scope.syncs(after.name, in: change.migration) else {
          return []
        }
        return change.newChecks.compactMap { new in
          guard change.looksAtOldColumns(new.check) else { return nil }
          let columns = new.check.columns.sorted()
          let what = new.refused.map { "a row with \($0)" } ?? "a row that breaks it"
          return timeline.draft(
            "CHECK (\(new.check.text)) of \(after.name): a device that does not know it may send "
              + "\(what), which is refused here for good",
            at: change.newest(of: columns.map(change.place(of:)) + [change.shaped]),
            keys: ["check", "checks", "columns", "column", "table"], object: after.name,
            table: after.name)
        }
      }
    })
}

/// A table with a CHECK and a key that every profile takes.
let syncedCheckManifest =
  tableManifest("tasks", columns: "{ name: status, type: INTEGER, check: \"status IN (0, 1, 2)\" }")

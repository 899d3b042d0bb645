import SchemaSQLText

extension Rule {
  static let dropCheck = Rule(
    id: "drop-check",
    section: .removes,
    severities: Severities(.warning, .warning, .warning),
    why: """
      From now on the column takes values that it refused. Code that counts on the CHECK, be it an \
      older version of the app that shares the rows, meets values that it has never seen, and once \
      they are there the CHECK cannot come back. A CHECK that a rebuild for another purpose leaves \
      out is the subject of rebuild-loses-object.
      """,
    fix:
      "Make the CHECK wider instead of dropping it, or say in a waiver who looks at the values now.",
    bad: Rule.Example(
      .local, checkedManifest,
      """
      operations:
        - alter_column: { table: tasks, column: status, check: null }
      """),
    good: Rule.Example(
      .local, checkedManifest,
      """
      operations:
        - alter_column:
            { table: tasks, column: status, check: "status IN (0, 1, 2, 3)" }
      """),
    check: { timeline, _ in
      timeline.changes.flatMap { change -> [Draft] in
        guard let after = change.after, !change.forgets(timeline) else { return [] }
        return change.lostChecks.map { check in
          let columns = check.columns.sorted().map { after.column($0)?.name ?? $0.text }
          return timeline.draft(
            "dropping CHECK (\(check.text)) of \(after.name): it takes values now that it refused",
            at: change.newest(of: columns.map(change.place(of:)) + [change.shaped]),
            keys: ["check", "columns", "column", "table"],
            object: "\(after.name).\(columns.joined(separator: ","))", table: after.name)
        }
      }
    })
}

/// A table with a CHECK.
let checkedManifest = """
  operations:
    - sql: |
        CREATE TABLE tasks (
          id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()),
          status INTEGER CHECK (status IN (0, 1, 2))
        ) STRICT;
  """

extension TableChange {
  /// Whether constraints that are gone were forgotten in a rebuild that is for something else.
  func forgets(_ timeline: Timeline) -> Bool {
    isRebuiltByHand(timeline) && !onlyDropsConstraints
  }
}

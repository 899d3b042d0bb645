import SchemaSQLText

extension Rule {
  static let addNonConstantDefault = Rule(
    id: "add-non-constant-default",
    section: .failsOnData,
    severities: .alwaysError,
    why: """
      ADD COLUMN writes no row: rows that are there read the default from the schema, so it must be \
      a constant. CURRENT_TIMESTAMP and an expression such as (uuid()) or (1 + 1) are none. SQLite \
      takes them as long as the table is empty, as in every test, and refuses them on every real \
      device. In a table that is made anew they are allowed.
      """,
    fix: "Add the column without the default and fill it with `update`, or use rebuild_table.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            ALTER TABLE reminders
            ADD COLUMN createdAt TEXT DEFAULT CURRENT_TIMESTAMP
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            ALTER TABLE reminders
            ADD COLUMN createdAt TEXT DEFAULT '2026-11-20 12:00:00'
      """),
    check: { timeline, _ in
      timeline.changes.flatMap { change -> [Draft] in
        guard let after = change.after else { return [] }
        return change.nonConstantDefaults.sorted().compactMap { name in
          guard let column = after.column(name) else { return nil }
          return timeline.draft(
            "\(after.name).\(column.name) is added with the default \(column.defaultText ?? ""), which "
              + "is no constant: SQLite refuses it on every database whose \(after.name) has rows",
            at: change.place(of: name), keys: ["column", "table"], column: column.name,
            object: "\(after.name).\(column.name)", table: after.name)
        }
      }
    })
}

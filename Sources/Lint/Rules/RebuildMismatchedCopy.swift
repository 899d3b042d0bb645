import SchemaSQLText

extension Rule {
  static let rebuildMismatchedCopy = Rule(
    id: "rebuild-mismatched-copy",
    section: .losesData,
    severities: .alwaysError,
    why: """
      INSERT … SELECT goes by position, not by name. When the new table has its columns in another \
      order, or one more in the middle, the values of one column land in another one: SQLite says \
      nothing, because any column takes any value. `SELECT *` is where it happens most. A column \
      that only gets another name in the copy is renamed (rename-column).
      """,
    fix: "List the columns after INSERT INTO and in SELECT, in the same order.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            CREATE TABLE reminders_new (
              id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
              isCompleted INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0, title TEXT
            ) STRICT;
            INSERT INTO reminders_new SELECT * FROM reminders;
            DROP TABLE reminders;
            ALTER TABLE reminders_new RENAME TO reminders;
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            CREATE TABLE reminders_new (
              id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
              isCompleted INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0, title TEXT
            ) STRICT;
            INSERT INTO reminders_new (id, title, isCompleted)
            SELECT id, title, isCompleted FROM reminders;
            DROP TABLE reminders;
            ALTER TABLE reminders_new RENAME TO reminders;
      """),
    check: { timeline, _ in
      timeline.changes.compactMap { change -> Draft? in
        guard let after = change.after, let (copy, mapping) = change.mapping(timeline) else {
          return nil
        }
        let wrong = change.mismatches(mapping)
        guard !wrong.isEmpty else { return nil }
        let list = wrong.map { "\($0.from) lands in \($0.to)" }.joined(separator: ", ")
        return timeline.draft(
          "the copy into \(after.name) goes by position, and \(list)", at: copy.place,
          object: after.name, table: after.name)
      }
    })
}

extension TableChange {
  /// Columns whose values land in another one, though the new table has one of their name.
  fileprivate func mismatches(_ mapping: CopyMapping) -> [(from: String, to: String)] {
    guard let after else { return [] }
    return after.columns.compactMap { target in
      guard let source = mapping.expressions[target.key]?.column, source != target.key,
        let name = after.column(source)?.name, let own = mapping.expressions[source],
        !own.names.contains(source)
      else { return nil }
      return (name, target.name)
    }
  }
}

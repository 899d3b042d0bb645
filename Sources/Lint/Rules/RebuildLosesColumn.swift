import SchemaSQLText

extension Rule {
  static let rebuildLosesColumn = Rule(
    id: "rebuild-loses-column",
    section: .losesData,
    severities: .alwaysError,
    why: """
      The table is made anew with the column, but the statement that carries the rows over never \
      reads it: every row gets the default, or NULL, in the place of its value, and the old values \
      go with the old table. It happens when a column is left out of the list, and when its name is \
      written in quotes that make it a string. SQLite says which columns a statement reads, however \
      it is written. A column that the new table does not have at all is dropped (drop-column).
      """,
    fix:
      "Name the column in both lists of the copy, or use rebuild_table, which copies every column.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            CREATE TABLE reminders_new (
              id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
              title TEXT,
              isCompleted INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0
            ) STRICT;
            INSERT INTO reminders_new (id, title) SELECT id, title FROM reminders;
            DROP TABLE reminders;
            ALTER TABLE reminders_new RENAME TO reminders;
      """),
    good: Rule.Example(.local, remindersManifest, rebuiltReminders(copy: "")),
    check: { timeline, _ in
      timeline.changes.flatMap { change -> [Draft] in
        let copies = change.handCopies(timeline)
        guard let after = change.after, let copy = copies.first,
          change.copies.allSatisfy({ $0.source != nil }), copies.count == change.copies.count,
          Set(copies.compactMap { $0.source?.name.identifier }).count == 1
        else { return [] }
        let mapping = change.mapping(timeline)?.mapping
        let read = copies.reduce(into: Set<Identifier>()) { $0.formUnion($1.read) }
        return change.keptColumns.compactMap { old, new in
          guard old.key == new.key, !old.isGenerated, !new.isGenerated, !read.contains(old.key),
            copy.source?.column(old.name) != nil,
            !change.isUpdated(new.key, timeline, since: change.migration)
          else { return nil }
          let isFilled = mapping?.expressions[new.key] != nil
          return timeline.draft(
            "the copy into \(after.name) does not read \(old.name): its values are gone with the old "
              + "table, and every row has "
              + "\(isFilled ? "what the copy puts there" : new.defaultText ?? "NULL") instead",
            at: copy.place, object: "\(after.name).\(new.name)", table: after.name)
        }
      }
    })
}

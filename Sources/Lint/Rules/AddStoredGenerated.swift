import SchemaManifest
import SchemaSQLText

extension Rule {
  static let addStoredGenerated = Rule(
    id: "add-stored-generated",
    section: .failsOnData,
    severities: .alwaysError,
    why: """
      A STORED generated column has a value in every row, and ADD COLUMN writes no row. SQLite takes \
      it on an empty table, as in every test, and refuses it on every real device. A VIRTUAL one is \
      computed when it is read, and can be indexed as well.
      """,
    fix: "Make the column VIRTUAL (`stored: false`), or use rebuild_table.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            ALTER TABLE reminders
            ADD COLUMN size INTEGER AS (length(title)) STORED
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            ALTER TABLE reminders
            ADD COLUMN size INTEGER AS (length(title)) VIRTUAL
      """),
    check: { timeline, _ in
      timeline.changes.flatMap { change -> [Draft] in
        guard let after = change.after else { return [] }
        return change.addedInPlace.sorted().compactMap { name in
          guard let column = after.column(name), column.isStored else { return nil }
          var definition =
            timeline.operation(change.place(of: name))?.definition(ofColumn: column.name)
          definition?.generated?.stored = false
          return timeline.draft(
            "\(after.name).\(column.name) is a STORED generated column: SQLite cannot add it to a "
              + "table that has rows",
            at: change.place(of: name), keys: ["column", "table"], column: column.name,
            object: "\(after.name).\(column.name)", table: after.name, fix: definition?.yaml)
        }
      }
    })
}

import SchemaReplay
import SchemaTimeline

extension Rule {
  static let selfReadingUpdate = Rule(
    id: "self-reading-update",
    section: .losesData,
    severities: Severities(.warning, .warning, .warning),
    why: """
      An UPDATE writes one row after another. A subquery may read the written column from the \
      table itself, directly or through a view. It finds new values in some rows and old values in \
      the others. The result depends on the order of the rows. A subquery that does not depend on \
      the row of the UPDATE is not a finding: SQLite evaluates it once, before it writes any row.
      """,
    fix: """
      `move_column` with `using` reads all rows before it writes. In SQL, `UPDATE … FROM (SELECT \
      …)` computes every value before it writes a row. You can also write to another column.
      """,
    wrong: """
      - update:
          table: reminders
          set:
            title: >-
              (SELECT count(*) FROM reminders AS r
              WHERE r.title < reminders.title)
          where: "title <> ''"
      """,
    right: """
      - sql: |
          UPDATE reminders SET title = n.title
          FROM (SELECT a.id, count(b.id) AS title FROM reminders a
                LEFT JOIN reminders b ON b.title < a.title GROUP BY a.id) AS n
          WHERE n.id = reminders.id
      """,
    check: .history { timeline, _ in
      timeline.statements.compactMap { statement in
        guard statement.warnings.readsItself, let table = statement.target?.name else {
          return nil
        }
        return timeline.draft(
          "this UPDATE of `\(table)` reads values of `\(table)` that it may already have changed: the "
            + "result depends on the order of the rows",
          at: statement.place, keys: ["set", "where"], object: table, table: table)
      }
    })
}

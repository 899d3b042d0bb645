import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let doubleQuotedString = Rule(
    id: "double-quoted-string",
    section: .hurtsLater,
    severities: Severities(.warning, .warning, .warning),
    why: """
      Double quotes are for names. If no object has the name, SQLite reads it as a string and \
      reports no error. A misspelt column then writes its own name into every row. SQLite builds \
      that forbid this (`SQLITE_DBCONFIG_DQS_DML` and `SQLITE_DBCONFIG_DQS_DDL`) refuse the \
      statement. Lint asks SQLite itself, with the setting off.
      """,
    fix: "Put strings in single quotes, and spell the column as the table does.",
    wrong: """
      - sql: UPDATE reminders SET title = "none" WHERE title IS NULL
      """,
    right: "- sql: UPDATE reminders SET title = 'none' WHERE title IS NULL",
    check: .history { timeline, _ in
      let statements = timeline.statements.compactMap { statement -> Draft? in
        guard let string = statement.warnings.doubleQuotedString else { return nil }
        return timeline.draft(
          "no column has the name `\(string.text)`: SQLite reads it as a string",
          at: statement.place, object: statement.target?.name, table: statement.target?.name,
          position: string.position)
      }
      // SQLite compiles a view or a trigger only when it is used.
      let broken = Set((timeline.end?.broken ?? []).map(\.object.object.key))
      let objects = (timeline.end?.doubleQuoted ?? []).filter {
        !broken.contains($0.object.object.key)
      }.map { place, found in
        timeline.draft(
          "the \(found.object.kind.rawValue) `\(found.object.name)` contains a name in double quotes "
            + "that no column has: SQLite reads it as a string", at: place, keys: ["sql", "name"],
          object: found.object.name, table: found.object.table)
      }
      return statements + objects
    })
}

import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Rule {
  static let unknownCollation = Rule(
    id: "unknown-collation",
    section: .hurtsLater,
    severities: .alwaysError,
    why: """
      Neither SQLite nor schemactl.yaml knows the collation. The statement fails on a database, and a \
      schema that has one already can neither be changed nor checked where it is missing: RENAME, \
      DROP COLUMN, ANALYZE, REINDEX and integrity_check all fail, whatever table they are about.
      """,
    fix:
      "Use BINARY, NOCASE or RTRIM, or name it under `collations` in schemactl.yaml and register it.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: CREATE INDEX reminders_title ON reminders (title COLLATE german)
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: CREATE INDEX reminders_title ON reminders (title COLLATE NOCASE)
      """),
    check: { timeline, _ in
      timeline.missingNames.compactMap { place, missing, object, table in
        guard case .collation(let name) = missing else { return nil }
        return timeline.draft(
          "there is no collation \(name): what compares by it fails"
            + (object.map { " (\($0))" } ?? ""), at: place, keys: ["sql", "name", "table"],
          object: name, table: table)
      }
    })
}

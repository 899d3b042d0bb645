import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let ifNotExists = Rule(
    id: "if-not-exists",
    section: .hurtsLater,
    severities: .optIn,
    why: """
      In a frozen history you know whether the object exists. IF NOT EXISTS hides the databases \
      that differ. A database with another table of that name keeps it, and the migration counts \
      as applied. The first query that needs a missing column fails, far from the cause. Without \
      IF NOT EXISTS the migration fails and names the object.
      """,
    fix: """
      Remove IF NOT EXISTS. `adopt` adopts databases that are older than schemactl.
      """,
    examples: Example(configuration: "lint: { rules: { if-not-exists: warning } }"),
    wrong: "- sql: CREATE INDEX IF NOT EXISTS reminders_title ON reminders (title)",
    right: "- sql: CREATE INDEX reminders_title ON reminders (title)",
    check: .history { timeline, _ in
      timeline.statements.compactMap { statement in
        guard timeline.isWritten(statement.place), let created = statement.createdIfNotExists else {
          return nil
        }
        return timeline.draft(
          "`IF NOT EXISTS` accepts any existing `\(created)`: SQLite skips the statement, and schemactl "
            + "records the migration as applied", at: statement.place, keys: ["sql", "name"],
          object: created, table: nil)
      }
    })
}

extension StatementEffect {
  /// The object that the statement creates; nil without IF NOT EXISTS and for temporary objects.
  fileprivate var createdIfNotExists: String? {
    guard let parsed = try? parseCreate(TokenizedSQL(sql)) else { return nil }
    return parsed.ifNotExists && !parsed.isTemporary ? parsed.name.text : nil
  }
}

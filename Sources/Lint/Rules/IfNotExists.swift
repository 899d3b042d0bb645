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
        guard timeline.isWritten(statement.place),
          let created = statement.createdIfNotExists,
          !timeline.isDropped(created, before: statement.place)
        else { return nil }
        return timeline.draft(
          "`IF NOT EXISTS` hides a different `\(created)`: SQLite skips the statement, and schemactl "
            + "records the migration as applied", at: statement.place, keys: ["sql", "name"],
          object: created, table: nil)
      }
    })
}

extension Timeline {
  /// Whether the migration drops the object first, so that no database can keep an older object.
  fileprivate func isDropped(_ name: String, before place: StatementPlace) -> Bool {
    statements(in: place.migration).contains { statement in
      statement.place.number < place.number && statement.dropped == name.identifier
    }
  }
}

extension StatementEffect {
  /// The name of the object that a DROP removes.
  fileprivate var dropped: Identifier? {
    let sql = TokenizedSQL(self.sql)
    let tokens = sql.significant.filter { sql.text($0) != ";" }
    return sql.isWord(tokens.first, "DROP") ? tokens.last.map(sql.name) : nil
  }

  /// The object that the statement creates; nil without IF NOT EXISTS and for temporary objects.
  fileprivate var createdIfNotExists: String? {
    guard let parsed = try? parseCreate(TokenizedSQL(sql)) else { return nil }
    return parsed.ifNotExists && !parsed.isTemporary ? parsed.name.text : nil
  }
}

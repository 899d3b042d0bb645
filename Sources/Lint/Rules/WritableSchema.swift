import SchemaSQLText
import SchemaSQLite

extension Rule {
  static let writableSchema = Rule(
    id: "writable-schema",
    section: .misplaced,
    severities: .alwaysError,
    why: """
      Under PRAGMA writable_schema SQLite stores any text as a definition and looks at nothing: not \
      whether it can be read again, nor whether the rows are what it says. One wrong byte and no \
      version of the app opens the database any more. Where the rows allow it, schemactl makes such \
      edits itself, and proves them first.
      """,
    fix: "Use alter_column, which changes a definition in place where that is safe.",
    bad: Rule.Example(
      .local, checkedManifest,
      """
      operations:
        - sql: |
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, '2)', '2, 3)')
            WHERE name = 'tasks';
      """),
    good: Rule.Example(
      .local, checkedManifest,
      """
      operations:
        - alter_column:
            { table: tasks, column: status, check: "status IN (0, 1, 2, 3)" }
      """),
    check: { timeline, _ in
      var reported: Set<Int> = []
      return timeline.statements.compactMap { statement in
        guard statement.events.contains(where: \.opensSchema),
          reported.insert(statement.place.migration).inserted
        else { return nil }
        return timeline.draft(
          "PRAGMA writable_schema: whatever is written to sqlite_schema is taken as it is, and a wrong "
            + "byte makes the database unreadable", at: statement.place, object: "writable_schema",
          table: nil)
      }
    })
}

extension AuthorizerEvent {
  fileprivate var opensSchema: Bool {
    guard action == .pragma, first?.identifier == "writable_schema", let value = second else {
      return false
    }
    return !["off", "0", "no", "false", "reset"].contains(value.identifier)
  }
}

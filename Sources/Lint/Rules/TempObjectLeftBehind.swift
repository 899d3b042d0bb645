import SchemaReplay

extension Rule {
  static let tempObjectLeftBehind = Rule(
    id: "temp-object-left-behind",
    section: .misplaced,
    severities: .alwaysError,
    why: """
      What is temporary belongs to a connection. Left behind, it would be there for the next migration \
      when both run at once, and not when a day lies between them; and a temporary table hides one \
      of the database that has its name. schemactl removes it at the end of the migration, so that \
      nothing may count on it.
      """,
    fix: "Drop it at the end of the migration that makes it.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: CREATE TEMP TABLE titles AS SELECT title FROM reminders
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            CREATE TEMP TABLE titles AS SELECT title FROM reminders;
            DROP TABLE titles;
      """),
    check: { timeline, _ in
      timeline.leftBehind.map { place, object in
        timeline.draft(
          "the temporary \(object.kind) \(object.name) is still there when the migration ends, and is "
            + "removed then: the next one does not find it", at: place, object: object.name,
          table: nil)
      }
    })
}

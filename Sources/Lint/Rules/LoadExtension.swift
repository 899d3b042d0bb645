import SchemaSQLText

extension Rule {
  static let loadExtension = Rule(
    id: "load-extension",
    section: .misplaced,
    severities: .alwaysError,
    why: """
      An extension is code of the machine that it was built for, and it would run with all that the \
      app may do. schemactl loads none, and `migrate` refuses the call.
      """,
    fix:
      "Let the app register what it needs, and name its functions under `functions` in schemactl.yaml.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: SELECT load_extension('fuzzy')
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: CREATE INDEX reminders_title ON reminders (title)
      """),
    check: { timeline, _ in
      timeline.statements.filter { $0.calls(["load_extension"]) }.map { statement in
        timeline.draft(
          "load_extension() does not belong in a migration, and `migrate` refuses it",
          at: statement.place, object: "load_extension", table: nil)
      }
    })
}

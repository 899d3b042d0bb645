extension Rule {
  static let waiverUnknownRule = Rule(
    id: "waiver-unknown-rule",
    section: .waivers,
    severities: .alwaysError,
    why: """
      A waiver of a rule that does not exist allows nothing, and most often a misspelt one was meant \
      to allow something. The rules about waivers themselves cannot be waived.
      """,
    fix: "Spell the rule as `schemactl lint` does in its findings.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations: []
      lint:
        allow:
          - { rule: drop-colum, reason: Nothing syncs. }
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - drop_column: { table: reminders, column: isCompleted }
      lint:
        allow:
          - { rule: drop-column, reason: Nothing syncs. }
      """),
    check: judgedWithTheWaivers)
}

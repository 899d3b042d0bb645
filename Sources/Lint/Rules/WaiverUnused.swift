extension Rule {
  static let waiverUnused = Rule(
    id: "waiver-unused",
    section: .waivers,
    severities: Severities(.warning, .warning, .warning),
    why: """
      A waiver that allows nothing is a hole: it will hide, unseen, the next finding of its rule in \
      the same place. A waiver of a rule that the profile switches off is not looked at, because \
      another profile may need it.
      """,
    fix: "Remove the waiver.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - add_column:
            table: reminders
            column: { name: notes, type: TEXT }
      lint:
        allow:
          - { rule: drop-column, reason: Nothing syncs. }
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - add_column:
            table: reminders
            column: { name: notes, type: TEXT }
      """),
    check: judgedWithTheWaivers)
}

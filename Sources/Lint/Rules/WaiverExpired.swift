extension Rule {
  static let waiverExpired = Rule(
    id: "waiver-expired",
    section: .waivers,
    severities: .alwaysError,
    why: """
      A waiver with `until` holds through that day, in UTC. From the next day on it allows nothing \
      any more, so that what was accepted for a while is looked at again.
      """,
    fix: "Mend what the waiver allowed, or give it another day and say why.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations: []
      lint:
        allow:
          - { rule: drop-column, reason: Until 1.4 is out., until: 2020-01-01 }
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - drop_column: { table: reminders, column: isCompleted }
      lint:
        allow:
          - { rule: drop-column, reason: Until 1.4 is out., until: 9999-12-31 }
      """),
    check: judgedWithTheWaivers)
}

extension Rule {
  static let unusedSuppression = Rule(
    id: "unused-suppression",
    section: .suppressions,
    severities: Severities(.warning, .warning, .warning),
    why: """
      A suppression is an entry of `lint.allow`, a comment of a query, or a line of the baseline. \
      A suppression without a finding would hide the next finding of its rule in the same place. A \
      suppression with `until` applies through that day, in UTC. Afterwards it suppresses nothing \
      and is an error. A suppression of a rule that the profile switches off is not a finding, \
      because another profile may need it. Lint runs a frozen migration on rows only with `--full`. \
      Only then are its suppressions of `loses-values`, `loses-rows` and `fails-on-data` findings.
      """,
    fix: "Remove the suppression. If it expired, fix the finding or set a later day.",
    wrong: """
      operations:
        - add_column: { table: reminders, column: { name: notes, type: TEXT } }
      lint:
        allow:
          - { rule: drop-column, reason: Nothing syncs. }
      """,
    right: """
      operations:
        - drop_column: { table: reminders, column: isCompleted }
      lint:
        allow:
          - { rule: drop-column, reason: Nothing syncs. }
      """,
    // `Suppressions` checks them after all other rules.
    check: .history { _, _ in [] })
}

extension Rule {
  static let unusedSuppression = Rule(
    id: "unused-suppression",
    section: .suppressions,
    severities: Severities(.warning, .warning, .warning),
    why: """
      A suppression without a finding (an entry of `lint.allow`, a comment of a query, a line of \
      the baseline) would hide the next finding of its rule in the same place. A suppression with \
      `until` applies through that day, in UTC; afterwards it suppresses nothing, and is an error. \
      A suppression of a rule that the profile switches off is not a finding, because another \
      profile may need it. In a frozen migration, suppressions of loses-values, loses-rows and \
      fails-on-data are findings only with `--full`, because only then does the migration run on rows.
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

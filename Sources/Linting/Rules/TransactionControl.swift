extension Rule {
  static let transactionControl = Rule(
    id: "transaction-control",
    severities: .alwaysError,
    why: """
      Each migration is applied whole or not at all, in a transaction that schemactl opens and \
      closes. A BEGIN inside of it fails, a COMMIT would end it in the middle, and a ROLLBACK would \
      take back what earlier migrations did. Such statements are refused when a database is migrated.
      """,
    fix: "Remove the statement: the whole migration is one transaction already.",
    bad: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - sql: |
            UPDATE reminders SET title = trim(title);
            COMMIT;
      """),
    good: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - sql: |
            UPDATE reminders SET title = trim(title);
      """),
    check: { timeline, _ in
      timeline.transactionControl.map { place, what in
        timeline.draft(
          "\(what) does not belong in a migration: each one is applied whole or not at all, and "
            + "`migrate` refuses the statement", at: place, object: what, table: nil)
      }
    })
}

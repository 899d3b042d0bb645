import SchemaSQLText
import SchemaSQLite

extension Rule {
  static let transactionControl = Rule(
    id: "transaction-control",
    section: .misplaced,
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
            DELETE FROM reminders WHERE title IS NULL;
            COMMIT;
      """),
    good: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - sql: |
            DELETE FROM reminders WHERE title IS NULL;
      """),
    check: { timeline, _ in
      timeline.statements.compactMap { statement in
        guard let what = statement.events.lazy.compactMap(\.transactionControl).first else {
          return nil
        }
        return timeline.draft(
          "\(what) does not belong in a migration: each one is applied whole or not at all, and "
            + "`migrate` refuses the statement", at: statement.place, object: what, table: nil,
          // The migration is what they would enclose; a ROLLBACK means something else.
          correction: ["BEGIN", "COMMIT"].contains(what)
            && !timeline.rollsBack(statement.place.migration)
            ? .removeStatement(
              operation: statement.place.operation, statement.place.position) : nil)
      }
    })
}

extension Timeline {
  fileprivate func rollsBack(_ migration: Int) -> Bool {
    statements(in: migration).contains { statement in
      statement.events.contains { $0.transactionControl == "ROLLBACK" }
    }
  }
}

extension AuthorizerEvent {
  /// BEGIN, COMMIT, SAVEPOINT and their like.
  fileprivate var transactionControl: String? {
    switch action {
    case .transaction: first ?? "BEGIN"
    case .savepoint: first == "BEGIN" ? "SAVEPOINT" : first ?? "SAVEPOINT"
    default: nil
    }
  }
}

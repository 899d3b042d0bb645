import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Rule {
  static let pragma = Rule(
    id: "pragma",
    section: .misplaced,
    severities: .alwaysError,
    why: """
      A PRAGMA sets up a connection or a file, not a schema. foreign_keys does nothing inside a \
      transaction, and schemactl sees to it itself: they are off while a migration runs and are \
      checked at its end, so foreign_keys, defer_foreign_keys and foreign_key_check are passed over. \
      legacy_alter_table and ignore_check_constraints run and are put back afterwards; user_version \
      is the app's own. Every other PRAGMA that changes something is refused by `migrate`. A PRAGMA \
      that only asks is no finding; writable_schema is one of its own.
      """,
    fix: "Remove the PRAGMA. What the app's connections need belongs where they are opened.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            PRAGMA journal_mode = WAL;
            ALTER TABLE reminders ADD COLUMN notes TEXT;
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            PRAGMA table_info(reminders);
            ALTER TABLE reminders ADD COLUMN notes TEXT;
      """),
    check: { timeline, _ in
      timeline.statements.compactMap { statement in
        guard let event = statement.events.first(where: \.changesSettings),
          let name = event.first?.identifier
        else { return nil }
        let happens =
          switch name {
          case _ where Pragmas.acceptedNotRun.contains(name):
            "it is passed over: schemactl checks foreign keys at the end of each migration"
          case _ where Pragmas.putBack.contains(name): "it ends with the migration"
          default: "`migrate` refuses it"
          }
        return timeline.draft(
          "PRAGMA \(name) does not belong in a migration: \(happens)", at: statement.place,
          object: name.text, table: nil,
          // What does nothing can go; whoever wrote another one meant something.
          correction: Pragmas.acceptedNotRun.contains(name)
            ? .removeStatement(
              operation: statement.place.operation, statement.place.position) : nil)
      }
    })
}

extension AuthorizerEvent {
  fileprivate var changesSettings: Bool {
    guard action == .pragma, let name = first?.identifier, name != "writable_schema",
      !Pragmas.onlyReads(self)
    else { return false }
    // Asked without a value, a setting is only read.
    return second != nil || !Pragmas.putBack.contains(name) && name != "foreign_keys"
  }
}

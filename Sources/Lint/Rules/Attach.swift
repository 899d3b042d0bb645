import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Rule {
  static let attach = Rule(
    id: "attach",
    section: .misplaced,
    severities: .alwaysError,
    why: """
      A migration changes one database, in a transaction of its own, and another file may be missing \
      on a device or be another one. ATTACH cannot run inside a transaction, and what is written to \
      another file is not undone with the migration. `migrate` refuses ATTACH and DETACH.
      """,
    fix: "Carry rows between databases in the app.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: ATTACH 'archive.db' AS archive
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            CREATE TABLE archive (
              id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), title TEXT
            ) STRICT;
      """),
    check: { timeline, _ in
      timeline.statements.compactMap { statement in
        guard !statement.warnings.isVacuum,
          let event = statement.events.first(where: { [.attach, .detach].contains($0.action) })
        else { return nil }
        let what = event.action == .attach ? "ATTACH" : "DETACH"
        return timeline.draft(
          "\(what) does not belong in a migration, and `migrate` refuses it: each one changes one "
            + "database", at: statement.place, object: what, table: nil)
      }
    })
}

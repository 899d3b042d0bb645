import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let dropTable = Rule(
    id: "drop-table",
    section: .removes,
    severities: Severities(.warning, .error, .error),
    concernsOlderVersions: true,
    why: """
      A table that goes takes its rows with it, for good. Where something syncs, a device that still \
      runs an older version goes on writing rows of the table, and there is no place for them any \
      more. A table that another one replaces under the same name, with a copy of its rows, is \
      rebuilt and not dropped, be it over several migrations; one that is dropped and made again \
      without a copy is dropped.
      """,
    fix: """
      Leave the table and stop using it; drop it, with a suppression, once no device runs a version that \
      knows it. Where nothing syncs, a suppression that says where the rows are now is enough.
      """,
    bad: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - drop_table: { table: reminders }
      """),
    good: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - sql: |
            CREATE TABLE copy (
              id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
              title TEXT,
              isCompleted INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0
            ) STRICT;
            INSERT INTO copy SELECT id, title, isCompleted FROM reminders;
            DROP TABLE reminders;
            ALTER TABLE copy RENAME TO reminders;
      """),
    check: .history { timeline, scope in
      timeline.changes.compactMap { change in
        guard change.isDropped, !change.isSucceeded, change.replacement == nil,
          let table = change.before?.name,
          let place = change.removal
        else { return nil }
        let happens =
          scope.syncs(table, in: place.migration)
          ? "a device that still runs an older version writes its rows, and they can no longer be stored"
          : "its rows are gone, and an older version of the app can no longer use the database"
        return timeline.draft(
          "dropping the table \(table): \(happens)", at: place, keys: ["table", "name"],
          object: table, table: table)
      }
    })
}

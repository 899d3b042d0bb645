import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let failsOnData = Rule(
    id: "fails-on-data",
    section: .failsOnData,
    severities: .alwaysError,
    why: """
      The migration runs on empty tables, as in every test of a new database, and fails on rows that the \
      schema allows: ADD COLUMN with NOT NULL and no default, with a default that is not a constant or \
      with a STORED value; NOT NULL where rows hold NULL; a UNIQUE, a CHECK, STRICT or a foreign key that \
      existing rows may break (warnings). Where something syncs, a new CHECK is an error, because devices \
      with an older version keep sending rows that break it. Lint also runs each migration on rows that \
      it generates, and with `lint --on-copy` on those of a copy of a real database.
      """,
    fix: """
      Change or delete the rows in question first, in the same migration; give a new column a default, \
      or add it without one and fill it with `update`.
      """,
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - alter_column: { table: reminders, column: title, not_null: true }
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - update: { table: reminders, set: { title: "''" }, where: title IS NULL }
        - alter_column: { table: reminders, column: title, not_null: true }
      """),
    check: .history { timeline, scope in
      timeline.unaddableColumns + timeline.nullValues + timeline.repeatedValues
        + timeline.refusedValues(scope) + timeline.danglingValues + failedRuns(timeline)
    })
}

/// Migrations that failed on generated rows, or on a copy of real ones.
private func failedRuns(_ timeline: Timeline) -> [Draft] {
  timeline.rowFailures.filter { !$0.isOfMap }.map { failure in
    var draft = timeline.draft(
      failure.database.map { "the migration fails on a copy of \($0): \(failure.message)" }
        ?? "the migration fails on rows that the schema allows: \(failure.message)",
      at: failure.place, object: failure.object, table: failure.object,
      position: failure.position)
    draft.isCertain = failure.database != nil
    draft.failedTables = failure.tables
    return draft
  }
}

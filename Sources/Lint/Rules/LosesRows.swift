import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let losesRows = Rule(
    id: "loses-rows",
    section: .losesData,
    severities: .alwaysError,
    why: """
      A table exists before and after the migration, and rows of it are gone that no statement deletes \
      from it: a copy leaves them out by WHERE, LIMIT, GROUP BY, DISTINCT, a join or INSERT OR IGNORE; \
      nothing copies them at all; or a delete elsewhere takes them along, through ON DELETE CASCADE or \
      a trigger. A test database holds no such rows. Lint runs the migration on rows that it makes, \
      with and without each of them.
      """,
    fix: """
      Copy every row, and delete rows by a statement that names their table; rebuild_table takes `where` \
      with `rows_may_be_lost: true`. Leave out `foreign_keys: enforced` where foreign keys would act.
      """,
    bad: Rule.Example(
      .local, remindersManifest, rebuiltReminders(copy: " WHERE title IS NOT NULL")),
    good: Rule.Example(.local, remindersManifest, rebuiltReminders(copy: "")),
    check: .history { timeline, _ in
      let found = timeline.losses.losses.compactMap { loss -> Draft? in
        guard case .rows(let isAll) = loss.kind else { return nil }
        return timeline.draft(
          isAll
            ? "all rows of \(loss.table) are lost, and the table exists after the migration"
            : "some rows of \(loss.table) are lost: no statement deletes them from it",
          at: loss.place, keys: ["table", "name"], object: loss.table, table: loss.table)
      }
      // Where no rows could be tried.
      let replaced = timeline.changes.compactMap { change -> Draft? in
        guard let place = change.replacement, let table = change.before?.name,
          !timeline.losses.isJudged(table.identifier, in: change.migration)
        else { return nil }
        return timeline.draft(
          "all rows of \(table) are lost: a new table takes its name, and nothing copies them",
          at: change.removal ?? place, keys: ["table", "name"], object: table, table: table)
      }
      return found + replaced
    })
}

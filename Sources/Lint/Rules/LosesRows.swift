import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let losesRows = Rule(
    id: "loses-rows",
    section: .losesData,
    severities: .alwaysError,
    isFoundByRows: true,
    why: """
      A table exists before and after the migration, but rows are missing that no statement \
      deletes from it. A copy leaves them out through WHERE, LIMIT, GROUP BY, DISTINCT, a join or \
      INSERT OR IGNORE, or no statement copies them. INSERT OR REPLACE deletes the row that has \
      an equal unique value, and inserts one with another key. ON DELETE CASCADE or a trigger can \
      also delete them together with other rows. A test database rarely has such rows. Lint runs \
      the migration on rows that it generates, with and without each of them.
      """,
    fix: """
      Copy every row, and delete rows with a statement that names their table. `rebuild_table` \
      accepts `where` with `rows_may_be_lost: true`. Omit `foreign_keys: enforced` if foreign keys \
      would delete rows.
      """,
    wrong: rebuiltReminders(copy: " WHERE title IS NOT NULL"),
    right: rebuiltReminders(copy: ""),
    check: .history { timeline, _ in
      let found = timeline.losses.losses.compactMap { loss -> Draft? in
        guard case .rows(let isAll, let condition) = loss.kind else { return nil }
        let replacement = timeline.replacement(at: loss)
        let message =
          if case .empty(let other) = condition {
            "if `\(other)` is empty, all rows of `\(loss.table)` are lost"
          } else if isAll {
            "all rows of `\(loss.table)` are lost, and the table exists after the migration"
          } else if replacement != nil {
            "some rows of `\(loss.table)` are lost: REPLACE deletes them"
          } else if case .unmatched(let column, let other) = condition {
            "rows of `\(loss.table)` are lost if no row of `\(other)` matches their `\(column)`"
          } else {
            "some rows of `\(loss.table)` are lost: no statement deletes them from it"
          }
        return timeline.draft(
          message, at: loss.place, keys: ["table", "name"], object: loss.table, table: loss.table,
          help: replacement == .insert
            ? "use `INSERT … ON CONFLICT (…) DO UPDATE`, which keeps the row and its key" : nil)
      }
      // Tables that the loss experiment did not fill, although the change shows the loss.
      let replaced = timeline.changes.compactMap { change -> Draft? in
        guard let place = change.replacement, change.before?.isVirtual == false,
          let table = change.before?.name,
          !timeline.losses.isJudged(table.identifier, in: change.migration)
        else { return nil }
        return timeline.draft(
          "all rows of `\(table)` are lost: a new table has its name, and no statement copies them",
          at: change.removal ?? place, keys: ["table", "name"], object: table, table: table)
      }
      return found + replaced
    })
}

extension Timeline {
  /// The kind of the statement with a REPLACE clause at which the rows are lost; nil for other statements.
  fileprivate func replacement(at loss: Loss) -> WritingStatement.Kind? {
    let statement = statements(in: loss.place.migration).first { statement in
      statement.place == loss.place && statement.target?.name.isSameName(as: loss.table) ?? false
    }
    guard let sql = statement.map({ TokenizedSQL($0.sql) }), let writing = WritingStatement(sql),
      writing.replaces(sql)
    else { return nil }
    return writing.kind
  }
}

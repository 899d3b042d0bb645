import SchemaManifest
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let losesValues = Rule(
    id: "loses-values",
    section: .losesData,
    severities: .alwaysError,
    isFoundByRows: true,
    why: """
      A column exists before and after the migration, and its values are missing, or values that \
      differed are equal afterwards. One cause is a copy that leaves a column out or changes the \
      places of columns in `SELECT *`. Others are a new column with the name of a dropped column, \
      ON DELETE SET NULL, a text that becomes a number ('007' is 7), ranks in place of the values, \
      and values that move to other rows. A trigger that sets the time of the last change \
      overwrites it in every row that an UPDATE writes. Lint runs the migration on generated rows, \
      with one value and with another. If both runs leave the same database, the value is lost. \
      The form of the SQL makes no difference. Four kinds of changes are not findings: an UPDATE, \
      an upsert or an INSERT OR REPLACE, for the columns that it names; the conversion of values \
      that a new CHECK forbids; a date function that cuts off fractions of a second; and new \
      numbers in the old order in a column whose name means a position, such as `sort_order`.
      """,
    fix: """
      Copy the column's values before the migration drops the old column or table, or use \
      `rebuild_table`, `alter_column` or `move_column`, which keep them. To remove the column, use \
      `drop_column`.
      """,
    wrong: """
      - add_column:
          table: reminders
          column: { name: done, type: INTEGER, not_null: true, default: 0 }
      - drop_column: { table: reminders, column: isCompleted }
      - rename_column: { table: reminders, from: done, to: isCompleted }
      """,
    right: """
      - sql: ALTER TABLE reminders ADD COLUMN done INTEGER NOT NULL DEFAULT 0
      - update: { table: reminders, set: { done: isCompleted }, all: true }
      - sql: |
          ALTER TABLE reminders DROP COLUMN isCompleted;
          ALTER TABLE reminders RENAME COLUMN done TO isCompleted;
      """,
    check: .history { timeline, scope in
      let found = timeline.losses.losses.compactMap { loss -> Draft? in
        let object = loss.table + (loss.column.map { ".\($0)" } ?? "")
        let message: String
        var help: String?
        switch loss.kind {
        case .values(let isAll, let trigger?):
          message =
            "the trigger `\(trigger)` overwrites \(isAll ? "the" : "some") values of `\(object)`"
          help = "drop the trigger before this statement, and create it again afterwards"
        case .values(let isAll, nil):
          message =
            "\(isAll ? "the values" : "some values") of `\(object)` are lost: with other values there, "
            + "the database is the same after the migration"
        case .narrowed(let a, let b):
          message = "different values of `\(object)` become the same: \(a) and \(b)"
          help = "copy the values unchanged, or first to another column that keeps them"
        case .moved: message = "values of `\(object)` move to other rows"
        case .exchanged(let columns):
          message =
            "values of `\(object)` move to other columns: "
            + columns.map { "`\($0.from)` to `\($0.to)`" }.joined(separator: ", ")
        case .rows: return nil
        }
        return timeline.draft(
          message, at: loss.place, keys: ["column", "type", "from", "columns", "table"],
          column: loss.column, object: object, table: loss.table, help: help)
      }
      // Losses that the experiment with a single migration does not find: the table had no rows in
      // it, or another migration of the release gives the column's name to another column.
      let replaced = timeline.lostColumns(scope).compactMap { change, column, table -> Draft? in
        guard column.outcome == .dropped, let name = timeline.replacedName(of: column, in: change),
          change.after?.column(column.name) == nil
            || !timeline.losses.isJudged(table.identifier, in: change.migration)
        else { return nil }
        let message =
          if case .narrowed(let a, let b)? = timeline.destination(of: column, in: change) {
            "different values of `\(table).\(name)` become the same: \(a) and \(b)"
          } else {
            "the values of `\(table).\(name)` are lost: another column has its name afterwards"
          }
        return timeline.draft(
          message, at: column.place, keys: ["column", "from", "table"],
          object: "\(table).\(name)", table: table)
      }
      return found + replaced + timeline.unnamedValues
    })
}

extension Timeline {
  /// Values that a column accepts and the map of its `move_column` does not contain.
  fileprivate var unnamedValues: [Draft] {
    rowFailures.filter(\.isOfMap).compactMap { failure in
      let move = moves.last {
        $0.place.migration == failure.place.migration
          && $0.place.operation == failure.place.operation
      }
      guard let (place, move, table) = move else { return nil }
      return draft(
        "the map of `\(table.name).\(move.from)` does not name every value that the column accepts: "
          + failure.message,
        at: place, keys: ["map", "from"], object: "\(table.name).\(move.from)", table: table.name,
        help: "name each of these values in `map`")
    }
  }
}

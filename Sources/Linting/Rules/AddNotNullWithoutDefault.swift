import ManifestFormat
import SchemaModel

extension Rule {
  static let addNotNullWithoutDefault = Rule(
    id: "add-not-null-without-default",
    severities: .alwaysError,
    why: """
      SQLite accepts ADD COLUMN … NOT NULL without a default on an empty table, which is why it \
      passes every test on a new database, and refuses it as soon as there is one row: on every real \
      device. DEFAULT NULL is no better. A table made anew with such a column keeps its rows only if \
      the copy finds a value for each, and every INSERT of an older version of the app fails.
      """,
    fix: "Give the column a default, or let it be NULL.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - add_column:
            table: reminders
            column: { name: priority, type: INTEGER, not_null: true }
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - add_column:
            table: reminders
            column: { name: priority, type: INTEGER, not_null: true, default: 0 }
      """),
    check: { timeline, _ in
      timeline.changes.flatMap { change -> [Draft] in
        guard change.before != nil, let after = change.after else { return [] }
        return change.newColumns(countsStaged: false).compactMap { column in
          guard column.notNull != nil, column.defaultText == nil, !column.isGenerated,
            !after.isInPrimaryKey(column), !change.onlyRenames(column)
          else { return nil }
          let place = change.newest(of: [change.place(of: column.name)])
          return timeline.draft(
            "\(after.name).\(column.name) is new, NOT NULL and has no default: "
              + (timeline.fills(column.name, place)
                ? "rows that are there get their value, and every INSERT of an older version of the "
                  + "app, which does not name the column, fails"
                : "the migration fails on every database whose \(after.name) has rows, or has to make "
                  + "up a value for them"),
            at: place, keys: ["column", "columns", "table"], column: column.name,
            object: "\(after.name).\(column.name)", table: after.name)
        }
      }
    })
}

extension Timeline {
  /// Whether the operation that makes the column also gives it a value in each row.
  fileprivate func fills(_ column: String, _ place: StatementPlace) -> Bool {
    guard let operation = operation(place), case .moveColumn = operation.kind else { return false }
    return operation.definition(ofColumn: column) != nil
  }
}

extension TableChange {
  /// Whether the column was there and refused NULL under another name: then its values are there.
  fileprivate func onlyRenames(_ column: TableShape.Column) -> Bool {
    lost.contains { lost in
      guard case .renamed(let name) = lost.fate, before?.column(lost.name)?.notNull != nil else {
        return false
      }
      return name.asciiLowercased == column.name.asciiLowercased
    }
  }

  /// The last of these statements, or the one that made a copy of an earlier migration the table.
  func newest(of places: [StatementPlace]) -> StatementPlace {
    let own = places.filter { $0.migration == migration }
    return own.max { $0.number < $1.number } ?? removal ?? shaped
  }
}

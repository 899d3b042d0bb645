import SchemaManifest
import SchemaSQLText

extension Rule {
  static let addNotNullWithoutDefault = Rule(
    id: "add-not-null-without-default",
    section: .failsOnData,
    severities: .alwaysError,
    why: """
      SQLite takes ADD COLUMN … NOT NULL without a default on an empty table, which is why it \
      passes every test on a new database, and refuses it as soon as there is one row: on every real \
      device. DEFAULT NULL is no better. A table made anew with such a column keeps its rows only if \
      the copy has a value for each; what an older version of the app writes then is the subject of \
      new-required-column.
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
        guard let after = change.after else { return [] }
        return change.requiredColumns(timeline).filter { !$0.isFilled }.map { column, place, _ in
          timeline.draft(
            "\(after.name).\(column.name) is new, NOT NULL and has no default: the migration fails on "
              + "every database whose \(after.name) has rows, or has to make up a value for them",
            at: place, keys: ["column", "columns", "table"], column: column.name,
            object: "\(after.name).\(column.name)", table: after.name,
            fix: timeline.operation(place)?.definition(ofColumn: column.name)?.withDefault().yaml)
        }
      }
    })
}

extension Timeline {
  /// Whether the operation that makes the column also gives it a value in each row.
  fileprivate func fills(_ column: String, _ place: StatementPlace) -> Bool {
    switch operation(place)?.kind {
    case .moveColumn?: return operation(place)?.definition(ofColumn: column) != nil
    case .rebuildTable(let rebuild)?:
      return rebuild.copy.contains { $0.column.identifier == column.identifier }
    default: return false
    }
  }
}

extension TableChange {
  /// The new columns without which no row can be written, and whether the rows that are there get a
  /// value.
  func requiredColumns(
    _ timeline: Timeline
  ) -> [(column: TableShape.Column, place: StatementPlace, isFilled: Bool)] {
    guard before != nil, let after else { return [] }
    return newColumns(countsStaged: false).compactMap { column in
      guard column.notNull != nil, column.defaultText == nil, !column.isGenerated,
        !after.isInPrimaryKey(column), !onlyRenames(column)
      else { return nil }
      let place = newest(of: [place(of: column.name)])
      return (
        column, place, timeline.fills(column.name, place) || timeline.losses.ran(on: self)
      )
    }
  }

  /// Whether the column was there and refused NULL under another name: then its values are there.
  fileprivate func onlyRenames(_ column: TableShape.Column) -> Bool {
    lost.contains { lost in
      guard case .renamed(let name) = lost.fate, before?.column(lost.name)?.notNull != nil else {
        return false
      }
      return name.identifier == column.name.identifier
    }
  }

  /// The last of these statements, or the one that made a copy of an earlier migration the table.
  func newest(of places: [StatementPlace]) -> StatementPlace {
    let own = places.filter { $0.migration == migration }
    return own.max { $0.number < $1.number } ?? removal ?? shaped
  }
}

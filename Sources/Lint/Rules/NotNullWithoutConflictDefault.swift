import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let notNullWithoutConflictDefault = Rule(
    id: "not-null-without-conflict-default",
    section: .breaksDevices,
    severities: Severities(.off, .off, .error),
    concernsSyncedSchema: true,
    why: """
      A device with an older schema does not know a new column, and its rows arrive without a \
      value for it. The engine then inserts NULL, and NOT NULL refuses the row. A default does not \
      help, because it replaces a missing value and not NULL. Under sqlite-data a column must be \
      nullable or NOT NULL ON CONFLICT REPLACE with a DEFAULT: then SQLite replaces NULL by the \
      default. cr-sqlite needs only a default. `synced-primary-key` covers primary keys. The \
      foreign keys of a new table need no default.
      """,
    fix: """
      In a manifest, use `not_null: { on_conflict: replace }` and a `default`. In SQL, write NOT \
      NULL ON CONFLICT REPLACE DEFAULT x, in this order. Leave a foreign key nullable: no default \
      can name a row that exists on every device.
      """,
    examples: Example(.sqliteData),
    wrong: """
      - sql: |
          ALTER TABLE reminders
          ADD COLUMN "position" INTEGER NOT NULL DEFAULT 0
      """,
    right: """
      - sql: |
          ALTER TABLE reminders
          ADD COLUMN "position" INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0
      """,
    check: .history { timeline, scope in
      let asksForConflictClause = scope.profile != .crSQLite
      return timeline.syncedTables(scope).flatMap { table in
        table.columns.compactMap { column -> Draft? in
          func refusesNull(_ table: TableShape, _ columns: [Identifier]) -> Bool {
            guard let column = table.column(columns[0]), let action = column.notNull,
              !column.isGenerated, !table.isInPrimaryKey(column)
            else { return false }
            return column.defaultText == nil || asksForConflictClause && action != .replace
          }
          guard refusesNull(table, [column.key]),
            let change = timeline.origin(of: refusesNull, over: [column.key], in: table),
            !change.isParentOfNewTable(column)
          else { return nil }
          return draft(column, of: table, change, timeline, asksForConflictClause)
        }
      }
    })
}

extension TableChange {
  /// Whether the column is a foreign key of a new table. A device with that table also has the
  /// column, and no default can name a parent.
  fileprivate func isParentOfNewTable(_ column: TableShape.Column) -> Bool {
    before == nil && column.defaultText == nil
      && after?.foreignKeys.contains { $0.columns == [column.key] } ?? false
  }
}

private func draft(
  _ column: TableShape.Column, of table: TableShape, _ change: TableChange, _ timeline: Timeline,
  _ asksForConflictClause: Bool
) -> Draft {
  let place = change.newestPlace(of: column)
  let definition = timeline.operation(place)?.definition(ofColumn: column.name)
  let isForeignKey = table.foreignKeys.contains { $0.columns == [column.name.identifier] }
  let value = column.defaultText ?? Value.empty(ofType: column.type).sql
  let clause = "NOT NULL\(asksForConflictClause ? " ON CONFLICT REPLACE" : "") DEFAULT \(value)"
  let advice: String
  let fix: String
  if isForeignKey, column.defaultText == nil {
    advice = "Leave it nullable: no default can name a row that exists on every device"
    var nullable = definition
    nullable?.notNull = nil
    fix = nullable?.yaml ?? "NULL"
  } else {
    advice = "Write `\(clause)`"
    var required = definition?.withDefault()
    required?.notNull = asksForConflictClause ? .onConflict(.replace) : .plain
    fix = required?.yaml ?? clause
  }
  let lacks =
    column.defaultText == nil
    ? "NOT NULL and has no default" : "NOT NULL without ON CONFLICT REPLACE"
  return timeline.draft(
    "`\(table.name).\(column.name)` is \(lacks): rows of a device that does not know the column arrive "
      + "without a value for it, and NOT NULL refuses them. \(advice)",
    about: column, of: table, at: place, keys: ["column", "columns", "name", "table"], fix: fix,
    correction: asksForConflictClause ? correction(column, definition) : nil)
}

/// The correction, after which the default also replaces NULL. Nil unless the column has a default
/// and no other conflict clause.
private func correction(
  _ column: TableShape.Column, _ definition: ColumnDefinition?
) -> Correction? {
  guard column.defaultText != nil, let definition, definition.notNull == .plain else { return nil }
  return .replaceOnConflict(column: column.name, definition.position)
}

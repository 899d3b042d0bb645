import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let notNullWithoutConflictDefault = Rule(
    id: "not-null-without-conflict-default",
    section: .breaksDevices,
    severities: Severities(.off, .off, .error),
    concernsSyncedSchema: true,
    why: """
      A device with an older schema does not know a new column, and its rows arrive without a value \
      for it. The engine then inserts NULL, and NOT NULL refuses the row even if the column has a \
      default, because a default replaces a missing value and not NULL. Under sqlite-data a column \
      must be nullable or NOT NULL ON CONFLICT REPLACE with a DEFAULT: then SQLite replaces NULL by \
      the default. cr-sqlite needs only a default. synced-primary-key covers primary keys; the \
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
      return timeline.tables(syncedIn: scope).flatMap { change, after in
        change.newColumns(since: change.judged(scope)).compactMap { column -> Draft? in
          guard let action = column.notNull, !column.isGenerated, !after.isInPrimaryKey(column),
            column.defaultText == nil || asksForConflictClause && action != .replace,
            !change.isParentOfNewTable(column)
          else { return nil }
          return draft(column, of: after, change, timeline, asksForConflictClause)
        }
      }
    })
}

extension TableChange {
  /// Whether the column is a foreign key to a table that the migration creates. A device with that
  /// table also has the column, and no default can name a parent.
  fileprivate func isParentOfNewTable(_ column: TableShape.Column) -> Bool {
    known.isEmpty && column.defaultText == nil
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
  let value = column.defaultText ?? Literal.empty(ofType: column.type).sql
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
      + "without a value for it and are refused. \(advice)",
    about: column, of: table, at: place, keys: ["column", "columns", "name", "table"], fix: fix,
    correction: asksForConflictClause ? timeline.correction(column, definition, place) : nil)
}

extension Timeline {
  /// The default also replaces NULL. The correction is safe if there is a default and no other
  /// conflict clause.
  fileprivate func correction(
    _ column: TableShape.Column, _ definition: ColumnDefinition?, _ place: StatementPlace
  ) -> Correction? {
    guard column.defaultText != nil, column.notNull == .abort else { return nil }
    if let definition {
      return definition.notNull == .plain
        ? .replaceOnConflict(column: column.name, definition.position) : nil
    }
    return statement(at: place)?.notNull(of: column.name).map {
      .replaceOnConflictInSQL(column: column.name, place, $0)
    }
  }
}

extension StatementEffect {
  /// The range of NOT NULL in the definition of a column, in bytes from the statement's first word,
  /// if a DEFAULT follows it and there is no conflict clause.
  fileprivate func notNull(of column: String) -> Range<Int>? {
    let tokens = TokenizedSQL(sql)
    let beginning = tokens.significant.first
    var (start, text) = (0, sql)
    if tokens.isWord(beginning, "ALTER") {
      let definition = tokens.significant.drop { !tokens.isWord($0, "ADD") }.dropFirst()
        .drop { tokens.isWord($0, "COLUMN") }.prefix { tokens.text($0) != ";" }
      guard let first = definition.first, let last = definition.last else { return nil }
      // The only column of a table has the same grammar.
      let head = "CREATE TABLE t ("
      start = first.range.lowerBound - head.utf8.count
      text = head + tokens.text(first.range.lowerBound..<last.range.upperBound) + ")"
    }
    guard case .createTable(let table)? = try? parseCreate(TokenizedSQL(text)),
      let constraints = table.column(named: column)?.constraints,
      let place = constraints.firstIndex(where: { $0.kind == .notNull(onConflict: nil) }),
      constraints[place...].contains(where: { if case .default = $0.kind { true } else { false } })
    else { return nil }
    start -= beginning?.range.lowerBound ?? 0
    return constraints[place].range.moved(by: start)
  }
}

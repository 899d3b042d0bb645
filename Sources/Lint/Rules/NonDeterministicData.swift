import SchemaManifest
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let nonDeterministicData = Rule(
    id: "non-deterministic-data",
    section: .misplaced,
    severities: Severities(.warning, .warning, .warning),
    why: """
      A migration runs once on each device, and `random()`, `uuid()` and the clock give each \
      device another value. Rows that should be one row differ, and you cannot reproduce problems. \
      Where rows sync, each device's value is an edit against all others. The same happens when a \
      migration inserts rows and leaves out a column with such a default. A default that the app's \
      own INSERT uses is not a finding.
      """,
    fix: "Write a constant, or derive the value from the row itself.",
    wrong: "- sql: UPDATE reminders SET title = datetime('now') WHERE title IS NULL",
    right: "- sql: UPDATE reminders SET title = '2026-11-20' WHERE title IS NULL",
    check: .history { timeline, _ in
      var reported: Set<ExactText> = []
      return timeline.statements.flatMap { statement -> [Draft] in
        guard statement.writesValues, !timeline.convertsKey(statement.place) else { return [] }
        if let function = statement.changingFunction {
          return [called(function, statement, timeline)]
        }
        return leftOut(statement, timeline).filter { draft in
          // An operation may become one statement for each row.
          let place = statement.place
          let key = "\(place.migration) \(place.operation) \(draft.object ?? "")"
          return timeline.isWritten(place) || reported.insert(key.exact).inserted
        }
      }
    })
}

private func called(
  _ function: String, _ statement: StatementEffect, _ timeline: Timeline
) -> Draft {
  let table = statement.target?.name
  return timeline.draft(
    "the migration writes `\(function)` to rows" + (table.map { " of `\($0)`" } ?? "")
      + ": each device stores another value", at: statement.place,
    keys: ["set", "rows", "using", "copy", "table"], object: table ?? function, table: table)
}

/// The columns of inserted rows whose value comes from a default that is random or depends on the
/// time.
private func leftOut(_ statement: StatementEffect, _ timeline: Timeline) -> [Draft] {
  guard let target = statement.target, target.inserts,
    let named = statement.insertedColumns, let table = timeline.table(filledBy: statement)
  else { return [] }
  return table.columns.compactMap { column in
    guard !named.contains(column.key), let text = column.defaultText,
      [.chance, .time].contains(timeline.defaults[text])
    else { return nil }
    return timeline.draft(
      "the inserted rows of `\(table.name)` get `\(column.name)` from its default \(text): each device "
        + "stores another value",
      at: statement.place, keys: ["rows", "table"], object: "\(table.name).\(column.name)",
      table: table.name)
  }
}

/// Functions that return another result at each call, unlike functions of the time.
private let randomFunctions: Set<Identifier> = ["random", "randomblob", "uuid"]
private let currentValues: Set<Identifier> = ["current_timestamp", "current_date", "current_time"]

extension Timeline {
  /// The table that the statement inserts into, at the end of the migration.
  fileprivate func table(filledBy statement: StatementEffect) -> TableShape? {
    let migration = statement.place.migration
    let copied = changes(in: migration).first { change in
      change.copies.contains(statement.place)
    }
    return copied?.after ?? statement.target.flatMap { shape(of: $0.name, in: migration) }
  }
}

extension StatementEffect {
  /// The columns that an INSERT names; nil if it has no column list.
  fileprivate var insertedColumns: Set<Identifier>? {
    let sql = TokenizedSQL(self.sql)
    guard let statement = WritingStatement(sql), let source = statement.source else { return nil }
    let isDefault = sql.isWord(sql.significant(in: source).first, "DEFAULT")
    return statement.columns.isEmpty && !isDefault
      ? nil : Set(statement.columns.map(\.text.identifier))
  }

  fileprivate var writesValues: Bool {
    target.map { $0.inserts || !$0.updates.isEmpty } ?? false
  }

  /// The function in the written values, as the statement spells it.
  fileprivate var changingFunction: String? {
    guard calls(randomFunctions.union(currentValues).union(TimeFunctions.names)) else { return nil }
    let sql = TokenizedSQL(self.sql)
    let all = sql.significant[...]
    let tokens = sql.firstWord(of: ["WHERE", "FROM"], in: all).map { all[..<$0] } ?? all
    for index in tokens.indices where tokens[index].kind == .word {
      let name = sql.name(tokens[index])
      if currentValues.contains(name) { return name.text.uppercased() }
      guard index + 1 < tokens.endIndex, sql.text(tokens[index + 1]) == "(" else { continue }
      if randomFunctions.contains(name) { return "\(name)()" }
      if sql.readsClock(tokens[index...]) { return "\(name)('now')" }
    }
    return nil
  }
}

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
    return sql.changingFunction(writtenBy: sql.significant[...])
  }
}

/// The words that begin a part of a statement. FROM and WHERE contain no written values.
private let clauses: Set<Identifier> = ["SELECT", "SET", "VALUES", "FROM", "WHERE"]

extension TokenizedSQL {
  /// The function in the values of a statement or a subquery, also in values that it reads from a
  /// subquery.
  ///
  /// - Parameter read: the columns of the subquery that the statement reads, or `*`; nil for a
  ///   statement.
  fileprivate func changingFunction(
    writtenBy tokens: ArraySlice<Token>, _ read: Set<Identifier>? = nil
  ) -> String? {
    let starts = outer(tokens).filter {
      tokens[$0].kind == .word && clauses.contains(name(tokens[$0]))
    }
    let parts = zip([tokens.startIndex] + starts, starts + [tokens.endIndex]).map {
      tokens[$0..<$1]
    }
    let values = parts.filter { part in !["FROM", "WHERE"].contains { isWord(part.first, $0) } }
    // In a compound SELECT, only the first part has the names of the columns.
    let isCompound = values.count { isWord($0.first, "SELECT") } > 1
    let read = isCompound && read != nil ? ["*"] : read
    let items = values.flatMap { read == nil ? [$0] : split($0, atCommas: ()) }
    for item in items
    where read.map({ $0.contains("*") || item.last.map(name).map($0.contains) ?? false }) ?? true {
      if let function = changingFunction(in: item) { return function }
    }
    let names = names(
      readBy: values.filter { isWord($0.first, "SELECT") || isWord($0.first, "SET") })
    for part in parts where isWord(part.first, "FROM") {
      for index in outer(part) where isWord(part[index...].dropFirst().first, "SELECT") {
        if let function = changingFunction(writtenBy: inside(part[index...]), names) {
          return function
        }
      }
    }
    return nil
  }

  /// The names in the values, and `*` if they include all columns. The `*` of `a * b` and `count(*)`
  /// does not count.
  private func names(readBy values: [ArraySlice<Token>]) -> Set<Identifier> {
    let words = values.joined().filter { [.word, .quotedIdentifier].contains($0.kind) }
    let isAll = values.flatMap { split($0, atCommas: ()) }.contains { item in
      item.last.map(text) == "*"
        && ["SELECT", "DISTINCT", ".", "*"].contains(item.dropLast().last.map(word) ?? "*")
    }
    return Set(words.map(name)).union(isAll ? ["*"] : [])
  }

  private func changingFunction(in tokens: ArraySlice<Token>) -> String? {
    for index in tokens.indices where tokens[index].kind == .word {
      let name = name(tokens[index])
      if currentValues.contains(name) { return name.text.uppercased() }
      guard index + 1 < tokens.endIndex, text(tokens[index + 1]) == "(" else { continue }
      if randomFunctions.contains(name) { return "\(name)()" }
      if readsClock(tokens[index...]) { return "\(name)('now')" }
    }
    return nil
  }
}

import SchemaManifest
import SchemaModel
import SchemaSQLText

extension Rule {
  static let nonDeterministicData = Rule(
    id: "non-deterministic-data",
    section: .misplaced,
    severities: Severities(.warning, .warning, .warning),
    why: """
      The migration runs once on each device, and random(), uuid() or the time of day give each of \
      them another value. Rows that ought to be one row are different ones then, a support case \
      cannot be made again, and where rows sync, every device's version is an edit against all others. \
      A default that an INSERT of the app gets is no such thing.
      """,
    fix: "Write a constant, or derive the value from the row itself.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: UPDATE reminders SET title = datetime('now') WHERE title IS NULL
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: UPDATE reminders SET title = '2026-11-20' WHERE title IS NULL
      """),
    check: { timeline, _ in
      timeline.statements.compactMap { statement in
        guard statement.writesValues, !timeline.makesKeys(statement),
          let function = statement.changingFunction
        else { return nil }
        let table = statement.target?.name
        return timeline.draft(
          "\(function) is written into rows" + (table.map { " of \($0)" } ?? "")
            + ": every device gets another value", at: statement.place,
          keys: ["set", "rows", "using", "copy", "table"], object: table ?? function, table: table)
      }
    })
}

/// Other at each call, and other at each time of day.
private let randomFunctions: Set<Identifier> = ["random", "randomblob", "uuid"]
private let currentValues: Set<Identifier> = ["current_timestamp", "current_date", "current_time"]
private let timeFunctions: Set<Identifier> = [
  "date", "time", "datetime", "julianday", "unixepoch", "strftime",
]

extension Timeline {
  /// Whether the operation is there to make new keys.
  fileprivate func makesKeys(_ statement: StatementEffect) -> Bool {
    if case .convertPrimaryKey? = operation(statement.place)?.kind { true } else { false }
  }
}

extension StatementEffect {
  fileprivate var writesValues: Bool {
    target.map { $0.inserts || !$0.updates.isEmpty } ?? false
  }

  /// What stands in the values that are written, as it is called.
  fileprivate var changingFunction: String? {
    guard calls(randomFunctions.union(currentValues).union(timeFunctions)) else { return nil }
    let sql = TokenizedSQL(self.sql)
    let all = sql.significant[...]
    let tokens = sql.firstWord(of: ["WHERE", "FROM"], in: all).map { all[..<$0] } ?? all
    for index in tokens.indices where tokens[index].kind == .word {
      let name = sql.name(tokens[index])
      if currentValues.contains(name) { return name.text.uppercased() }
      guard index + 1 < tokens.endIndex, sql.text(tokens[index + 1]) == "(" else { continue }
      if randomFunctions.contains(name) { return "\(name)()" }
      let arguments = sql.inside(tokens[(index + 1)...])
      let isNow = arguments.contains {
        $0.kind == .string && sql.text($0).identifier == "'now'"
      }
      if timeFunctions.contains(name), arguments.isEmpty || isNow { return "\(name)('now')" }
    }
    return nil
  }
}

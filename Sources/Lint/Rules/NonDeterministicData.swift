import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let nonDeterministicData = Rule(
    id: "non-deterministic-data",
    section: .misplaced,
    severities: Severities(.warning, .warning, .warning),
    isFoundByRows: true,
    why: """
      A migration runs once on each device, and `random()`, `uuid()` and the clock give each \
      device another value. Rows that should be one row differ, and you cannot reproduce problems. \
      Where rows sync, each device's value is an edit against all others. The same happens when a \
      migration inserts rows and leaves out a column with such a default. Lint runs the migration \
      twice on generated rows, with other random values and at another time, and compares the \
      rows. Defaults of rows that the app inserts, and triggers, are not findings.
      """,
    fix: "Write a constant, or derive the value from the row itself.",
    wrong: "- sql: UPDATE reminders SET title = datetime('now') WHERE title IS NULL",
    right: "- sql: UPDATE reminders SET title = '2026-11-20' WHERE title IS NULL",
    check: .history { timeline, _ in
      var reported: Set<ExactText> = []
      return timeline.losses.varying.compactMap { timeline.draft(about: $0) }.filter { draft in
        reported.insert("\(draft.migration) \(draft.position) \(draft.object ?? "")".exact).inserted
      }
    })
}

extension Timeline {
  fileprivate func draft(about varying: LossEvidence.Key) -> Draft? {
    let migration = varying.migration
    let change = changes(in: migration).first { $0.after?.key == varying.table }
    let table = spelling(of: varying.table, in: migration)
    // Key conversion creates random keys.
    let statements = statements(in: migration).filter { !convertsKey($0.place) }
    let writing = statements.filter { statement in
      guard let target = statement.target else { return false }
      let isOfTable =
        target.name.identifier == varying.table
        || change?.copies.contains(statement.place) ?? false
      return isOfTable
        && varying.column.map { target.inserts || target.updates.contains($0) } ?? true
    }
    // A temporary table or a new one may have received the value first.
    let calling = writing.first { $0.varyingFunction != nil }
    let other = calling == nil ? statements.first { $0.varyingFunction != nil } : nil
    let column = varying.column.map { name in
      shape(of: table, in: migration)?.column(name)?.name ?? name.text
    }
    if let statement = calling ?? (writing.isEmpty ? other : nil) {
      return draft(calledBy: statement, table, column)
    }
    guard let column, let statement = writing.first,
      let text = shape(of: table, in: migration)?.column(column.identifier)?.defaultText
    else { return other.flatMap { draft(calledBy: $0, table, column) } }
    let tokens = TokenizedSQL(text)
    let value = tokens.oneLine(in: 0..<tokens.bytes.count)
    return draft(
      "the inserted rows of `\(table)` get `\(column)` from its default `\(value)`: each database "
        + "stores another value",
      at: statement.place, keys: ["rows", "table"], object: "\(table).\(column)", table: table)
  }

  private func draft(
    calledBy statement: StatementEffect, _ table: String, _ column: String?
  ) -> Draft {
    let function = statement.varyingFunction ?? ""
    let isDelete = statement.target.map { $0.updates.isEmpty && !$0.inserts } ?? false
    return draft(
      (isDelete ? nil : column).map { column in
        "`\(table).\(column)` depends on `\(function)`: each database stores another value"
      } ?? "the rows of `\(table)` depend on `\(function)`: each database keeps different rows",
      at: statement.place, keys: ["set", "rows", "using", "copy", "table"], object: table,
      table: table)
  }
}

extension StatementEffect {
  /// The random or time function that the statement calls.
  fileprivate var varyingFunction: String? {
    let name = events.lazy.filter { $0.action == .function }.compactMap(\.second?.identifier)
      .first(where: varyingFunctions.contains)
    guard let name, calls(varyingFunctions) else { return nil }
    return name.text.hasPrefix("current_") ? name.text.uppercased() : "\(name.text)()"
  }
}

import SchemaSQLText

/// An UPDATE or DELETE of one table that has the same effect if it runs for one range of rowids after the
/// other, because it treats each row independently of other rows.
package struct DividedStatement: Sendable {
  package let table: String
  /// The columns that an UPDATE sets; empty for DELETE.
  let assigned: Set<Identifier>
  private let beginning: String
  private let condition: String?

  /// Parses a statement.
  ///
  /// - Returns: nil for a statement that cannot be divided.
  package init?(_ sql: String) {
    let tokens = TokenizedSQL(sql)
    guard let statement = WritingStatement(tokens), statement.kind != .insert,
      !statement.hasCommonTables, statement.table.schema?.isSame(as: "main") ?? true,
      statement.target == statement.nameRange,
      statement.kind == .delete || statement.assignments != nil,
      !Self.readsMore(tokens, from: statement.target.upperBound)
    else { return nil }
    table = statement.table.name.text
    assigned = Set((statement.assignments ?? []).map(\.column.text.identifier))
    beginning = tokens.text(statement.beginning)
    condition = statement.condition.map(tokens.text)
  }

  /// Whether the statement reads other rows, returns rows, selects rows by their order, or reads the clock.
  private static func readsMore(_ tokens: TokenizedSQL, from start: Int) -> Bool {
    let words = tokens.significant(in: start..<tokens.bytes.count)
    let reading: Set<Identifier> = ["select", "values", "from", "returning", "order", "limit"]
    return words.indices.contains { index in
      if tokens.readsClock(words[index...]) { return true }
      guard words[index].kind == .word else { return false }
      let word = tokens.text(words[index])
      // IN with a list of values does not read rows.
      let isList = index + 1 < words.count && tokens.text(words[index + 1]) == "("
      return reading.contains(word) || word.identifier == "in" && !isList
    }
  }

  /// Returns the statement for the rows from rowid ?1 to rowid ?2.
  ///
  /// - Parameter rowid: a name of the rowid that no column of the table hides.
  package func ranged(by rowid: String) -> String {
    // The line feeds end a comment at the end of the text.
    "\(beginning)\nWHERE \(condition.map { "(\($0)\n) AND " } ?? "")\(rowid) BETWEEN ?1 AND ?2"
  }
}

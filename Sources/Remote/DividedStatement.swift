import SchemaSQLText
import SchemaSQLite

/// An UPDATE or DELETE of one table that has the same effect if it runs for one range of rowids after the other,
/// because it decides about each row by that row alone.
package struct DividedStatement: Sendable {
  package let table: String
  /// The columns that it sets; for DELETE none.
  let assigned: Set<Identifier>
  private let beginning: String
  private let condition: String?

  /// - Returns: nil for any other statement.
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

  /// Whether the statement reads other rows, gives some, picks them by their order, or asks for the time.
  private static func readsMore(_ tokens: TokenizedSQL, from start: Int) -> Bool {
    let words = tokens.significant(in: start..<tokens.bytes.count)
    let reading: Set<Identifier> = ["select", "values", "from", "returning", "order", "limit"]
    return words.indices.contains { index in
      if tokens.readsClock(words[index...]) { return true }
      guard words[index].kind == .word else { return false }
      let word = tokens.text(words[index])
      // A list of values reads no rows.
      let isList = index + 1 < words.count && tokens.text(words[index + 1]) == "("
      return reading.contains(word) || word.identifier == "in" && !isList
    }
  }

  /// The statement for the rows from ?1 to ?2.
  ///
  /// - Parameter rowid: a name of the rowid that no column hides.
  package func ranged(by rowid: String) -> String {
    // A comment may end the text.
    "\(beginning)\nWHERE \(condition.map { "(\($0)\n) AND " } ?? "")\(rowid) BETWEEN ?1 AND ?2"
  }
}

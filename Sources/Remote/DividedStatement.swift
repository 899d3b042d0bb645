import SchemaSQLText
import SchemaSQLite

/// An UPDATE or DELETE of one table that has the same effect if it runs for one range of rowids after the other,
/// because it decides about each row by that row alone.
package struct DividedStatement: Sendable {
  package let table: String
  /// The columns that it sets; for DELETE none.
  let assigned: Set<Identifier>
  /// Whether it changes every row.
  let isOfAllRows: Bool
  private let beginning: String
  private let condition: String?

  /// - Returns: nil for any other statement.
  package init?(_ sql: String) {
    let tokens = TokenizedSQL(sql)
    var words = tokens.significant
    while words.last.map({ tokens.text($0) == ";" }) ?? false { words.removeLast() }
    func text(_ index: Int) -> String { index < words.count ? tokens.text(words[index]) : "" }
    func isWord(_ index: Int, _ word: Identifier) -> Bool {
      index < words.count && words[index].kind == .word && text(index).identifier == word
    }
    var next = 1
    if isWord(0, "update") {
      if isWord(1, "or") { next = 3 }
    } else {
      guard isWord(0, "delete"), isWord(1, "from") else { return nil }
      next = 2
    }
    guard next < words.count else { return nil }
    if text(next + 1) == "." {
      guard Quoting.unquoted(text(next)).identifier == "main" else { return nil }
      next += 2
    }
    table = Quoting.unquoted(text(next))
    let isUpdate = isWord(0, "update")
    guard !isUpdate || isWord(next + 1, "set") else { return nil }
    let forbidden: [Identifier] = [
      "select", "values", "from", "returning", "order", "limit", "indexed", "in", "as",
    ]
    var assigned: Set<Identifier> = []
    var filter: Int?
    var depth = 0
    for index in words.indices where index > next {
      let word = text(index)
      depth += word == "(" ? 1 : word == ")" ? -1 : 0
      if forbidden.contains(where: { isWord(index, $0) }) {
        // A list of values reads no rows, and CAST names a type.
        let isHarmless =
          isWord(index, "as") && depth > 0
          || isWord(index, "in") && text(index + 1) == "(" && !isWord(index + 2, "select")
        guard isHarmless else { return nil }
      }
      if depth == 0, filter == nil, isWord(index, "where") { filter = index }
      if isUpdate, depth == 0, filter == nil, word == "=", text(index - 1) != ")" {
        assigned.insert(Quoting.unquoted(text(index - 1)).identifier)
      }
      // (a, b) = (…) sets several columns.
      if isUpdate, depth == 0, filter == nil, word == "=", text(index - 1) == ")" { return nil }
    }
    self.assigned = assigned
    isOfAllRows = filter == nil
    let end = words.last?.range.upperBound ?? 0
    let start = filter.map { words[$0].range.lowerBound } ?? end
    beginning = tokens.text(0..<start)
    condition = filter.map { tokens.text(words[$0].range.upperBound..<end) }
  }

  /// The statement for the rows from ?1 to ?2.
  ///
  /// - Parameter rowid: a name of the rowid that no column hides.
  package func ranged(by rowid: String) -> String {
    // A comment may end the text.
    "\(beginning)\nWHERE \(condition.map { "(\($0)\n) AND " } ?? "")\(rowid) BETWEEN ?1 AND ?2"
  }
}

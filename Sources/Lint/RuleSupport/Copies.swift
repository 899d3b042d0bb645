import SchemaSQLText

/// Which expression of a copying statement each column of the new table gets.
struct CopyMapping {
  /// Columns that the statement does not name are missing.
  private(set) var expressions: [Identifier: Expression] = [:]
  let text: CopyText

  struct Expression {
    /// The name, when it is a column and nothing else.
    let column: Identifier?
    /// All names that stand in it.
    let names: Set<Identifier>
    let isCast: Bool
    /// How CREATE TABLE … AS SELECT calls the column.
    let name: Identifier?
  }

  /// Nil when the statement is no copy of rows.
  ///
  /// - Parameters:
  ///   - columns: those that take values; nil: the statement itself names them.
  ///   - source: the columns of its source, if that is not a table of the schema.
  init?(_ copy: RowCopy, into columns: [Identifier]?, from source: [Identifier]? = nil) {
    let sql = TokenizedSQL(copy.sql)
    guard let text = CopyText(sql) else { return nil }
    self.text = text
    let source = copy.source?.columns.map(\.key) ?? source
    let results = text.select.results.flatMap { Self.expand($0, source, sql) }
    let targets = text.columns ?? columns ?? results.compactMap(\.name)
    guard results.count == targets.count else { return }
    for (target, expression) in zip(targets, results) { expressions[target] = expression }
  }

  /// `*` stands for every column of the source.
  private static func expand(
    _ term: ArraySlice<Token>, _ source: [Identifier]?, _ sql: TokenizedSQL
  ) -> [Expression] {
    if let last = term.last, sql.text(last) == "*", term.count == 1 || term.count == 3 {
      return (source ?? []).map { Expression(column: $0, names: [$0], isCast: false, name: $0) }
    }
    var term = term
    var alias: Identifier?
    if let word = sql.firstWord(of: ["AS"], in: term) {
      alias = term[word...].dropFirst().first.map(sql.name)
      term = term[..<word]
    }
    while let first = term.first, sql.text(first) == "(", sql.inside(term).count == term.count - 2 {
      term = sql.inside(term)
    }
    let names = Set(
      term.lazy.filter { $0.kind == .word || $0.kind == .quotedIdentifier }.map(sql.name))
    var column: Identifier?
    if let last = term.last, last.kind == .word || last.kind == .quotedIdentifier,
      term.count == 1 || term.count == 3 && sql.text(term[term.startIndex + 1]) == "."
    {
      let name = sql.name(last)
      let isName = last.kind == .quotedIdentifier || !Keywords.isKeyword(name.text)
      if source?.contains(name) ?? isName { column = name }
    }
    return [
      Expression(
        column: column, names: names, isCast: sql.isWord(term.first, "CAST"),
        name: alias ?? column)
    ]
  }
}

extension TableShape {
  /// The columns that INSERT gives values to when it names none.
  var filledColumns: [Identifier] { columns.filter { !$0.isGenerated }.map(\.key) }
}

extension TableChange {
  /// What the new table's columns got, when the rows came straight from the old one in a single
  /// statement of the manifest.
  func mapping(_ timeline: Timeline) -> (copy: RowCopy, mapping: CopyMapping)? {
    guard let after, isRebuilt, copies.count == 1, let copy = copies.first, copy.source != nil,
      timeline.isWritten(copy.place), let mapping = CopyMapping(copy, into: after.filledColumns)
    else { return nil }
    return (copy, mapping)
  }

  /// Whether the copy into the new table gives the column a value of its own in each row.
  func fills(_ column: String, _ timeline: Timeline) -> Bool {
    handCopies(timeline).contains { copy in
      guard copy.isLast, let text = CopyText(TokenizedSQL(copy.sql)) else { return false }
      return text.columns?.contains(column.identifier) ?? true
    }
  }

  /// Whether a copy leaves rows out by a condition on the column.
  func filters(_ column: Identifier, _ timeline: Timeline) -> Bool {
    handCopies(timeline).contains { copy in
      guard let text = CopyText(TokenizedSQL(copy.sql)) else { return false }
      return text.onConflict != nil || text.select.filterNames.contains(column)
        || text.select.filter == "DISTINCT"
    }
  }
}

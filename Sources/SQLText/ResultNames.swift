extension CreateView {
  /// The names of the view's result columns that are the texts of expressions, unchanged and in
  /// order.
  ///
  /// SQLite names a column this way if an expression has no alias and is not just a column's name.
  /// White space and comments are part of such a name, although they are not significant tokens.
  /// Includes names within the view's sources, which `*` passes through.
  ///
  /// Source: `sqlite3ColumnsFromExprList` of SQLite's `select.c`.
  package func resultTexts(_ sql: TokenizedSQL) -> [[UInt8]] {
    guard columns.isEmpty else { return [] }
    var reader = ResultTextReader(sql: sql)
    reader.read(sql.significant(in: selectRange)[...], depth: 0)
    return reader.texts
  }
}

private struct ResultTextReader {
  let sql: TokenizedSQL
  var texts: [[UInt8]] = []

  /// The maximum depth of SQLite's parser.
  private static let deepest = 100
  private static let ends = [
    "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT",
  ]
  /// After one of these words, a name is an operand and not an alias.
  private static let operators = [
    "AND", "OR", "NOT", "IS", "IN", "LIKE", "GLOB", "MATCH", "REGEXP", "BETWEEN", "COLLATE",
    "ESCAPE",
    "EXISTS", "CASE", "WHEN", "THEN", "ELSE", "OVER", "DISTINCT", "ALL", "FROM",
  ]

  /// - Parameter tokens: a SELECT including WITH, compounds and ORDER BY.
  mutating func read(_ tokens: ArraySlice<Token>, depth: Int) {
    guard depth < Self.deepest else { return }
    var rest = tokens
    if isWord(rest.first, "WITH") { readCommonTables(&rest, depth: depth) }
    // The first SELECT of a compound determines its names.
    guard isWord(rest.first, "SELECT") else { return }
    rest = rest.dropFirst()
    if isWord(rest.first, "DISTINCT") || isWord(rest.first, "ALL") { rest = rest.dropFirst() }
    let end = endOfList(rest)
    for term in sql.split(rest[..<end], atCommas: ()) { readTerm(term) }
    readSources(rest[end...], depth: depth)
  }

  /// Skips a WITH clause, such as `a AS (SELECT …), b (x, y) AS MATERIALIZED (SELECT …)`, and reads its
  /// SELECTs, unless their result columns have other names.
  private mutating func readCommonTables(_ rest: inout ArraySlice<Token>, depth: Int) {
    rest = rest.dropFirst()
    var hasColumns = false
    while let token = rest.first, !isWord(token, "SELECT"), !isWord(token, "VALUES") {
      guard text(token) == "(" else {
        if text(token) == "," { hasColumns = false }
        rest = rest.dropFirst()
        continue
      }
      let end = sql.closing(rest)
      let inner = rest[rest.startIndex..<end].dropFirst()
      if ["SELECT", "WITH", "VALUES"].contains(where: { isWord(inner.first, $0) }) {
        if !hasColumns { read(inner, depth: depth + 1) }
      } else {
        hasColumns = true
      }
      rest = rest[end...].dropFirst()
    }
  }

  /// Reads the SELECTs in the FROM clause.
  private mutating func readSources(_ tokens: ArraySlice<Token>, depth: Int) {
    guard isWord(tokens.first, "FROM") else { return }
    var index = tokens.startIndex + 1
    while index < tokens.endIndex {
      if Self.ends.contains(where: { isWord(tokens[index], $0) }) { return }
      if text(tokens[index]) == "(" {
        let end = sql.closing(tokens[index...])
        let inner = tokens[index..<end].dropFirst()
        let isSource =
          ["FROM", "JOIN"].contains { isWord(tokens[index - 1], $0) }
          || [",", "("].contains(text(tokens[index - 1]))
        if isSource, isWord(inner.first, "SELECT") || isWord(inner.first, "WITH") {
          read(inner, depth: depth + 1)
          index = end
        } else if !isSource {
          index = end
        }
      }
      index += 1
    }
  }

  private mutating func readTerm(_ term: ArraySlice<Token>) {
    guard let first = term.first, let last = term.last else { return }
    guard term.count > 1, !hasAlias(term), !isName(term) else { return }
    texts.append(Array(sql.bytes[first.range.lowerBound..<last.range.upperBound]))
  }

  private func hasAlias(_ term: ArraySlice<Token>) -> Bool {
    var cases = 0
    for index in sql.outer(term) {
      if isWord(term[index], "AS") { return true }
      if isWord(term[index], "CASE") { cases += 1 }
      if isWord(term[index], "END") { cases -= 1 }
    }
    guard let last = term.last, let before = term.dropLast().last else { return false }
    // The END of a CASE is not an alias, but a name after END is.
    let isEnd =
      isWord(last, "END") && cases >= 0
      && term.contains { isWord($0, "CASE") }
    let isOperand =
      before.kind == .punctuation
      ? text(before) == ")" : !Self.operators.contains { isWord(before, $0) }
    return isNameToken(last) && isOperand && !isEnd
  }

  /// Whether a term is the name of a column or `*`, optionally qualified, in parentheses or with
  /// COLLATE.
  private func isName(_ term: ArraySlice<Token>) -> Bool {
    var term = term
    while term.count > 2 {
      if isWord(term.dropLast().last, "COLLATE") {
        term = term.dropLast(2)
      } else if let first = term.first, text(first) == "(", sql.closing(term) == term.endIndex - 1 {
        term = term.dropFirst().dropLast()
      } else {
        break
      }
    }
    return term.enumerated().allSatisfy { offset, token in
      offset.isMultiple(of: 2)
        ? isNameToken(token) || text(token) == "*" && term.count > 1 : text(token) == "."
    }
  }

  // MARK: Tokens

  /// The end of a SELECT's result list.
  private func endOfList(_ tokens: ArraySlice<Token>) -> Int {
    sql.outer(tokens).first { index in
      // IS [NOT] DISTINCT FROM
      Self.ends.contains { isWord(tokens[index], $0) }
        && !(isWord(tokens[index], "FROM") && isWord(tokens[..<index].last, "DISTINCT"))
    } ?? tokens.endIndex
  }

  private func text(_ token: Token) -> String { sql.text(token) }

  private func isWord(_ token: Token?, _ word: String) -> Bool { sql.isWord(token, word) }

  private func isNameToken(_ token: Token) -> Bool {
    switch token.kind {
    case .quotedIdentifier, .string: true
    case .word: !Keywords.contains(Keywords.reservedVersion1, sql.bytes[token.range])
    default: false
    }
  }
}

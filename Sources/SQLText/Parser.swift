/// Parses one CREATE statement by SQLite's grammar, with an optional `;` at its end.
///
/// It accepts every statement that SQLite accepts. Of expressions, SELECTs and the statements of a trigger it
/// finds only the end, and does not check their grammar. It takes linear time for any nesting.
///
/// - Throws: `SyntaxError` for any other text. SQLite's own error gives the reason.
package func parseCreate(_ sql: TokenizedSQL) throws(SyntaxError) -> ParsedStatement {
  var parser = try Parser(sql)
  return try parser.statement()
}

/// A position in the significant tokens, with the clauses that several statements share.
struct Parser {
  let sql: TokenizedSQL
  let tokens: [Token]
  var position = 0
  /// False for the arguments of a virtual table, which may contain any token.
  var endsAtSemicolon = true

  init(_ sql: TokenizedSQL) throws(SyntaxError) {
    self.sql = sql
    self.tokens = sql.significant
    if tokens.contains(where: { $0.kind == .illegal }) { throw SyntaxError() }
  }

  mutating func statement() throws(SyntaxError) -> ParsedStatement {
    try expect("CREATE")
    let statement = try created()
    while take(";") {}
    guard position == tokens.count else { throw SyntaxError() }
    return statement
  }

  private mutating func created() throws(SyntaxError) -> ParsedStatement {
    if take("VIRTUAL") { return .createVirtualTable(try virtualTable()) }
    if take("UNIQUE") { return .createIndex(try index(isUnique: true)) }
    if take("INDEX") { return .createIndex(try index(isUnique: false)) }
    let isTemporary = take("TEMP") || take("TEMPORARY")
    if take("TABLE") { return .createTable(try table(isTemporary: isTemporary)) }
    if take("VIEW") { return .createView(try view(isTemporary: isTemporary)) }
    if take("TRIGGER") { return .createTrigger(try trigger(isTemporary: isTemporary)) }
    throw SyntaxError()
  }
}

// MARK: Tokens

extension Parser {
  /// Whether the token at an index is this keyword or operator.
  func matches(_ index: Int, _ text: String) -> Bool {
    guard tokens.indices.contains(index) else { return false }
    let token = tokens[index]
    return (token.kind == .word || token.kind == .punctuation)
      && token.range.count == text.utf8.count && sql.has(token, text)
  }

  func at(_ text: String) -> Bool {
    matches(position, text)
  }

  var isAtEnd: Bool {
    position == tokens.count || (endsAtSemicolon && at(";"))
  }

  mutating func take(_ text: String) -> Bool {
    guard at(text) else { return false }
    position += 1
    return true
  }

  mutating func expect(_ text: String) throws(SyntaxError) {
    guard take(text) else { throw SyntaxError() }
  }

  /// The bytes from the token at `start` to the last consumed one.
  func range(from start: Int) -> Range<Int> {
    range(of: start..<max(position, start + 1))
  }

  /// The bytes of these tokens. The range must not be empty.
  func range(of indices: Range<Int>) -> Range<Int> {
    tokens[indices.lowerBound].range.lowerBound..<tokens[indices.upperBound - 1].range.upperBound
  }
}

// MARK: Names

extension Parser {
  /// The name at an index, if the token matches `nm` of SQLite's grammar.
  func name(at index: Int) -> Name? {
    guard tokens.indices.contains(index) else { return nil }
    let token = tokens[index]
    switch token.kind {
    case .quotedIdentifier, .string: break
    case .word where !isWord(index, of: Keywords.reservedVersion1): break
    default: return nil
    }
    return Name(text: Quoting.unquoted(sql.text(token)), range: token.range)
  }

  func isWord(_ index: Int, of words: Set<Identifier>) -> Bool {
    tokens[index].kind == .word && Keywords.contains(words, sql.bytes[tokens[index].range])
  }

  mutating func name() throws(SyntaxError) -> Name {
    guard let name = name(at: position) else { throw SyntaxError() }
    position += 1
    return name
  }

  mutating func qualifiedName() throws(SyntaxError) -> QualifiedName {
    let first = try name()
    guard take(".") else { return QualifiedName(schema: nil, name: first) }
    return QualifiedName(schema: first, name: try name())
  }

  /// One or more names with commas between them.
  mutating func names() throws(SyntaxError) -> [Name] {
    var names = [try name()]
    while take(",") { names.append(try name()) }
    return names
  }

  /// Names in parentheses; empty if there are none.
  mutating func optionalNames() throws(SyntaxError) -> [Name] {
    guard take("(") else { return [] }
    let names = try names()
    try expect(")")
    return names
  }

  /// The clauses after CREATE and the kind of the object.
  mutating func header(isTemporary: Bool) throws(SyntaxError) -> CreateHeader {
    let ifNotExists = ifNotExists()
    let name = try qualifiedName()
    return CreateHeader(
      schema: name.schema, name: name.name, isTemporary: isTemporary, ifNotExists: ifNotExists)
  }

  private mutating func ifNotExists() -> Bool {
    guard at("IF"), matches(position + 1, "NOT"), matches(position + 2, "EXISTS") else {
      return false
    }
    position += 3
    return true
  }
}

// MARK: Expressions

extension Parser {
  /// An expression in parentheses. Only its end is determined.
  mutating func parenthesized() throws(SyntaxError) -> Expression {
    let open = position
    try expect("(")
    try skipToClosing()
    guard position > open + 2 else { throw SyntaxError() }
    return Expression(
      range: range(of: open + 1..<position - 1), outerRange: range(of: open..<position))
  }

  /// The token ranges between the commas of a list in parentheses. A range may be empty.
  mutating func items() throws(SyntaxError) -> [Range<Int>] {
    try expect("(")
    var items: [Range<Int>] = []
    var start = position
    while !at(")") {
      if at(",") {
        items.append(start..<position)
        start = position + 1
      }
      try skipOne()
    }
    items.append(start..<position)
    position += 1
    return items
  }

  /// Terms of an index, PRIMARY KEY or UNIQUE.
  mutating func indexedTerms() throws(SyntaxError) -> [IndexedTerm] {
    try indexedTerms(items())
  }

  mutating func indexedTerms(_ items: [Range<Int>]) throws(SyntaxError) -> [IndexedTerm] {
    guard !items.contains(where: \.isEmpty) else { throw SyntaxError() }
    return items.map(indexedTerm)
  }

  /// The rest of the statement, up to its `;`.
  mutating func rest() throws(SyntaxError) -> Range<Int> {
    guard !isAtEnd else { throw SyntaxError() }
    let start = position
    while !isAtEnd { position += 1 }
    return range(from: start)
  }

  mutating func select() throws(SyntaxError) -> Range<Int> {
    guard at("SELECT") || at("VALUES") || at("WITH") else { throw SyntaxError() }
    return try rest()
  }

  /// Skips a token, or everything between two parentheses.
  mutating func skipOne() throws(SyntaxError) {
    guard !isAtEnd else { throw SyntaxError() }
    let isOpening = at("(")
    position += 1
    if isOpening { try skipToClosing() }
  }

  /// Skips to the token after the `)` that closes the last `(`. Uses a counter, because deep nesting would
  /// exhaust the stack of a recursive function.
  private mutating func skipToClosing() throws(SyntaxError) {
    var depth = 1
    while depth > 0 {
      guard !isAtEnd else { throw SyntaxError() }
      depth += at("(") ? 1 : at(")") ? -1 : 0
      position += 1
    }
  }

  private func indexedTerm(_ item: Range<Int>) -> IndexedTerm {
    var end = item.upperBound
    var order: SortOrder?
    if item.count > 1, matches(end - 1, "ASC") || matches(end - 1, "DESC") {
      order = matches(end - 1, "ASC") ? .ascending : .descending
      end -= 1
    }
    var collation: Name?
    var base = end
    while base - item.lowerBound > 2, matches(base - 2, "COLLATE"), let name = name(at: base - 1) {
      collation = collation ?? name
      base -= 2
    }
    // COLLATE binds tighter than any operator, so it applies to the whole term only after a single
    // operand.
    if !isOperand(item.lowerBound..<base) {
      base = end
      collation = nil
    }
    let bytes = range(of: item.lowerBound..<base)
    return IndexedTerm(
      range: range(of: item), expression: Expression(range: bytes, outerRange: bytes),
      column: soleName(item.lowerBound..<base), collation: collation, order: order)
  }

  /// Whether the tokens are one name or value, `(…)` or `f(…)`.
  private func isOperand(_ indices: Range<Int>) -> Bool {
    if indices.count == 1 { return true }
    let open = indices.lowerBound + (matches(indices.lowerBound, "(") ? 0 : 1)
    return matches(open, "(")
      && sql.closing(tokens[open..<indices.upperBound]) == indices.upperBound - 1
  }

  /// The name in `a` or `((a))`.
  private func soleName(_ indices: Range<Int>) -> Name? {
    var indices = indices
    while indices.count > 2, matches(indices.lowerBound, "("), matches(indices.upperBound - 1, ")")
    {
      indices = indices.lowerBound + 1..<indices.upperBound - 1
    }
    return indices.count == 1 ? name(at: indices.lowerBound) : nil
  }
}

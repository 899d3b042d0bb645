/// The byte ranges of the clauses of an INSERT, UPDATE or DELETE. Only parts outside of parentheses are read.
package struct WritingStatement: Sendable {
  package enum Kind: Sendable {
    /// INSERT or REPLACE.
    case insert
    case update, delete
  }

  package let kind: Kind
  /// Whether the statement begins with WITH.
  package let hasCommonTables: Bool
  package let table: QualifiedName
  /// The table's name, including the name of its database.
  package let nameRange: Range<Int>
  /// The same; for UPDATE and DELETE including an alias and INDEXED BY.
  package let target: Range<Int>
  /// The columns that an INSERT names; empty if it names none.
  package let columns: [Name]
  /// The VALUES or SELECT of an INSERT, with all clauses after it; nil for other statements.
  package let source: Range<Int>?
  /// The columns and new values of an UPDATE; nil if it assigns to a list of columns, and for other
  /// statements.
  package private(set) var assignments: [(column: Name, value: Range<Int>)]?
  /// Everything before WHERE.
  package let beginning: Range<Int>
  package let condition: Range<Int>?
  /// The words FROM, RETURNING, ORDER and LIMIT that an UPDATE or DELETE contains.
  package let otherClauses: Set<Identifier>

  /// Nil for any other statement.
  package init?(_ sql: TokenizedSQL) {
    do {
      var parser = try Parser(sql)
      try self.init(&parser)
    } catch {
      return nil
    }
  }

  private init(_ parser: inout Parser) throws(SyntaxError) {
    hasCommonTables = parser.at("WITH")
    let verbs = ["INSERT", "REPLACE", "UPDATE", "DELETE"]
    while hasCommonTables, !verbs.contains(where: parser.at) { try parser.skipOne() }
    kind = parser.take("UPDATE") ? .update : parser.take("DELETE") ? .delete : .insert
    if kind == .insert, !parser.take("INSERT"), !parser.take("REPLACE") {
      throw SyntaxError()
    }
    if parser.take("OR") { parser.position += 1 }
    if kind == .insert { try parser.expect("INTO") }
    if kind == .delete { try parser.expect("FROM") }
    let start = parser.position
    table = try parser.qualifiedName()
    nameRange = parser.range(from: start)
    guard kind != .insert else {
      target = nameRange
      if parser.take("AS") { _ = try parser.name() }
      columns = try parser.optionalNames()
      let rest = try parser.rest()
      (source, condition, otherClauses) = (rest, nil, [])
      beginning = 0..<rest.upperBound
      return
    }
    columns = []
    source = nil
    let afterName = parser.position
    var outer: [Int] = []
    while !parser.isAtEnd {
      outer.append(parser.position)
      try parser.skipOne()
    }
    let end = parser.position
    // The FROM of `IS DISTINCT FROM` does not begin a clause.
    func place(of word: String) -> Int? {
      outer.first { parser.matches($0, word) && !parser.matches($0 - 1, "DISTINCT") }
    }
    let filter = place(of: "WHERE")
    let values = kind == .update ? place(of: "SET") : nil
    if kind == .update, values == nil { throw SyntaxError() }
    target = parser.range(of: start..<max(afterName, values ?? filter ?? end))
    beginning = 0..<parser.range(of: start..<(filter ?? end)).upperBound
    condition = filter.flatMap { $0 + 1 < end ? parser.range(of: $0 + 1..<end) : nil }
    otherClauses = Set(
      ["FROM", "RETURNING", "ORDER", "LIMIT"].filter { place(of: $0) != nil }
        .map(\.identifier))
    guard let values else { return }
    let last = filter ?? end
    let commas = outer.filter { $0 > values && $0 < last && parser.matches($0, ",") }
    let items = zip([values] + commas, commas + [last])
    let assigned = items.compactMap { before, end -> (Name, Range<Int>)? in
      guard let name = parser.name(at: before + 1), parser.matches(before + 2, "="),
        before + 3 < end
      else { return nil }
      return (name, parser.range(of: before + 3..<end))
    }
    if assigned.count == commas.count + 1 { assignments = assigned }
  }
}

extension WritingStatement {
  /// Whether the verb, or a conflict clause before the table's name, is REPLACE.
  ///
  /// - Parameter sql: the statement.
  package func replaces(_ sql: TokenizedSQL) -> Bool {
    sql.significant(in: 0..<nameRange.lowerBound).contains { sql.isWord($0, "REPLACE") }
  }
}

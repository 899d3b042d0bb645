extension Parser {
  /// Parses the rest of CREATE INDEX or CREATE UNIQUE INDEX.
  mutating func index(isUnique: Bool) throws(SyntaxError) -> CreateIndex {
    if isUnique { try expect("INDEX") }
    let ifNotExists = ifNotExists()
    let name = try qualifiedName("an index name")
    try expect("ON")
    let table = try self.name("a table name")
    let terms = try indexedTerms()
    var condition: Expression?
    if take("WHERE") {
      let range = try rest("an expression")
      condition = Expression(range: range, outerRange: range)
    }
    return CreateIndex(
      schema: name.schema, name: name.name, isUnique: isUnique, ifNotExists: ifNotExists,
      table: table, terms: terms, condition: condition)
  }
}

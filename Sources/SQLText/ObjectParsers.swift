extension Parser {
  /// Parses the rest of CREATE [TEMP] TRIGGER.
  mutating func trigger(isTemporary: Bool) throws(SyntaxError) -> CreateTrigger {
    let header = try header(isTemporary: isTemporary)
    let timing = try triggerTiming()
    let event = try triggerEvent()
    let columns = event == .update && take("OF") ? try names() : []
    try expect("ON")
    let table = try qualifiedName()
    if take("FOR") {
      try expect("EACH")
      try expect("ROW")
    }
    let condition = take("WHEN") ? try triggerCondition() : nil
    let start = position
    let statements = try triggerBody()
    return CreateTrigger(
      header: header, timing: timing, event: event, columns: columns, table: table,
      condition: condition,
      bodyRange: range(from: start), statements: statements)
  }

  private mutating func triggerTiming() throws(SyntaxError) -> CreateTrigger.Timing {
    if take("AFTER") { return .after }
    if take("INSTEAD") {
      try expect("OF")
      return .insteadOf
    }
    _ = take("BEFORE")
    return .before
  }

  private mutating func triggerEvent() throws(SyntaxError) -> CreateTrigger.Event {
    if take("DELETE") { return .delete }
    if take("INSERT") { return .insert }
    if take("UPDATE") { return .update }
    throw SyntaxError()
  }

  /// Ends before the BEGIN of the body. Another BEGIN in the condition is the name of a column.
  private mutating func triggerCondition() throws(SyntaxError) -> Expression {
    let start = position
    while !isAtEnd, !(at("BEGIN") && isTriggerStatement(position + 1)) { position += 1 }
    guard position > start else { throw SyntaxError() }
    let range = range(from: start)
    return Expression(range: range, outerRange: range)
  }

  private mutating func triggerBody() throws(SyntaxError) -> [Range<Int>] {
    try expect("BEGIN")
    var statements: [Range<Int>] = []
    while statements.isEmpty || !at("END") {
      guard isTriggerStatement(position) else {
        throw SyntaxError()
      }
      statements.append(try rest())
      try expect(";")
    }
    position += 1
    return statements
  }

  private func isTriggerStatement(_ index: Int) -> Bool {
    ["INSERT", "UPDATE", "DELETE", "SELECT", "REPLACE", "VALUES", "WITH"]
      .contains { matches(index, $0) }
  }

  /// Parses the rest of CREATE INDEX or CREATE UNIQUE INDEX.
  mutating func index(isUnique: Bool) throws(SyntaxError) -> CreateIndex {
    if isUnique { try expect("INDEX") }
    let header = try header(isTemporary: false)
    try expect("ON")
    let table = try self.name()
    let terms = try indexedTerms()
    var condition: Expression?
    if take("WHERE") {
      let range = try rest()
      condition = Expression(range: range, outerRange: range)
    }
    return CreateIndex(
      header: header, isUnique: isUnique, table: table, terms: terms, condition: condition)
  }

  /// Parses the rest of CREATE [TEMP] VIEW.
  mutating func view(isTemporary: Bool) throws(SyntaxError) -> CreateView {
    let header = try header(isTemporary: isTemporary)
    let columns = try optionalNames()
    try expect("AS")
    return CreateView(header: header, columns: columns, selectRange: try select())
  }

  /// Parses the rest of CREATE VIRTUAL TABLE.
  mutating func virtualTable() throws(SyntaxError) -> CreateVirtualTable {
    try expect("TABLE")
    let header = try header(isTemporary: false)
    try expect("USING")
    let module = try self.name()
    endsAtSemicolon = false
    defer { endsAtSemicolon = true }
    let arguments = at("(") ? try items().filter { !$0.isEmpty } : []
    return CreateVirtualTable(
      header: header, module: module, arguments: arguments.map(range(of:)))
  }
}

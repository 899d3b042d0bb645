extension Parser {
  /// Parses the rest of CREATE VIRTUAL TABLE.
  mutating func virtualTable() throws(SyntaxError) -> CreateVirtualTable {
    try expect("TABLE")
    let ifNotExists = ifNotExists()
    let name = try qualifiedName("a table name")
    try expect("USING")
    let module = try self.name("a module name")
    endsAtSemicolon = false
    defer { endsAtSemicolon = true }
    let arguments = at("(") ? try items().filter { !$0.isEmpty } : []
    return CreateVirtualTable(
      schema: name.schema, name: name.name, ifNotExists: ifNotExists, module: module,
      arguments: arguments.map(range(of:)))
  }
}

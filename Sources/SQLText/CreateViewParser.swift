extension Parser {
  /// Parses the rest of CREATE [TEMP] VIEW.
  mutating func view(isTemporary: Bool) throws(SyntaxError) -> CreateView {
    let ifNotExists = ifNotExists()
    let name = try qualifiedName("a view name")
    let columns = try optionalNames("a column name")
    try expect("AS")
    return CreateView(
      schema: name.schema, name: name.name, isTemporary: isTemporary, ifNotExists: ifNotExists,
      columns: columns, selectRange: try select())
  }
}

import SchemaSQLText

/// A CREATE statement with its object in the main database: a temporary table of the same name would
/// draw an index or a trigger to itself. SQLite stores the text without the qualifier.
func qualified(_ sql: String) -> String {
  let tokens = TokenizedSQL(sql)
  guard let parsed = try? parseCreate(tokens), parsed.schema == nil else { return sql }
  var bytes = tokens.bytes
  bytes.insert(contentsOf: "main.".utf8, at: parsed.name.range.lowerBound)
  return String(decoding: bytes, as: UTF8.self)
}

extension ParsedStatement {
  /// The database that the statement names.
  var schema: Name? {
    switch self {
    case .createTable(let table): table.schema
    case .createIndex(let index): index.schema
    case .createView(let view): view.schema
    case .createTrigger(let trigger): trigger.schema
    case .createVirtualTable(let table): table.schema
    }
  }
}

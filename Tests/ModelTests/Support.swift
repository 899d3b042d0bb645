import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// The schema that SQLite makes of some SQL.
func schema(_ sql: String) throws -> Schema {
  let connection = try Connection(path: nil)
  try connection.execute(sql)
  return try Schema(of: connection)
}

/// Both ways round: what one has too much the other has too little.
func changes(_ expected: String, _ actual: String) throws -> [SchemaChange] {
  try compareSchemas(expected: schema(expected), actual: schema(actual))
}

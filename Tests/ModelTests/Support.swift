import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// The schema after running some SQL.
func schema(_ sql: String) throws -> Schema {
  let connection = try Connection(path: nil)
  try connection.execute(sql)
  return try Schema(of: connection)
}

/// Compares in both directions: an unexpected object in one is missing in the other.
func changes(_ expected: String, _ actual: String) throws -> [SchemaChange] {
  try compareSchemas(expected: schema(expected), actual: schema(actual))
}

import SchemaHistory
import SchemaModel
import SchemaSQLite

/// The schema and the ledger of any database file are read or refused.
enum DatabaseTarget: FuzzTarget {
  static let name = "database"

  static func take(_ bytes: [UInt8]) throws {
    // Larger files do not increase coverage.
    guard bytes.count <= 65_536 else { return }
    let connection = try Connection(path: nil)
    guard (try? connection.deserialize(bytes)) != nil,
      let live = try? LiveDatabase(connection, .usual, path: "fuzz.sqlite")
    else { return }
    let schema = live.schema
    try promise(
      compareSchemas(expected: schema, actual: schema).isEmpty, "the schema differs from itself")
    _ = compareSchemas(expected: Schema(), actual: schema)
    _ = compareSchemas(expected: schema, actual: Schema()).map(\.sentence)
    try promise(schema.fingerprint().count == 64, "a fingerprint that is none")
    _ = ForeignKeyGraph(schema).affected(by: Set(schema.tables.map(\.key.name)))
    let entries = compareLedger(live.rows ?? [], with: [], nil)
    try promise(entries.count == (live.rows ?? []).count, "a row of the ledger is passed over")
  }
}

import SchemaSQLText
import SchemaSQLite

/// The schema of a connection's main database, which changes statement by statement. It reads only
/// the rows again that statements may have changed.
package struct StoredSchema: Sendable {
  package var schema: Schema { Schema(objects: rows.objects) }
  private var rows: SchemaRows
  private var version: Int64?

  package init(of connection: Connection) throws(DatabaseError) {
    version = try connection.schemaVersion
    rows = try SchemaRows(of: connection)
  }

  /// - Parameter reach: the invalidation by all statements since the last read.
  /// - Returns: whether the schema has changed.
  package mutating func refresh(
    on connection: Connection, after reach: SchemaInvalidation
  ) throws(DatabaseError) -> Bool {
    // Every change of the schema increases its version, which is cheap to read. Only a manual edit
    // of sqlite_schema, which requires defensive mode to be off, does not.
    let now = try connection.schemaVersion
    let isGuarded = connection.isOn(.defensive)
    guard now != version || !isGuarded else { return false }
    let isNext = isGuarded && !reach.isAnywhere && now == version.map { $0 + reach.count }
    // If reading fails, the stored version must not match.
    version = nil
    let isRead = isNext ? try readAgain(reach, on: connection) : false
    if !isRead { rows = try SchemaRows(of: connection, knowing: schema) }
    version = now
    return true
  }

  /// - Returns: false if the rows do not match the expectation.
  private mutating func readAgain(
    _ reach: SchemaInvalidation, on connection: Connection
  ) throws(DatabaseError) -> Bool {
    for name in reach.tables {
      let key = SchemaDelta.Key(.table, name.identifier)
      guard let index = rows.objects.firstIndex(where: { $0.key == key }) else { continue }
      let row = try SchemaRows(
        of: connection, where: "rowid = ?1", [.integer(rows.rowids[index])])
      guard let object = row.objects.first, object.key == key else { return false }
      rows.objects[index] = object
    }
    guard reach.addsRows || !reach.removed.isEmpty else { return true }
    if reach.addsRows {
      let new = try SchemaRows(
        of: connection, where: "rowid > ?1", [.integer(rows.rowids.last ?? .min)])
      rows.objects += new.objects
      rows.rowids += new.rowids
    }
    for key in reach.removed {
      guard let index = rows.objects.firstIndex(where: { $0.key == key }) else { return false }
      rows.objects.remove(at: index)
      rows.rowids.remove(at: index)
    }
    // After the largest rowid, SQLite inserts new rows at unused rowids.
    let count = try connection.value("SELECT count(*) FROM main.sqlite_schema")
    guard count == .integer(Int64(rows.rowids.count)) else { return false }
    // With auto_vacuum, SQLite moves the last page into the place of a dropped one.
    guard !reach.removed.isEmpty else { return true }
    let pages = rows.objects.reduce(0) { $0 + $1.rootPage }
    return try connection.value("SELECT sum(rootpage) FROM main.sqlite_schema")?.integer ?? 0
      == pages
  }
}

extension Connection {
  fileprivate var schemaVersion: Int64 {
    get throws(DatabaseError) { try value("PRAGMA main.schema_version")?.integer ?? 0 }
  }
}

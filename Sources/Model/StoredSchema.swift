import SchemaSQLText
import SchemaSQLite

/// The schema of a connection's main database, which changes statement by statement. Where it is known
/// what a statement can have changed, only that is read again.
package struct StoredSchema: Sendable {
  package var schema: Schema { Schema(objects: rows.objects) }
  private var rows: SchemaRows
  private var version: Int64?

  package init(of connection: Connection) throws(DatabaseError) {
    version = try connection.schemaVersion
    rows = try SchemaRows(of: connection)
  }

  /// - Parameter reach: of all statements since the schema was read last.
  /// - Returns: whether it has changed.
  package mutating func refresh(
    on connection: Connection, after reach: SchemaInvalidation
  ) throws(DatabaseError) -> Bool {
    // The version changes with every change of the schema, and reading it costs next to nothing.
    // Only an edit of sqlite_schema by hand, which needs defensive mode off, leaves it as it is.
    let now = try connection.schemaVersion
    let isGuarded = connection.isOn(.defensive)
    guard now != version || !isGuarded else { return false }
    let isNext = isGuarded && !reach.isAnywhere && now == version.map { $0 + reach.count }
    // Should reading fail, nothing is known.
    version = nil
    if isNext, let rows = try rowsAgain(reach, on: connection) {
      self.rows = rows
    } else {
      rows = try SchemaRows(of: connection, knowing: schema)
    }
    version = now
    return true
  }

  /// - Returns: nil where something is not as it was thought to be.
  private func rowsAgain(
    _ reach: SchemaInvalidation, on connection: Connection
  ) throws(DatabaseError) -> SchemaRows? {
    var rows = rows
    for name in reach.tables {
      let key = SchemaDelta.Key(.table, name.identifier)
      guard let index = rows.objects.firstIndex(where: { $0.key == key }) else { continue }
      let row = try SchemaRows(
        of: connection, where: "rowid = ?1", [.integer(rows.rowids[index])])
      guard let object = row.objects.first, object.key == key else { return nil }
      rows.objects[index] = object
    }
    guard reach.addsRows else { return rows }
    let new = try SchemaRows(
      of: connection, where: "rowid > ?1", [.integer(rows.rowids.last ?? .min)])
    rows.objects += new.objects
    rows.rowids += new.rowids
    // Behind the largest rowid there is no room, and a row comes to stand anywhere.
    let count = try connection.value("SELECT count(*) FROM main.sqlite_schema")
    return count == .integer(Int64(rows.rowids.count)) ? rows : nil
  }
}

extension Connection {
  fileprivate var schemaVersion: Int64 {
    get throws(DatabaseError) { try value("PRAGMA main.schema_version")?.integer ?? 0 }
  }
}

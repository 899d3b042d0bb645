import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The schema of a cluster's database and the rows of its ledgers, on a private database.
package struct ClusterCopy {
  package let readable: ReadableDatabase
  /// The schema as the leader has it.
  let live: Schema
  /// The objects that could be created on the private database.
  let madeSchema: Set<SchemaObject>

  package init(of cluster: Cluster, for project: Project) throws(Failure) {
    let squashed = project.squash == nil ? [] : try project.squashedMigrations() ?? []
    let ledgers = Set(
      (squashed + project.migrations).flatMap(\.manifest.replaces).map(\.ledger.identifier)
        + [project.ledger.table])
    let (schema, rows) = try cluster.ask { (leader) throws(DatabaseError) in
      try leader.reading { () throws(DatabaseError) in
        let schema = try Schema(of: leader)
        var rows: [(table: Identifier, rows: [[Value]])] = []
        for table in ledgers.sorted() where schema.table(table) != nil {
          rows.append((table, try leader.rows("SELECT * FROM main.\(Quoting.quoted(table))")))
        }
        return (schema, rows)
      }
    }
    live = schema
    do throws(DatabaseError) {
      let connection = try schema.scratch(project.application)
      connection.set(.triggers, to: false)
      for (table, rows) in rows {
        for row in rows {
          let places = Array(repeating: "?", count: row.count).joined(separator: ", ")
          try connection.execute(
            "INSERT INTO main.\(Quoting.quoted(table)) VALUES (\(places))", row)
        }
      }
      connection.set(.triggers, to: true)
      madeSchema = try Schema(of: connection).promised(besides: project.ledger)
      readable = ReadableDatabase(connection, name: cluster.address.text)
    } catch {
      throw Failure(error.status, "the scratch database cannot be opened: \(error.inWords)")
    }
  }
}

extension NodeConnection {
  /// Runs `body` in a transaction that changes nothing.
  func reading<Result>(_ body: () throws(DatabaseError) -> Result) throws(DatabaseError) -> Result {
    try execute("BEGIN")
    do throws(DatabaseError) {
      let result = try body()
      try execute("ROLLBACK")
      return result
    } catch {
      if !error.asksForAnotherLeader { try execute("ROLLBACK") }
      throw error
    }
  }
}

extension Schema {
  /// Reads the schema of a cluster's database, without root pages.
  init(of leader: NodeConnection) throws(DatabaseError) {
    let rows = try leader.rows(
      "SELECT type, name, tbl_name, sql FROM main.sqlite_schema ORDER BY rowid")
    self.init(
      objects: rows.compactMap { row in
        row[0].text.flatMap(SchemaObject.Kind.init(rawValue:)).map { kind in
          SchemaObject(
            kind: kind, name: row[1].text ?? "", table: row[2].text ?? "", sql: row[3].text)
        }
      })
  }

  /// The objects that a migration must leave, without SQLite's own objects and the ledger.
  func promised(besides ledger: Ledger) -> Set<SchemaObject> {
    Set(objects.filter { !$0.isInternal && !$0.isOf(ledger) }.map(\.unplaced))
  }
}

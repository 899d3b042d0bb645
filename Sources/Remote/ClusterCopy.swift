import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A private database with the schema of a cluster's database and the rows of its ledgers.
package struct ClusterCopy {
  package let readable: ReadableDatabase
  /// The schema that the leader reports.
  let live: Schema
  /// The objects that could be created on the private database.
  let recreatedObjects: Set<SchemaObject>

  package init(of cluster: Cluster, for project: Project) throws(Failure) {
    let squashed = project.squash == nil ? [] : try project.squashedMigrations() ?? []
    let ledgers = Set(
      (squashed + project.migrations).flatMap(\.manifest.replaces).map(\.ledger.identifier)
        + [project.ledger.table])
    let (schema, copies) = try cluster.ask { (leader) throws(DatabaseError) in
      try leader.reading { () throws(DatabaseError) in
        let schema = try Schema(of: leader)
        var copies: [CopiedRows] = []
        for table in ledgers.sorted() where schema.table(table) != nil {
          copies.append(try CopiedRows(of: table.text, on: leader))
        }
        return (schema, copies)
      }
    }
    live = schema
    do throws(DatabaseError) {
      let connection = try schema.scratch(project.application)
      try connection.fill(copies)
      recreatedObjects = try Schema(of: connection).promised(besides: project.ledger)
      readable = ReadableDatabase(connection, name: cluster.address.text)
    } catch {
      throw Failure(error.status, "cannot open the scratch database: \(error.inWords)")
    }
  }
}

/// Rows of a table of a cluster, to insert into a private database.
struct CopiedRows {
  fileprivate let insertion: String
  fileprivate let rows: [[Value]]

  /// Reads all rows of a table.
  init(of table: String, on leader: NodeConnection) throws(DatabaseError) {
    let name = "main.\(Quoting.quoted(table))"
    rows = try leader.rows("SELECT * FROM \(name)")
    insertion = "INSERT INTO \(name) VALUES (\(places(rows.first?.count ?? 1)))"
  }

  /// Reads the first rows of a table. `fill` skips those that violate a constraint.
  init(firstOf load: TableLoad, on leader: NodeConnection) throws(DatabaseError) {
    let name = "main.\(Quoting.quoted(load.table))"
    let columns = quotedList(load.columns)
    rows = try leader.rows(
      "SELECT \(columns) FROM \(name) LIMIT \(load.sample)", columns: load.columns.count)
    insertion =
      "INSERT OR IGNORE INTO \(name) (\(columns)) VALUES (\(places(load.columns.count)))"
  }
}

private func places(_ count: Int) -> String {
  Array(repeating: "?", count: count).joined(separator: ", ")
}

extension Connection {
  /// Inserts rows without firing triggers.
  func fill(_ copies: [CopiedRows]) throws(DatabaseError) {
    set(.triggers, to: false)
    try execute("BEGIN")
    for copy in copies where !copy.rows.isEmpty {
      let statement = try prepare(copy.insertion)
      for row in copy.rows {
        try statement.bind(row)
        try statement.run()
        statement.reset()
      }
    }
    try execute("COMMIT")
    set(.triggers, to: true)
  }
}

extension NodeConnection {
  /// Runs `body` in a transaction that is rolled back.
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
  /// Reads the schema of a cluster's database. The objects have no root pages.
  init(of leader: NodeConnection) throws(DatabaseError) {
    let rows = try leader.rows(
      "SELECT type, name, tbl_name, sql FROM main.sqlite_schema ORDER BY rowid", columns: 4)
    self.init(
      objects: rows.compactMap { row in
        row[0].text.flatMap(SchemaObject.Kind.init(rawValue:)).map { kind in
          SchemaObject(
            kind: kind, name: row[1].text ?? "", table: row[2].text ?? "", sql: row[3].text)
        }
      })
  }

  /// The objects that must exist after a migration, without the ledger and SQLite's own objects.
  func promised(besides ledger: Ledger) -> Set<SchemaObject> {
    Set(objects.filter { !$0.isInternal && !$0.isOf(ledger) }.map(\.unplaced))
  }
}

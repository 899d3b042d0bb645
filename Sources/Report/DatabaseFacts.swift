import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The state of a database: counts and sizes, but no values of rows.
package struct DatabaseFacts: Sendable {
  package struct Table: Sendable {
    package let name: String
    /// The number of rows; nil if SQLite cannot count them.
    package let rows: Int64?
    /// The size on disk; nil without `dbstat`.
    package var bytes: Int64?
    package var indexes: [(name: String, bytes: Int64?)] = []
  }

  package let path: String
  /// The last migration that the database has run.
  package var current: String?
  package var drift: [SchemaChange]?
  package var pending: [PlannedMigration] = []
  package var pendingIDs: [String] = []
  package var tables: [Table] = []
  package var hasSizes = false
  /// Contradictions between the database and the history. With any of them, drift and pending migrations are
  /// unknown.
  package var disagreements: [String] = []
  /// Reasons why some facts are unknown.
  package var problems: [String] = []
}

extension Project {
  /// Reads the state of a database.
  ///
  /// - Throws: if the database cannot be read at all.
  package func facts(
    of readable: ReadableDatabase, timeout: Double
  ) throws(Failure) -> DatabaseFacts {
    let database = readable.name
    let connection = readable.connection
    var facts = DatabaseFacts(path: database)
    do {
      let schema = try Schema(of: connection).ours { $0.identifier == ledger.table }
      facts.measure(schema, on: connection)
    } catch {
      throw Failure(error, database: database)
    }
    let reported = facts.attempt { () throws(Failure) -> StatusReport in
      try self.status(of: readable)
    }
    facts.current = reported?.current
    facts.pendingIDs = reported?.pending ?? []
    facts.disagreements = reported?.disagreements ?? []
    guard facts.disagreements.isEmpty else { return facts }
    facts.drift = facts.attempt { () throws(Failure) -> [SchemaChange] in
      try self.diff(of: readable).changes
    }
    let plan = facts.attempt { () throws(Failure) -> PlanReport in
      var options = MigrateOptions(database: database)
      options.timeout = timeout
      return try self.plan(options, for: readable)
    }
    facts.pending = plan?.migrations ?? []
    if let failure = plan?.failure {
      facts.problems.append("The plan ends early: \(failure.lines[0])")
    }
    return facts
  }
}

extension StatusReport {
  /// The migrations whose ledger rows or manifests contradict the history.
  fileprivate var disagreements: [String] {
    broken.map { "`\($0.id)` is \($0.state.rawValue): \($0.detail)" }
      + ledger.filter(\.state.stops).map { "`\($0.id)` is \($0.state.rawValue): \($0.detail)" }
  }
}

extension DatabaseFacts {
  /// Runs `body`. Records a failure once, as the reason for an unknown fact.
  fileprivate mutating func attempt<Answer>(_ body: () throws(Failure) -> Answer) -> Answer? {
    do {
      return try body()
    } catch {
      if !problems.contains(error.lines[0]) { problems.append(error.lines[0]) }
      return nil
    }
  }

  fileprivate mutating func measure(_ schema: Schema, on connection: Connection) {
    var sizes: [Identifier: Int64] = [:]
    // SQLite may have been built without the virtual table `dbstat`.
    let rows = try? connection.rows("SELECT name, sum(pgsize) FROM dbstat('main') GROUP BY name")
    for row in rows ?? [] {
      if let name = row[0].text { sizes[name] = row[1].integer }
    }
    hasSizes = rows != nil
    // Include shadow tables: they store the rows of a virtual table.
    for table in schema.tables {
      let count = try? connection.value(
        "SELECT count(*) FROM main.\(Quoting.quoted(table.name))")?.integer
      let indexes = schema.objects.filter { object in
        object.kind == .index && object.table.isSameName(as: table.name)
      }
      tables.append(
        Table(
          name: table.name, rows: count ?? nil, bytes: sizes[table.name],
          indexes: indexes.map { ($0.name, sizes[$0.name]) }))
    }
  }
}

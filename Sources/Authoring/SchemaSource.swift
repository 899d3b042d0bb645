import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A source of a schema: a database, the latest or another point of a history, or an SQL file.
package enum SchemaSource: Sendable {
  case database(String)
  case history(Project, through: String?)
  case sql(file: String)

  /// Returns the source at a path. A folder is a history, an SQLite file is a database, and every other file
  /// is SQL.
  ///
  /// - Parameter load: reads the history of a folder.
  /// - Throws: the error of `load`, and a `Failure` for a missing path.
  package static func at(
    _ path: String, through: String?, loading load: (String) throws -> Project
  ) throws -> SchemaSource {
    guard let status = try failing({ try FileStatus(existing: path) }) else {
      throw Failure(.notFound, "file or folder `\(path)` does not exist")
    }
    if status.isFolder { return .history(try load(path), through: through) }
    return try failing {
      let start = try readStart(of: path, count: DatabaseFile.header.count)
      // An empty file is an empty database; as SQL it would be the same schema.
      return start == DatabaseFile.header || start.isEmpty ? .database(path) : .sql(file: path)
    }
  }

  /// Reads the schema without the objects of SQLite and of the ledger. Of a database, also leaves out the
  /// objects of other tools.
  ///
  /// - Parameter other: the schema that will be compared with this one. Its tables are read even if another
  ///   tool has a table of the same name.
  package func schema(
    _ application: Application, ignoring foreign: ForeignObjects, besides other: Schema = Schema(),
    timeout: Double, interruption: Interruption = Interruption()
  ) throws(Failure) -> Schema {
    switch self {
    case .database(let path):
      try DatabaseFile.require(path)
      let connection = try DatabaseFile.openForReading(
        path, timeout: timeout, interruption: interruption)
      let named = Set(other.objects.map(\.key))
      return Schema(
        objects: try LiveDatabase(connection, application.ledger, path: path).schema.objects.filter
        { object in
          !object.isInternal && !object.isOf(application.ledger)
            && !foreign.contains(object, besides: named)
        })
    case .history(let project, let through):
      return try project.schema(through: through, interruption: interruption).ours()
    case .sql(let file): return try Self.schema(ofFile: file, application).ours()
    }
  }

  package var isDatabase: Bool { if case .database = self { true } else { false } }

  /// Fails if a database has pending migrations, because operations that lead to its schema would undo them.
  package func requireNothingPending(
    in project: Project, timeout: Double, interruption: Interruption
  ) throws(Failure) {
    guard case .database(let path) = self else { return }
    let database = try ReadableDatabase(file: path, timeout: timeout, interruption: interruption)
    let view = try project.view(of: database)
    let rows: [LedgerRow]
    do throws(Failure) {
      rows = try view.adopting(database).rows ?? []
    } catch {
      // The new migration may replace entries of another tool's ledger that the history does not know yet.
      if error.status == .databaseAhead { return }
      throw error
    }
    let pending = view.compareLedger(rows).filter { $0.state == .pending }.map(\.id)
    guard !rows.isEmpty, !pending.isEmpty else { return }
    throw Failure(
      .finding,
      "`\(path)` has pending migrations, which the new migration would undo: "
        + pending.map { "`\($0)`" }.abridged(to: 10).joined(separator: ", "),
      remedy: "Run `schemactl migrate --database \(shellQuoted(path))` first. If the schema of the "
        + "database prevents that, correct the database")
  }

  private static func schema(
    ofFile file: String, _ application: Application
  ) throws(Failure) -> Schema {
    let bytes = try failing { try readFile(file, limit: 64 * 1_048_576) }
    guard isUTF8(bytes) else {
      throw Failure(
        .invalidInput, "`\(file)` is neither an SQLite database nor SQL: it is not UTF-8")
    }
    let sql = String(decoding: bytes, as: UTF8.self)
    var script = Script(sql)
    var attaches = false
    do {
      let connection = try Schema().scratch(application)
      connection.setAuthorizer { event in
        attaches = attaches || event.action == .attach
        return attaches ? .deny : .allow
      }
      while let statement = try script.next(on: connection) { try statement.run() }
      return try Schema(of: connection)
    } catch {
      throw Failure(
        error, at: script, of: sql, in: file,
        message: attaches
          ? "a schema cannot contain ATTACH or VACUUM" : error.exceeded?.inWords)
    }
  }
}

extension Schema {
  /// The tables and views of the schema, without internal tables of SQLite and shadow tables of virtual
  /// tables.
  package func storedTables(
    _ application: Application
  ) throws(DatabaseError) -> [StoredTable] {
    let connection = try scratch(application)
    // An untrusted schema would prevent some views from being compiled, and a view that cannot be compiled
    // has no columns.
    connection.set(.trustedSchema, to: true)
    return try withoutShadowTables().objects
      .filter { !$0.isInternal && [.table, .view].contains($0.kind) }
      .map { (object) throws(DatabaseError) in try StoredTable(object.name, on: connection) }
  }
}

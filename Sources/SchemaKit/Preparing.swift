import SchemaHistory
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLite

extension SchemaMigrator {
  /// Makes a connection ready for the app: registers the functions and collations that it does not have, and
  /// runs `connection.sql`, the file beside the migrations with the PRAGMAs, temporary triggers and temporary
  /// views of each connection.
  ///
  /// Call it once for each connection that the app opens, after the migration: a migration refuses temporary
  /// triggers on the tables that it changes.
  ///
  /// - Parameter handle: the `sqlite3 *`.
  /// - Throws: ``SchemaError`` at the first statement that fails.
  public func prepare(handle: OpaquePointer) throws(SchemaError) {
    try reporting {
      let (file, sql) = try connectionSQL()
      let connection = Connection(borrowing: handle)
      try application.registerProvided(on: connection)
      try run(sql, of: file, on: connection)
    }
  }

  private func connectionSQL() throws -> (file: String, sql: String) {
    switch history {
    case .bundle(let bundle):
      return (MigrationFolder(bundle.folder).connectionFile, try bundle.connectionSQL() ?? "")
    case .folder(let project):
      return (project.folder.connectionFile, try project.folder.connectionSQL() ?? "")
    }
  }

  private func run(_ sql: String, of file: String, on connection: Connection) throws(Failure) {
    var script = Script(sql)
    do throws(DatabaseError) {
      while let statement = try script.next(on: connection) { try statement.run() }
    } catch {
      throw Failure(error, at: script, of: sql, in: file)
    }
  }
}

import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLite

extension SchemaMigrator {
  /// Reports which migrations a database has run. Writes nothing.
  ///
  /// - Parameter path: the database file.
  /// - Throws: ``SchemaError``, also when the database and the history contradict each other.
  public func status(databaseAt path: String) throws(SchemaError) -> DatabaseStatus {
    try status(databaseAt: path, Interruption())
  }

  /// Reports which migrations the database of an open connection has run. Writes nothing.
  ///
  /// - Parameter handle: the `sqlite3 *`.
  /// - Throws: ``SchemaError``, also when the database and the history contradict each other.
  public func status(handle: OpaquePointer) throws(SchemaError) -> DatabaseStatus {
    try inspect(handle) { (connection) throws(Failure) in
      try status(of: ReadableDatabase(connection, name: connection.path))
    }
  }

  func status(
    databaseAt path: String, _ interruption: Interruption
  ) throws(SchemaError) -> DatabaseStatus {
    do throws(Failure) {
      return try status(
        of: ReadableDatabase(file: path, timeout: timeout, interruption: interruption))
    } catch {
      throw SchemaError(error)
    }
  }

  private func status(of database: ReadableDatabase) throws(Failure) -> DatabaseStatus {
    let project = try project().view(of: database)
    let report = try project.status(of: database)
    _ = try project.requireUsableLedger(report.applied, of: database.name)
    return DatabaseStatus(report)
  }

  /// Checks that released migrations are unchanged, that the history can be replayed, and that a database
  /// has the schema of its history. Writes nothing.
  ///
  /// - Parameter path: nil checks the history alone.
  /// - Throws: ``SchemaError`` when it cannot check; the findings are in the report.
  public func verify(databaseAt path: String? = nil) throws(SchemaError) -> VerificationReport {
    try verify(databaseAt: path, Interruption())
  }

  /// The same for the database of an open connection. Writes nothing.
  ///
  /// - Parameter handle: the `sqlite3 *`.
  /// - Throws: ``SchemaError`` when it cannot check; the findings are in the report.
  public func verify(handle: OpaquePointer) throws(SchemaError) -> VerificationReport {
    try verify(handle: handle, Interruption())
  }

  func verify(
    handle: OpaquePointer, _ interruption: Interruption
  ) throws(SchemaError) -> VerificationReport {
    try inspect(handle) { (connection) throws(Failure) in
      try VerificationReport(
        checking: project().verify(
          ReadableDatabase(connection, name: connection.path), interruption: interruption))
    }
  }

  func verify(
    databaseAt path: String?, _ interruption: Interruption
  ) throws(SchemaError) -> VerificationReport {
    do throws(Failure) {
      let database = try path.map { (path) throws(Failure) in
        try ReadableDatabase(file: path, timeout: timeout, interruption: interruption)
      }
      return try VerificationReport(
        checking: project().verify(database, interruption: interruption))
    } catch {
      throw SchemaError(error)
    }
  }

  /// Reads on a connection of the application, which may be in a transaction.
  private func inspect<Report>(
    _ handle: OpaquePointer, _ body: (Connection) throws(Failure) -> Report
  ) throws(SchemaError) -> Report {
    do {
      return try Connection.using(handle, body)
    } catch {
      throw SchemaError(error)
    }
  }

  /// Adopts a database that was created without SchemaKit: writes its ledger, up to the point of the history
  /// whose schema it has. If the manifests name the entries of the other tool under `replaces`, migrating
  /// adopts the database, and this call is not needed.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - point: the id or the number of the last migration that the database has; nil looks for it.
  /// - Returns: the ids of the adopted migrations.
  /// - Throws: ``SchemaError`` when no point of the history has the schema, or several have it.
  @discardableResult
  public func adopt(
    databaseAt path: String, at point: String? = nil
  ) throws(SchemaError) -> [String] {
    do throws(Failure) {
      return try project().adopt(path, at: point, timeout: timeout).adopted
    } catch {
      throw SchemaError(error)
    }
  }

  /// The same for the database of an open connection, as ``migrate(handle:through:onlyFrozen:onProgress:)``
  /// uses it.
  ///
  /// - Parameters:
  ///   - handle: the `sqlite3 *`.
  ///   - point: the id or the number of the last migration that the database has; nil looks for it.
  /// - Returns: the ids of the adopted migrations.
  /// - Throws: ``SchemaError`` when no point of the history has the schema, or several have it.
  @discardableResult
  public func adopt(
    handle: OpaquePointer, at point: String? = nil
  ) throws(SchemaError) -> [String] {
    do {
      return try Connection.borrowing(handle) { connection in
        try project().adopt(on: connection, at: point).adopted
      }
    } catch {
      throw SchemaError(error)
    }
  }

  #if DEBUG
    /// Returns a database to the state before its first draft, for debug builds. Keeps the replaced content
    /// beside it.
    ///
    /// - Parameter path: the database file.
    /// - Returns: the path of the replaced content.
    /// - Throws: ``SchemaError`` when the copy from before the drafts is missing, or when another history in the
    ///   file has run migrations since. A database that has run only drafts needs no copy.
    @discardableResult
    public func resetDrafts(databaseAt path: String) throws(SchemaError) -> String {
      do throws(Failure) {
        return try DraftCopy(of: path, project()).restore(timeout: timeout).setAside
      } catch {
        throw SchemaError(error)
      }
    }
  #endif
}

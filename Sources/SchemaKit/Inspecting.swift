import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaPlatform
import SchemaReplay
import SchemaSQLite

/// A database that the app specifies: a file, or an open connection. Another thread may use the connection
/// while the caller waits.
enum Target: @unchecked Sendable {
  case file(String)
  case handle(OpaquePointer)
}

extension SchemaMigrator {
  /// Reports which migrations a database has run. Writes nothing.
  ///
  /// - Parameter path: the database file.
  /// - Throws: ``SchemaError``, also if the database and the history contradict each other.
  public func status(databaseAt path: String) throws(SchemaError) -> DatabaseStatus {
    try status(of: .file(path))
  }

  /// Reports which migrations the database of an open connection has run. Writes nothing.
  ///
  /// - Parameter handle: the `sqlite3 *`.
  /// - Throws: ``SchemaError``, also if the database and the history contradict each other.
  public func status(handle: OpaquePointer) throws(SchemaError) -> DatabaseStatus {
    try status(of: .handle(handle))
  }

  func status(
    of target: Target, _ interruption: Interruption = Interruption()
  ) throws(SchemaError) -> DatabaseStatus {
    try reporting {
      let database = try ReadableDatabase(target, timeout: timeout, interruption)
      let project = try project().view(of: database)
      let report = try project.status(of: database)
      try project.requireUsableLedger(report.applied)
      return DatabaseStatus(report)
    }
  }

  /// Checks that released migrations are unchanged, that the history can be replayed, and that a database
  /// has the schema of its history. Writes nothing.
  ///
  /// - Parameter path: the database file; nil to check only the history.
  /// - Throws: ``SchemaError`` if the check cannot run; the report contains the findings.
  public func verify(databaseAt path: String? = nil) throws(SchemaError) -> VerificationReport {
    try verify(path.map { .file($0) })
  }

  /// Checks the history, and the database of an open connection. Writes nothing.
  ///
  /// - Parameter handle: the `sqlite3 *`.
  /// - Throws: ``SchemaError`` if the check cannot run; the report contains the findings.
  public func verify(handle: OpaquePointer) throws(SchemaError) -> VerificationReport {
    try verify(.handle(handle))
  }

  func verify(
    _ target: Target?, _ interruption: Interruption = Interruption()
  ) throws(SchemaError) -> VerificationReport {
    try reporting {
      let database = try target.map { try ReadableDatabase($0, timeout: timeout, interruption) }
      return try VerificationReport(
        checking: project().verify(database, interruption: interruption))
    }
  }

  /// Adopts a database that was created without SchemaKit: writes its ledger, up to the point of the history
  /// whose schema the database has. If the manifests name the entries of the other tool under `replaces`, a
  /// migration adopts the database, and this call is not needed.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - point: the id or the number of the last migration that the database contains; nil searches for it.
  /// - Returns: the ids of the adopted migrations.
  /// - Throws: ``SchemaError`` if no point of the history has the database's schema, or several points have
  ///   it.
  @discardableResult
  public func adopt(
    databaseAt path: String, at point: String? = nil
  ) throws(SchemaError) -> [String] {
    try reporting {
      let database = try ReadableDatabase(.file(path), timeout: timeout, Interruption())
      return try project().adopt(database, at: point, timeout: timeout).adopted
    }
  }

  /// Adopts the database of an open connection. The connection must meet the requirements of
  /// ``migrate(handle:through:onlyFrozen:onProgress:)``.
  ///
  /// - Parameters:
  ///   - handle: the `sqlite3 *`.
  ///   - point: the id or the number of the last migration that the database contains; nil searches for it.
  /// - Returns: the ids of the adopted migrations.
  /// - Throws: ``SchemaError`` if no point of the history has the database's schema, or several points have
  ///   it.
  @discardableResult
  public func adopt(
    handle: OpaquePointer, at point: String? = nil
  ) throws(SchemaError) -> [String] {
    try reporting {
      try Connection.borrowing(handle) { connection in
        try project().adopt(
          ReadableDatabase(connection, name: connection.path), at: point, timeout: timeout
        ).adopted
      }
    }
  }

  #if DEBUG
    /// Returns a database to the state before its first draft, for debug builds. Keeps the replaced content
    /// next to it.
    ///
    /// - Parameter path: the database file.
    /// - Returns: the path of the replaced content; nil if the database has run no draft since the copy.
    /// - Throws: ``SchemaError`` if the copy from before the drafts is missing, or if another history in the
    ///   file has run migrations since. A database that has run only drafts needs no copy.
    @discardableResult
    public func resetDrafts(databaseAt path: String) throws(SchemaError) -> String? {
      try reporting { try DraftCopy(of: path, project()).restore(timeout: timeout)?.setAside }
    }
  #endif
}

extension ReadableDatabase {
  /// Opens a file, or uses a connection of the app, which may be in a transaction.
  fileprivate init(
    _ target: Target, timeout: Double, _ interruption: Interruption
  ) throws(Failure) {
    switch target {
    case .file(let path):
      try self.init(file: path, timeout: timeout, interruption: interruption)
    case .handle(let handle):
      let connection = Connection(borrowing: handle)
      self.init(connection, name: connection.path)
    }
  }
}

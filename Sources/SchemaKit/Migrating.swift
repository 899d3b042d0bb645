import SchemaApply
import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The options of a migration run.
public struct MigrationOptions: Sendable {
  /// The id or the number of the last migration to apply; nil for all.
  public var through: String?
  /// Whether to skip drafts.
  public var onlyFrozen = false
  /// A copy of the database, made and checked before the first migration. Only for a database
  /// that SchemaKit opens itself.
  public var backup: SchemaBackup?
  /// Whether to compare each rewritten or updated table with its old rows by key, in all columns that remain,
  /// and to run `integrity_check` before the first migration and before each commit. Slow.
  public var isParanoid = false

  /// Creates options that apply all migrations, without a backup.
  public init() {}
}

extension SchemaMigrator {
  /// Applies the migrations that a database has not run yet. Creates a missing file.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - last: the id or the number of the last migration to apply; nil for all.
  ///   - onlyFrozen: whether to skip drafts.
  ///   - backup: a copy of the database, made and checked before the first migration; nil for none.
  ///   - isParanoid: see ``MigrationOptions/isParanoid``.
  ///   - onProgress: called on the thread that migrates.
  /// - Throws: ``SchemaError``. The migrations before the failed one remain applied; ``SchemaError/report``
  ///   names them.
  @discardableResult
  public func migrate(
    databaseAt path: String, through last: String? = nil, onlyFrozen: Bool = false,
    backup: SchemaBackup? = nil, isParanoid: Bool = false,
    onProgress: ((MigrationProgress) -> Void)? = nil
  ) throws(SchemaError) -> MigrationReport {
    var options = MigrationOptions()
    options.through = last
    options.onlyFrozen = onlyFrozen
    options.backup = backup
    options.isParanoid = isParanoid
    return try migrate(.file(path), options, Interruption(), onProgress)
  }

  /// Applies the migrations that the database of an open connection has not run yet, for example an in-memory
  /// database, or a connection of GRDB or SQLite.swift. The connection must use the same SQLite library as
  /// SchemaKit.
  ///
  /// Nothing else may use the connection during the run. The migrator opens no second connection, installs no
  /// authorizer, hook, busy handler or progress handler, and restores the settings that it can read. It
  /// registers the functions and collations whose names the connection does not have. They remain registered.
  ///
  /// - Parameters:
  ///   - handle: the `sqlite3 *`. It must be writable, without an open transaction or a running statement.
  ///   - last: the id or the number of the last migration to apply; nil for all.
  ///   - onlyFrozen: whether to skip drafts.
  ///   - onProgress: called on this thread, after each statement.
  /// - Throws: ``SchemaError``, also for a connection with temporary triggers or views on tables that a
  ///   migration changes: migrate before ``prepare(handle:)``.
  @discardableResult
  public func migrate(
    handle: OpaquePointer, through last: String? = nil, onlyFrozen: Bool = false,
    onProgress: ((MigrationProgress) -> Void)? = nil
  ) throws(SchemaError) -> MigrationReport {
    var options = MigrationOptions()
    options.through = last
    options.onlyFrozen = onlyFrozen
    return try migrate(.handle(handle), options, Interruption(), onProgress)
  }

  // MARK: On this thread

  func migrate(
    _ target: Target, _ options: MigrationOptions, _ interruption: Interruption,
    _ onProgress: ((MigrationProgress) -> Void)?
  ) throws(SchemaError) -> MigrationReport {
    let report = try reporting {
      switch target {
      case .file(let path):
        let database = try ReadableDatabase(
          ifExists: path, timeout: timeout, interruption: interruption)
        if options.through == nil, let database, isUpToDate(database.connection) {
          return MigrateReport()
        }
        return try migrate(path, database, options, interruption, onProgress)
      case .handle(let handle):
        if options.through == nil, isUpToDate(Connection(borrowing: handle)) {
          return MigrateReport()
        }
        return try Connection.borrowing(handle) { connection in
          try migrate(
            connection.path, ReadableDatabase(connection, name: connection.path), options,
            interruption, onProgress)
        }
      }
    }
    if let failure = report.failure {
      throw SchemaError(failure, after: MigrationReport(report))
    }
    return MigrationReport(report)
  }

  private func migrate(
    _ path: String, _ database: ReadableDatabase?, _ options: MigrationOptions,
    _ interruption: Interruption, _ onProgress: ((MigrationProgress) -> Void)?
  ) throws -> MigrateReport {
    try project().migrate(
      options.migrateOptions(path, timeout: timeout), reading: database,
      interruption: interruption, onEvent: ProgressReader(onProgress).note)
  }

  private func isUpToDate(_ connection: Connection) -> Bool {
    guard case .bundle(let bundle) = history else { return false }
    return bundle.isApplied(in: connection)
  }
}

extension MigrationOptions {
  fileprivate func migrateOptions(
    _ database: String, timeout: Double
  ) -> MigrateOptions {
    var options = MigrateOptions(database: database)
    options.through = through
    options.frozenOnly = onlyFrozen
    options.isParanoid = isParanoid
    options.timeout = timeout
    options.backup = backup?.options
    return options
  }
}

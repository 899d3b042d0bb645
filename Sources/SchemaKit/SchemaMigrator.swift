import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaPlanning
import SchemaReplay
import SchemaYAML

/// Brings an app's SQLite databases up to date with the migrations that it ships.
///
/// It does what the command `schemactl` does, inside the app, with the app's own functions and
/// collations:
///
/// ```swift
/// let migrator = try SchemaMigrator(
///   migrations: Bundle.main.bundlePath + "/migrations",
///   functions: [AppFunction("shout", arguments: 1) { arguments in
///     guard case .text(let text) = arguments[0] else { return .null }
///     return .text(text.uppercased())
///   }])
/// let report = try migrator.migrate(databaseAt: path)
/// print("applied \(report.applied.count) migrations")
/// ```
///
/// Each migration is applied whole or not at all. The calls wait for SQLite, so make them from a
/// thread that may wait, before anything else has the database open.
public struct SchemaMigrator: Sendable {
  private let project: Project
  private let timeout: Double

  /// Reads the history.
  ///
  /// - Parameters:
  ///   - folder: the folder with the manifests and their `history.lock`.
  ///   - functions: what the app registers on its connections and the schema calls.
  ///   - collations: likewise.
  ///   - timeout: how long a lock is waited for, in seconds.
  /// - Throws: ``SchemaError`` when the folder is not there or a manifest is wrong.
  public init(
    migrations folder: String, functions: [AppFunction] = [], collations: [AppCollation] = [],
    timeout: Double = 5
  ) throws(SchemaError) {
    let application = Application(
      functions: functions.map(\.definition), collations: collations.map(\.collation))
    do {
      project = try Project.load(migrations: folder, application: application)
    } catch {
      throw SchemaError(error)
    }
    self.timeout = timeout
  }

  /// Applies what a database has not run yet. A missing file is made.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - last: the id of the last migration to apply; nil is all.
  ///   - onlyFrozen: passes over migrations that `schemactl freeze` has not frozen.
  ///   - backup: a copy of the database that is made and checked before the first migration; nil is
  ///     none.
  ///   - isParanoid: reads all rows of all tables before and after each migration, and fails one
  ///     that changes what it does not say that it writes; also checks the file. Slow.
  /// - Throws: ``SchemaError``. The migrations before the one that failed are applied and stay.
  @discardableResult
  public func migrate(
    databaseAt path: String, through last: String? = nil, onlyFrozen: Bool = false,
    backup: SchemaBackup? = nil,
    isParanoid: Bool = false
  ) throws(SchemaError) -> MigrationReport {
    var options = MigrateOptions(database: path)
    options.through = last
    options.frozenOnly = onlyFrozen
    options.isParanoid = isParanoid
    options.timeout = timeout
    options.backup = backup?.options
    let report: MigrateReport
    do throws(Failure) {
      report = try project.migrate(options)
    } catch {
      throw SchemaError(error)
    }
    if let failure = report.failure { throw SchemaError(failure) }
    return MigrationReport(report)
  }

  /// Where a database stands. Nothing is written.
  ///
  /// - Throws: ``SchemaError``, also when the database and the history contradict each other.
  public func status(databaseAt path: String) throws(SchemaError) -> DatabaseStatus {
    do throws(Failure) {
      let report = try project.status(database: path, timeout: timeout)
      _ = try project.requireUsableLedger(report.applied, of: path)
      return DatabaseStatus(report)
    } catch {
      throw SchemaError(error)
    }
  }

  /// Checks that what shipped is what shipped, that it can be replayed, and that a database is what
  /// its history says. Nothing is written.
  ///
  /// - Parameter path: nil checks the history alone.
  /// - Throws: ``SchemaError`` for what kept it from checking; what it found is in the report.
  public func verify(databaseAt path: String? = nil) throws(SchemaError) -> VerificationReport {
    let report: VerifyReport
    do throws(Failure) {
      report = try project.verify(database: path, timeout: timeout)
    } catch {
      throw SchemaError(error)
    }
    if let failure = report.failure { throw SchemaError(failure) }
    return VerificationReport(report)
  }
}

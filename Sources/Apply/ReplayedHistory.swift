import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText

/// A history that was read, checked and replayed once, to bring any number of existing databases up to date.
/// Threads may share it.
package struct ReplayedHistory: Sendable {
  package let project: Project
  package let replay: PendingReplay
  /// The migrations to apply, in order.
  package let targets: [Migration]
  private let options: MigrateOptions

  /// - Parameter options: for all databases; the path in them is not used.
  /// - Throws: also the failure of a migration on the scratch database, which no database could run.
  package init(
    _ project: Project, _ options: MigrateOptions, interruption: Interruption = Interruption()
  ) throws(Failure) {
    self.project = project
    self.options = options
    targets = try project.checkedTargets(options)
    replay = try project.replay(targets, interruption: interruption)
    if let failure = replay.failure { throw failure }
  }

  /// Applies the pending migrations to one database.
  ///
  /// - Parameter timeout: how long to wait for a lock, in seconds.
  /// - Throws: what stopped it before it began; later failures are in the report.
  package func migrate(
    _ database: String, timeout: Double, interruption: Interruption = Interruption()
  ) throws(Failure) -> MigrateReport {
    var options = options
    options.database = database
    options.timeout = timeout
    try DatabaseFile.require(database)
    if let report = try project.reportIfCurrent(options, targets, interruption) { return report }
    return try Upgrade(
      project: project, options: options, replay: replay, interruption: interruption,
      onEvent: { _ in }, createsFile: false
    ).run()
  }

  /// Identifies the migrations to apply.
  package var digest: String { targets.digest }
}

extension Project {
  /// Identifies the whole history.
  package var digest: String { migrations.digest }
}

extension [Migration] {
  fileprivate var digest: String {
    var hash = SHA256()
    for migration in self {
      hash.update("\(migration.id) \(migration.canonicalDigest)\n".utf8)
    }
    return hash.finishHex()
  }
}

import SchemaCopies
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

package struct MigrateOptions: Sendable {
  package var database: String
  /// The last migration to apply; nil for all.
  package var through: String?
  /// Whether to apply only frozen migrations, for scripts and devices.
  package var frozenOnly = false
  /// Whether a missing or empty database is an error. If not, schemactl creates or fills it.
  package var existing = false
  /// The time to wait for a lock, in seconds.
  package var timeout = 5.0
  /// The reset that has just returned the database to the state before its drafts.
  package var reset: DraftCopy.Reset?
  /// Whether messages omit the values of rows.
  package var redactsValues = false
  /// The copy to make before the first migration; nil for none.
  package var backup: BackupOptions?
  /// The path of a copy that is migrated in place of the database, and then removed. Messages name the
  /// database.
  package var trialFile: String?
  /// Whether to compare each rewritten or updated table with its old rows by key, in all columns that remain,
  /// and to run `integrity_check` before the first migration and before each commit.
  package var isParanoid = false

  /// The file that is migrated.
  var file: String { trialFile ?? database }

  package init(database: String) {
    self.database = database
  }
}

/// A database that has run migrations after the requested last one.
package struct Beyond: Sendable {
  package let database: String
  /// The id of the requested last migration.
  package let target: String
  /// The ids of the migrations after it that the database has run, in order.
  package let applied: [String]

  package var sentence: String {
    let more = applied.map { "`\($0)`" }.abridged(to: 5).joined(separator: ", ")
    return
      "`\(database)` has run later migrations than `\(target)`: \(more). schemactl does not migrate "
      + "backwards; `schemactl restore` puts a backup back"
  }
}

package struct AppliedMigration: Sendable, Equatable {
  package let id: String
  package let milliseconds: Int64
  package let strategies: [Strategy]

  package init(id: String, milliseconds: Int64, strategies: [Strategy]) {
    self.id = id
    self.milliseconds = milliseconds
    self.strategies = strategies
  }
}

package struct MigrateReport: Sendable {
  /// The committed migrations, in order.
  package var applied: [AppliedMigration] = []
  /// The migrations that another tool had applied and that are now in the ledger.
  package var adopted: [String] = []
  package var failure: Failure?
  /// Whether the failed migration is frozen, so that its manifest must not change.
  package var failedFrozen = false
  /// The ids of migrations that a failed COMMIT may or may not have written.
  package var uncertain: [String] = []
  package var created = false
  /// Whether the database did not exist and was not created, because no migration was applied.
  package var isStillMissing = false
  /// The migrations that the database has run beyond the requested last migration.
  package var beyond: Beyond?
  /// The requested copy, made before the first migration.
  package var backup: String?
  /// The copy that was taken before the first draft.
  package var draftCopy: String?
  package var drift: [SchemaChange] = []
  /// Whether the history has no manifests to apply, so that a missing database was not created.
  package var isHistoryEmpty = false
  /// With `isParanoid`: `ok`, the problems that `PRAGMA integrity_check` found last, or the reason why it
  /// could not run; nil if the run did not reach it.
  package var integrityCheck: String?

  /// The report of a run that has nothing to do.
  package init() {}

  package var status: ExitStatus { failure?.status ?? .success }
}

extension Project {
  /// Applies the pending migrations of a database, each atomically.
  ///
  /// - Parameter database: the database, open for reading, or a connection of the application
  ///   (`Connection.borrowing`); nil if the file does not exist. Do not use it afterwards, because the run
  ///   closes it.
  /// - Throws: an error before the first migration. The report contains later failures, and the migrations
  ///   that remain applied.
  package func migrate(
    _ options: MigrateOptions, reading database: ReadableDatabase?,
    interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> MigrateReport {
    guard let database else {
      return try create(options, interruption: interruption, onEvent: onEvent)
    }
    let view = try view(of: database)
    let targets = try view.checkedTargets(options, for: database)
    let (live, report) = try view.liveReport(options, targets, of: database)
    if let report { return report }
    let replay = try view.replay(
      targets, after: live.adopted == 0 ? live.known : [], interruption: interruption)
    return try Upgrade(
      project: view, options: options, replay: replay, reading: database,
      interruption: interruption, onEvent: onEvent
    ).run()
  }

  private func create(
    _ options: MigrateOptions, interruption: Interruption,
    onEvent: @escaping (MigrateEvent) -> Void
  ) throws(Failure) -> MigrateReport {
    let targets = try checkedTargets(options)
    if options.existing {
      throw Failure(.notFound, "database `\(options.database)` does not exist")
    }
    guard !targets.isEmpty else {
      var report = MigrateReport()
      report.isHistoryEmpty = true
      return report
    }
    let new = NewDatabase(
      project: self, options: options, targets: targets, interruption: interruption,
      onEvent: onEvent)
    if let report = try new.make() { return report }
    let connection = try DatabaseFile.openForReading(
      options.file, timeout: options.timeout, interruption: interruption,
      onWait: { onEvent(.waiting(seconds: $0)) })
    return try migrate(
      options, reading: ReadableDatabase(connection, name: options.database),
      interruption: interruption, onEvent: onEvent)
  }

  /// The migrations that `options` request.
  ///
  /// - Parameter database: nil for none, or for a new one.
  /// - Throws: a failure if the frozen history is broken, or if this SQLite version is too old for a
  ///   migration. If the database is also ahead of the history, that failure is thrown instead.
  package func checkedTargets(
    _ options: MigrateOptions, for database: ReadableDatabase? = nil
  ) throws(Failure) -> [Migration] {
    do {
      try requireIntactHistory()
    } catch {
      try database.map(requireNotAhead)
      throw error
    }
    let targets = try targets(options)
    try requireEngine(for: targets)
    return targets
  }

  /// Throws the failures of a database that have precedence over a broken history.
  private func requireNotAhead(_ database: ReadableDatabase) throws(Failure) {
    do throws(Failure) {
      let rows = try adopting(database).rows ?? []
      let unknown = compareLedger(rows).filter { $0.state == .unknown }
      if let failure = Failure(unknown, "the database is ahead of the history. Nothing changed.") {
        throw failure
      }
    } catch {
      let isWorse = ExitStatus.worst([error.status, .brokenHistory]) == error.status
      if isWorse { throw error }
    }
  }

  /// The current state of an existing database, and the report of a run that has nothing to do; the report is
  /// nil if a migration is pending.
  package func liveReport(
    _ options: MigrateOptions, _ targets: [Migration], of database: ReadableDatabase
  ) throws(Failure) -> (live: LiveDatabase, report: MigrateReport?) {
    let live = try live(in: database, mayBeEmpty: !options.existing)
    guard try !isBehind(live, targets, options) else { return (live, nil) }
    var report = MigrateReport()
    report.beyond = beyond(options.database, live.rows, options)
    return (live, report)
  }

  /// The migrations that the database has run after the last one that `options` request; nil for none.
  package func beyond(_ database: String, _ rows: [LedgerRow]?, _ options: MigrateOptions)
    -> Beyond?
  {
    guard let through = options.through, let target = try? index(ofMigration: through) else {
      return nil
    }
    let known = Set((rows ?? []).map(\.id.exact))
    let later = migrations[(target + 1)...].map(\.id).filter { known.contains($0) }
    guard !later.isEmpty else { return nil }
    return Beyond(database: database, target: migrations[target].id, applied: later)
  }

  /// The migrations that `options` request, in order.
  package func targets(_ options: MigrateOptions) throws(Failure) -> [Migration] {
    var targets = migrations
    if let through = options.through {
      targets = Array(targets[...(try index(ofMigration: through))])
    }
    return options.frozenOnly ? targets.filter(isFrozen) : targets
  }

  private func isBehind(
    _ live: LiveDatabase, _ targets: [Migration], _ options: MigrateOptions
  ) throws(Failure) -> Bool {
    try requireUsableLedger(live.rows)
    let known = live.known
    let isAdopted = live.adopted > 0 && live.adopted <= targets.count
    return isAdopted || targets.contains { !known.contains($0.id) }
  }
}

extension MigrationFolder {
  /// Whether the database has run all migrations of the folder in their current form, so that `migrate` has
  /// nothing to do. Of the database, it reads only the ledger. The full run reports problems of the ledger
  /// and the lock.
  package func isUpToDate(_ database: ReadableDatabase, _ ledger: Ledger) -> Bool {
    appliedForms().map { ledger.holds($0, in: database.connection) } ?? false
  }
}

import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

/// The work of a run on each database.
package enum FleetWork: Sendable {
  case migrate(ReplayedHistory)
  case status(Project)
  case verify(ReplayedHistory)

  /// Processes one database.
  ///
  /// - Parameter timeout: the time to wait for a lock, in seconds.
  func perform(
    on database: String, timeout: Double, _ interruption: Interruption
  ) -> FleetResult {
    let time = Stopwatch()
    var result: FleetResult
    do throws(Failure) {
      switch self {
      case .migrate(let history):
        result = FleetResult(
          database, try history.migrate(database, timeout: timeout, interruption: interruption))
      case .status(let project):
        result = FleetResult(
          database,
          try project.status(
            of: ReadableDatabase(file: database, timeout: timeout, interruption: interruption),
            mayBeEmpty: false))
      case .verify(let history):
        let readable = try ReadableDatabase(
          file: database, timeout: timeout, interruption: interruption)
        let view = try history.view(of: readable, interruption: interruption)
        result = FleetResult(database, try view.project.verify(readable, with: view.replay))
      }
    } catch {
      // After an interrupt, SQLite may report another error for the stopped statement.
      result = FleetResult(
        database,
        failure: interruption.isRequested
          ? Failure(.interrupted, "interrupted: nothing changed") : error)
    }
    result.milliseconds = time.milliseconds
    return result
  }
}

extension FleetResult {
  fileprivate init(_ database: String, _ report: MigrateReport) {
    self.init(database, report.applied.isEmpty && report.adopted.isEmpty ? .upToDate : .migrated)
    if let failure = report.failure { self.init(database, failure: failure) }
    applied = report.applied.map(\.id)
    adopted = report.adopted
    drift = report.drift
  }

  fileprivate init(_ database: String, _ report: StatusReport) {
    self.init(database, report.pending.isEmpty ? .upToDate : .pending)
    if let failure = Failure(disagreeing: report.ledger) {
      self.init(database, failure: failure)
    }
    current = report.current
    pending = report.pending
  }

  fileprivate init(_ database: String, _ report: VerifyReport) {
    self.init(database, .verified)
    drift = report.drift ?? []
    let ledger = Failure(disagreeing: report.ledger ?? [])
    if let failure = ledger ?? report.failure ?? drifted {
      let drift = drift
      self.init(database, failure: failure)
      self.drift = drift
    }
  }

  private var drifted: Failure? {
    guard !drift.isEmpty else { return nil }
    return Failure(
      .finding, "the schema differs from the history:",
      details: drift.map(\.sentence).abridged(to: 20))
  }
}

extension Failure {
  fileprivate init?(disagreeing entries: [LedgerEntry]) {
    self.init(entries, "the database and the history disagree:")
  }
}

/// A history that was read, checked and replayed once, to migrate any number of existing databases. Threads
/// may share it.
package struct ReplayedHistory: Sendable {
  package let project: Project
  package let replay: PendingReplay
  /// The migrations to apply, in order.
  package let targets: [Migration]
  private var options: MigrateOptions
  /// The forms of the history for databases that have run some of the migrations that a squash replaces, by
  /// the ids of their migrations.
  private let views = Locked<[[ExactText]: ReplayedHistory]>([:])

  /// Reads and replays the history.
  ///
  /// - Parameter options: the options for all databases. The path in them is ignored.
  /// - Throws: also the failure of a migration on the scratch database, because no database could run it.
  package init(
    _ project: Project, _ options: MigrateOptions, interruption: Interruption = Interruption()
  ) throws(Failure) {
    self.project = project
    self.options = options
    self.options.existing = true
    targets = try project.checkedTargets(options)
    replay = try project.replay(targets, interruption: interruption)
    if let failure = replay.failure { throw failure }
  }

  /// Applies the pending migrations to one database.
  ///
  /// - Parameter timeout: the time to wait for a lock, in seconds.
  /// - Throws: the failure that prevented the run. The report contains later failures.
  package func migrate(
    _ database: String, timeout: Double, interruption: Interruption = Interruption()
  ) throws(Failure) -> MigrateReport {
    var options = options
    options.database = database
    options.timeout = timeout
    let readable = try ReadableDatabase(
      file: database, timeout: timeout, interruption: interruption)
    let view = try view(of: readable, interruption: interruption)
    let current = try view.project.liveReport(options, view.targets, of: readable).report
    if let current { return current }
    return try Upgrade(
      project: view.project, options: options, replay: view.replay, reading: readable,
      interruption: interruption, onEvent: { _ in }
    ).run()
  }

  /// Returns the form of the history that a database needs (`Project.view`). Replays each form once.
  package func view(
    of database: ReadableDatabase, interruption: Interruption = Interruption()
  ) throws(Failure) -> ReplayedHistory {
    guard project.squash != nil else { return self }
    let view = try project.view(of: database)
    let ids = view.migrations.map(\.id.exact)
    guard ids != project.migrations.map(\.id.exact) else { return self }
    return try views.withLock { (views) throws(Failure) -> ReplayedHistory in
      if let known = views[ids] { return known }
      let history = try ReplayedHistory(view, options, interruption: interruption)
      views[ids] = history
      return history
    }
  }

  /// A digest that identifies the migrations to apply.
  package var digest: String { targets.digest }
}

extension Project {
  /// A digest that identifies the whole history.
  package var digest: String { migrations.digest }
}

extension [Migration] {
  fileprivate var digest: String {
    SHA256.hex(flatMap { "\($0.id) \($0.canonicalDigest)\n".utf8 })
  }
}

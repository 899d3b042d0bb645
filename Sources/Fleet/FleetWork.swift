import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

/// The work that a run does on each database.
package enum FleetWork: Sendable {
  case migrate(ReplayedHistory)
  case status(Project)
  case verify(ReplayedHistory)

  /// - Parameter timeout: how long to wait for a lock, in seconds.
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
        try DatabaseFile.require(database)
        let view = try history.view(of: database, timeout: timeout, interruption: interruption)
        result = FleetResult(
          database,
          try view.project.verify(
            database, with: view.replay, timeout: timeout, interruption: interruption))
      }
    } catch {
      // SQLite may report another error for a statement that an interrupt stopped.
      result = FleetResult(
        database,
        failure: interruption.isRequested
          ? Failure(.interrupted, "interrupted: nothing was changed") : error)
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

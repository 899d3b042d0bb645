import SchemaApply
import SchemaHistory
import SchemaModel
import SchemaSQLText

/// The result for one database.
package struct FleetResult: Sendable {
  package enum State: String, Sendable, CaseIterable {
    case migrated
    case upToDate = "up-to-date"
    case pending
    /// Its ledger and schema match its history.
    case verified
    case failed
    /// Unfinished migrations were rolled back.
    case interrupted
    /// The run stopped before it.
    case notStarted = "not-started"
  }

  /// As it was listed.
  package let database: String
  package var state: State
  package var failure: Failure?
  /// The ids of the applied migrations, which stay applied if a later one fails.
  package var applied: [String] = []
  /// The ids of the migrations of another tool that were adopted.
  package var adopted: [String] = []
  /// The last migration that the database has run; only `status` reads it.
  package var current: String?
  /// The ids of the migrations that it has not run; only `status` reads them.
  package var pending: [String] = []
  /// The differences from the history that no migration made.
  package var drift: [SchemaChange] = []
  /// Whether the report of a shard records drift. `fleet merge` does not read the differences.
  var isReportedAsDrifted = false
  package var milliseconds: Int64 = 0
  /// The number of tries.
  package var attempts: Int

  package init(_ database: String, _ state: State, failure: Failure? = nil) {
    self.database = database
    self.state = state
    self.failure = failure
    attempts = state == .notStarted ? 0 : 1
  }

  /// - Parameter failure: an interruption has a state of its own.
  init(_ database: String, failure: Failure) {
    self.init(
      database, failure.status == .interrupted ? .interrupted : .failed, failure: failure)
  }

  /// Whether anything differs from the history.
  package var isDrifted: Bool { isReportedAsDrifted || !drift.isEmpty }

  package var status: ExitStatus { failure?.status ?? .success }
}

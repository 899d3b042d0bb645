import SchemaApply
import SchemaHistory
import SchemaModel
import SchemaSQLText

/// What came of one database.
package struct FleetResult: Sendable {
  package enum State: String, Sendable, CaseIterable {
    case migrated
    case upToDate = "up-to-date"
    case pending
    /// Its ledger and its schema are as its history says.
    case verified
    case failed
    /// What was not complete was rolled back.
    case interrupted
    /// The run stopped before it.
    case notStarted = "not-started"
  }

  /// As it was listed.
  package let database: String
  package var state: State
  package var failure: Failure?
  /// The ids of the migrations that were applied and stay, also where a later one failed.
  package var applied: [String] = []
  /// The ids of the migrations that another tool had made, and that the ledger has now.
  package var adopted: [String] = []
  /// The last migration that the database has run, where the work was to find that out.
  package var current: String?
  /// The ids of the migrations that it has not run, where the work was to find that out.
  package var pending: [String] = []
  /// What differs from the history although no migration made it so.
  package var drift: [SchemaChange] = []
  /// Whether a report says that anything differs; it is not read from there.
  var isReportedAsDrifted = false
  package var milliseconds: Int64 = 0
  /// How often it was tried.
  package var attempts = 1

  package init(_ database: String, _ state: State, failure: Failure? = nil) {
    self.database = database
    self.state = state
    self.failure = failure
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

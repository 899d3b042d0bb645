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

/// The header of a report: the work, the list of databases, and the shard.
package struct FleetHeader: Sendable {
  /// `migrate`, `status` or `verify`.
  package let command: String
  /// Identifies the history.
  package let history: String
  /// Identifies the whole list.
  package let digest: String
  /// How many databases the whole list names.
  package let listed: Int
  package let shard: Shard
  /// How many of them belong to the shard.
  package let count: Int
}

extension FleetHeader {
  package init(command: String, history: String, list: DatabaseList) {
    self.init(
      command: command, history: history, digest: list.digest, listed: list.listed,
      shard: list.shard, count: list.count)
  }
}

/// The sum of the results of many databases. Its size does not depend on their number.
package struct FleetSummary: Sendable {
  /// Failures that are counted together: one exit code in one operation of one migration.
  package struct Cause: Hashable, Sendable {
    package let status: ExitStatus
    package let migration: ExactText?
    /// The operation's number in the manifest and its name: `2 move_column`.
    package let operation: ExactText?

    init(_ failure: Failure) {
      status = failure.status
      migration = failure.migration?.id.exact
      operation = failure.migration?.operation?.exact
    }
  }

  /// How many databases the sum is to have.
  package var expected: Int
  package private(set) var states: [FleetResult.State: Int] = [:]
  private var causes: [Cause: Int] = [:]
  /// The first ten.
  package private(set) var failures: [FleetResult] = []
  /// How many databases differ from the history, where that stopped no migration.
  package private(set) var drifted = 0
  package private(set) var status = ExitStatus.success
  package var milliseconds: Int64 = 0

  package init(expected: Int) {
    self.expected = expected
  }

  package mutating func add(_ result: FleetResult) {
    states[result.state, default: 0] += 1
    if result.isDrifted, result.failure == nil { drifted += 1 }
    guard let failure = result.failure else { return }
    causes[Cause(failure), default: 0] += 1
    status = ExitStatus.worst([status, failure.status])
    if failures.count < 10 { failures.append(result) }
  }

  /// Makes the exit code that of an interrupted run, whose databases may all have succeeded.
  package mutating func noteInterruption() { status = .interrupted }

  /// Databases with a result.
  package var done: Int {
    states.reduce(0) { $0 + ($1.key == .notStarted ? 0 : $1.value) }
  }

  package var failed: Int { (states[.failed] ?? 0) + (states[.interrupted] ?? 0) }

  /// The most frequent first.
  package var sortedCauses: [(cause: Cause, count: Int)] {
    causes.map { ($0.key, $0.value) }.sorted { a, b in
      (b.1, a.0.status.rawValue, a.0.migration?.text ?? "", a.0.operation?.text ?? "")
        < (a.1, b.0.status.rawValue, b.0.migration?.text ?? "", b.0.operation?.text ?? "")
    }
  }
}

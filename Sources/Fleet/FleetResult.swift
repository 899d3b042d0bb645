import SchemaHistory
import SchemaModel
import SchemaSQLText

/// The result for one database.
package struct FleetResult: Sendable {
  package enum State: String, Sendable, CaseIterable {
    case migrated
    case upToDate = "up-to-date"
    case pending
    /// The ledger and the schema of the database match the history.
    case verified
    case failed
    /// Unfinished migrations were rolled back.
    case interrupted
    /// The run stopped before it processed the database.
    case notStarted = "not-started"
  }

  /// The name as it was listed.
  package let database: String
  package var state: State
  package var failure: Failure?
  /// The ids of the applied migrations. They remain applied if a later migration fails.
  package var applied: [String] = []
  /// The ids of the migrations of another tool that were adopted.
  package var adopted: [String] = []
  /// The last migration that the database has run. Only `status` reads it.
  package var current: String?
  /// The ids of the migrations that it has not run; only `status` reads them.
  package var pending: [String] = []
  /// The schema differences from the history.
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

  /// Creates the result of a failure. Distinguishes interruptions from other failures.
  init(_ database: String, failure: Failure) {
    self.init(
      database, failure.status == .interrupted ? .interrupted : .failed, failure: failure)
  }

  /// Whether the schema differs from the history.
  package var isDrifted: Bool { isReportedAsDrifted || !drift.isEmpty }

  package var status: ExitStatus { failure?.status ?? .success }
}

/// The header of a report: the work, the list of databases, and the shard.
package struct FleetHeader: Sendable {
  /// `migrate`, `status` or `verify`.
  package let command: String
  /// A digest that identifies the history.
  package let history: String
  /// A digest that identifies the whole list.
  package let digest: String
  /// The number of databases in the whole list.
  package let listed: Int
  package let shard: Shard
  /// The number of databases in the shard.
  package let count: Int
}

extension FleetHeader {
  package init(command: String, history: String, list: DatabaseList) {
    self.init(
      command: command, history: history, digest: list.digest, listed: list.listed,
      shard: list.shard, count: list.count)
  }
}

/// Counts of the results of many databases. The size of the summary does not depend on their number.
package struct FleetSummary: Sendable {
  /// The key by which failures are grouped: the exit code, the migration and the operation.
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

  /// The expected number of databases.
  package var expected: Int
  package private(set) var states: [FleetResult.State: Int] = [:]
  private var causes: [Cause: Int] = [:]
  /// The first ten failures.
  package private(set) var failures: [FleetResult] = []
  /// The number of databases whose schema differs from the history, but whose migrations did not fail.
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

  /// Sets the exit code of an interrupted run, because all databases may have succeeded.
  package mutating func noteInterruption() { status = .interrupted }

  /// The number of databases with a result.
  package var done: Int {
    states.reduce(0) { $0 + ($1.key == .notStarted ? 0 : $1.value) }
  }

  package var failed: Int { (states[.failed] ?? 0) + (states[.interrupted] ?? 0) }

  /// The causes of failures, the most frequent first.
  package var sortedCauses: [(cause: Cause, count: Int)] {
    causes.map { ($0.key, $0.value) }.sorted { a, b in
      (b.1, a.0.status.rawValue, a.0.migration?.text ?? "", a.0.operation?.text ?? "")
        < (a.1, b.0.status.rawValue, b.0.migration?.text ?? "", b.0.operation?.text ?? "")
    }
  }
}

import SchemaHistory
import SchemaSQLText

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

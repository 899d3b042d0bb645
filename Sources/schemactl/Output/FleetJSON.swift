import SchemaFleet
import SchemaHistory
import SchemaSQLText
import SchemaYAML

/// Implements `--format jsonl`: a line for the run, one for each database when it finishes, and a
/// summary.
final class JSONLinesReporter: Reporter {
  private let output: Output

  init(_ output: Output) {
    self.output = output
  }

  func report(_ event: Event) {
    switch event {
    case .stopped(let problem): write([("error", problem.json)])
    case .fleet(.started(let header)): write([("type", .string("run"))] + header.members)
    case .fleet(.result(let result, _)):
      write([("type", .string("database"))] + result.members)
    case .fleet(.ended(_, let summary, let status)):
      write([("type", .string("summary"))] + summary.members(status))
    default: break
    }
  }

  /// Writes without buffering, so that a killed run leaves a report of its finished databases.
  private func write(_ members: [(String, JSON)]) {
    output.write(JSON.object(members).line)
    output.flush()
  }
}

extension FleetEvent {
  /// The single document of `--format json`; nil until the run ends.
  var members: [(String, JSON)]? {
    switch self {
    case .started, .result: nil
    case .ended(let header, let summary, let status):
      header.members + summary.members(status)
        + [("failures", .array(summary.failures.map { .object($0.members) })), ("reports", .null)]
    case .merged(let merge):
      merge.header.members + merge.summary.members(merge.status)
        + [
          ("failures", .array(merge.summary.failures.map { .object($0.members) })),
          ("reports", .number(merge.reports)),
        ]
    }
  }
}

extension FleetHeader {
  fileprivate var members: [(String, JSON)] {
    [
      ("command", .string(command)), ("history", .string(history)), ("digest", .string(digest)),
      ("listed", .number(listed)), ("databases", .number(count)),
      (
        "shard",
        shard.isAll
          ? .null
          : .object([("index", .number(shard.index)), ("count", .number(shard.count))])
      ),
    ]
  }
}

extension FleetSummary {
  fileprivate func members(_ status: ExitStatus) -> [(String, JSON)] {
    [
      ("code", .integer(Int64(status.rawValue))),
      (
        "states",
        .object(
          FleetResult.State.allCases.compactMap { state in
            states[state].map { (state.rawValue, .number($0)) }
          })
      ),
      (
        "errors",
        .array(
          sortedCauses.map { cause, count in
            .object([
              ("code", .integer(Int64(cause.status.rawValue))),
              ("migration", .text(cause.migration?.text)),
              ("operation", .text(cause.operation?.text)), ("databases", .number(count)),
            ])
          })
      ),
      ("drifted", .number(drifted)), ("milliseconds", .integer(milliseconds)),
    ]
  }
}

extension FleetResult {
  fileprivate var members: [(String, JSON)] {
    [
      ("database", .string(database)), ("state", .string(state.rawValue)),
      ("code", .integer(Int64(status.rawValue))), ("applied", .list(applied)),
      ("adopted", .list(adopted)), ("current", .text(current)), ("pending", .list(pending)),
      ("drifted", .bool(isDrifted)), ("drift", .array(drift.map(\.json))),
      ("failed", failure?.json ?? .null), ("attempts", .number(attempts)),
      ("milliseconds", .integer(milliseconds)),
    ]
  }
}

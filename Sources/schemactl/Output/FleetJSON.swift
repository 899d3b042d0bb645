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
    case .stopped(let failure, _): write(["error": failure.error])
    case .fleet(.started(let header)): write(["type": "run"] + header.json)
    case .fleet(.result(let result, _)): write(["type": "database"] + result.json)
    case .fleet(.ended(_, let summary, let status)):
      write(["type": "summary"] + summary.json(status))
    default: break
    }
  }

  /// Writes without buffering, so that a killed run leaves a report of its finished databases.
  private func write(_ json: JSON) {
    output.write(json.line)
    output.flush()
  }
}

extension FleetEvent {
  /// The single document of `--format json`; nil until the run ends.
  var json: JSON? {
    switch self {
    case .started, .result: nil
    case .ended(let header, let summary, let status):
      header.json + summary.json(status) + ["failures": summary.failures, "reports": JSON.null]
    case .merged(let merge):
      merge.header.json + merge.summary.json(merge.status)
        + ["failures": merge.summary.failures, "reports": merge.reports]
    }
  }
}

extension FleetHeader: JSONConvertible {
  package var json: JSON {
    let part: JSON = ["index": shard.index, "count": shard.count]
    return [
      "command": command, "history": history, "digest": digest, "listed": listed,
      "databases": count, "shard": shard.isAll ? JSON.null : part,
    ]
  }
}

extension FleetSummary {
  fileprivate func json(_ status: ExitStatus) -> JSON {
    let found = FleetResult.State.allCases.compactMap { state in
      states[state].map { (state.rawValue, $0.json) }
    }
    let errors = sortedCauses.map { cause, count -> JSON in
      [
        "code": Int(cause.status.rawValue), "migration": cause.migration?.text,
        "operation": cause.operation?.text, "databases": count,
      ]
    }
    return [
      "code": Int(status.rawValue), "states": JSON.object(found), "errors": errors,
      "drifted": drifted, "milliseconds": milliseconds,
    ]
  }
}

extension FleetResult: JSONConvertible {
  package var json: JSON {
    [
      "database": database, "state": state.rawValue, "code": Int(status.rawValue),
      "applied": applied, "adopted": adopted, "current": current, "pending": pending,
      "drifted": isDrifted, "drift": drift, "failed": failure, "attempts": attempts,
      "milliseconds": milliseconds,
    ]
  }
}

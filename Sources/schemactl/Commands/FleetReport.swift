import SchemaFleet
import SchemaHistory
import SchemaSQLText
import SchemaYAML

/// The progress of a run on many databases.
enum FleetEvent {
  case started(FleetHeader)
  /// The result of one database, and the totals so far.
  case result(FleetResult, FleetSummary)
  case ended(FleetHeader, FleetSummary, ExitStatus)
}

extension TextReporter {
  func show(_ header: FleetHeader, _ summary: FleetSummary, listsFailures: Bool) {
    if listsFailures {
      for result in summary.failures { show(result) }
      if summary.failed > summary.failures.count {
        say(
          "… and \(grouped(summary.failed - summary.failures.count)) more failures: `--verbose` or "
            + "`--format jsonl` reports every database.")
      }
    }
    if !summary.failures.isEmpty { say("") }
    let rows = rows(summary)
    let width = rows.map(\.count.utf8.count).max() ?? 0
    for row in rows {
      say(String(repeating: " ", count: width - row.count.utf8.count) + "\(row.count)  \(row.text)")
    }
    if !rows.isEmpty { say("") }
    say(verdict(summary, header))
  }

  /// With `--verbose`, prints each failure and each database with pending migrations.
  func name(_ result: FleetResult) {
    guard volume == .verbose else { return }
    progress.clear()
    show(result)
    guard let next = result.pending.first else { return }
    let count = grouped(result.pending.count)
    say("\(result.database.visible): \(count) pending, next: `\(next.visible)`")
  }

  private func show(_ result: FleetResult) {
    guard let failure = result.failure else { return }
    say("\(paint(result.database.visible, "1;31")): \(failure.status.label)")
    let place = failure.place.map { $0.inWords + ": " } ?? ""
    for (index, line) in failure.lines.enumerated() {
      say("  " + (index == 0 ? place : "  ") + line.visible)
    }
    if let migration = failure.migration { say("  \(migration.inWords.visible)") }
    if let last = result.applied.last {
      say(
        "  still applied: \(counted(result.applied.count, "migration")), the last "
          + "one `\(last.visible)`"
      )
    }
  }

  private func rows(_ summary: FleetSummary) -> [(count: String, text: String)] {
    let states = FleetResult.State.allCases.compactMap { state in
      [.failed, .interrupted].contains(state)
        ? nil : summary.states[state].map { (grouped($0), state.inWords) }
    }
    let causes = summary.sortedCauses.map { cause, count in
      let place = [
        cause.operation.map { "operation `\($0)`" }, cause.migration.map { "migration `\($0)`" },
      ].compactMap { $0?.visible }.joined(separator: " of ")
      return (
        grouped(count),
        "\(cause.status.label) (exit code \(cause.status.rawValue))"
          + (place.isEmpty ? "" : ": \(place)")
      )
    }
    return states + causes
  }

  private func verdict(_ summary: FleetSummary, _ header: FleetHeader) -> String {
    let part = header.shard.isAll ? "" : " of shard \(header.shard)"
    let skipped = summary.states[.notStarted] ?? 0
    let tenths = summary.milliseconds / 100
    return
      "\(counted(summary.expected, "database"))\(part)"
      + (summary.milliseconds > 0 ? " in \(tenths / 10).\(tenths % 10) s" : "")
      + ": \(grouped(summary.done - summary.failed)) succeeded, \(grouped(summary.failed)) failed"
      + (skipped > 0
        ? ", \(grouped(skipped)) not started. "
          + (summary.failed > 0 ? "Correct the causes, then run" : "Run") + " it again to continue."
        : ".")
      + (summary.drifted > 0
        ? " \(grouped(summary.drifted)) \(summary.drifted == 1 ? "differs" : "differ") from the "
          + "history in objects that no migration changes." : "")
  }
}

extension FleetResult.State {
  fileprivate var inWords: String {
    switch self {
    case .migrated: "migrated"
    case .upToDate: "up to date"
    case .pending: "with pending migrations"
    case .verified: "verified"
    case .failed: "failed"
    case .interrupted: "interrupted"
    case .notStarted: "not started"
    }
  }
}

extension ExitStatus {
  /// A short label for the reason why a database failed.
  fileprivate var label: String {
    switch self {
    case .success: "no failure"
    case .finding: "differs from the history"
    case .brokenHistory: "ledger contradicts the history"
    case .migrationFailed: "migration failed"
    case .databaseAhead: "ahead of the history"
    case .usage: "not the path of a database file"
    case .invalidInput: "migration cannot run here"
    case .notFound: "missing or empty"
    case .bug: "bug in schemactl"
    case .inputOutput: "damaged, or an I/O error"
    case .busy: "busy"
    case .permission: "permission denied"
    case .interrupted: "interrupted"
    }
  }
}

extension FleetSummary {
  /// Returns the progress of the run as text.
  package func progress(afterMilliseconds elapsed: Int64) -> String {
    let rate = Double(done) / max(Double(elapsed) / 1000, 0.001)
    return "\(grouped(done)) of \(grouped(expected)) databases done, \(grouped(failed)) failed, "
      + "\(grouped(expected - done)) left, \(grouped(Int(rate)))/s"
  }
}

/// Implements `--format jsonl`: one line for the run, one line for each database when its work ends, and a
/// summary.
struct JSONLinesReporter: Reporter {
  let output: Output

  func report(
    _ json: () -> JSON?, _ annotations: () -> Annotations?, _ text: (TextReporter) -> Void
  ) {
    if let document = json() { write(document) }
  }

  func follow(_ event: FleetEvent) {
    switch event {
    case .started(let header): write(["type": "run"] + header.json)
    case .result(let result, _): write(["type": "database"] + result.json)
    case .ended(_, let summary, let status): write(["type": "summary"] + summary.json(status))
    }
  }

  /// Writes without buffering, so that the output of a killed run contains all finished databases.
  private func write(_ json: JSON) {
    output.write(json.line)
    output.flush()
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
  func json(_ status: ExitStatus) -> JSON {
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

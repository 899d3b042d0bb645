import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaSQLText

extension TextReporter {
  func show(_ report: StatusReport, _ database: String) {
    say(database.visible)
    say("  current  \(report.current?.visible ?? "no migration yet")")
    let adoptable =
      report.adoptable == 0 ? "" : " (by another tool: `schemactl migrate` adopts the database)"
    say("  applied  \(report.applied.count)\(adoptable)")
    say("  pending  \(report.pending.count)")
    for id in report.pending { say("    \(id.visible)") }
    for entry in report.broken {
      say("  \(entry.id.visible): \(entry.state.rawValue). \(entry.detail.visible)")
    }
    for entry in report.ledger where entry.state.stops {
      say("  \(entry.id.visible): \(entry.state.rawValue). \(entry.detail.visible)")
    }
  }

  func show(_ report: DiffReport, _ database: String) {
    let start =
      "\(database.visible) has no ledger, so it does not say which migrations it has run: its "
      + "schema "
    switch (report.hasLedger, report.changes.isEmpty) {
    case (true, true) where report.ledger.isEmpty:
      mention("\(database.visible) is what its history says it is.")
    case (true, true): mention("The schema is what the history says, and the ledger is not:")
    case (false, true): mention(start + "equals that of the whole history.")
    case (false, false): mention(start + "differs from that of the whole history.")
    case (true, false): break
    }
    for change in report.changes { say(change.sentence.visible) }
    for entry in report.ledger {
      say("\(entry.id.visible): \(entry.state.rawValue) in the ledger. \(entry.detail.visible)")
    }
  }

  func show(_ report: VerifyReport, _ database: String?) {
    showHistory(report)
    for entry in report.ledger ?? [] where !entry.detail.isEmpty {
      say("\(entry.id.visible): \(entry.state.rawValue) in \(database?.visible ?? "the database")")
      say("  \(entry.detail.visible)")
    }
    for change in report.drift ?? [] { say("drift: \(change.sentence.visible)") }
    mention(summary(report.history))
    if let database, report.drift?.isEmpty == true,
      !(report.ledger ?? []).contains(where: \.state.stops)
    {
      mention("\(database.visible) is what its history says it is.")
    }
    for text in report.notes { note(text) }
    if let failure = report.failure { complain(Problem(failure)) }
  }

  func showHistory(_ report: VerifyReport) {
    for difference in report.lock {
      say("\(HistoryLock.fileName): \(difference.kind.rawValue)")
      say("  \(difference.message.visible)")
    }
    for entry in report.history where !entry.detail.isEmpty {
      say("\(entry.id.visible): \(entry.state.rawValue)")
      say("  \(entry.detail.visible)")
      for line in report.edits[entry.id]?.lines ?? [] { say("  \(line)") }
    }
  }

  /// `7 migrations: 5 unchanged, 2 draft.`
  func summary(_ history: [HistoryEntry]) -> String {
    let states = HistoryState.allCases.compactMap { state in
      let count = history.count { $0.state == state }
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    let total = counted(history.count, "migration")
    return states.isEmpty ? "\(total)." : "\(total): \(states.joined(separator: ", "))."
  }
}

extension ManifestDiff {
  /// For a person, and fit for a terminal.
  var lines: [String] {
    var lines: [String] = []
    if let restore { lines.append("restore it with `\(restore.visible)`") }
    lines += text.split(separator: "\n").map { String($0).visible }
    lines += schema.map { "schema after it: \($0.sentence.visible)" }
    if let problem { lines.append("the edit is not shown: \(problem.visible)") }
    return lines
  }
}

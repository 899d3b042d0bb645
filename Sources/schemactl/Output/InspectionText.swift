import History
import Migrating
import SchemaModel

extension TextReporter {
  func show(_ report: StatusReport, _ database: String) {
    say(database.visible)
    say("  current  \(report.current?.visible ?? "no migration yet")")
    say("  applied  \(report.applied.count)")
    say("  pending  \(report.pending.count)")
    for id in report.pending { say("    \(id.visible)") }
    for entry in report.ledger where entry.state.stops {
      say("  \(entry.id.visible): \(entry.state.rawValue). \(entry.detail.visible)")
    }
  }

  func show(_ report: DiffReport, _ database: String) {
    let start =
      "\(database.visible) has no ledger, so it does not say which migrations it has run: its "
      + "schema "
    switch (report.hasLedger, report.changes.isEmpty) {
    case (true, true): mention("\(database.visible) is what its history says it is.")
    case (false, true): mention(start + "equals that of the whole history.")
    case (false, false): mention(start + "differs from that of the whole history.")
    case (true, false): break
    }
    for change in report.changes { say(change.sentence.visible) }
  }

  func show(_ report: VerifyReport, _ database: String?) {
    for entry in report.history where !entry.detail.isEmpty {
      say("\(entry.id.visible): \(entry.state.rawValue)")
      say("  \(entry.detail.visible)")
    }
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

  /// `7 migrations: 5 unchanged, 2 draft.`
  private func summary(_ history: [HistoryEntry]) -> String {
    let states = HistoryState.allCases.compactMap { state in
      let count = history.count { $0.state == state }
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    let total = counted(history.count, "migration")
    return states.isEmpty ? "\(total)." : "\(total): \(states.joined(separator: ", "))."
  }

  func show(_ report: FreezeReport, _ release: String?, _ file: String) {
    guard !report.frozen.isEmpty else {
      let release = release.map { " Release \($0.visible) was not recorded." } ?? ""
      return mention(
        report.isHistoryEmpty
          ? "Nothing to freeze: there are no migrations yet.\(release)"
          : "Nothing to freeze: every migration is frozen already.\(release)")
    }
    for id in report.frozen { mention("Froze \(id.visible).") }
    let name = release.map { " for release \($0.visible)" } ?? ""
    mention(
      "\(counted(report.frozen.count, "migration")) frozen\(name) in \(file.visible): commit it, "
        + "and change these manifests no more.")
  }
}

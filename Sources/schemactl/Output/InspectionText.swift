import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaYAML

extension TextReporter {
  // MARK: The ledger

  func show(_ report: StatusReport, _ database: String, _ next: String?) {
    let width = report.ledger.map(\.id.visible.count).max() ?? 0
    let rows = Dictionary(report.applied.map { ($0.id.exact, $0) }) { $1 }
    // Show only the end of a long ledger.
    let hidden = volume == .verbose ? 0 : max(0, report.ledger.count - 20)
    let earlier = report.ledger.prefix(hidden).filter { !$0.state.stops }
    if !earlier.isEmpty {
      mention("… \(counted(earlier.count, "earlier migration")); --verbose shows all")
    }
    for entry in report.ledger.prefix(hidden).filter(\.state.stops)
      + report.ledger.dropFirst(hidden)
    {
      let time =
        report.adoptable > 0
        ? ""
        : rows[entry.id.exact].map {
          "  \($0.startedAt.visible)  " + ($0.isAdopted ? "adopted" : duration($0.milliseconds))
        } ?? ""
      let id = entry.id.visible
      say(id + String(repeating: " ", count: width - id.count) + "  \(entry.state.rawValue)\(time)")
      if !entry.detail.isEmpty { say("  \(entry.detail.visible)") }
    }
    for entry in report.broken {
      say("\(entry.id.visible): \(entry.state.rawValue)")
      say("  \(entry.detail.visible)")
    }
    list(report.repairs, "repair") { repair in
      say(
        "repaired \(repair.at.visible): \(repair.id.visible) as \(repair.action.visible): "
          + repair.reason.visible)
    }
    let wrong = report.ledger.count(where: \.state.stops) + report.broken.count
    say(
      "\(database.visible): \(grouped(report.applied.count)) applied"
        + (report.adoptable > 0 ? " by another tool" : "")
        + ", \(grouped(report.pending.count)) pending"
        + (wrong > 0 ? ", \(counted(wrong, "problem"))" : ""))
    if let failure = report.failure {
      complain(failure)
    } else if report.adoptable > 0 {
      note("`schemactl migrate` would adopt \(counted(report.adoptable, "migration"))")
    } else if !report.drift.isEmpty {
      note("the schema differs from the history in \(counted(report.drift.count, "place"))")
    }
    if let next { mention("Next: \(next.visible)") }
  }

  func show(_ plan: RepairPlan, _ isDone: Bool) {
    let record = "\(plan.repair.id.visible) as \(plan.repair.action.rawValue)"
    guard !isDone else { return mention("Recorded \(record).") }
    say("schemactl will record \(record).")
    for entry in plan.after where entry.state.stops {
      say("\(entry.id.visible) is still \(entry.state.rawValue): \(entry.detail.visible)")
    }
    for change in plan.drift { say("the schema does not fit: \(change.sentence.visible)") }
    if plan.isClean { say("The schema then fits the ledger.") }
  }

  func show(_ report: AdoptReport, _ database: String) {
    mention("Adopted \(database.visible) at \(report.at.visible).")
    let pending = report.pending.map(\.visible)
    mention(
      pending.isEmpty
        ? "No migration is pending."
        : "\(counted(pending.count, "migration")) pending, next: \(pending[0])")
  }

  func show(
    _ files: [String], _ report: AdoptReport?, _ ledgers: [UsualLedger], _ next: String
  ) {
    for file in files { mention("Created \(file.visible)") }
    for ledger in ledgers {
      mention(
        "The baseline replaces \(counted(ledger.entries.count, "migration")) in "
          + "\(ledger.table.visible). For databases that have run fewer of them, use "
          + "`schemactl import` instead of this baseline.")
    }
    if let report { mention("Adopted the database at \(report.at.visible).") }
    mention("Next: \(next.visible)")
  }

  // MARK: Schemas

  func show(_ schema: Schema, _ isSQL: Bool) {
    sayScript(isSQL ? schema.script : manifestText(schema.operations))
  }

  func show(_ report: DiffReport, _ database: String) {
    let database = database.visible
    show(report.changes, "the history", database)
    list(report.ledger, "ledger entry") { entry in
      say("\(entry.id.visible): \(entry.state.rawValue) in the ledger")
      say("  \(entry.detail.visible)")
    }
    if !report.changes.isEmpty, report.hasLedger {
      help(
        "if the database is right, write the difference as a migration (`schemactl new`); if the history "
          + "is right, change the database")
    }
    if !report.hasLedger {
      note("\(database) has no ledger, so it was compared with the latest schema of the history")
    }
  }

  /// Prints parts of the first schema that the second lacks with `-`, and the reverse with `+`.
  func show(_ changes: [SchemaChange], _ from: String, _ to: String) {
    let (from, to) = (from.visible, to.visible)
    guard !changes.isEmpty else { return mention("\(from) and \(to) have the same schema.") }
    say(paint("--- \(from)", "1"))
    say(paint("+++ \(to)", "1"))
    list(changes, "difference") { change in
      say(paint("@@ \(change.subject.visible) @@", "36"))
      if let expected = change.expected { say(paint("-\(expected.visible)", "31")) }
      if let actual = change.actual { say(paint("+\(actual.visible)", "32")) }
    }
    mention("Found \(counted(changes.count, "difference")).")
  }

  // MARK: Frozen history

  func show(_ report: VerifyReport, _ database: String?) {
    showHistory(report)
    list((report.ledger ?? []).filter { !$0.detail.isEmpty }, "ledger entry") { entry in
      say("\(entry.id.visible): \(entry.state.rawValue) in \(database?.visible ?? "the database")")
      say("  \(entry.detail.visible)")
    }
    list(report.drift ?? [], "difference") { say("drift: \($0.sentence.visible)") }
    if let failure = report.failure { complain(failure) }
    for text in report.notes { note(text) }
    mention(summary(report.history))
    if let database, report.drift?.isEmpty == true,
      !(report.ledger ?? []).contains(where: \.state.stops)
    {
      mention("\(database.visible) matches its history.")
    }
  }

  func showHistory(_ report: VerifyReport) {
    for difference in report.lock {
      say("\(HistoryLock.fileName): \(difference.kind.rawValue)")
      say("  \(difference.message.visible)")
    }
    list(report.history.filter { !$0.detail.isEmpty }, "migration") { entry in
      say("\(entry.id.visible): \(entry.state.rawValue)")
      say("  \(entry.detail.visible)")
      for line in report.edits[entry.id]?.lines ?? [] { say("  \(line)") }
    }
  }

  /// `7 migrations: 5 unchanged, 2 draft.`
  func summary(_ history: [HistoryEntry]) -> String {
    let states = HistoryState.allCases.compactMap { state in
      let count = history.count { $0.state == state }
      return count == 0 ? nil : "\(grouped(count)) \(state.rawValue)"
    }
    let total = counted(history.count, "migration")
    return states.isEmpty ? "\(total)." : "\(total): \(states.joined(separator: ", "))."
  }
}

extension ManifestDiff {
  /// The text for a person, with control characters escaped.
  var lines: [String] {
    var lines: [String] = []
    lines += text.split(separator: "\n").map { String($0).visible }
    lines += schema.map { "schema after it: \($0.sentence.visible)" }
    if let problem { lines.append("the edit cannot be shown: \(problem.visible)") }
    return lines
  }
}

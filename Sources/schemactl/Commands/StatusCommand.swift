import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLText

enum StatusCommand: Command {
  static let declaration = CommandDeclaration(
    name: "status", summary: "Show which migrations a database has run.",
    discussion: """
      Compares the ledger and the schema of the database with the history. Lists applied and pending \
      migrations, problems, and the next command to run. `status` writes nothing.
      """,
    examples: [
      "schemactl status --database app.sqlite": "Show applied and pending migrations.",
      "schemactl status --database app.sqlite --check": "Exit with 1 if a migration is pending.",
    ],
    options: [.init("check", summary: "Exit with 1 if a migration is pending.")]
      + .databaseOrCluster + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let (project, database, isCluster) = try session.projectAndDatabase()
    let report = try project.status(of: database, comparesSchema: true)
    let command = isCluster ? nil : next(after: report, session)
    session.report(report.json) { $0.show(report, database.name.visible, command) }
    let isBehind = session.flag("check") && !report.pending.isEmpty
    return ExitStatus.worst([report.status, isBehind ? .finding : .success])
  }

  private static func next(after report: StatusReport, _ session: Session) -> String? {
    let states = report.ledger.map(\.state)
    if !report.broken.isEmpty { return session.command("verify", database: false) }
    if states.contains(.unknown) { return nil }
    if states.contains(.draftEdited) {
      return session.command("migrate", ["--reset-drafts"])
    }
    if states.contains(.outOfOrder) {
      let drafts = report.ledger.filter { $0.state == .outOfOrder }.map(\.id)
      return session.command("renumber", drafts, database: false)
    }
    if states.contains(where: \.stops) || report.failure != nil || !report.drift.isEmpty {
      return session.command("diff")
    }
    return report.pending.isEmpty ? nil : session.command("migrate")
  }
}

extension TextReporter {
  fileprivate func show(_ report: StatusReport, _ database: String, _ next: String?) {
    let width = report.ledger.map(\.id.visible.count).max() ?? 0
    let stateWidth = report.ledger.map(\.state.rawValue.count).max() ?? 0
    let rows = Dictionary(report.applied.map { ($0.id.exact, $0) }) { $1 }
    // Show only the end of a long ledger, and earlier migrations that need action.
    let hidden = volume == .verbose ? 0 : max(0, report.ledger.count - 20)
    let (early, late) = (report.ledger.prefix(hidden), report.ledger.dropFirst(hidden))
    let omitted = early.count { !$0.state.stops }
    if omitted > 0 { mention("… \(counted(omitted, "earlier migration")); `--verbose` shows all") }
    for entry in early.filter(\.state.stops) + late {
      let row = report.adoptable > 0 ? nil : rows[entry.id.exact]
      let time = row.map {
        String(repeating: " ", count: stateWidth - entry.state.rawValue.count)
          + "  \($0.startedAt.visible)  " + ($0.isAdopted ? "adopted" : duration($0.milliseconds))
      }
      let id = entry.id.visible
      say(
        id + String(repeating: " ", count: width - id.count)
          + "  \(entry.state.rawValue)\(time ?? "")", detail: entry.detail)
    }
    for entry in report.broken {
      say("\(entry.id.visible): \(entry.state.rawValue)", detail: entry.detail)
    }
    list(report.repairs, "repair") { repair in
      say(
        "repaired \(repair.at.visible): `\(repair.id.visible)` as \(repair.action.visible): "
          + repair.reason.visible)
    }
    let wrong = report.ledger.count(where: \.state.stops) + report.broken.count
    say(
      "\(database): \(grouped(report.applied.count)) applied"
        + (report.adoptable > 0 ? " by another tool" : "")
        + ", \(grouped(report.pending.count)) pending"
        + (wrong > 0 ? ", \(counted(wrong, "problem"))" : ""))
    if let failure = report.failure {
      complain(failure)
    } else if report.adoptable > 0 {
      noteAdoption(of: report.applied.prefix(report.adoptable).map(\.id))
    } else if !report.drift.isEmpty {
      note("the schema differs from the history in \(counted(report.drift.count, "place"))")
    }
    if let next { mention("Next: `\(next.visible)`") }
  }
}

import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLText

enum StatusCommand: Command {
  static let declaration = CommandDeclaration(
    name: "status", summary: "Show which migrations a database has run.",
    discussion: """
      Compares the ledger and the schema of the database with the history. Lists applied and pending \
      migrations, problems, and the next command to run. It writes nothing.
      """,
    examples: [
      .init("schemactl status --database app.sqlite", "Show applied and pending migrations."),
      .init(
        "schemactl status --database app.sqlite --check",
        "Exit with 1 if a migration is pending."),
    ],
    options: [OptionDeclaration("check", summary: "Exit with 1 if a migration is pending.")]
      + .databaseOrCluster + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let (project, database, isCluster) = try Settings(session).projectAndDatabase(session)
    let report = try project.status(of: database, comparesSchema: true)
    let command = isCluster ? nil : next(after: report, of: project, database.name, session)
    session.report(.stands(report, database: database.name, next: command))
    let isBehind = session.invocation.flag("check") && !report.pending.isEmpty
    return ExitStatus.worst([report.status, isBehind ? .finding : .success])
  }

  private static func next(
    after report: StatusReport, of project: Project, _ database: String, _ session: Session
  ) -> String? {
    let states = report.ledger.map(\.state)
    if !report.broken.isEmpty { return session.command("verify", database: false) }
    if states.contains(.unknown) { return nil }
    if states.contains(.draftEdited) {
      let canReset = DraftCopy(of: database, project).canRestore
      return canReset
        ? session.command("migrate", "--reset-drafts") : session.command("restore", "--dry-run")
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

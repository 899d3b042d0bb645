import SchemaCommandLine
import SchemaHistory
import SchemaInspect

enum StatusCommand: Command {
  static let name = "status"
  static let declaration = CommandDeclaration(
    name: name, summary: "Says where a database stands.",
    discussion: """
      Shows the last migration that the database has run, and those that are pending. Nothing is \
      written.
      """,
    examples: [
      .init("schemactl status --database app.sqlite", "Shows what is applied and what is pending."),
      .init(
        "schemactl status --database app.sqlite --check",
        "Exits with 1 when something is pending."),
    ],
    options: [OptionDeclaration("check", summary: "Exit with 1 when a migration is pending.")]
      + .database + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let database = try settings.requiredDatabase()
    let result = try attempt {
      try settings.project(for: database).status(
        database: database, timeout: settings.timeout, interruption: session.interruption)
    }
    switch result {
    case .success(let report):
      session.report(.stands(report, database: database))
      let isBehind = session.invocation.flag("check") && !report.pending.isEmpty
      return ExitStatus.worst([report.status, isBehind ? .finding : .success])
    case .failure(let failure):
      session.report(.failed(.status, failure))
      return failure.status
    }
  }
}

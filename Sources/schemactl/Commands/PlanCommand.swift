import SchemaApply
import SchemaCommandLine
import SchemaHistory
import SchemaInspect

enum PlanCommand: Command {
  static let name = "plan"
  static let declaration = CommandDeclaration(
    name: name, summary: "Shows the SQL that 'migrate' would run.",
    discussion: """
      Prints a script for the sqlite3 shell that does what 'migrate' would do: the same statements, \
      the same transactions, the same entries in the ledger. It stops at the first error. With \
      --empty, or without a database, it begins with an empty one. SQL with a control character \
      in it, which would drive a terminal behind a pipe, is shown with --format json alone.
      """,
    examples: [
      .init("schemactl plan --database app.sqlite", "Shows what is pending as SQL."),
      .init(
        "schemactl plan --empty | sqlite3 new.sqlite", "Makes a database without schemactl."),
    ],
    options: [
      OptionDeclaration(
        "to", .text("ID"), summary: "The last migration to plan, by its id or its number."),
      OptionDeclaration("frozen", summary: "Plan only what is frozen."),
      OptionDeclaration(
        "empty", summary: "Begin with an empty database, whatever is configured."),
    ] + .database + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let isEmpty = session.invocation.flag("empty")
    if isEmpty, session.invocation.isOnCommandLine("database") {
      throw session.usageError(
        "--empty and --database contradict each other",
        hint: "--empty plans the whole history, --database what a database lacks.")
    }
    let settings = try Settings(session)
    var options = MigrateOptions(database: "")
    options.through = session.invocation.text("to")
    options.frozenOnly = session.invocation.flag("frozen")
    options.timeout = settings.timeout
    let result = try attempt {
      let database = isEmpty ? nil : try settings.optionalDatabase()
      return try settings.project(for: database, mustExist: false)
        .plan(options, database: database)
    }
    switch result {
    case .success(let report):
      if session.printsRawSQL { try report.requirePlainText() }
      session.report(.planned(report))
      return report.failure?.status ?? .success
    case .failure(let failure):
      session.report(.failed(.plan, failure))
      return failure.status
    }
  }
}

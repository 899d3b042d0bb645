import SchemaApply
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

enum LedgerCommand: Command {
  static let name = "ledger"
  static let declaration = CommandDeclaration(
    name: name, summary: "Shows which migrations a database has run, and repairs that record.",
    discussion: """
      The ledger is the table schemactl_migrations of a database. Without a subcommand it is shown \
      and held against the history.
      """,
    examples: [
      .init("schemactl ledger --database app.sqlite", "Shows each migration and its state."),
      .init(
        "schemactl ledger repair 0004_tags --as applied --reason 'restored' --database app.sqlite",
        "Records that a migration has run, after asking."),
    ],
    options: .database + .common,
    subcommands: [
      CommandDeclaration(
        name: "repair", summary: "Corrects the row of one migration.",
        discussion: """
          Shows what would be recorded and how the schema then fits, and asks. Nothing but the \
          ledger is changed, and the repair is recorded beside it, in schemactl_repairs.
          """,
        examples: [
          .init(
            "schemactl ledger repair 0004_tags --as absent --reason 'row was copied by hand'",
            "Records that a migration has not run.")
        ],
        arguments: [ArgumentDeclaration(name: "ID", summary: "The migration.")],
        options: [
          OptionDeclaration(
            "as", .choice("STATE", LedgerRepair.Action.allCases.map(\.rawValue)),
            summary: "'applied': it has run; 'absent': it has not; 'current': it has run, and did "
              + "what its present form does."),
          OptionDeclaration("reason", .text("TEXT"), summary: "Why, for those who come after."),
          OptionDeclaration("yes", short: "y", summary: "Record it without asking."),
        ] + .database + .common)
    ],
    isRunnable: true)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let database = try settings.requiredDatabase()
    let result = try attempt {
      let project = try settings.project(for: database)
      return session.invocation.commandPath.last == "repair"
        ? try repair(project, database, settings.timeout, session)
        : try show(project, database, settings.timeout, session)
    }
    if let failure = result.failure { session.report(.failed(.ledger, failure)) }
    return result.success ?? result.failure?.status ?? .bug
  }

  private static func show(
    _ project: Project, _ database: String, _ timeout: Double, _ session: Session
  ) throws -> ExitStatus {
    let (entries, rows, repairs) = try project.ledger(database: database, timeout: timeout)
    session.report(.ledger(entries, rows, repairs))
    return ExitStatus.worst(entries.map(\.state.status))
  }

  private static func repair(
    _ project: Project, _ database: String, _ timeout: Double, _ session: Session
  ) throws -> ExitStatus {
    guard let name = session.invocation.arguments.first,
      let action = session.invocation.text("as").flatMap(LedgerRepair.Action.init)
    else {
      throw session.usageError(
        "`ledger repair` needs --as", hint: "What has happened only you can know: see --help.")
    }
    guard let reason = session.invocation.text("reason"), !reason.isEmpty else {
      throw session.usageError(
        "`ledger repair` needs --reason", hint: "It is recorded for those who come after.")
    }
    let id = project.migrations.first { $0.answers(to: name) }?.id ?? name
    let plan = try project.plan(
      LedgerRepair(id: id, action: action, reason: reason), database: database, timeout: timeout)
    session.report(.repair(plan, isDone: false))
    guard try session.invocation.flag("yes") || isConfirmed(session) else {
      session.report(.note("nothing was changed"))
      return .finding
    }
    try session.writing.close {
      try project.carryOut(plan, database: database, timeout: timeout)
    }
    session.report(.repair(plan, isDone: true))
    return .success
  }

  private static func isConfirmed(_ session: Session) throws -> Bool {
    guard isatty(0) == 1, isatty(2) == 1 else {
      throw session.usageError(
        "nobody can be asked: the input is no terminal", hint: "Confirm with --yes.")
    }
    session.output.flush()
    let question = Array("Record this? [y/N] ".utf8)
    _ = write(2, question, question.count)
    let answer = readLine()?.lowercased() ?? ""
    return answer == "y" || answer == "yes"
  }
}

import SchemaApply
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

enum RepairCommand: Command {
  private static let states = LedgerRepair.Action.allCases.map(\.rawValue)

  static let declaration = CommandDeclaration(
    name: "repair", summary: "Correct the ledger of a database.",
    discussion: """
      Changes one migration's row in the ledger, the table schemactl_migrations of the database. \
      schemactl shows the new record and how well the schema fits it, then asks for confirmation. \
      It changes nothing else, and records the repair in schemactl_repairs, or with \
      `ledger_table: NAME` in schemactl_repairs_of_NAME.
      """,
    examples: [
      .init(
        "schemactl repair 0004_tags absent --reason 'row copied by hand' --database app.sqlite",
        "Record that the database has not run a migration.")
    ],
    arguments: [
      ArgumentDeclaration(
        name: "ID", summary: "The migration, by id or number.", completion: .migrations),
      ArgumentDeclaration(
        name: "STATE",
        summary:
          "'applied': the database has run it; 'absent': it has not; 'current': it has run the "
          + "current manifest.",
        completion: .words(states)),
    ],
    options: [
      OptionDeclaration("reason", .text("TEXT"), summary: "The reason, on one line. Required."),
      .force("Do not ask for confirmation."),
    ] + .database + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let database = try settings.requiredDatabase()
    let project = try settings.project(for: database)
    let (name, state) = (session.invocation.arguments[0], session.invocation.arguments[1])
    guard let action = LedgerRepair.Action(rawValue: state) else {
      throw session.usageError(
        "'\(state.visible)' is not a state of a migration",
        hint: "Use one of \(states.joined(separator: ", ")).")
    }
    let reason = try session.reason(
      for: "repair", hint: "schemactl records why the ledger was changed.")
    let id = project.migrations.first { $0.answers(to: name) }?.id ?? name
    let plan = try project.plan(
      LedgerRepair(id: id, action: action, reason: reason), database: database,
      timeout: settings.timeout)
    session.report(.repair(plan, isDone: false))
    guard try session.invocation.flag("force") || isConfirmed(session) else {
      session.report(.note("schemactl changed nothing"))
      return .finding
    }
    try session.writing.close {
      try project.carryOut(plan, database: database, timeout: settings.timeout)
    }
    session.report(.repair(plan, isDone: true))
    return .success
  }

  private static func isConfirmed(_ session: Session) throws -> Bool {
    guard let answer = session.ask("Record this? [y/N] ") else {
      throw session.usageError(
        "schemactl cannot ask for confirmation: this is not a terminal",
        hint: "Confirm with --force.")
    }
    return ["y", "yes"].contains(answer.lowercased())
  }
}

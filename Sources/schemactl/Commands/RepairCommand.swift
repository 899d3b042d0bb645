import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum RepairCommand: Command {
  private static let states = LedgerRepair.Action.allCases.map(\.rawValue)

  static let declaration = CommandDeclaration(
    name: "repair", summary: "Correct the ledger of a database.",
    discussion: """
      Changes one migration's row in the ledger, the table `schemactl_migrations` of the database. \
      schemactl shows the new record and its differences from the schema, then asks for \
      confirmation. `repair` changes nothing else, and records the repair in `schemactl_repairs`, or with \
      `ledger_table: NAME` in `schemactl_repairs_of_NAME`.
      """,
    examples: [
      "schemactl repair 0004_tags absent --reason 'row copied by hand' --database app.sqlite":
        "Record that the database has not run a migration."
    ],
    arguments: [
      .init(name: "ID", summary: "The migration, by id or number.", completion: .migrations),
      .init(
        name: "STATE",
        summary:
          "`applied`: the database has run it; `absent`: it has not; `current`: it has run the "
          + "current manifest.",
        completion: .words(states)),
    ],
    options: [
      .init("reason", .text("TEXT"), summary: "The reason, on one line. Required."),
      .force("Do not ask for confirmation."),
    ] + .database + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let database = try session.requiredDatabase()
    let readable = try session.open(database)
    let project = try session.project()
    let (name, state) = (session.arguments[0], session.arguments[1])
    guard let action = LedgerRepair.Action(rawValue: state) else {
      throw session.usageError(
        "`\(state.visible)` is not a state of a migration",
        hint: "Use one of \(states.map { "`\($0)`" }.joined(separator: ", ")).")
    }
    let reason = try session.reason(
      for: "`repair`", hint: "schemactl records the reason for the repair.")
    let id = project.migrations.first { $0.answers(to: name) }?.id ?? name
    let plan = try project.plan(
      LedgerRepair(id: id, action: action, reason: reason), of: readable)
    readable.close()
    let record = "`\(plan.repair.id.visible)` as \(action.rawValue)"
    // Print the plan only as text. A command prints one JSON document, and the report of the repair contains
    // the plan.
    session.report(nil) { text in
      text.say("schemactl will record \(record) in `\(database.visible)`.")
      for entry in plan.after where entry.state.stops {
        text.say("`\(entry.id.visible)` is still \(entry.state.rawValue): \(entry.detail.visible)")
      }
      for change in plan.drift {
        text.say("The schema does not fit this record: \(change.sentence.visible)")
      }
      if plan.isClean { text.say("The schema then fits the ledger.") }
    }
    guard try session.flag("force") || isConfirmed(session) else {
      session.note("schemactl changed nothing")
      return .finding
    }
    try session.writing.withLock { _ in
      try project.carryOut(plan, database: database, timeout: session.timeout)
    }
    session.report(
      [
        "repaired": plan.repair.id, "as": action.rawValue, "ledger": plan.after,
        "drift": plan.drift,
      ]
    ) { $0.mention("Recorded \(record).") }
    return .success
  }

  private static func isConfirmed(_ session: Session) throws -> Bool {
    guard let answer = session.ask("Record this? [y/N] ") else {
      throw session.usageError(
        "schemactl cannot ask for confirmation: this is not a terminal",
        hint: "Confirm with `--force`.")
    }
    return ["y", "yes"].contains(answer.lowercased())
  }
}

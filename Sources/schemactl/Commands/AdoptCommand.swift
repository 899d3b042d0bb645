import SchemaCommandLine
import SchemaHistory
import SchemaInspect

enum AdoptCommand: Command {
  static let name = "adopt"
  static let declaration = CommandDeclaration(
    name: name, summary: "Takes over a database that others have made.",
    discussion: """
      Looks for the point of the history at which the schema is the one that the database has, and \
      records it: from there on `schemactl migrate` goes on. Only the ledger is written. When no \
      point fits, the nearest one is shown with its differences, and nothing is changed.
      """,
    examples: [
      .init("schemactl adopt --database app.sqlite", "Finds where the database stands."),
      .init(
        "schemactl adopt --database app.sqlite --at 0004",
        "Says it, where several points have the same schema."),
    ],
    options: [
      OptionDeclaration(
        "at", .text("ID"), summary: "The last migration that the database has, by id or number.")
    ] + .database + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { true }

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let database = try settings.requiredDatabase()
    let result = try attempt {
      let project = try settings.project(for: database)
      return try project.adopt(
        database, at: session.invocation.text("at"), timeout: settings.timeout,
        interruption: session.interruption)
    }
    return finish(result, database, session)
  }

  /// `init` ends so, too.
  static func finish(
    _ result: Result<AdoptReport, Failure>, _ database: String, _ session: Session
  ) -> ExitStatus {
    switch result {
    case .success(let report):
      session.report(.adopted(report, database: database))
      return .success
    case .failure(let failure):
      session.report(.failed(.adopt, failure))
      return failure.status
    }
  }
}

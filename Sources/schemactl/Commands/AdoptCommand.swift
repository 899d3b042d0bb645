import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaSQLText
import SchemaManifest

enum AdoptCommand: Command {
  static let declaration = CommandDeclaration(
    name: "adopt", summary: "Adopt a database that was created without schemactl.",
    discussion: """
      Finds the migration after which the history has the same schema as the database, and records \
      the migrations up to it in the ledger; `schemactl migrate` continues from there. It writes \
      only the ledger. If no point of the history fits, schemactl reports the differences from the \
      nearest one and changes nothing.
      """,
    examples: [
      .init("schemactl adopt --database app.sqlite", "Find the point and record it."),
      .init(
        "schemactl adopt --database app.sqlite --to 0004",
        "Choose one of several points that have the same schema."),
    ],
    options: [.to("The last migration that the database already contains.")] + .database + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { true }

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let database = try settings.requiredDatabase()
    let report = try settings.project(for: database).adopt(
      database, at: session.invocation.text("to"), timeout: settings.timeout,
      interruption: session.interruption)
    session.report(.adopted(report, database: database))
    if !report.unchecked.isEmpty {
      session.report(
        .warning(
          "adopt compares schemas, not rows, and \(listed(report.unchecked, "and")) "
            + "\(report.unchecked.count == 1 ? "writes" : "write") rows: check that \(database) has them"
        ))
    }
    return .success
  }
}

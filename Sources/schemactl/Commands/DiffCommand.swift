import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaSQLText

enum DiffCommand: Command {
  static let declaration = CommandDeclaration(
    name: "diff", summary: "Compare a database with its history, or two schemas.",
    discussion: """
      Without names, compares the schema of the database with the schema that the history gives at \
      the database's point. With one name, compares the history with it; with two names, compares the \
      first with the second. A name is a database, a migrations directory or a file of SQL. Quoting, \
      white space, comments and the case of keywords make no difference.
      """,
    examples: [
      .init("schemactl diff --database app.sqlite", "Show the drift of a database."),
      .init("schemactl diff schema.sql", "Compare the history with a file of SQL."),
      .init("schemactl diff old.sqlite new.sqlite", "Compare two databases."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "FROM", summary: "A database, a migrations directory or a file of SQL.",
        required: false),
      ArgumentDeclaration(name: "TO", summary: "The schema to compare it with.", required: false),
    ],
    options: [.historyPoint] + .databaseOrCluster + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let names = session.invocation.arguments
    if !names.isEmpty { return try compare(names, settings, session) }
    guard session.invocation.text("to") == nil else {
      throw session.usageError(
        "--to needs a name to compare the history with",
        hint: "For example `schemactl diff --to 4 app.sqlite`.")
    }
    let (project, database, _) = try settings.projectAndDatabase(session)
    let report = try project.diff(of: database)
    session.report(.compared(report, database: database.name))
    return report.status
  }

  /// Compares one schema with that of the history.
  private static func compare(
    _ names: [String], _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let from = names.count == 2 ? names[0] : nil
    let to = names[names.count - 1]
    if names.count == 2 { try settings.requireHistory(among: names) }
    let (expected, actual) = try settings.schemas(from, to)
    let changes = compareSchemas(expected: expected, actual: actual)
    session.report(.differs(changes, from: from ?? settings.migrations, to: to))
    return changes.isEmpty ? .success : .finding
  }
}

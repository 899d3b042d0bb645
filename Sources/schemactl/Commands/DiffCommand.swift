import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaSQLText

enum DiffCommand: Command {
  static let name = "diff"
  static let declaration = CommandDeclaration(
    name: name, summary: "Shows how a database differs from its history, or two schemas.",
    discussion: """
      Without names it compares the database's schema with the one that its history promises at the \
      point where the database stands. With one name it compares the history with that, with two \
      names the first with the second: each is a database, a folder of migrations or a file of SQL. \
      Quoting, white space, comments and the case of keywords make no difference. Nothing is written.
      """,
    examples: [
      .init(
        "schemactl diff --database app.sqlite", "Shows every difference, or that there is none."),
      .init("schemactl diff schema.sql", "What a file of SQL has more or less than the history."),
      .init("schemactl diff old.sqlite new.sqlite", "Two databases."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "FROM", summary: "A database, a folder of migrations or a file of SQL.",
        required: false),
      ArgumentDeclaration(name: "TO", summary: "What is compared with it.", required: false),
    ],
    options: [.at] + .database + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let names = session.invocation.arguments
    if !names.isEmpty { return try compare(names, settings, session) }
    guard session.invocation.text("at") == nil else {
      throw session.usageError(
        "--at goes with the name of what is compared",
        hint: "As in: schemactl diff --at 4 app.sqlite")
    }
    let database = try settings.requiredDatabase()
    let result = try attempt {
      try settings.project(for: database).diff(
        database: database, timeout: settings.timeout, interruption: session.interruption)
    }
    switch result {
    case .success(let report):
      session.report(.compared(report, database: database))
      return report.status
    case .failure(let failure):
      session.report(.failed(.diff, failure))
      return failure.status
    }
  }

  /// One name is compared with the history.
  private static func compare(
    _ names: [String], _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let from = names.count == 2 ? names[0] : nil
    let to = names[names.count - 1]
    if names.count == 2 { try settings.requireHistory(among: names) }
    let result = try attempt {
      let (expected, actual) = try settings.schemas(from, to)
      return compareSchemas(expected: expected, actual: actual)
    }
    switch result {
    case .success(let changes):
      session.report(.differs(changes, from: from ?? settings.migrations, to: to))
      return changes.isEmpty ? .success : .finding
    case .failure(let failure):
      session.report(.failed(.diff, failure))
      return failure.status
    }
  }
}

import CommandLineParsing
import Migrating

enum DiffCommand: Command {
  static let declaration = CommandDeclaration(
    name: "diff", summary: "Shows how a database differs from its history.",
    discussion: """
      Compares the database's schema with the one that its history promises at the point where the \
      database stands. Quoting, white space, comments and the case of keywords make no difference. \
      Nothing is written.
      """,
    examples: [
      .init(
        "schemactl diff --database app.sqlite", "Shows every difference, or that there is none.")
    ],
    options: .database + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
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
}

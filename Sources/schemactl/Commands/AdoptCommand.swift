import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaSQLText
import SchemaYAML

enum AdoptCommand: Command {
  static let declaration = CommandDeclaration(
    name: "adopt", summary: "Adopt a database that was created without schemactl.",
    discussion: """
      Finds the migration after which the history has the same schema as the database. Records the \
      migrations up to it in the ledger. `adopt` writes only the ledger, and `schemactl migrate` \
      continues after that migration. If no point of the history fits, schemactl reports the differences from the \
      nearest point and changes nothing.
      """,
    examples: [
      "schemactl adopt --database app.sqlite": "Find the point and record it.",
      "schemactl adopt --database app.sqlite --to 0004":
        "Choose one of several points that have the same schema.",
    ],
    options: [.to("The last migration that the database already contains.")] + .database + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { true }

  static func run(_ session: Session) throws -> ExitStatus {
    let database = try session.requiredDatabase()
    let readable = try session.open(database)
    let report = try session.project().adopt(
      readable, at: session.text("to"), timeout: session.timeout,
      interruption: session.interruption)
    session.report(
      [
        "at": report.at, "unchecked": report.unchecked, "adopted": report.adopted,
        "pending": report.pending,
      ]
    ) { text in
      text.mention("Adopted `\(database.visible)` at `\(report.at.visible)`.")
      let next = report.pending.first.map { ", next: `\($0.visible)`" }
      text.mention(
        next.map { "\(counted(report.pending.count, "migration")) pending\($0)" }
          ?? "No migration is pending.")
    }
    if !report.unchecked.isEmpty {
      session.warn(
        "`adopt` compares schemas, not rows, and "
          + listed(report.unchecked.map { "`\($0)`" }, "and")
          + " \(report.unchecked.count == 1 ? "writes" : "write") rows: check that `\(database)` "
          + "has them")
    }
    return .success
  }
}

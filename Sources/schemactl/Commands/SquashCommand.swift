import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

enum SquashCommand: Command {
  static let declaration = CommandDeclaration(
    name: "squash", summary: "Replace the beginning of a long history by one migration.",
    discussion: """
      Writes NNNN_squash_NAME.yaml, which creates the same schema and rows as the migrations up to \
      ID, and moves their manifests to the folder 'squashed' beside the others. A new database \
      runs only the squash. A database that has run all of these migrations records the squash as \
      applied. A database that has run some of them runs the rest from 'squashed'.

      Frozen migrations stay frozen: history.lock keeps their lines and gets a line for the \
      squash, and `verify` compares the manifests in 'squashed'. Before it writes, squash runs \
      both forms on private databases: the schema, the rows and the results of the later \
      migrations must be the same.
      """,
    examples: [
      .init("schemactl squash --to 0120", "Replace the first 120 migrations.")
    ],
    options: [
      OptionDeclaration(
        "to", .text("ID"), summary: "The last migration to replace. By id or number.")
    ] + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { true }

  static func run(_ session: Session) throws -> ExitStatus {
    guard let last = session.invocation.text("to") else {
      throw session.usageError(
        "--to is missing", hint: "Name the last migration to replace: schemactl squash --to 0120")
    }
    let settings = try Settings(session)
    let squashing = try settings.withClaim {
      let squashing = try settings.project().squashing(
        through: last, interruption: session.interruption)
      if session.interruption.isRequested {
        throw Failure(.interrupted, "interrupted: nothing was written")
      }
      try session.writing.close { try squashing.write() }
      return squashing
    }
    session.report(.squashed(squashing, folder: MigrationFolder(settings.migrations)))
    return .success
  }
}

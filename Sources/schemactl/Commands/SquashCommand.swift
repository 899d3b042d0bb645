import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

enum SquashCommand: Command {
  static let name = "squash"
  static let declaration = CommandDeclaration(
    name: name, summary: "Replace the beginning of a long history by one migration.",
    discussion: """
      Writes NNNN_squash_NAME.yaml, which makes the schema and the rows that the migrations through ID \
      make, and moves their manifests to the folder 'squashed' beside the others. New databases run the \
      squash alone. For a database that has run all of these migrations the squash counts as applied; one \
      that has run some of them runs the rest from 'squashed'.

      Frozen migrations stay frozen: history.lock keeps their lines and gets one for the squash, and \
      'verify' still compares the manifests in 'squashed'. Before anything is written, schemactl proves \
      on private databases that the squash gives the same schema and the same rows, and that the later \
      migrations run after it as before.
      """,
    examples: [
      .init("schemactl squash --to 0120", "Replaces the first 120 migrations.")
    ],
    options: [
      OptionDeclaration(
        "to", .text("ID"), summary: "The last migration to replace, by its id or its number.")
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

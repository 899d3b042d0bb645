import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

enum SquashCommand: Command {
  static let declaration = CommandDeclaration(
    name: "squash", summary: "Replace the beginning of a long history by one migration.",
    discussion: """
      Writes `NNNN_squash_NAME.yaml`, which creates the same schema and rows as the migrations up \
      to ID. Moves their manifests to `migrations/squashed`. A new database runs only the squash. \
      A database that has run all of these migrations records the squash as applied. A database \
      that has run some of them runs the rest from `squashed`.

      Frozen migrations stay frozen: `history.lock` keeps their lines and gets a line for the \
      squash. `verify` compares the manifests in `squashed`. Before it writes, `squash` runs both \
      forms on private databases: the schema, the rows and the results of the later migrations \
      must be the same.
      """,
    examples: ["schemactl squash --to 0120": "Replace the first 120 migrations."],
    options: [.to("The last migration to replace.")] + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { true }

  static func run(_ session: Session) throws -> ExitStatus {
    guard let last = session.text("to") else {
      throw session.usageError(
        "`--to` is missing",
        hint: "Name the last migration to replace: `schemactl squash --to 0120`.")
    }
    let squashing = try session.withClaim {
      let squashing = try session.project().squashing(
        through: last, interruption: session.interruption)
      if session.interruption.isRequested {
        throw Failure(.interrupted, "interrupted: schemactl wrote nothing")
      }
      try session.writing.withLock { _ in try squashing.write() }
      return squashing
    }
    let folder = MigrationFolder(session.migrations)
    let file = folder.file(ofMigration: squashing.id)
    session.report(
      [
        "id": squashing.id, "file": file, "replaced": squashing.replaced, "rows": squashing.rows,
        "releases": squashing.releases,
      ]
    ) { text in
      text.say(file.visible)
      text.mention(
        "It creates the schema and \(counted(squashing.rows, "row")) of "
          + "\(counted(squashing.replacedCount, "migration")), whose manifests are now in "
          + "`\(folder.squashed.path.visible)`.")
      if !squashing.releases.isEmpty {
        text.mention(
          "Databases of \(squashing.releases.count == 1 ? "release" : "releases") "
            + "\(squashing.releases.map(\.visible).joined(separator: ", ")) continue with "
            + "that folder.")
      }
      text.mention(
        "Run `schemactl verify`, and commit the folder"
          + (squashing.lock == nil ? "." : " and `\(folder.lockFile.visible)`."))
    }
    return .success
  }
}

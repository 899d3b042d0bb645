import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

enum InitCommand: Command {
  static let name = "init"
  static let declaration = CommandDeclaration(
    name: name, summary: "Begins a history, from a database that is there.",
    discussion: """
      Writes 0001_baseline.yaml, which makes the schema that the database has, and adopts the \
      database: its ledger says that it has run it. Rows are not part of a baseline: what a fresh \
      database needs to begin with is for you to add, as a migration of its own. What other engines \
      keep in the database, and what `ignore` in schemactl.yaml names, is left out.

      Say in schemactl.yaml what syncs the database: 'sync: { engine: none }' when nothing does. \
      Until then lint takes the profile 'additive', which has much to say about a baseline.
      """,
    examples: [
      .init("schemactl init --from app.sqlite", "Writes migrations/0001_baseline.yaml.")
    ],
    options: [
      OptionDeclaration("from", .text("FILE"), summary: "The database."), .timeout,
    ] + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { true }

  static func run(_ session: Session) throws -> ExitStatus {
    guard let database = session.invocation.text("from") else {
      throw session.usageError(
        "--from is missing", hint: "Name the database: schemactl init --from app.sqlite")
    }
    let settings = try Settings(session)
    let result = try attempt {
      try writeBaseline(of: database, settings, session)
      return try settings.project(for: database).adopt(
        database, at: nil, timeout: settings.timeout, interruption: session.interruption)
    }
    return AdoptCommand.finish(result, database, session)
  }

  private static func writeBaseline(
    of database: String, _ settings: Settings, _ session: Session
  ) throws {
    // Looked at first: where it cannot be taken over, nothing is made.
    let folder = MigrationFolder(settings.migrations)
    try settings.requireNoHistory(in: folder)
    try DatabaseFile.require(database)
    if let last = try DatabaseFile.lastApplied(in: database, timeout: settings.timeout) {
      throw Failure(
        .finding,
        "\(database) has a ledger already, through \(last): its history is elsewhere. Nothing was "
          + "written")
    }
    let schema = try settings.schema(of: .database(database))
    let text = manifestText(
      description: "The schema as it was when the history began.", schema.operations)
    guard mkdir(folder.path, 0o777) == 0 || errno == EEXIST else {
      throw Failure(FileError(path: folder.path, systemError: errno))
    }
    try settings.withClaim {
      try settings.requireNoHistory(in: folder)
      try session.writing.close {
        do throws(FileError) {
          try createFileAtomically(Array(text.utf8), at: folder.file(ofMigration: "0001_baseline"))
        } catch {
          throw Failure(error)
        }
      }
    }
    session.report(.note("wrote \(folder.file(ofMigration: "0001_baseline"))"))
    guard !settings.configuration.sync.isGiven else { return }
    session.report(
      .note(
        "nothing says whether other devices sync with this database, so `lint` judges as if they did "
          + "(profile additive). When none does, write `sync: { engine: none }` into schemactl.yaml; "
          + "else name the engine there"))
  }
}

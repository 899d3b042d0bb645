import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaManifest
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

enum InitCommand: Command {
  static let name = "init"
  static let declaration = CommandDeclaration(
    name: name, summary: "Start a project, empty or from an existing database.",
    discussion: """
      Creates the migrations directory, schemactl.yaml, and the JSON Schemas that let editors \
      complete and check both. On a terminal it asks what syncs the database with other devices; \
      elsewhere, name it with --profile. It never changes existing files.

      With --from it also writes 0001_baseline.yaml, a migration that creates the schema of an \
      existing database, and adopts that database. A baseline has no rows: add rows that a new \
      database needs in a separate migration.
      """,
    examples: [
      .init("schemactl init --profile local", "Start an empty project; nothing syncs."),
      .init("schemactl init --from app.sqlite", "Start from the schema of a database."),
    ],
    options: [
      OptionDeclaration("from", .text("FILE"), summary: "An existing database."), .profile,
      .timeout,
    ] + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { invocation.isGiven("from") }

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let folder = MigrationFolder(settings.migrations)
    try settings.requireNoHistory(in: folder)
    let database = session.invocation.text("from")
    let text = try database.map { database in try baseline(of: database, settings) }
    var files = ProjectFiles(settings, session)
    let engine = settings.hasFile ? nil : try askedEngine(session)
    try session.writing.close {
      if !settings.hasFile { try files.writeConfiguration(engine: engine) }
      try files.makeFolder()
      try files.writeManifestSchema()
    }
    guard let database, let text else {
      session.report(
        .initialized(files.written, nil, next: session.command("new") + " 'Create notes'"))
      return .success
    }
    let file = folder.file(ofMigration: "0001_baseline")
    try settings.withClaim {
      try settings.requireNoHistory(in: folder)
      try session.writing.close { try createFileAtomically(Array(text.utf8), at: file) }
    }
    let report = try settings.project(for: database).adopt(
      database, at: nil, timeout: settings.timeout, interruption: session.interruption)
    session.report(
      .initialized(files.written + [file], report, next: session.command("lint")))
    return .success
  }

  /// Reads the database before any file is written: if it cannot be adopted, nothing is written.
  private static func baseline(of database: String, _ settings: Settings) throws -> String {
    try DatabaseFile.require(database)
    if let last = try DatabaseFile.lastApplied(
      in: database, settings.ledger, timeout: settings.timeout)
    {
      throw Failure(
        .finding,
        "\(database) already has a ledger, up to \(last): it belongs to another history. Nothing "
          + "was written")
    }
    return manifestText(
      description: "The schema of the existing database.",
      try settings.schema(of: .database(database)).operations)
  }

  /// The sync engine from an option or the user's answer; nil if the user cannot be asked.
  private static func askedEngine(_ session: Session) throws -> SyncEngine? {
    let engines = SyncEngine.allCases
    if let profile = session.profile { return engines.first { Profile($0) == profile } }
    let list = zip(1..., engines).map { "  \($0)  \($1.rawValue): \(Profile($1).meaning)\n" }
    let question = "What syncs this database with other devices?\n\(list.joined())Number [1]: "
    guard let answer = session.ask(question) else { return nil }
    if answer.isEmpty { return engines.first }
    if let engine = SyncEngine(rawValue: answer) { return engine }
    guard let number = Int(answer), engines.indices.contains(number - 1) else {
      throw session.usageError(
        "'\(answer.visible)' is not one of the answers", hint: "Nothing was written.")
    }
    return engines[number - 1]
  }
}

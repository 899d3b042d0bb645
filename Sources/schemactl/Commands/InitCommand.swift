import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaPlatform
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

enum InitCommand: Command {
  static let declaration = CommandDeclaration(
    name: "init", summary: "Start a project, empty or from an existing database.",
    discussion: """
      Creates the migrations directory, `schemactl.yaml`, and the JSON Schemas that let editors \
      complete and check both. On a terminal it asks which engine syncs the database with other \
      devices. Elsewhere, name the profile with `--profile`. `init` never changes existing files. \
      If only the migrations directory exists, `init` adds the other files.

      With `--from` it also writes `0001_baseline.yaml`, a migration that creates the schema of an \
      existing database, and adopts that database. A baseline has no rows: add rows that a new \
      database needs in a separate migration. If another migration tool made the database, \
      `0001_baseline.yaml` replaces the entries in its ledger. Use `schemactl import` instead if \
      other databases have run fewer of that tool's migrations.
      """,
    examples: [
      "schemactl init --profile local": "Start an empty project; nothing syncs.",
      "schemactl init --from app.sqlite": "Start from the schema of a database.",
    ],
    options: [
      .init(
        "from", .text("FILE"), claims: OptionDeclaration.looksLikeFile,
        summary: "An existing database."),
      .profile, .timeout,
    ] + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { invocation.isGiven("from") }

  static func run(_ session: Session) throws -> ExitStatus {
    let folder = MigrationFolder(session.migrations)
    let database = session.text("from")
    // A project that began with `new` has manifests but no configuration.
    let hasHistory = try folder.historyEnd() != nil
    if database != nil || session.file != nil { try folder.requireNoHistory() }
    try session.requireNoTypingError()
    // If the database cannot be adopted, fail before anything is written.
    let manifest = try database.map { database in
      try FirstManifest(
        of: database, session.application, ignoring: session.foreign, timeout: session.timeout,
        interruption: session.interruption)
    }
    var files = session.files
    let engine = try session.syncEngine()
    try session.writing.withLock { _ in
      try files.writeConfiguration(engine: engine)
      try files.makeFolder()
      try files.writeManifestSchema()
    }
    var written = files.created
    var report: AdoptReport?
    if let database, let manifest {
      let file = folder.file(ofMigration: FirstManifest.id)
      try session.withClaim {
        try folder.requireNoHistory()
        try session.writing.withLock { _ in
          try createFileAtomically(Array(manifest.text.utf8), at: file)
        }
      }
      written.append(file)
      report = try session.project().adopt(
        session.open(database), at: nil, timeout: session.timeout,
        interruption: session.interruption)
    }
    let ledgers = manifest?.ledgers ?? []
    session.report(
      [
        "files": written, "at": report?.at, "replaced": ledgers.map(\.table),
        "adopted": report?.adopted ?? [], "pending": report?.pending ?? [],
      ]
    ) {
      for file in written { $0.mention("Created `\(file.visible)`") }
      for ledger in ledgers {
        $0.mention(
          "The baseline replaces \(counted(ledger.entries.count, "migration")) in "
            + "`\(ledger.table.visible)`. For databases that have run fewer of them, use "
            + "`schemactl import` instead of this baseline.")
      }
      if let report { $0.mention("Adopted the database at `\(report.at.visible)`.") }
      let next =
        report == nil && !hasHistory
        ? session.command("new") + " 'Create notes'" : session.command("lint")
      $0.mention("Next: `\(next.visible)`")
    }
    return .success
  }
}

extension Session {
  /// Returns the sync engine from an option or the user's answer; nil if `schemactl.yaml` exists or the user
  /// cannot be asked.
  func syncEngine() throws -> SyncEngine? {
    guard file == nil else {
      try require(profile == nil, "`schemactl.yaml` already exists", hint: "Set `sync` in it.")
      return nil
    }
    let engines = SyncEngine.allCases
    if let profile { return engines.first { Profile($0) == profile } }
    let list = zip(1..., engines).map { "  \($0)  \($1.rawValue): \(Profile($1).meaning)\n" }
    let question = "What syncs this database with other devices?\n\(list.joined())Number [1]: "
    guard let answer = ask(question) else {
      note("the sync engine is unknown, so lint assumes `additive`. Name it in `schemactl.yaml`")
      return nil
    }
    if answer.isEmpty { return engines.first }
    let number = Int(answer).map { $0 - 1 }.flatMap { engines.indices.contains($0) ? $0 : nil }
    let engine = SyncEngine(rawValue: answer) ?? number.map { engines[$0] }
    try require(
      engine != nil, "`\(answer.visible)` is not a valid answer", hint: "schemactl wrote nothing.")
    return engine
  }
}

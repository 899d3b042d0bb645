import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

enum InitCommand: Command {
  static let declaration = CommandDeclaration(
    name: "init", summary: "Start a project, empty or from an existing database.",
    discussion: """
      Creates the migrations directory, schemactl.yaml, and the JSON Schemas that let editors \
      complete and check both. On a terminal it asks what syncs the database with other devices; \
      elsewhere, name it with --profile. It never changes existing files.

      With --from it also writes 0001_baseline.yaml, a migration that creates the schema of an \
      existing database, and adopts that database. A baseline has no rows: add rows that a new \
      database needs in a separate migration. If another migration tool made the database, \
      0001_baseline.yaml replaces the entries in its ledger; use `schemactl import` instead if \
      other databases have run fewer of that tool's migrations.
      """,
    examples: [
      "schemactl init --profile local": "Start an empty project; nothing syncs.",
      "schemactl init --from app.sqlite": "Start from the schema of a database.",
    ],
    options: [
      .init("from", .text("FILE"), summary: "An existing database."), .profile,
      .timeout,
    ] + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { invocation.isGiven("from") }

  static func run(_ session: Session) throws -> ExitStatus {
    let folder = MigrationFolder(session.migrations)
    try session.requireNoHistory(in: folder)
    let database = session.text("from")
    let ledgers = try database.map { try foreignLedgers(of: $0, session) } ?? []
    let text = try database.map { try baseline(of: $0, replacing: ledgers, session) }
    var files = ProjectFiles(session)
    let engine = try session.syncEngine()
    try session.writing.withLock { _ in
      if session.file == nil { try files.writeConfiguration(engine: engine) }
      try files.makeFolder()
      try files.writeManifestSchema()
    }
    var written = files.written
    var report: AdoptReport?
    if let database, let text {
      let file = folder.file(ofMigration: "0001_baseline")
      try session.withClaim {
        try session.requireNoHistory(in: folder)
        try session.writing.withLock { _ in try createFileAtomically(Array(text.utf8), at: file) }
      }
      written.append(file)
      report = try session.project().adopt(
        session.open(database), at: nil, timeout: session.timeout,
        interruption: session.interruption)
    }
    session.report(
      [
        "files": written, "at": report?.at, "replaced": ledgers.map(\.table),
        "adopted": report?.adopted ?? [], "pending": report?.pending ?? [],
      ]
    ) {
      for file in written { $0.mention("Created \(file.visible)") }
      for ledger in ledgers {
        $0.mention(
          "The baseline replaces \(counted(ledger.entries.count, "migration")) in "
            + "\(ledger.table.visible). For databases that have run fewer of them, use "
            + "`schemactl import` instead of this baseline.")
      }
      if let report { $0.mention("Adopted the database at \(report.at.visible).") }
      let next =
        report == nil ? session.command("new") + " 'Create notes'" : session.command("lint")
      $0.mention("Next: \(next.visible)")
    }
    return .success
  }

  /// Reads the database before any file is written: if it cannot be adopted, nothing is written.
  private static func baseline(
    of database: String, replacing ledgers: [UsualLedger], _ session: Session
  ) throws -> String {
    let connection = try DatabaseFile.openForReading(database, timeout: session.timeout)
    if let last = try LiveDatabase(connection, session.ledger, path: database).rows?.last?.id {
      throw Failure(
        .finding,
        "\(database) already has a ledger, up to \(last): it belongs to another history. Nothing "
          + "was written")
    }
    let text = manifestText(
      description: "The schema of the existing database.",
      try session.schema(of: .database(database)).operations)
    let items = ledgers.map { "  - \($0.replaced.yaml)\n" }
    return items.isEmpty ? text : text + "replaces:\n" + items.joined()
  }

  /// The ledgers of other tools, with entries.
  private static func foreignLedgers(
    of database: String, _ session: Session
  ) throws -> [UsualLedger] {
    try DatabaseFile.require(database)
    let ledgers = try ForeignLedgers.usual(in: database, timeout: session.timeout)
    if let ledger = ledgers.first(where: { !$0.failed.isEmpty }) {
      throw Failure(
        .finding,
        "\(ledger.table) in \(database) has entries that failed: "
          + "\(ledger.failed.joined(separator: ", ")). Nothing was written",
        remedy: "Repair the database with the tool that created them")
    }
    return ledgers.filter { !$0.entries.isEmpty }
  }
}

import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaImport
import SchemaLint
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum ImportCommand: Command {
  static let declaration = CommandDeclaration(
    name: "import", summary: "Import the history of another migration tool.",
    discussion: """
      Writes one manifest for each migration of the other tool, with its number and the SQL of its \
      up part, and names the entry of the tool's ledger under `replaces`. `schemactl migrate` then \
      adopts databases of that tool by their ledger.

      SOURCE is the tool's folder of migrations, or a file such as the output of 'alembic upgrade \
      head --sql' or the structure.sql of Rails. For GRDB and other tools that keep their \
      migrations in code, name databases of the releases, the oldest first.

      Before it writes, import runs the manifests and the tool's own SQL on two private databases, \
      and requires the same schema and the same rows. With --database it also compares the schema \
      of this database with the migrations in its ledger. It lists omitted parts (down sections, \
      code, PRAGMAs) with file and line.

      Like 'init', it creates schemactl.yaml if it is missing. On a terminal it asks what syncs the \
      database with other devices; elsewhere, name it with --profile.
      """,
    examples: [
      .init(
        "schemactl import db/migrations --database app.sqlite",
        "Recognise the tool, and compare the database."),
      .init(
        "schemactl import db/migrations --database app.sqlite --release 2.3",
        "Also freeze the migrations that the database has run."),
      .init(
        "schemactl import 1.0.sqlite 1.1.sqlite 2.0.sqlite --tool grdb",
        "Write a migration from each release to the next."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "SOURCE", summary: "The folder or file of the other tool, or databases.",
        repeats: true)
    ],
    options: [
      OptionDeclaration(
        "tool", .choice("TOOL", ImportTool.allCases.map(\.rawValue)),
        summary: "The tool; default: recognised by its files."),
      OptionDeclaration(
        "database", .text("FILE"),
        summary: "A database that the tool has migrated; import only reads it."),
      OptionDeclaration(
        "release", .text("NAME"),
        summary: "Freeze the migrations that the database has run as this release; needs "
          + "--database."),
      OptionDeclaration(
        "operations", summary: "Write operations instead of SQL if they create the same schema."),
      .profile, .timeout,
    ] + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { true }

  static func run(_ session: Session) throws -> ExitStatus {
    let given = session.invocation
    let release = try session.release
    guard release == nil || given.isGiven("database") else {
      throw session.usageError(
        "--release needs a database", hint: "Name it with --database FILE.")
    }
    let settings = try Settings(session)
    session.report(.imported(try write(settings, release, session)))
    return .success
  }

  private static func write(
    _ settings: Settings, _ release: String?, _ session: Session
  ) throws -> ImportReport {
    let folder = MigrationFolder(settings.migrations)
    try settings.requireNoHistory(in: folder, mayHoldOther: true)
    let database = session.invocation.text("database")
    if let database { try DatabaseFile.require(database) }
    let imported = try read(settings, database, folder, session)
    if release != nil, !imported.droppedValues.isEmpty {
      throw Failure(
        .finding,
        "import knows only the schemas of the releases, and does not freeze what may lose values. Nothing "
          + "was written:", details: imported.droppedValues,
        remedy:
          "Import without --release, correct the manifests, and freeze them with `schemactl freeze "
          + "--release NAME`")
    }
    var report = ImportReport(imported: imported)
    if let database {
      let point = try imported.point(
        of: database, timeout: settings.timeout, interruption: session.interruption)
      try require(point, database, imported)
      report.database = (database, point.count)
    }
    if session.interruption.isRequested {
      throw Failure(.interrupted, "interrupted: nothing was written")
    }
    var files = ProjectFiles(settings)
    let engine = settings.hasFile ? nil : try session.syncEngine()
    try session.writing.close { try files.makeFolder() }
    try settings.withClaim {
      try settings.requireNoHistory(in: folder, mayHoldOther: true)
      try session.writing.close {
        try imported.write()
        if !settings.hasFile { try files.writeConfiguration(engine: engine) }
        try files.writeManifestSchema()
      }
      report.files = files.written
      if let release, let count = report.database?.count {
        // With the sync engine of the new configuration.
        try freeze(through: count, release, Settings(session), session, &report)
      }
    }
    return report
  }

  private static func read(
    _ settings: Settings, _ database: String?, _ folder: MigrationFolder, _ session: Session
  ) throws -> ImportedHistory {
    let sources = session.invocation.arguments
    let tool = session.invocation.text("tool").flatMap(ImportTool.init)
    let ignored = settings.configuration.ignore
    if tool == .grdb || tool == nil && sources.allSatisfy(DatabaseFile.isDatabase) {
      return try ReleaseDatabases(sources, timeout: settings.timeout).imported(
        tool: tool ?? .grdb, into: folder, settings.application, ignoring: ignored,
        interruption: session.interruption)
    }
    guard sources.count == 1 else {
      throw session.usageError(
        "only databases of releases can be more than one source",
        hint: "Name one folder or file of the other tool.")
    }
    let ledger = try database.flatMap { database in
      try usualLedger(
        of: database, timeout: settings.timeout, interruption: session.interruption)?.kind
    }
    let foreign = try ForeignHistory.read(
      SourceFiles(sources[0]), tool: tool, ledger: ledger)
    return try foreign.imported(
      into: folder, settings.application, asOperations: session.invocation.flag("operations"),
      ignoring: ignored, interruption: session.interruption)
  }

  private static func require(
    _ point: ImportedPoint, _ database: String, _ imported: ImportedHistory
  ) throws {
    guard !point.differences.isEmpty else { return }
    throw Failure(
      .finding,
      "\(database) has run \(imported.project.migrations[point.count - 1].id), but its schema "
        + "differs from the history. Nothing was written; without --database, `import` writes "
        + "the manifests anyway. The differences:",
      details: point.differences.map(\.sentence).abridged(to: 20).map { "  " + $0 })
  }

  /// Freezes the released migrations and adds their findings to the baseline.
  private static func freeze(
    through count: Int, _ release: String, _ settings: Settings, _ session: Session,
    _ report: inout ImportReport
  ) throws {
    let project = try settings.project()
    let last = project.migrations[count - 1].id
    let frozen = try project.freezing(release: release, through: last)
    let file = settings.baselineFile ?? settings.usualBaselineFile
    try settings.requireReplaceable(baseline: file)
    let findings = try settings.linter(of: project, isForBaseline: true).lint(through: last)
      .findings
    try session.writing.close {
      do throws(FileError) {
        try project.folder.write(frozen.lock)
        if Baseline.count(findings) > 0 {
          try writeFileAtomically(Array(Baseline.text(findings).utf8), to: file)
        }
      } catch {
        throw Failure(error)
      }
    }
    report.release = (release, frozen.frozen.count, Baseline.count(findings), file)
  }
}

/// The result of `import`.
struct ImportReport {
  let imported: ImportedHistory
  /// Files and directories that were created, besides the manifests.
  var files: [String] = []
  /// The database that was compared, and the number of migrations that it has run.
  var database: (path: String, count: Int)?
  /// The frozen release, its migrations and the number of findings in its baseline.
  var release: (name: String, migrations: Int, findings: Int, baseline: String)?
}

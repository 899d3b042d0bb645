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
      up part. The manifest names the entry of the tool's ledger under `replaces`. `schemactl \
      migrate` then adopts databases of that tool by their ledger.

      SOURCE is the tool's folder of migrations, or a file such as the output of `alembic upgrade \
      heads --sql` or the `structure.sql` of Rails. For GRDB and other tools that keep their \
      migrations in code, name databases of the releases, the oldest first.

      Before it writes, `import` runs the manifests and the tool's own SQL on two private \
      databases, and requires the same schema and the same rows. With `--database` it also \
      compares the schema of this database with the migrations in its ledger. It lists omitted \
      parts (down sections, code, PRAGMAs) with file and line.

      Like `init`, it creates a missing `schemactl.yaml`. On a terminal it asks which engine syncs \
      the database with other devices. Elsewhere, name the profile with `--profile`.
      """,
    examples: [
      "schemactl import db/migrations --database app.sqlite":
        "Recognise the tool, and compare the database.",
      "schemactl import db/migrations --database app.sqlite --release 2.3":
        "Also freeze the migrations that the database has run.",
      "schemactl import 1.0.sqlite 1.1.sqlite 2.0.sqlite --tool grdb":
        "Write a migration from each release to the next.",
    ],
    arguments: [
      .init(
        name: "SOURCE", summary: "The folder or file of the other tool, or databases.",
        repeats: true)
    ],
    options: [
      .init(
        "tool", .choice("TOOL", ImportTool.allCases.map(\.rawValue)),
        summary: "The tool; default: recognised by its files."),
      .init(
        "database", .text("FILE"),
        summary: "A database that the tool has migrated; import only reads it."),
      .init(
        "release", .text("NAME"),
        summary: "Freeze the migrations that the database has run as this release; needs "
          + "`--database`."),
      .init(
        "operations", summary: "Write operations instead of SQL if they create the same schema."),
      .profile, .timeout,
    ] + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { true }

  static func run(_ session: Session) throws -> ExitStatus {
    let release = try session.release()
    try session.require(
      release == nil || session.flag("database"), "`--release` needs a database",
      hint: "Name it with `--database FILE`.")
    let report = try write(release, session)
    session.report(report.json) { $0.show(report) }
    return .success
  }

  private static func write(_ release: String?, _ session: Session) throws -> ImportReport {
    let folder = MigrationFolder(session.migrations)
    try folder.requireNoHistory(mayHoldOther: true)
    let database = session.text("database")
    if let database { try DatabaseFile.require(database) }
    let imported = try read(database, into: folder, session)
    if release != nil, !imported.droppedValues.isEmpty {
      throw Failure(
        .finding,
        "`import` knows only the schemas of the releases, and does not freeze manifests that may "
          + "lose values. schemactl wrote nothing:", details: imported.droppedValues,
        remedy:
          "Import without `--release`, correct the manifests, and freeze them with `schemactl freeze "
          + "--release NAME`")
    }
    var report = ImportReport(imported: imported)
    if let database {
      let point = try imported.point(
        of: database, timeout: session.timeout, interruption: session.interruption)
      try require(point, database, imported)
      report.database = (database, point.count)
    }
    if session.interruption.isRequested {
      throw Failure(.interrupted, "interrupted: schemactl wrote nothing")
    }
    var files = session.files
    let engine = try session.syncEngine()
    try session.writing.withLock { _ in try files.makeFolder() }
    try session.withClaim {
      try folder.requireNoHistory(mayHoldOther: true)
      try session.writing.withLock { _ in
        try imported.write()
        try files.writeConfiguration(engine: engine)
        try files.writeManifestSchema()
      }
      report.files = files.created
      if let release, let count = report.database?.count {
        // Lint uses the sync engine of the new configuration.
        try freeze(through: count, release, session.configured(), &report)
      }
    }
    return report
  }

  private static func read(
    _ database: String?, into folder: MigrationFolder, _ session: Session
  ) throws -> ImportedHistory {
    let sources = session.arguments
    let tool = session.text("tool").flatMap(ImportTool.init)
    let ignored = session.configuration.ignore
    if tool == .grdb || tool == nil && sources.allSatisfy(DatabaseFile.isDatabase) {
      return try ReleaseDatabases(sources, timeout: session.timeout).imported(
        tool: tool, into: folder, session.application, ignoring: ignored,
        interruption: session.interruption)
    }
    try session.require(
      sources.count == 1, "only databases of releases can be more than one source",
      hint: "Name one folder or file of the other tool.")
    let ledger = try database.flatMap { database in
      try usualLedger(
        of: database, timeout: session.timeout, interruption: session.interruption)?.kind
    }
    let foreign = try ForeignHistory.read(SourceFiles(sources[0]), tool: tool, ledger: ledger)
    return try foreign.imported(
      into: folder, session.application, asOperations: session.flag("operations"),
      ignoring: ignored, interruption: session.interruption)
  }

  private static func require(
    _ point: ImportedPoint, _ database: String, _ imported: ImportedHistory
  ) throws {
    guard !point.differences.isEmpty else { return }
    throw Failure(
      .finding,
      "`\(database)` has run `\(imported.project.migrations[point.count - 1].id)`, but its schema "
        + "differs from the history. schemactl wrote nothing. Without `--database`, `import` "
        + "writes the manifests anyway. The differences:",
      details: point.differences.map(\.sentence).abridged(to: 20).map { "  " + $0 },
      remedy: "Correct the schema of the database, or import the migrations that created it")
  }

  /// Freezes the released migrations and adds their findings to the baseline.
  private static func freeze(
    through count: Int, _ release: String, _ session: Session, _ report: inout ImportReport
  ) throws {
    let project = try session.project()
    let last = project.migrations[count - 1].id
    let frozen = try project.freezing(release: release, through: last)
    let file = session.baselineFile ?? session.usualBaselineFile
    let findings = try session.linter(of: project, isForBaseline: true).lint(through: last).findings
    let baseline = try Baseline.text(findings, replacing: file)
    try session.writing.withLock { _ in
      try project.folder.write(frozen.lock)
      if Baseline.count(findings) > 0 { try writeFileAtomically(baseline, to: file) }
    }
    report.release = (release, frozen.frozen.count, Baseline.count(findings), file)
  }
}

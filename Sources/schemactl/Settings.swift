import SchemaApply
import SchemaAuthoring
import SchemaCommandLine
import SchemaCopies
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaPreview
import SchemaQueries
import SchemaTimeline
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaYAML

/// The settings of a command, from the command line, the environment and `schemactl.yaml`.
struct Settings {
  let configuration: Configuration
  /// The path of `schemactl.yaml`; nil when there is none.
  let file: String?
  /// The folder of `schemactl.yaml`, as a prefix of paths: empty for the working folder.
  private let base: String
  private let session: Session

  init(_ session: Session) throws {
    self.session = session
    file = try session.invocation.text("config") ?? Self.nearestFile()
    guard let file else {
      configuration = Configuration()
      base = ""
      return
    }
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try readFile(file, limit: 1_048_576)
    } catch {
      let failure = Failure(error)
      guard session.invocation.isOnCommandLine("config") else { throw failure }
      throw Failure(
        failure.status, failure.message,
        remedy:
          "--config names a file such as schemactl.yaml; without it schemactl takes the nearest "
          + "one, in this directory or above")
    }
    configuration = try decodeConfiguration(bytes, file: file)
    base = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
  }

  /// `schemactl.yaml`, `../schemactl.yaml` and so on, up to the root.
  private static func nearestFile() throws(Failure) -> String? {
    let depth = workingFolder?.split(separator: "/").count ?? 0
    for level in 0...depth {
      let file = String(repeating: "../", count: level) + "schemactl.yaml"
      if access(file, F_OK) == 0 { return file }
      // An unreadable configuration must not be replaced by one of a parent folder.
      guard [ENOENT, ENOTDIR, EACCES].contains(errno) else {
        throw Failure(FileError(path: file, systemError: errno))
      }
    }
    return nil
  }

  /// Converts a path of the configuration to one relative to the working folder.
  private func resolved(_ path: String) -> String {
    path.hasPrefix("/") ? path : base + path
  }

  // MARK: Values of settings

  var migrations: String {
    session.invocation.text("migrations") ?? resolved(configuration.migrations)
  }

  /// Whether a `schemactl.yaml` was found.
  var hasFile: Bool { file != nil }

  /// Whether the command line or a configuration identifies the project.
  var namesProject: Bool { file != nil || session.invocation.text("migrations") != nil }

  var ledger: Ledger { configuration.ledger }

  var timeout: Double { session.invocation.number("timeout") ?? configuration.timeout }

  /// As the command line or the configuration names it: a file, or the address of a cluster.
  var databaseName: String? { session.invocation.text("database") ?? configuration.database }

  /// The database file that the command line or the configuration names.
  func database() throws -> String? {
    guard let path = databaseName else { return nil }
    // Check a configured path before it is joined with a folder.
    try DatabaseFile.requirePath(path)
    return session.invocation.isGiven("database") ? path : resolved(path)
  }

  func requiredDatabase() throws -> String {
    if let database = try database() { return database }
    throw session.usageError(
      "no database is named",
      hint: "Name it with --database FILE, in SCHEMACTL_DATABASE, or as `database` in "
        + "schemactl.yaml.")
  }

  /// For commands that can run without a database: one that only the configuration names may be
  /// missing.
  func optionalDatabase() throws -> String? {
    guard let database = try database() else { return nil }
    if session.invocation.text("database") == nil, try !DatabaseFile.exists(database) {
      session.report(.note("\(database) does not exist yet"))
      return nil
    }
    return database
  }

  /// The configured folder for backups.
  var backupFolder: String? { configuration.backup?.folder.map(resolved) }

  /// The file of the current schema in SQL; nil when the configuration names none.
  var schemaFile: String? { configuration.schema.map(resolved) }

  /// The options of `migrate` and `plan`.
  func migrateOptions(_ database: String) -> MigrateOptions {
    let given = session.invocation
    var options = MigrateOptions(database: database)
    options.through = given.text("to")
    options.frozenOnly = given.flag("frozen")
    options.existing = given.flag("existing") || options.frozenOnly
    options.timeout = timeout
    options.redactsValues = given.flag("redact")
    options.isParanoid = given.flag("paranoid")
    return options
  }

  /// The backup that `migrate` makes first; nil for none.
  func backup() -> BackupOptions? {
    let given = session.invocation
    guard given.isGiven("backup") || configuration.backup != nil else { return nil }
    let place: BackupOptions.Place =
      if let path = given.text("backup") {
        .path(path)
      } else if let backupFolder {
        .folder(backupFolder)
      } else {
        .besideDatabase
      }
    return BackupOptions(place, keep: configuration.backup?.keep ?? BackupOptions.usualCount)
  }

  /// Reads the history. Opens the database first, because errors of the database take precedence
  /// over errors in manifests (see the precedence of exit codes).
  ///
  /// - Parameter mayBeEmpty: suppresses the warning about a folder without migrations.
  func project(
    for database: String? = nil, mustExist: Bool = true, mayBeEmpty: Bool = false,
    asksGitAboutDrafts: Bool = true
  ) throws -> Project {
    if let database {
      if mustExist { try DatabaseFile.require(database) }
      if try DatabaseFile.exists(database) {
        _ = try DatabaseFile.openForReading(
          database, timeout: timeout, interruption: session.interruption,
          onWait: { session.report(.progress(.waiting(seconds: $0))) })
      }
    }
    let project = try project(in: migrations)
    if project.migrations.isEmpty, project.lock == nil, !mayBeEmpty {
      session.report(
        .warning(
          "\(migrations) has no migrations, so schemactl checked and ran nothing. "
            + "`\(session.command("new", database: false)) NAME` writes the first one"))
    }
    return asksGitAboutDrafts ? project.askingGitAboutDrafts() : project
  }

  func project(in folder: String) throws -> Project {
    try Project.load(
      migrations: folder, application: application, ignoring: configuration.ignore,
      explaining: MigrationFolder(folder).explain)
  }

  /// Reads the history with a lock that may have conflict markers or be in version 1, and returns
  /// the changes that were needed to read it.
  func repairedProject() throws -> (Project, HistoryLock.Repair?) {
    let folder = MigrationFolder(migrations)
    let (lock, repair) = try folder.repairedLock()
    var project = Project(
      folder: folder, migrations: try folder.migrations(explaining: folder.explain), lock: lock,
      application: application,
      foreign: ForeignObjects(ignoring: configuration.ignore))
    project.readSquashed = MigrationFolder.readSquashed
    return (project.askingGitAboutDrafts(), repair)
  }

  /// Reads the history, and the manifest files of its drafts by id.
  func projectWithDraftTexts() throws -> (Project, [ExactText: [UInt8]]) {
    let project = try project()
    var texts: [ExactText: [UInt8]] = [:]
    for migration in project.migrations where !project.isFrozen(migration) {
      do throws(FileError) {
        texts[migration.id] = try readFile(
          migration.file, limit: MigrationFolder.manifestSizeLimit, followingLinks: false)
      } catch  where error.isLink {
        // The target of the link may be frozen under another name.
        continue
      } catch {
        throw error
      }
      guard rawDigest(of: texts[migration.id] ?? []) == migration.rawDigest else {
        throw Failure(
          .busy, "\(migration.file) changed while schemactl read it", remedy: "Try again")
      }
    }
    return (project, texts)
  }

  /// Claims the folder for a command that changes it, so that files which `body` reads do not
  /// change before it writes.
  func withClaim<Success>(_ body: () throws -> Success) throws -> Success {
    guard let claim = FolderClaim(migrations, timeout: timeout) else {
      throw Failure(
        .busy,
        "another schemactl has been writing in \(migrations) for \(timeout) s. Nothing was changed",
        remedy: "Try again when it has ended")
    }
    defer { withExtendedLifetime(claim) {} }
    return try body()
  }

  var application: Application {
    var application = Application(
      declaredFunctions: configuration.functions, declaredCollations: configuration.collations)
    application.ledger = ledger
    application.declare(configuration.sync.engine.functions)
    application.limit = configuration.replay
    return application
  }

  /// - Parameters:
  ///   - path: a database, a folder or an SQL file; nil for the project's history.
  ///   - mayBeEmpty: suppresses the warning about a history without migrations.
  func schema(
    of path: String?, besides other: Schema = Schema(), mayBeEmpty: Bool = false
  ) throws -> Schema {
    try schema(of: source(path, mayBeEmpty: mayBeEmpty), besides: other)
  }

  /// Reads the two schemas of a comparison.
  func schemas(_ from: String?, _ to: String?) throws -> (from: Schema, to: Schema) {
    let (first, second) = (try source(from), try source(to))
    // A table that the history or the SQL defines is compared even if a database's table of this
    // name looks like one of another tool.
    if case .database = first {
      let isPair = if case .database = second { true } else { false }
      let actual = try schema(of: second)
      return (try schema(of: first, besides: isPair ? Schema() : actual), actual)
    }
    let expected = try schema(of: first)
    return (expected, try schema(of: second, besides: expected))
  }

  private func source(_ path: String?, mayBeEmpty: Bool = false) throws -> SchemaSource {
    let through = session.invocation.text("to")
    guard let path else {
      return .history(try project(mayBeEmpty: mayBeEmpty), through: through)
    }
    return try .at(path, through: through, loading: project(in:))
  }

  /// Checks that `--to` applies: one of the names must be a history, either the project's or
  /// another directory.
  func requireHistory(among names: [String]) throws {
    guard session.invocation.text("to") != nil, !names.isEmpty,
      names.allSatisfy(DatabaseFile.isFile)
    else { return }
    let list = names.map(\.visible).joined(separator: " and ")
    throw session.usageError(
      "--to needs a history, and \(list) \(names.count == 1 ? "is a file" : "are files")",
      hint: "Leave out --to, or name a migrations directory.")
  }

  func schema(of source: SchemaSource, besides other: Schema = Schema()) throws -> Schema {
    try source.schema(
      application, ignoring: ForeignObjects(ignoring: configuration.ignore), besides: other,
      timeout: timeout, interruption: session.interruption)
  }

  /// The baseline file; nil if none is configured and the default file does not exist.
  var baselineFile: String? {
    configuration.baseline.map(resolved) ?? (exists(usualBaselineFile) ? usualBaselineFile : nil)
  }

  /// The default baseline file of `import`, next to the manifests.
  var usualBaselineFile: String { joinedPath(migrations, "lint.baseline") }

  /// Fails if the folder holds a history already. For commands that begin one.
  ///
  /// - Parameter mayHoldOther: whether the folder may contain another tool's files, next to which
  ///   the manifests are written.
  func requireNoHistory(in folder: MigrationFolder, mayHoldOther: Bool = false) throws {
    let ids: [String]
    let isFrozen: Bool
    do throws(HistoryReadError) {
      ids = try folder.ids()
      isFrozen = try folder.lock() != nil
    } catch .missingFolder {
      return
    } catch .otherHistory where mayHoldOther {
      return
    } catch {
      throw error
    }
    guard ids.isEmpty, !isFrozen else {
      throw Failure(
        .finding,
        "\(folder.path) already has a history, up to \(ids.last ?? HistoryLock.fileName)",
        remedy: "`schemactl adopt` adopts an existing database into it")
    }
  }

  private func baseline() throws -> Baseline? {
    guard let baselineFile else { return nil }
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try readFile(baselineFile, limit: 16_777_216)
    } catch {
      let failure = Failure(error)
      throw Failure(
        failure.status, failure.message,
        remedy: "`\(session.command("lint", "--write-baseline", database: false))` writes today's "
          + "findings there")
    }
    return try Baseline(bytes, file: baselineFile)
  }

  /// Fails if writing a baseline would replace another kind of file.
  func requireReplaceable(baseline file: String) throws {
    do throws(FileError) {
      let bytes = try readFile(file, limit: 16_777_216)
      if Baseline.isReplaceable(bytes, file: file) { return }
    } catch {
      // A dangling link counts as an existing file.
      if error.kind == .missing, !exists(file) { return }
      if error.kind == .permission { throw Failure(error) }
    }
    throw Failure(
      .invalidInput,
      "\(file) is not a baseline of lint findings, so schemactl did not overwrite it",
      remedy: "Name another file as `lint: { baseline: FILE }`, or remove this one first")
  }

  private func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  private func queries() throws -> [QueryFile]? {
    let folder =
      configuration.queries.map { QueryFolder(resolved($0)) }
      ?? QueryFolder(besideMigrations: migrations)
    let files = try folder.files()
    let history = MigrationFolder(migrations)
    // lint compiles `connection.sql` like a query.
    guard let text = try history.connectionSQL() else { return files }
    return (files ?? [])
      + [QueryFile(path: history.connectionFile, text: text, isConnectionSQL: true)]
  }

  func linter(of project: Project, isForBaseline: Bool = false) throws -> Linter {
    try Linter(
      project: project, configuration: configuration, profile: session.profile,
      baseline: isForBaseline ? nil : try baseline(), queries: try queries(),
      configurationFile: file ?? "schemactl.yaml", interruption: session.interruption)
  }

  func lint(
    _ project: Project, isFull: Bool, on copy: TrialCopy? = nil,
    observing observe: (ScratchDatabase.Step, ScratchDatabase) throws(Failure) -> Void = { _, _ in }
  ) throws -> LintReport {
    try linter(of: project).lint(
      isStrict: session.invocation.flag("strict"), isFull: isFull,
      isVerbose: session.invocation.flag("verbose"), on: copy, observing: observe)
  }
}

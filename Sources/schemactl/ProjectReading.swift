import SchemaApply
import SchemaAuthoring
import SchemaGit
import SchemaHistory
import SchemaLint
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaQueries
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials
import SchemaYAML

/// Reads histories and schemas with the settings of a command.
extension Session {
  var application: Application {
    var application = Application(
      declaredFunctions: configuration.functions, declaredCollations: configuration.collations)
    application.ledger = ledger
    application.declare(configuration.sync.engine.functions)
    application.limit = configuration.replay
    return application
  }

  private var foreign: ForeignObjects { ForeignObjects(ignoring: configuration.ignore) }

  // MARK: The history

  /// Opens a database to read it. Commands do so before they read the history, because errors of the
  /// database take precedence over errors in manifests (see the precedence of exit codes).
  func open(_ database: String) throws(Failure) -> ReadableDatabase {
    try ReadableDatabase(
      file: database, timeout: timeout, interruption: interruption,
      onWait: { follow(.waiting(seconds: $0)) })
  }

  /// Opens a database to read it; nil if it does not exist and need not.
  func open(_ options: MigrateOptions) throws(Failure) -> ReadableDatabase? {
    if options.database.isEmpty { return nil }
    if !options.existing, try !DatabaseFile.exists(options.database) { return nil }
    return try open(options.database)
  }

  /// Reads the history.
  ///
  /// - Parameter mayBeEmpty: suppresses the warning about a folder without migrations.
  func project(mayBeEmpty: Bool = false, asksGitAboutDrafts: Bool = true) throws -> Project {
    let project = try project(in: migrations)
    if project.migrations.isEmpty, project.lock == nil, !mayBeEmpty {
      warn(
        "\(migrations) has no migrations, so schemactl checked and ran nothing. "
          + "`\(command("new", database: false)) NAME` writes the first one")
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
      application: application, foreign: foreign)
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

  /// Fails if the folder holds a history already. For commands that begin one.
  ///
  /// - Parameter mayHoldOther: whether the folder may contain another tool's files, next to which
  ///   the manifests are written.
  func requireNoHistory(in folder: MigrationFolder, mayHoldOther: Bool = false) throws {
    guard try somethingExists(at: folder.path) else { return }
    let isFrozen = try folder.lock() != nil
    let last = try folder.ids(mayHoldOther: mayHoldOther).last
    guard let last = last ?? (isFrozen ? HistoryLock.fileName : nil) else { return }
    throw Failure(
      .finding, "\(folder.path) already has a history, up to \(last)",
      remedy: "Delete \(folder.path) to start again, or name another folder with --migrations")
  }

  // MARK: Schemas

  /// Reads the two schemas of a comparison.
  func schemas(_ from: String?, _ to: String?) throws -> (from: Schema, to: Schema) {
    let sources = (try source(from), try source(to))
    switch sources {
    case (.database, .database): return (try schema(of: sources.0), try schema(of: sources.1))
    // A table that the history or the SQL defines is compared even if a database's table of this
    // name looks like one of another tool.
    case (.database, _):
      let actual = try schema(of: sources.1)
      return (try schema(of: sources.0, besides: actual), actual)
    default:
      let expected = try schema(of: sources.0)
      return (expected, try schema(of: sources.1, besides: expected))
    }
  }

  /// - Parameters:
  ///   - path: a database, a folder or an SQL file; nil for the project's history.
  ///   - mayBeEmpty: suppresses the warning about a history without migrations.
  func source(_ path: String? = nil, mayBeEmpty: Bool = false) throws -> SchemaSource {
    guard let path else {
      return .history(try project(mayBeEmpty: mayBeEmpty), through: text("to"))
    }
    return try .at(path, through: text("to"), loading: project(in:))
  }

  /// Checks that `--to` applies: one of the names must be a history, either the project's or
  /// another directory.
  func requireHistory(among names: [String]) throws {
    guard text("to") != nil, !names.isEmpty else { return }
    try require(
      !names.allSatisfy(DatabaseFile.isFile),
      "--to needs a history, and \(names.map(\.visible).joined(separator: " and ")) "
        + (names.count == 1 ? "is a file" : "are files"),
      hint: "Leave out --to, or name a migrations directory.")
  }

  func schema(of source: SchemaSource, besides other: Schema = Schema()) throws -> Schema {
    try source.schema(
      application, ignoring: foreign, besides: other, timeout: timeout, interruption: interruption)
  }

  // MARK: Lint

  var profile: Profile? { text("profile").flatMap(Profile.init) }

  func linter(of project: Project, isForBaseline: Bool = false) throws -> Linter {
    try Linter(
      project: project, configuration: configuration, profile: profile,
      baseline: isForBaseline ? nil : try baseline(), queries: try queries(),
      configurationFile: file ?? "schemactl.yaml", interruption: interruption)
  }

  func lint(
    _ project: Project, on copy: TrialCopy? = nil,
    observing observe: (ScratchDatabase.Step, ScratchDatabase) throws(Failure) -> Void = { _, _ in }
  ) throws -> LintReport {
    try linter(of: project).lint(
      isStrict: flag("strict"), isFull: flag("full"), isVerbose: flag("verbose"), on: copy,
      observing: observe)
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

  // MARK: The baseline of lint

  /// The baseline file; nil if none is configured and the default file does not exist.
  var baselineFile: String? {
    if let file = configuration.baseline { return resolved(file) }
    let exists = FileStatus(usualBaselineFile, followingLinks: false) != nil
    return exists ? usualBaselineFile : nil
  }

  /// The default baseline file of `import`, next to the manifests.
  var usualBaselineFile: String { joinedPath(migrations, "lint.baseline") }

  private func baseline() throws -> Baseline? {
    guard let baselineFile else { return nil }
    let bytes = try read(
      baselineFile, limit: Baseline.sizeLimit,
      remedy: "`\(command("lint", ["--write-baseline"], database: false))` writes today's findings "
        + "there")
    return try Baseline(bytes, file: baselineFile)
  }
}

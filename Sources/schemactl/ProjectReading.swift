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
import SchemaTimeline
import SchemaTrials
import SchemaYAML

/// Reads histories and schemas with the settings of a command.
extension Session {
  var application: Application { Application(configuration) }

  var foreign: ForeignObjects { ForeignObjects(ignoring: configuration.ignore) }

  // MARK: History

  /// Opens a database to read it. Commands do so before they read the history, because errors of the
  /// database take precedence over errors in manifests (see the precedence of exit codes).
  func open(_ database: String) throws(Failure) -> ReadableDatabase {
    try advising(on: database) { () throws(Failure) in
      try ReadableDatabase(
        file: database, timeout: timeout, interruption: interruption,
        onWait: { follow(.waiting(seconds: $0)) })
    }
  }

  /// Opens a database to read it; nil if it does not exist and the options do not require it.
  func open(_ options: MigrateOptions) throws(Failure) -> ReadableDatabase? {
    if options.database.isEmpty { return nil }
    if !options.existing, try !exists(options.database) { return nil }
    return try open(options.database)
  }

  /// Reads the history.
  ///
  /// - Parameter mayBeEmpty: whether to suppress the warning about a folder without migrations.
  func project(mayBeEmpty: Bool = false) throws -> Project {
    let project = try project(in: migrations)
    if project.migrations.isEmpty, project.lock == nil, !mayBeEmpty {
      warn(
        "`\(migrations)` has no migrations, so schemactl checked and ran nothing. "
          + "`\(command("new", database: false)) NAME` writes the first one")
    }
    return project
  }

  func project(in folder: String) throws -> Project {
    func load() throws -> Project {
      try Project.load(
        migrations: folder, application: application, ignoring: configuration.ignore,
        explaining: MigrationFolder(folder).explain)
    }
    return try folder == migrations ? placingMissingFolder(load) : load()
  }

  /// Runs `body` while no other process changes the migrations folder.
  func withClaim<Success>(_ body: () throws -> Success) throws -> Success {
    try placingMissingFolder { try MigrationFolder(migrations).withClaim(timeout: timeout, body) }
  }

  /// Runs work that needs the migrations folder. If `schemactl.yaml` names a missing folder, the failure is
  /// placed there.
  func placingMissingFolder<Success>(_ body: () throws -> Success) throws -> Success {
    do {
      return try body()
    } catch let failure as Failure where failure.status == .notFound && failure.place == nil {
      guard let file, let position = configuration.migrationsPosition, !flag("migrations"),
        FileStatus(migrations) == nil
      else { throw failure }
      throw failure.placed(at: Failure.Place(file: file, position: position))
    }
  }

  /// Fails if `schemactl.yaml` names a missing folder and a folder beside it has a similar name and manifests.
  func requireNoTypingError() throws {
    guard !flag("migrations") else { return }
    try placingMissingFolder { try MigrationFolder(migrations).requireNoTypingError() }
  }

  // MARK: Schemas

  /// Returns the source of a schema.
  ///
  /// - Parameters:
  ///   - path: a database, a folder or an SQL file; nil for the project's history.
  ///   - mayBeEmpty: whether to suppress the warning about a history without migrations.
  func source(_ path: String? = nil, mayBeEmpty: Bool = false) throws -> SchemaSource {
    guard let path else {
      return .history(try project(mayBeEmpty: mayBeEmpty), through: text("to"))
    }
    return try .at(withoutDash(path), through: text("to"), loading: project(in:))
  }

  /// Fails if the command line contains `--to` but all names are files. `--to` needs a history: the project's
  /// or another directory.
  func requireHistory(among names: [String]) throws {
    guard text("to") != nil, !names.isEmpty else { return }
    try require(
      !names.allSatisfy(DatabaseFile.isFile),
      "`--to` needs a history, and \(names.map { "`\($0.visible)`" }.joined(separator: " and ")) "
        + (names.count == 1 ? "is a file" : "are files"),
      hint: "Leave out `--to`, or name a migrations directory.")
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
    _ project: Project,
    observing observe:
      (ScratchDatabase.Step, ScratchDatabase) throws(Failure) -> Void = { _, _ in },
    on data: ((Timeline) throws(Failure) -> DataReport)? = nil
  ) throws -> LintReport {
    try linter(of: project).lint(
      isStrict: flag("strict"), isFull: flag("full"), isVerbose: flag("verbose"),
      observing: observe, on: data)
  }

  private func queries() throws -> [QueryFile]? {
    do {
      return try queryFolder.files(besideConnectionSQLOf: MigrationFolder(migrations))
    } catch let error as FileError {
      let failure = Failure(error)
      throw error.isMissing ? failure.advising("Correct `queries` in `schemactl.yaml`") : failure
    }
  }

  var queryFolder: QueryFolder {
    configuration.queries.map { QueryFolder(resolved($0)) }
      ?? QueryFolder(besideMigrations: migrations)
  }

  // MARK: Lint baseline

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

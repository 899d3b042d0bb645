import SchemaApply
import SchemaAuthoring
import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlatform
import SchemaQueries
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// The environment of a running command and its settings. The command line takes precedence over environment
/// variables, and these over `schemactl.yaml`.
struct Session {
  let invocation: Invocation
  let output: Output
  let reporter: any Reporter
  let interruption: Interruption
  let writing: Locked<Void>
  private(set) var configuration = Configuration()
  /// The path of `schemactl.yaml`; nil if there is none.
  private(set) var file: String?

  /// Returns the session with the settings of `schemactl.yaml`.
  func configured() throws -> Session {
    guard let file = try text("config") ?? Configuration.nearestFile() else { return self }
    let bytes = try read(
      file, limit: 1_048_576,
      remedy: invocation.isOnCommandLine("config")
        ? "`--config` names a file such as `schemactl.yaml`. Without it schemactl uses the nearest "
          + "`schemactl.yaml`, in this directory or above" : nil)
    var session = self
    session.file = file
    session.configuration = try decodeConfiguration(bytes, file: file)
    return session
  }

  /// Converts a path of the configuration to a path relative to the working directory.
  func resolved(_ path: String) -> String {
    guard !path.hasPrefix("/"), let file, let slash = file.lastIndex(of: "/") else { return path }
    return file[...slash] + path
  }

  /// Reads a file that a setting names.
  func read(_ file: String, limit: Int, remedy: String?) throws(Failure) -> [UInt8] {
    do throws(FileError) {
      return try readFile(file, limit: limit)
    } catch {
      let failure = Failure(error)
      throw Failure(failure.status, failure.message, remedy: remedy)
    }
  }

  // MARK: Reports

  func note(_ text: String) { reporter.note(text) }

  func warn(_ text: String) { reporter.warn(text) }

  func follow(_ event: MigrateEvent) { reporter.follow(event) }

  /// Reports a result in the form that the output format needs.
  ///
  /// - Parameters:
  ///   - json: the document of `--format json`; nil if another report of the command contains the result.
  ///   - annotations: the annotations, for commands that report places in manifests.
  ///   - text: prints the result as text.
  func report(
    _ json: @autoclosure () -> JSON?, _ annotations: @autoclosure () -> Annotations? = nil,
    text: (TextReporter) -> Void
  ) {
    reporter.report(json, annotations, text)
  }

  // MARK: Options and arguments

  var arguments: [String] { invocation.arguments }

  /// Whether the command line or the environment sets the option.
  func flag(_ option: String) -> Bool { invocation.isGiven(option) }

  func text(_ option: String) -> String? { invocation.text(option) }

  var format: OutputFormat { text("format").flatMap(OutputFormat.init) ?? .text }

  /// Whether SQL is printed unchanged. A terminal gets SQL with its control characters escaped, and
  /// structured formats have their own escapes; other programs get the original text.
  var printsRawSQL: Bool { format != .json && !output.isTerminal }

  /// Returns the value of `--reason`. It must be one line, because the output shows it on one line.
  ///
  /// - Parameter subject: the option or command that needs the reason.
  func reason(for subject: String, hint: String) throws -> String {
    let reason = text("reason") ?? ""
    try require(
      reason.contains(where: { $0.isLetter || $0.isNumber })
        && !reason.contains(where: \.isNewline),
      "\(subject) needs a `--reason` of one line", hint: hint)
    return reason
  }

  /// The value of `--release`; nil without it.
  func release() throws -> String? {
    try text(
      "release", "release name", where: isReleaseName,
      hint: "Use 1 to 64 ASCII letters, digits, `.`, `_`, `+` or `-`.")
  }

  /// The value of `--base`; nil without it.
  func base() throws -> String? {
    try text(
      "base", "revision", where: { !$0.isEmpty && !$0.hasPrefix("-") },
      hint: "Name a branch, a tag or a commit, for example `origin/main`.")
  }

  private func text(
    _ option: String, _ noun: String, where isValid: (String) -> Bool, hint: String
  ) throws(UsageError) -> String? {
    guard let text = text(option), !isValid(text) else { return text(option) }
    throw usageError("`\(text.visible)` is not a valid \(noun)", hint: hint)
  }

  /// Throws a usage error if the condition is false.
  func require(
    _ condition: Bool, _ message: @autoclosure () -> String, hint: String? = nil
  ) throws(UsageError) {
    if !condition { throw usageError(message(), hint: hint) }
  }

  func usageError(_ message: String, hint: String? = nil) -> UsageError {
    UsageError(
      program: CommandLineProgram.schemactl.name, message: message,
      commandPath: invocation.commandPath, hint: hint)
  }

  /// Returns a command line to suggest. It repeats the options of this call that select the project and the
  /// database.
  func command(_ name: String, _ words: [String] = [], database: Bool = true) -> String {
    var all = ["schemactl", name] + words
    for option in ["migrations", "config"] + (database ? ["database"] : [])
    where invocation.isOnCommandLine(option) {
      all += invocation.texts(option).flatMap { ["--\(option)", withoutDash($0)] }
    }
    return all.map(shellQuoted).joined(separator: " ")
  }

  /// Asks the user at the terminal, and returns the answer; nil if standard input or standard error is not a
  /// terminal.
  func ask(_ question: String) -> String? {
    guard isatty(0) == 1, isatty(2) == 1 else { return nil }
    output.flush()
    _ = writeAll(Array(question.utf8), to: 2)
    return readLine() ?? ""
  }

  // MARK: Settings

  var migrations: String { text("migrations") ?? resolved(configuration.migrations) }

  var files: ProjectFiles {
    ProjectFiles(
      migrations, configuration: file,
      inputs: [queryFolder.path] + [databaseName, baselineFile].compactMap { $0 })
  }

  /// The file that `schema` in `schemactl.yaml` names; nil if the configuration has no `schema`.
  var schemaFile: SchemaFile? { configuration.schema.map { SchemaFile(resolved($0)) } }

  /// Updates the schema file, if the configuration names one.
  func writeSchemaFile(of project: Project) throws {
    if let schemaFile { try files.update(schemaFile, for: project) }
  }

  var ledger: Ledger { configuration.ledger }

  var timeout: Double { invocation.number("timeout") ?? configuration.timeout }

  /// The database as the command line or the configuration names it: a file, or the address of a cluster.
  var databaseName: String? { text("database") ?? configuration.database }

  /// The database file that the command line or the configuration names.
  private func database() throws(Failure) -> String? {
    guard let path = databaseName else { return nil }
    // Check the configured path before `resolved` joins it with a folder.
    try DatabaseFile.requirePath(path)
    return flag("database") ? withoutDash(path) : resolved(path)
  }

  /// The path of a file that begins with a dash, in a form that a printed command can contain.
  func withoutDash(_ path: String) -> String { path.hasPrefix("-") ? "./" + path : path }

  func requiredDatabase() throws -> String {
    if let database = try database() { return database }
    throw usageError(
      "the name of the database is missing",
      hint: "Name it with `--database FILE`, in `SCHEMACTL_DATABASE`, or as `database` in "
        + "`schemactl.yaml`.")
  }

  /// Returns the database for a command that can run without one. The file may be missing if only the
  /// configuration names it.
  func optionalDatabase() throws -> String? {
    guard let database = try database() else { return nil }
    if !flag("database"), try !exists(database) {
      note("`\(database)` does not exist yet")
      return nil
    }
    return database
  }

  /// Whether the database exists. Fails if its folder is missing.
  func exists(_ database: String) throws(Failure) -> Bool {
    try advising(on: database) { () throws(Failure) in try DatabaseFile.exists(database) }
  }

  /// Runs work that needs the database file. A failure because it is missing gets the setting that names it
  /// and the command that creates it.
  func advising<Success>(
    on database: String, _ body: () throws(Failure) -> Success
  ) throws(Failure) -> Success {
    do throws(Failure) {
      return try body()
    } catch {
      guard error.status == .notFound, error.remedy == nil else { throw error }
      let setting =
        invocation.isOnCommandLine("database")
        ? "`--database`"
        : flag("database") ? "`SCHEMACTL_DATABASE`" : "`database` in `schemactl.yaml`"
      let folder = parentFolder(of: database)
      let creation =
        FileStatus(folder) == nil
        ? "the folder (`mkdir -p \(shellQuoted(folder))`)"
        : "the database (`\(command("migrate"))`)"
      throw error.advising("Correct \(setting), or create \(creation)")
    }
  }

  /// The configured folder for backups.
  var backupFolder: String? { configuration.backup?.folder.map(resolved) }

  /// Returns the options of `migrate` and `plan`.
  func migrateOptions(_ database: String) -> MigrateOptions {
    var options = MigrateOptions(database: database)
    options.through = text("to")
    options.frozenOnly = flag("frozen")
    options.existing = flag("existing") || options.frozenOnly
    options.timeout = timeout
    options.redactsValues = flag("redact")
    options.isParanoid = flag("paranoid")
    return options
  }

  /// Returns the backup that `migrate` makes first; nil for none.
  func backup() -> BackupOptions? {
    guard flag("backup") || configuration.backup != nil else { return nil }
    let place = text("backup").map(BackupOptions.Place.path) ?? backupFolder.map { .folder($0) }
    return BackupOptions(
      place ?? .besideDatabase, keep: configuration.backup?.keep ?? BackupOptions.usualCount)
  }
}

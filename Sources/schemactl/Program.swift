import SchemaCommandLine
import SchemaHistory
import SchemaLint
import SchemaTimeline
import SchemaYAML

extension CommandLineProgram {
  static var commands: [any Command.Type] {
    [
      InitCommand.self, NewCommand.self,
      MigrateCommand.self, StatusCommand.self, PlanCommand.self, VerifyCommand.self,
      DiffCommand.self, InspectCommand.self, AdoptCommand.self, ImportCommand.self,
      SquashCommand.self,
      LintCommand.self, CheckCommand.self,
      FreezeCommand.self, RebaseCommand.self, LedgerCommand.self, RestoreCommand.self,
      BundleCommand.self, GenerateCommand.self, FleetCommand.self, ReportCommand.self,
      DiagramCommand.self, CompletionsCommand.self, SchemaCommand.self,
    ]
  }

  package static let schemactl = CommandLineProgram(
    name: "schemactl", version: ToolVersion.current,
    summary: "migrations and schema management for SQLite",
    discussion: """
      A database schema is a history: a folder of small YAML files, each one migration. schemactl \
      applies them to a database, each whole or not at all, checks that what has shipped is never \
      changed, and tells what a migration will do to rows and to devices that synchronise.

      The folder, the database and more can be named in schemactl.yaml, in the working folder or \
      any folder above it. An option on the command line wins over the environment, and the \
      environment over the file.
      """,
    commands: commands.map { command in Entry(command.name, command.declaration) },
    exitCodes: [
      .init(0, "done, nothing to report"),
      .init(1, "the check found something: a lint error, drift, pending migrations"),
      .init(2, "the frozen history is broken"),
      .init(3, "a migration failed; the database is as it was before that migration"),
      .init(4, "the database is ahead of the history"),
      .init(64, "the command line is wrong"),
      .init(65, "a manifest, the configuration or a requirement is wrong"),
      .init(66, "a file or database that was named is not there"),
      .init(70, "a bug in schemactl"),
      .init(74, "reading or writing failed: disk full, damaged or encrypted file"),
      .init(75, "the database is busy; try again"),
      .init(77, "permission denied"),
      .init(130, "a signal; what was not complete is rolled back"),
    ])
}

/// Options that several commands have.
extension [OptionDeclaration] {
  static var common: [OptionDeclaration] { common(OutputFormat.common) }

  /// For commands that tell of places in manifests.
  static var reporting: [OptionDeclaration] { common(OutputFormat.reporting) }

  static func common(_ formats: [OutputFormat]) -> [OptionDeclaration] {
    [
      OptionDeclaration(
        "migrations", .text("DIR"),
        summary: "The folder of the manifests; 'migrations' when nothing names one."),
      OptionDeclaration(
        "config", .text("FILE"),
        summary: "The configuration, instead of the nearest schemactl.yaml."),
      .format(formats), .quiet,
    ]
  }

  static var database: [OptionDeclaration] {
    [
      OptionDeclaration(
        "database", .text("FILE"), environment: "SCHEMACTL_DATABASE", summary: "The database."),
      .timeout,
    ]
  }
}

extension OptionDeclaration {
  static func format(_ formats: [OutputFormat]) -> OptionDeclaration {
    OptionDeclaration(
      "format", .choice("FORMAT", formats.map(\.rawValue)), summary: "How to report.")
  }

  static let quiet = OptionDeclaration(
    "quiet", short: "q", summary: "Say only what is wrong, and what was asked for.")

  static let at = OptionDeclaration(
    "at", .text("ID"), summary: "The last migration of a history that counts, by id or number.")

  static let timeout = OptionDeclaration(
    "timeout", .number("SECONDS", 0...Configuration.maximumTimeout),
    summary: "How long to wait for a lock; 5 when nothing says otherwise.")

  static let profile = OptionDeclaration(
    "profile", .choice("PROFILE", Profile.allCases.map(\.rawValue)),
    summary: "What syncs the database; otherwise `sync` in schemactl.yaml says it.")

  static let queries = OptionDeclaration(
    "queries", .text("DIR"),
    summary: "The folder of the application's queries; otherwise 'queries' beside the migrations.")

  static let strict = OptionDeclaration(
    "strict", summary: "Exit with 1 for warnings and notes too.")

  static let verbose = OptionDeclaration(
    "verbose", summary: "Show every finding, also those in frozen migrations.")

  static let base = OptionDeclaration(
    "base", .text("REV"),
    summary: "A git revision: the lock of its merge base with HEAD is compared, too."
  )
}

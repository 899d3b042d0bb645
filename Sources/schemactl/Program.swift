import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

/// A command: its declaration and its implementation.
protocol Command: SendableMetatype {
  static var declaration: CommandDeclaration { get }
  /// Whether the command needs `schemactl.yaml`, which may be broken.
  static func readsConfiguration(_ invocation: Invocation) -> Bool
  /// Whether the command stops by itself on an interruption. Otherwise a signal ends the process at once,
  /// which is safe for a command that cannot leave a write half done.
  static func heedsInterruptions(_ invocation: Invocation) -> Bool
  static func run(_ session: Session) throws -> ExitStatus
}

extension Command {
  static func readsConfiguration(_ invocation: Invocation) -> Bool { true }
  static func heedsInterruptions(_ invocation: Invocation) -> Bool { false }
}

extension CommandLineProgram {
  /// The commands by name, in the groups and in the order of help.
  private static var commandGroups: KeyValuePairs<String, KeyValuePairs<String, any Command.Type>> {
    [
      "Every day": [
        "new": NewCommand.self, "lint": LintCommand.self, "plan": PlanCommand.self,
        "migrate": MigrateCommand.self, "status": StatusCommand.self,
      ],
      "Before a merge": [
        "check": CheckCommand.self, "verify": VerifyCommand.self, "freeze": FreezeCommand.self,
        "renumber": RenumberCommand.self,
      ],
      "Once": [
        "init": InitCommand.self, "import": ImportCommand.self, "adopt": AdoptCommand.self,
        "squash": SquashCommand.self, "bundle": BundleCommand.self,
        "generate": GenerateCommand.self,
      ],
      "When something is wrong": [
        "diff": DiffCommand.self, "inspect": InspectCommand.self, "repair": RepairCommand.self,
        "restore": RestoreCommand.self,
      ],
      "Many databases": ["fleet": FleetCommand.self],
      "To look at": ["report": ReportCommand.self, "diagram": DiagramCommand.self],
      "Tool": ["completions": CompletionsCommand.self, "schema": SchemaCommand.self],
    ]
  }

  static func command(_ name: String) -> (any Command.Type)? {
    commandGroups.lazy.flatMap(\.value).first { $0.key == name }?.value
  }

  package static let schemactl = CommandLineProgram(
    name: "schemactl", version: ToolVersion.current,
    summary: "migrations and schema management for SQLite",
    discussion: """
      A database schema is a history: a directory of small YAML manifests. Each manifest is one \
      migration. schemactl applies each migration atomically, detects edits of released \
      migrations, and reports the effects of a migration on rows and on devices that sync.

      Options override environment variables, and environment variables override `schemactl.yaml`.
      """,
    groups: commandGroups.map { group, commands in
      (group, commands.map { name, command in (name, { command.declaration }) })
    },
    exitCodes: [
      "0": "Success.",
      "1": "The check found a problem: a lint error, drift or pending migrations.",
      "2": "The frozen history is broken.",
      "3": "A migration failed. The database is in the state before that migration.",
      "4": "The database is ahead of the history.",
      "64": "The command line is invalid.",
      "65": "A manifest, the configuration or a requirement is invalid.",
      "66": "A named file, database or revision is missing.",
      "70": "A bug in schemactl.",
      "74": "Reading or writing failed: disk full, damaged or encrypted file.",
      "75": "The database is busy; try again.",
      "77": "Permission denied.",
      "130": "Interrupted by a signal. schemactl rolled back unfinished work.",
    ],
    hints: hints,
    environment: [
      "NO_COLOR": "A value that is not empty disables colour.",
      "TERM": "The value `dumb` disables colour and the progress line.",
    ],
    files: [
      "schemactl.yaml": "The configuration, in the working directory or a directory above it.",
      "migrations/*.yaml": "The manifests, in order of their number.",
      "migrations/history.lock": "The digests of released migrations.",
      "queries/*.sql": "The application's queries, which lint compiles.",
      "FILE.before-drafts":
        "A copy of the database FILE from before its first draft; with `ledger_table: NAME` it is "
        + "`FILE.before-drafts-of-NAME`.",
      "FILE.before-restore": "The previous content of a restored database FILE.",
    ], date: "2026-11-22")

  /// Hints for the commands of other tools.
  private static let hints: [String: String] = {
    let migrate = "Use `schemactl migrate`."
    let back =
      "schemactl does not migrate backwards. `schemactl restore` puts a backup back; a new migration "
      + "(`schemactl new`) undoes a change."
    return [
      "up": migrate, "apply": migrate, "upgrade": migrate, "deploy": migrate, "push": migrate,
      "down": back, "rollback": back, "undo": back, "revert": back, "downgrade": back,
      "seed": "Write the rows as `insert` operations of a migration: `schemactl new`.",
      "dump": "Use `schemactl inspect`.",
      "baseline": "Use `schemactl init --from DATABASE`.",
      "stamp": "Use `schemactl adopt --to ID`.",
      "create": "Use `schemactl new`.", "make": "Use `schemactl new`.",
      "history": "Use `schemactl status`.", "current": "Use `schemactl status`.",
      "ledger": "Use `schemactl status` to see the ledger, `schemactl repair` to correct it.",
      "rebase": "Use `schemactl renumber`.",
      "version": "Use `schemactl --version`.",
      "--json": "Use `--format json` after a command.",
    ]
  }()
}

/// Options that several commands share.
extension [OptionDeclaration] {
  static var common: [OptionDeclaration] { common(OutputFormat.common) }

  /// The options of commands that report places in manifests.
  static var reporting: [OptionDeclaration] { common(OutputFormat.reporting) }

  /// - Parameter formats: the formats of `--format`; empty for a command that declares its own `--format` or
  ///   needs none.
  static func common(_ formats: [OutputFormat]) -> [OptionDeclaration] {
    [.migrations, .config] + (formats.isEmpty ? [] : [.format(formats)]) + [
      .quiet,
      OptionDeclaration("verbose", short: "v", summary: "Print long lists and details in full."),
    ]
  }

  static var database: [OptionDeclaration] { database("The database.") }

  /// The options of commands that also work on a dqlite cluster.
  static var databaseOrCluster: [OptionDeclaration] {
    database("The database: a file, or `dqlite://HOST:PORT/NAME`.")
  }

  private static func database(_ summary: String) -> [OptionDeclaration] {
    [
      OptionDeclaration(
        "database", .text("FILE"), environment: "SCHEMACTL_DATABASE",
        claims: OptionDeclaration.looksLikeFile, summary: summary),
      .timeout,
    ]
  }
}

extension Completion {
  /// The ids of the project's migrations.
  static let migrations = Completion.lookup("migrations")
}

extension OptionDeclaration {
  // Words that probably belong to an option (`claims`).

  private static let isFolder: @Sendable (String) -> Bool = { FileStatus($0)?.isFolder == true }

  static let looksLikeFile: @Sendable (String) -> Bool = { word in
    word.utf8.contains(where: "./".utf8.contains) && !isFolder(word)
  }

  static let looksLikeMigration: @Sendable (String) -> Bool = { word in
    word.first?.isNumber == true && !looksLikeFile(word)
  }

  static let migrations = Self(
    "migrations", .text("DIR"), claims: isFolder,
    summary: "The migrations directory; default: `migrations`.")

  static let config = Self(
    "config", .text("FILE"), summary: "Use this file instead of the nearest `schemactl.yaml`.")

  static func format(_ formats: [OutputFormat]) -> OptionDeclaration {
    Self("format", .choice("FORMAT", formats.map(\.rawValue)), summary: "The output format.")
  }

  static let quiet = Self(
    "quiet", short: "q", summary: "Print only problems and requested results.")

  static func to(_ summary: String = "The last migration to apply.") -> OptionDeclaration {
    Self(
      "to", .text("ID"), completion: .migrations, claims: looksLikeMigration,
      summary: "\(summary) By id or number.")
  }

  static let historyPoint = to("Read the history up to this migration.")

  static let timeout = Self(
    "timeout", .number("SECONDS", 0...Int(Configuration.maximumTimeout)),
    summary: "The number of seconds to wait for a lock; default: 5.")

  static let profile = Self(
    "profile", .choice("PROFILE", Profile.allCases.map(\.rawValue)),
    hints: ["none": "The profile of a database that nothing syncs is `local`."],
    summary: "The sync profile of the database; default: `sync` in `schemactl.yaml`.")

  static let strict = Self("strict", summary: "Exit with 1 for findings of every severity.")

  static let base = Self(
    "base", .text("REV"),
    completion: .lookup("revisions"),
    summary: "Also compare with `history.lock` at the merge base of `HEAD` and this git revision.")

  static let frozen = Self(
    "frozen", summary: "Apply only released migrations, and only to an existing database.")

  static let dryRun = Self(
    "dry-run", summary: "Show the effects of the command, and change nothing.")

  static let redact = OptionDeclaration("redact", summary: "Print no values of rows.")

  static let paranoid = Self(
    "paranoid",
    summary: "Compare written tables row by row with their old content, and run `integrity_check`.")

  static func force(_ summary: String) -> OptionDeclaration {
    Self("force", summary: summary)
  }
}

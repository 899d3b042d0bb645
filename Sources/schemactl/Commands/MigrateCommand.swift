import SchemaApply
import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLText

enum MigrateCommand: Command {
  static let name = "migrate"
  static let declaration = CommandDeclaration(
    name: name, summary: "Brings a database up to date.",
    discussion: """
      Applies every migration that the database has not run yet, each whole or not at all. When one \
      fails, those before it stay and the database is as it was before the one that failed. A \
      database that is not there is made, unless --existing or --frozen is given.
      """,
    examples: [
      .init("schemactl migrate --database app.sqlite", "Applies what is pending."),
      .init(
        "schemactl migrate --database app.sqlite --dry-run",
        "Says what would be done, and whether the rows stand in the way."),
      .init(
        "schemactl migrate --database app.sqlite --dry-run=copy",
        "Does it on a copy, and says how long it took."),
      .init(
        "schemactl migrate --database app.sqlite --backup",
        "Keeps a copy first; 'schemactl restore' goes back to it."),
      .init(
        "schemactl migrate --database app.sqlite --frozen --timeout 30",
        "For scripts and devices: only what has shipped, on a database that is there."),
    ],
    options: [
      OptionDeclaration(
        "to", .text("ID"), summary: "The last migration to apply, by its id or its number."),
      OptionDeclaration(
        "dry-run", .optionalText("copy"), offers: ["copy"],
        summary: "Say what would be done, and change nothing; 'copy' does it on a copy."),
      OptionDeclaration(
        "backup", .optionalText("PATH"),
        summary: "Copy the database first: beside it, into a folder, or to a new file."),
      OptionDeclaration(
        "no-backup",
        summary: "Make no backup, whatever is configured. The copy before a draft is none."),
      OptionDeclaration(
        "keep-backups", .integer("N", 1...Int.max),
        summary: "How many backups stay, the new one among them; 5 when nothing says otherwise."),
      OptionDeclaration(
        "frozen", summary: "Apply only what is frozen, and only to a database that is there."),
      OptionDeclaration("existing", summary: "Do not make a database that is not there."),
      OptionDeclaration(
        "reset-drafts",
        summary: "Go back to the copy from before the first draft, then apply what is pending."),
      OptionDeclaration("redact", summary: "Show no values of rows in messages."),
      OptionDeclaration(
        "paranoid",
        summary: "Compare each written table with its old rows, in all columns that stay, and run "
          + "integrity_check before every commit. Slow."
      ),
    ] + .database + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool {
    !invocation.isGiven("dry-run") || invocation.text("dry-run") == copy
  }

  /// What `--dry-run` may say.
  private static let copy = "copy"

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    try requireSense(session)
    var options = MigrateOptions(database: try settings.requiredDatabase())
    options.through = session.invocation.text("to")
    options.frozenOnly = session.invocation.flag("frozen")
    options.existing = session.invocation.flag("existing") || options.frozenOnly
    options.timeout = settings.timeout
    options.redactsValues = session.invocation.flag("redact")
    options.backup = settings.backup()
    options.isParanoid = session.invocation.flag("paranoid")

    let result = try attempt {
      if try heeding(session, { try isUpToDate(settings, options, session) }) {
        session.report(.migrated(MigrateReport(), options))
        return ExitStatus.success
      }
      let project = try heeding(session) {
        try settings.project(for: options.database, mustExist: options.existing)
      }
      if session.invocation.flag("reset-drafts") {
        options.reset = try reset(project, options, session)
      }
      return try heeding(session) { try carryOut(project, options, session) }
    }
    if let failure = result.failure {
      session.report(.failed(.migrate(database: options.database), failure))
    }
    return result.success ?? result.failure?.status ?? .bug
  }

  /// The answer of most days. A run that asks for less or more than the whole history looks closer.
  private static func isUpToDate(
    _ settings: Settings, _ options: MigrateOptions, _ session: Session
  ) throws -> Bool {
    let more = ["to", "dry-run", "reset-drafts", "paranoid"]
    guard !more.contains(where: session.invocation.isGiven) else { return false }
    return try MigrationFolder(settings.migrations).isUpToDate(
      options.database, timeout: options.timeout, interruption: session.interruption
    ) { session.report(.progress(.waiting(seconds: $0))) }
  }

  /// For what stops before it has applied anything.
  private static func heeding<Success>(
    _ session: Session, _ body: () throws -> Success
  ) throws -> Success {
    do {
      return try body()
    } catch  where session.interruption.isRequested {
      throw Failure(.interrupted, "interrupted: no migration was applied")
    }
  }

  private static func carryOut(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws -> ExitStatus {
    guard session.invocation.isGiven("dry-run") else {
      return try migrate(project, options, session)
    }
    return session.invocation.text("dry-run") == nil
      ? try dryRun(project, options, session) : try rehearse(project, options, session)
  }

  private static func requireSense(_ session: Session) throws {
    let given = session.invocation
    if let word = given.text("dry-run"), word != copy {
      throw session.usageError(
        "--dry-run cannot be '\(word.visible)'",
        hint: "Give --dry-run alone, or --dry-run=\(copy).")
    }
    if given.flag("reset-drafts"), given.isGiven("dry-run") || given.flag("frozen") {
      throw session.usageError(
        "--reset-drafts goes with neither --dry-run nor --frozen", hint: nil)
    }
    if given.isGiven("backup"), given.flag("no-backup") {
      throw session.usageError("--backup and --no-backup contradict each other", hint: nil)
    }
  }

  private static func reset(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws -> DraftCopy.Reset {
    let reset = try DraftCopy(of: options.database).restore(
      project, timeout: options.timeout, interruption: session.interruption)
    session.report(
      .note(
        "\(options.database) was reset to \(reset.copy); its previous content, with the rows "
          + "written since, is in \(reset.setAside)"))
    return reset
  }

  private static func migrate(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws -> ExitStatus {
    let report = try project.migrate(options, interruption: session.interruption) {
      session.report(.progress($0))
    }
    session.report(.migrated(report, options))
    return report.status
  }

  private static func rehearse(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws -> ExitStatus {
    let report = try project.rehearse(options, interruption: session.interruption) {
      session.report(.progress($0))
    }
    session.report(.tried(report, options))
    return report.status
  }

  private static func dryRun(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws -> ExitStatus {
    let report = try project.dryRun(options)
    session.report(.rehearsed(report, options))
    return report.status
  }
}

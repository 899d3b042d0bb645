import SchemaApply
import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaReplay
import SchemaSQLText

enum MigrateCommand: Command {
  static let declaration = CommandDeclaration(
    name: "migrate", summary: "Apply the pending migrations to a database.",
    discussion: """
      Applies each pending migration atomically. If a migration fails, the earlier ones stay \
      applied, and the database is in the state before the failed one. schemactl creates a missing \
      database, unless --existing or --frozen is given.
      """,
    examples: [
      .init("schemactl migrate --database app.sqlite", "Apply the pending migrations."),
      .init(
        "schemactl migrate --database app.sqlite --backup",
        "Keep a backup; `schemactl restore` puts it back."),
      .init(
        "schemactl migrate --database app.sqlite --frozen --timeout 30",
        "For deployment scripts: only released migrations, only an existing database."),
    ],
    options: [
      .to(), .frozen,
      OptionDeclaration("existing", summary: "Fail if the database is missing or empty."),
      .dryRun,
      OptionDeclaration(
        "backup", .optionalText("PATH"),
        summary: "Copy the database first: beside it, into a directory, or to a new file."),
      OptionDeclaration(
        "reset-drafts",
        summary: "Return to the state before the first draft, then apply the pending migrations."),
      .redact, .paranoid,
    ] + .databaseOrCluster + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool {
    !invocation.flag("dry-run")
  }

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    if let cluster = try settings.cluster(session) {
      return try migrate(cluster, settings, session)
    }
    let given = session.invocation
    if given.flag("reset-drafts"), given.flag("dry-run") || given.flag("frozen") {
      throw session.usageError(
        "--reset-drafts cannot be combined with --dry-run or --frozen", hint: nil)
    }
    let database = try settings.requiredDatabase()
    if given.flag("dry-run") { return try PlanCommand.plan(database, false, settings, session) }
    var options = settings.migrateOptions(database)
    options.backup = settings.backup()
    do {
      if try isUpToDate(settings, options, session) {
        session.report(.migrated(MigrateReport(), options))
        return .success
      }
      let project = try settings.project(for: database, mustExist: options.existing)
      if given.flag("reset-drafts") { options.reset = try reset(project, options, session) }
      let report = try project.migrate(options, interruption: session.interruption) {
        session.report(.progress($0))
      }
      session.report(.migrated(report, options))
      return report.status
    } catch  where session.interruption.isRequested {
      // A run that applied a migration returns a report instead.
      throw Failure(.interrupted, "interrupted: no migration was applied")
    } catch let failure as Failure where failure.status == .migrationFailed {
      throw failure.adding("\(database) was not changed")
    }
  }

  /// Checks for the most frequent case quickly. It does not apply when options select other than
  /// the whole history.
  private static func isUpToDate(
    _ settings: Settings, _ options: MigrateOptions, _ session: Session
  ) throws -> Bool {
    let more = ["to", "reset-drafts", "paranoid"]
    guard !more.contains(where: session.invocation.isGiven) else { return false }
    return try MigrationFolder(settings.migrations).isUpToDate(
      options.database, settings.ledger, timeout: options.timeout,
      interruption: session.interruption
    ) { session.report(.progress(.waiting(seconds: $0))) }
  }

  private static func reset(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws -> DraftCopy.Reset {
    let reset = try DraftCopy(of: options.database, project).restore(
      timeout: options.timeout, interruption: session.interruption)
    session.report(
      .note(
        "\(options.database) was reset to \(reset.copy ?? "an empty database"); its previous content, "
          + "with the rows written since, is in \(reset.setAside)"))
    return reset
  }
}

import CommandLineParsing
import Migrating

enum MigrateCommand: Command {
  static let declaration = CommandDeclaration(
    name: "migrate", summary: "Brings a database up to date.",
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
        "schemactl migrate --database app.sqlite --frozen --timeout 30",
        "For scripts and devices: only what has shipped, on a database that is there."),
    ],
    options: [
      OptionDeclaration(
        "to", .text("ID"), summary: "The last migration to apply, by its id or its number."),
      OptionDeclaration("dry-run", summary: "Say what would be done, and change nothing."),
      OptionDeclaration(
        "frozen", summary: "Apply only what is frozen, and only to a database that is there."),
      OptionDeclaration("existing", summary: "Do not make a database that is not there."),
      OptionDeclaration(
        "reset-drafts",
        summary: "Go back to the copy from before the first draft, then apply what is pending."),
      OptionDeclaration("redact", summary: "Show no values of rows in messages."),
      OptionDeclaration(
        "paranoid",
        summary: "Check the file, and read all rows of all tables before and after each migration: "
          + "what it does not write must be as it was. Slow: two passes over the database for each."
      ),
    ] + .database + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { !invocation.flag("dry-run") }

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    var options = MigrateOptions(database: try settings.requiredDatabase())
    options.through = session.invocation.text("to")
    options.frozenOnly = session.invocation.flag("frozen")
    options.existing = session.invocation.flag("existing") || options.frozenOnly
    options.timeout = settings.timeout
    options.redactsValues = session.invocation.flag("redact")
    options.isParanoid = session.invocation.flag("paranoid")

    let result = try attempt {
      let project = try settings.project(
        for: options.database, mustExist: options.existing)
      if session.invocation.flag("reset-drafts") {
        try reset(project, options, session)
        options.wasReset = true
      }
      return session.invocation.flag("dry-run")
        ? try rehearse(project, options, session) : try migrate(project, options, session)
    }
    if let failure = result.failure {
      session.report(.failed(.migrate(database: options.database), failure))
    }
    return result.success ?? result.failure?.status ?? .bug
  }

  private static func reset(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws {
    guard !session.invocation.flag("dry-run"), !options.frozenOnly else {
      throw session.usageError(
        "--reset-drafts goes with neither --dry-run nor --frozen", hint: nil)
    }
    let copy = DraftCopy(of: options.database)
    let setAside = try copy.restore(
      project, timeout: options.timeout, interruption: session.interruption)
    session.report(
      .note("\(options.database) was reset to \(copy.path); what it held is in \(setAside)"))
  }

  private static func migrate(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws -> ExitStatus {
    do {
      let report = try project.migrate(options, interruption: session.interruption) {
        session.report(.progress($0))
      }
      session.report(.migrated(report, options))
      return report.status
    } catch  where session.interruption.isRequested {
      throw Failure(.interrupted, "interrupted: no migration was applied")
    }
  }

  private static func rehearse(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws -> ExitStatus {
    let report = try project.dryRun(options)
    session.report(.rehearsed(report, options))
    return report.status
  }
}

import SchemaApply
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaSQLText

enum PlanCommand: Command {
  static let declaration = CommandDeclaration(
    name: "plan", summary: "Show what migrate will do, and change nothing.",
    discussion: """
      Lists the pending operations with their cost on this database. Asks the rows what can be asked \
      without a write: maps, NULL, CHECK, unique and foreign keys, assertions. --on-copy is the \
      complete trial: it runs the migrations on a temporary copy of the database and measures the \
      time. Without a database, plans the whole history for an empty one. --sql prints a script for \
      the sqlite3 shell with the same statements, transactions and ledger entries.
      """,
    examples: [
      .init("schemactl plan --database app.sqlite", "List the pending operations."),
      .init("schemactl plan --on-copy --database app.sqlite", "Try them on a copy."),
      .init(
        "schemactl plan --sql --database new.sqlite | sqlite3 new.sqlite",
        "Create a database without schemactl."),
    ],
    options: [
      OptionDeclaration(
        "sql", summary: "Print SQL for the sqlite3 shell, or for a cluster."),
      OptionDeclaration("on-copy", summary: "Run the migrations on a copy of the database."),
      .to(), .frozen, .redact, .paranoid,
    ] + .databaseOrCluster + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool {
    invocation.flag("on-copy")
  }

  static func run(_ session: Session) throws -> ExitStatus {
    do {
      return try plan(session)
    } catch  where session.invocation.flag("sql") && session.printsRawSQL {
      // Behind a pipe, `sqlite3` would read nothing and succeed.
      session.report(.refusedScript)
      throw error
    }
  }

  private static func plan(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    if let cluster = try settings.cluster(session) { return try plan(cluster, settings, session) }
    let printsSQL = session.invocation.flag("sql")
    guard session.invocation.flag("on-copy") else {
      return try plan(try settings.optionalDatabase(), printsSQL, settings, session)
    }
    if printsSQL {
      throw session.usageError("--sql cannot be combined with --on-copy", hint: nil)
    }
    let options = settings.migrateOptions(try settings.requiredDatabase())
    let report = try settings.project(for: options.database, mustExist: options.existing)
      .rehearse(options, interruption: session.interruption) { session.report(.progress($0)) }
    session.report(.tried(report, options))
    return report.status
  }

  /// Also implements `migrate --dry-run`.
  static func plan(
    _ database: String?, _ printsSQL: Bool, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    var options = settings.migrateOptions(database ?? "")
    // A script may be meant for a database that does not exist yet.
    if printsSQL { options.existing = false }
    let project = try settings.project(for: database, mustExist: options.existing)
    let report =
      database == nil || printsSQL
      ? DryRunReport(plan: try project.plan(options, database: database))
      : try project.dryRun(options)
    if let database, !printsSQL, try !DatabaseFile.exists(database) {
      session.report(.note("\(database) does not exist: `schemactl migrate` would create it"))
    }
    if printsSQL, session.printsRawSQL { try report.plan.requirePlainText() }
    session.report(.planned(report, database: database, isSQL: printsSQL))
    return report.status
  }
}

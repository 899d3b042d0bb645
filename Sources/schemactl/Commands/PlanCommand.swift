import SchemaApply
import SchemaCommandLine
import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaPreview
import SchemaSQLText

enum PlanCommand: Command {
  static let declaration = CommandDeclaration(
    name: "plan", summary: "Show the effects of `migrate`, and change nothing.",
    discussion: """
      Lists the pending operations with their cost on this database. Runs the checks that only \
      read rows: maps, NULL, CHECK, unique and foreign keys, assertions. `--on-copy` is the \
      complete trial: it runs the migrations on a temporary copy of the database and measures the \
      time. Without a database, plans the whole history for an empty database. `--sql` prints a \
      script for the `sqlite3` shell with the same statements, transactions and ledger entries.
      """,
    examples: [
      "schemactl plan --database app.sqlite": "List the pending operations.",
      "schemactl plan --on-copy --database app.sqlite": "Try them on a copy.",
      "schemactl plan --sql --database new.sqlite | sqlite3 new.sqlite":
        "Create a database without schemactl.",
    ],
    options: [
      .init("sql", summary: "Print SQL for the `sqlite3` shell, or for a cluster."),
      .init("on-copy", summary: "Run the migrations on a copy of the database."),
      .to(), .frozen, .redact, .paranoid,
    ] + .databaseOrCluster + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool {
    invocation.isGiven("on-copy")
  }

  static func run(_ session: Session) throws -> ExitStatus {
    do {
      if let cluster = try session.cluster { return try plan(cluster, session) }
      guard session.flag("on-copy") else {
        return try plan(session.optionalDatabase(), session)
      }
      try session.require(!session.flag("sql"), "`--sql` and `--on-copy` exclude each other")
      return try rehearse(session)
    } catch  where session.flag("sql") && session.printsRawSQL {
      // In a pipe, `sqlite3` would read an empty script and succeed. Print a script that fails.
      session.report(nil) { $0.sayScript(PlanReport.refusal) }
      throw error
    }
  }

  private static func rehearse(_ session: Session) throws -> ExitStatus {
    let options = session.migrateOptions(try session.requiredDatabase())
    let database = try session.open(options)
    let report = try session.project().rehearse(
      options, for: database, interruption: session.interruption, onEvent: session.follow)
    session.report(report.json) { $0.show(report, options) }
    return report.status
  }

  /// Also implements `migrate --dry-run`.
  static func plan(_ database: String?, _ session: Session) throws -> ExitStatus {
    let printsSQL = session.flag("sql")
    var options = session.migrateOptions(database ?? "")
    // A script may be meant for a database that does not exist yet.
    if printsSQL { options.existing = false }
    let readable = try session.open(options)
    let project = try session.project()
    let report =
      database == nil || printsSQL
      ? DryRunReport(plan: try project.plan(options, for: readable))
      : try project.dryRun(options, for: readable)
    if let database, readable == nil, !printsSQL {
      session.note("`\(database)` does not exist: `schemactl migrate` would create it")
    }
    return try show(report, of: database, session)
  }

  static func show(
    _ report: DryRunReport, of database: String?, _ session: Session
  ) throws -> ExitStatus {
    let isSQL = session.flag("sql")
    session.report(report.json) { $0.show(report, database, isSQL: isSQL) }
    return report.status
  }
}

extension TextReporter {
  fileprivate func show(_ report: DryRunReport, _ database: String?, isSQL: Bool) {
    let plan = report.plan
    if isSQL {
      sayScript(report.script)
    } else {
      list(plan.migrations, "migration") { show($0, report.answers) }
    }
    noteAdoption(of: plan.adopted.map(\.id))
    noteDrift(plan.drift, database ?? "")
    report.notes.forEach(note)
    if isSQL, let beyond = plan.beyond { note(beyond.sentence) }
    if let failure = report.failure { complain(failure) }
    if !isSQL { mention(verdict(on: report, database)) }
  }

  private func show(_ planned: PlannedMigration, _ answers: [DryRunReport.Answer]) {
    say(planned.migration.id.visible)
    for (index, operation) in planned.operations.enumerated() {
      let plan = operation.plan
      say("  \(index + 1) \(plan.inWords.visible): \(operation.costInWords)")
      if volume == .verbose {
        say("    (\(plan.operation.name), \(plan.explanation.visible))")
      }
    }
    let own = answers.filter { $0.migration.exact == planned.migration.id.exact }
    let passed = own.count { $0.isAsked && $0.obstacle == nil }
    for answer in own where volume == .verbose || !answer.isAsked || answer.obstacle != nil {
      let result =
        !answer.isAsked
        ? "cannot be checked before the migration runs"
        : answer.obstacle == nil ? "checked" : "failed check"
      say("  \(result): \(answer.question.visible)")
    }
    if volume != .verbose, passed > 0 { say("  \(counted(passed, "check")) passed") }
  }

  private func verdict(on report: DryRunReport, _ name: String?) -> String {
    let plan = report.plan
    let database = name.map { "`\($0.visible)`" } ?? "an empty database"
    if plan.migrations.isEmpty {
      if let beyond = plan.beyond { return beyond.sentence.visible + "." }
      if report.failure != nil { return "Nothing changed." }
      return plan.isHistoryEmpty
        ? "The history is empty: nothing to do." : "Nothing is pending for \(database)."
    }
    let count = "\(counted(plan.migrations.count, "migration")) pending for \(database)"
    let cost = plan.costInWords.map { "; \($0)" } ?? ""
    return "\(count)\(cost). Nothing changed." + evidence(of: report)
  }

  /// Returns the checks that the rows passed, for a plan without a failure.
  private func evidence(of report: DryRunReport) -> String {
    guard report.failure == nil, report.plan.dependsOnRows else { return "" }
    let asked = report.answers.count(where: \.isAsked)
    return
      (asked == 0
      ? " schemactl did not check the rows"
      : " The rows passed \(counted(asked, "check"))")
      + "; `plan --on-copy` runs the migrations on a copy."
  }

  fileprivate func show(_ report: RehearsalReport, _ options: MigrateOptions) {
    let applied = report.run.applied
    noteAdoption(of: report.run.adopted)
    show(applied, "On a copy, applied")
    noteDrift(report.run.drift, options.database)
    if let failure = report.run.failure {
      return complain(failure.adding("this was a copy: `\(options.database)` is unchanged"))
    }
    mention(
      applied.isEmpty
        ? arrival(report.run, options)
        : "Applied \(counted(applied.count, "migration")) to a copy in "
          + "\(duration(report.milliseconds)): `\(options.database.visible)` is unchanged.")
  }
}

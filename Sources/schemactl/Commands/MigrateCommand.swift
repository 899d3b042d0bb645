import SchemaApply
import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum MigrateCommand: Command {
  static let declaration = CommandDeclaration(
    name: "migrate", summary: "Apply the pending migrations to a database.",
    discussion: """
      Applies each pending migration atomically. If a migration fails, the earlier migrations stay \
      applied, and the database is in the state before the failed migration. schemactl creates a \
      missing database, except with `--existing` or `--frozen`.
      """,
    examples: [
      "schemactl migrate --database app.sqlite": "Apply the pending migrations.",
      "schemactl migrate --database app.sqlite --backup":
        "Keep a backup; `schemactl restore` puts it back.",
      "schemactl migrate --database app.sqlite --frozen --timeout 30":
        "For deployment scripts: only released migrations, only an existing database.",
    ],
    options: [
      .to(), .frozen,
      .init("existing", summary: "Fail if the database is missing or empty."),
      .dryRun,
      .init(
        "backup", .optionalText("PATH"),
        summary:
          "Copy the database first: beside it, into the existing directory PATH, or to the new file "
          + "PATH."),
      .init(
        "reset-drafts",
        summary: "Return to the state before the first draft, then apply the pending migrations."),
      .redact, .paranoid,
    ] + .databaseOrCluster + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool {
    !invocation.isGiven("dry-run")
  }

  static func run(_ session: Session) throws -> ExitStatus {
    if let cluster = try session.cluster { return try migrate(cluster, session) }
    let resets = session.flag("reset-drafts")
    try session.require(
      !resets || !session.flag("dry-run") && !session.flag("frozen"),
      "`--reset-drafts` excludes `--dry-run` and `--frozen`")
    let database = try session.requiredDatabase()
    if session.flag("dry-run") { return try PlanCommand.plan(database, session) }
    var options = session.migrateOptions(database)
    options.backup = session.backup()
    do {
      var report = MigrateReport()
      var reading = try session.open(options)
      if try !isUpToDate(reading, session) {
        let project = try session.project()
        if resets {
          reading?.close()
          options.reset = try reset(project, options, session)
          reading = try session.open(options)
        }
        report = try project.migrate(
          options, reading: reading, interruption: session.interruption, onEvent: session.follow)
      }
      let reset = options.reset.map { ["copy": $0.copy, "setAside": $0.setAside] as JSON }
      session.report(report.json + ["reset": reset]) { $0.show(report, options) }
      return report.status
    } catch  where session.interruption.isRequested {
      // A run that applied a migration returns a report instead.
      throw Failure(.interrupted, "interrupted: schemactl applied no migration")
    } catch let failure as Failure where failure.status == .migrationFailed {
      throw failure.adding("`\(database)` is unchanged")
    }
  }

  /// Checks quickly for the most frequent case, a database without pending migrations. Returns false if
  /// options select more or less than the whole history.
  private static func isUpToDate(_ database: ReadableDatabase?, _ session: Session) throws -> Bool {
    guard let database, !["to", "reset-drafts", "paranoid"].contains(where: session.flag) else {
      return false
    }
    return MigrationFolder(session.migrations).isUpToDate(database, session.ledger)
  }

  private static func reset(
    _ project: Project, _ options: MigrateOptions, _ session: Session
  ) throws -> DraftCopy.Reset? {
    let reset = try DraftCopy(of: options.database, project).restore(
      timeout: options.timeout, interruption: session.interruption)
    guard let reset else {
      session.note("`\(options.database)` has run no draft, so `--reset-drafts` changed nothing")
      return nil
    }
    session.note(
      "schemactl reset `\(options.database)` to "
        + (reset.copy.map { "`\($0)`" } ?? "an empty database")
        + ". Its previous content, with the rows written since, is in `\(reset.setAside)`")
    return reset
  }
}

extension TextReporter {
  func show(_ report: MigrateReport, _ options: MigrateOptions) {
    let database = options.database.visible
    if report.created { mention("Created `\(database)`.") }
    if let adopted = adoption(of: report.adopted) { mention("Adopted \(adopted.visible).") }
    if let copy = report.draftCopy {
      note("schemactl kept the state before the first draft: `\(copy)` (see `--reset-drafts`)")
    }
    if let backup = report.backup { note("schemactl kept a backup: `\(backup)`") }
    show(report.applied, "Applied")
    if let result = report.integrityCheck, report.failure == nil {
      note(
        result == "ok"
          ? "`integrity_check` found no problem" : "`integrity_check` could not run: \(result)")
    }
    noteDrift(report.drift, options.database)
    guard let failure = report.failure else { return mention(arrival(report, options)) }
    complain(failure.adding(remainder(report, options)))
    if let advice = report.advice { help(advice) }
    if let backup = report.backup {
      help(
        "`schemactl restore --database \(shellQuoted(options.database)) \(shellQuoted(backup))` "
          + "returns to the state before this run")
    }
  }

  /// Notes that `migrate` would adopt the migrations.
  func noteAdoption(of ids: [String]) {
    if let adopted = adoption(of: ids) { note("`schemactl migrate` would adopt \(adopted)") }
  }

  private func adoption(of ids: [String]) -> String? {
    ids.last.map {
      "\(counted(ids.count, "migration")) up to `\($0)`, which another tool applied"
    }
  }

  func noteDrift(_ drift: [SchemaChange], _ database: String) {
    for change in drift { note("drift: " + change.sentence) }
    guard !drift.isEmpty else { return }
    note(
      "`schemactl diff --database \(shellQuoted(database))` compares the database with its history")
  }

  /// Prints only the end of a long list of applied migrations.
  func show(_ applied: [AppliedMigration], _ verb: String) {
    let hidden = volume == .verbose ? 0 : max(0, applied.count - 20)
    if hidden > 0 {
      mention("\(verb) \(counted(hidden, "earlier migration")); `--verbose` lists them.")
    }
    for migration in applied.dropFirst(hidden) {
      let effects = effects(of: migration).map { " (\($0))" } ?? ""
      mention("\(verb) `\(migration.id.visible)` in \(duration(migration.milliseconds))\(effects).")
    }
  }

  /// Returns the changes to rows that the operation does not make obvious.
  private func effects(of applied: AppliedMigration) -> String? {
    var effects: [String] = []
    for strategy in applied.strategies {
      let effect: String? =
        switch strategy {
        case .native, .sql, .assertion: nil
        case .update where rewriting.contains(applied.id):
          "updated rows in place"
        case .schemaEdit where rewriting.contains(applied.id):
          "wrote only rows that are older than the column"
        case .update, .schemaEdit: "wrote no row"
        case .rewrite: "wrote every row once"
        }
      guard let effect else { continue }
      let text = "\(strategy.rawValue): \(effect)"
      if !effects.contains(text) { effects.append(text) }
    }
    return effects.isEmpty ? nil : effects.joined(separator: "; ")
  }

  /// Returns a sentence on the state of the database after a run without a failure.
  func arrival(_ report: MigrateReport, _ options: MigrateOptions) -> String {
    let database = options.database.visible
    if report.isHistoryEmpty {
      return options.frozenOnly
        ? "No migration is frozen yet: `\(database)` is unchanged."
        : "The history is empty: schemactl applied no migration and created no database."
    }
    if let beyond = report.beyond { return beyond.sentence.visible + "." }
    let state =
      if let last = options.through {
        "`\(database)` has every migration up to `\(last.visible)`"
      } else if options.frozenOnly {
        "`\(database)` has every frozen migration"
      } else {
        "`\(database)` is up to date"
      }
    let count = report.applied.count
    return "\(state): \(count == 0 ? "nothing to do" : "\(counted(count, "migration")) applied")."
  }

  private func remainder(_ report: MigrateReport, _ options: MigrateOptions) -> String {
    let database = options.database
    if let last = report.applied.last {
      return "still applied: \(counted(report.applied.count, "migration")), up to `\(last.id)`"
    }
    if !report.uncertain.isEmpty {
      return "`\(database)` is either unchanged or contains all changes of the transaction"
    }
    let state =
      if !report.adopted.isEmpty {
        "only has the ledger rows of the adopted migrations"
      } else if report.isStillMissing {
        "is still missing"
      } else if options.reset != nil {
        "is in the state before its drafts"
      } else {
        "is unchanged"
      }
    return "schemactl applied no migration: `\(database)` \(state)"
  }
}

extension MigrateReport {
  /// Advice after a failed migration that the failure's own message cannot give.
  var advice: String? {
    switch failure?.status {
    case .migrationFailed where failedFrozen:
      "correct the rows of the database, and run the command again. Do not change the manifest, "
        + "which is frozen"
    case .migrationFailed:
      "correct the manifest, or the rows of the database, and run the command again"
    case .interrupted: "run the command again to continue"
    default: nil
    }
  }
}

import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPreview
import SchemaSQLText

extension TextReporter {
  func show(_ report: MigrateReport, _ options: MigrateOptions) {
    let database = options.database.visible
    if report.created { mention("Created \(database).") }
    if let last = report.adopted.last {
      mention(
        "Adopted \(counted(report.adopted.count, "migration")) up to \(last.visible), which another "
          + "tool applied.")
    }
    if let copy = report.draftCopy {
      note("kept a copy from before the first draft: \(copy) (--reset-drafts returns to it)")
    }
    if let backup = report.backup { note("kept a backup: \(backup)") }
    show(report.applied, "Applied")
    if let result = report.integrityCheck, report.failure == nil {
      note(
        result == "ok"
          ? "integrity_check found no problem" : "integrity_check could not run: \(result)")
    }
    noteDrift(report.drift, options.database)
    guard let failure = report.failure else {
      return mention(
        report.isHistoryEmpty
          ? nothingToDo(options)
          : report.beyond.map(sentence) ?? arrival(report.applied.count, options)
      )
    }
    complain(failure.adding(remainder(report, options)))
    if let advice = failure.status.advice(ofFrozen: report.failedFrozen) { help(advice) }
    if let backup = report.backup {
      help(
        "`schemactl restore --database \(shellQuoted(options.database)) \(shellQuoted(backup))` "
          + "returns to the state before this run")
    }
  }

  private func noteDrift(_ drift: [SchemaChange], _ database: String) {
    for change in drift { note("drift: " + change.sentence) }
    guard !drift.isEmpty else { return }
    note(
      "`schemactl diff --database \(shellQuoted(database))` compares the database with its history")
  }

  /// Prints only the end of a long list.
  private func show(_ applied: [AppliedMigration], _ verb: String) {
    let hidden = volume == .verbose ? 0 : max(0, applied.count - 20)
    if hidden > 0 {
      mention("\(verb) \(counted(hidden, "earlier migration")); --verbose lists them.")
    }
    for migration in applied.dropFirst(hidden) {
      let effects = effects(of: migration).map { " (\($0))" } ?? ""
      mention("\(verb) \(migration.id.visible) in \(duration(migration.milliseconds))\(effects).")
    }
  }

  /// Changes to rows that the operation does not make obvious.
  private func effects(of applied: AppliedMigration) -> String? {
    var effects: [String] = []
    for strategy in applied.strategies {
      let effect: String? =
        switch strategy {
        case .native, .sql, .assertion: nil
        case .update where rewriting.contains(applied.id):
          "rows were updated in place"
        case .schemaEdit where rewriting.contains(applied.id):
          "only rows that are older than the column were written"
        case .update, .schemaEdit: "no row was written"
        case .rewrite: "every row was written once"
        }
      guard let effect else { continue }
      let text = "\(strategy.rawValue): \(effect)"
      if !effects.contains(text) { effects.append(text) }
    }
    return effects.isEmpty ? nil : effects.joined(separator: "; ")
  }

  private func arrival(_ count: Int, _ options: MigrateOptions) -> String {
    let database = options.database.visible
    let state =
      if let last = options.through {
        "\(database) has every migration up to \(last.visible)"
      } else if options.frozenOnly {
        "\(database) has every frozen migration"
      } else {
        "\(database) is up to date"
      }
    return "\(state): \(count == 0 ? "nothing to do" : "\(counted(count, "migration")) applied")."
  }

  private func sentence(_ beyond: Beyond) -> String { beyond.sentence.visible + "." }

  private func nothingToDo(_ options: MigrateOptions) -> String {
    options.frozenOnly
      ? "No migration is frozen yet: \(options.database.visible) is unchanged."
      : "The history is empty: no migration was applied, and no database was created."
  }

  private func remainder(_ report: MigrateReport, _ options: MigrateOptions) -> String {
    let database = options.database
    guard let last = report.applied.last else {
      guard report.uncertain.isEmpty else {
        return "\(database) is either unchanged or contains everything that was to be committed"
      }
      guard report.adopted.isEmpty else {
        return
          "no migration was applied: \(database) only has the ledger rows of the adopted migrations"
      }
      guard !report.isStillMissing else {
        return "no migration was applied: \(database) was not created"
      }
      return "no migration was applied: \(database) is "
        + (options.reset != nil ? "as it was before its drafts" : "unchanged")
    }
    return "remain applied: \(counted(report.applied.count, "migration")), up to \(last.id)"
  }

  // MARK: Before anything is done

  func show(_ report: DryRunReport, _ database: String?, isSQL: Bool) {
    let plan = report.plan
    if isSQL {
      sayScript(report.script)
    } else {
      list(plan.migrations, "migration") { show($0, report.answers) }
    }
    noteDrift(plan.drift, database ?? "")
    for text in report.notes { note(text) }
    if isSQL, let beyond = plan.beyond { note(beyond.sentence) }
    if let failure = report.failure { complain(failure) }
    if !isSQL { mention(verdict(on: report, database)) }
  }

  private func show(_ planned: PlannedMigration, _ answers: [DryRunReport.Answer]) {
    say(planned.migration.id.visible)
    for (index, operation) in planned.operations.enumerated() {
      let plan = operation.plan
      say("  \(index + 1) \(plan.operation.inWords.visible): \(operation.costInWords)")
      if volume == .verbose {
        say("    (\(plan.operation.name), \(plan.explanation.visible))")
      }
    }
    let own = answers.filter { $0.migration.exact == planned.migration.id.exact }
    let passed = own.filter { $0.isAsked && $0.obstacle == nil }
    for answer in volume == .verbose ? own : own.filter({ !$0.isAsked || $0.obstacle != nil }) {
      say("  " + sentence(answer))
    }
    if volume != .verbose, !passed.isEmpty { say("  \(counted(passed.count, "check")) passed") }
  }

  private func sentence(_ answer: DryRunReport.Answer) -> String {
    let question = answer.question.visible
    guard answer.isAsked else {
      return "cannot be checked before the migration runs: \(question)"
    }
    return (answer.obstacle == nil ? "checked: " : "failed check: ") + question
  }

  private func verdict(on report: DryRunReport, _ name: String?) -> String {
    let plan = report.plan
    let database = name?.visible ?? "an empty database"
    if plan.migrations.isEmpty {
      if let beyond = plan.beyond { return sentence(beyond) }
      if report.failure != nil { return "Nothing was changed." }
      return plan.isHistoryEmpty
        ? "The history is empty: nothing to do." : "Nothing is pending for \(database)."
    }
    let count = "\(counted(plan.migrations.count, "migration")) pending for \(database)"
    let cost = plan.costInWords.map { "; \($0)" } ?? ""
    return "\(count)\(cost). Nothing was changed." + evidence(of: report)
  }

  /// What a plan without a failure has proven of the rows.
  private func evidence(of report: DryRunReport) -> String {
    guard report.failure == nil, report.plan.dependsOnRows else { return "" }
    let asked = report.answers.count(where: \.isAsked)
    return
      (asked == 0 ? " The rows were not checked" : " The rows passed \(counted(asked, "check"))")
      + "; `plan --on-copy` runs the migrations on a copy."
  }

  func show(_ report: RehearsalReport, _ options: MigrateOptions) {
    show(report.run.applied, "On a copy, applied")
    noteDrift(report.run.drift, options.database)
    let database = options.database.visible
    if let failure = report.run.failure {
      return complain(failure.adding("this was a copy: \(options.database) was not changed"))
    }
    guard !report.run.applied.isEmpty else {
      return mention(
        report.run.isHistoryEmpty
          ? nothingToDo(options) : report.run.beyond.map(sentence) ?? arrival(0, options))
    }
    mention(
      "\(counted(report.run.applied.count, "migration")) in \(duration(report.milliseconds)), on a "
        + "copy: \(database) was not changed.")
  }
}

extension ExitStatus {
  /// Advice after a failed migration that the message itself cannot give.
  fileprivate func advice(ofFrozen isFrozen: Bool) -> String? {
    switch self {
    case .migrationFailed where isFrozen:
      "correct the rows of the database, and run the command again; do not change the manifest, which "
        + "is frozen"
    case .migrationFailed:
      "correct the manifest, or the rows of the database, and run the command again"
    case .interrupted: "run the command again to continue"
    default: nil
    }
  }
}

import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText

extension TextReporter {
  func show(_ report: MigrateReport, _ options: MigrateOptions) {
    let database = options.database.visible
    if report.created { mention("Created \(database).") }
    if let last = report.adopted.last {
      mention(
        "Adopted \(counted(report.adopted.count, "migration")) through \(last.visible), which another tool "
          + "had made.")
    }
    if let copy = report.draftCopy {
      note("kept a copy from before the first draft: \(copy) (--reset-drafts goes back to it)")
    }
    if let backup = report.backup { note("kept a backup from before: \(backup)") }
    for applied in report.applied {
      let effects = effects(of: applied).map { " (\($0))" } ?? ""
      mention("Applied \(applied.id.visible) in \(applied.milliseconds) ms\(effects).")
    }
    if let result = report.integrityCheck, report.failure == nil {
      note(
        result == "ok"
          ? "integrity_check found no problem"
          : "integrity_check could not run: \(result.visible)")
    }
    for change in report.drift { note("drift: " + change.sentence) }
    guard let failure = report.failure else {
      return mention(
        report.isHistoryEmpty
          ? nothingThere(options)
          : report.beyond.map(sentence) ?? arrival(report.applied.count, options))
    }
    complain(Problem(failure))
    advise(whatStays(report, database, options.reset != nil))
    if let advice = failure.status.advice(ofFrozen: report.failedFrozen) { advise(advice) }
    if let backup = report.backup {
      advise(
        "to go back to before: `schemactl restore --database "
          + "\(shellQuoted(options.database).visible) \(shellQuoted(backup).visible)`")
    }
  }

  /// What was done to the rows, where it is not plain from the operation.
  private func effects(of applied: AppliedMigration) -> String? {
    var effects: [String] = []
    for strategy in applied.strategies {
      let effect: String? =
        switch strategy {
        case .native, .sql, .assertion: nil
        case .update where rewriting.contains(applied.id):
          "rows were written in place"
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
        "\(database) has everything through \(last.visible)"
      } else if options.frozenOnly {
        "\(database) has everything that is frozen"
      } else {
        "\(database) is up to date"
      }
    return count == 0
      ? "\(state): nothing to do."
      : "\(state): \(counted(count, "migration")) applied."
  }

  private func sentence(_ beyond: Beyond) -> String { beyond.sentence.visible + "." }

  private func nothingThere(_ options: MigrateOptions) -> String {
    let database = options.database.visible
    return options.frozenOnly
      ? "Nothing is frozen yet, so there is nothing to do: \(database) is as it was."
      : "The history is empty: no migration was applied to \(database), and no database was made."
  }

  private func whatStays(
    _ report: MigrateReport, _ database: String, _ wasReset: Bool
  ) -> String {
    guard let last = report.applied.last else {
      guard report.uncertain.isEmpty else {
        return "\(database) is as it was, or holds all of what was to be committed"
      }
      guard !report.isStillMissing else {
        return "no migration was applied: \(database) was not created"
      }
      let state = wasReset ? "is as it was before its drafts" : "is as it was"
      return "no migration was applied: \(database) \(state)"
    }
    return "applied and kept: \(counted(report.applied.count, "migration")), the last one "
      + last.id.visible
  }

  // MARK: Before anything is done

  func show(_ report: DryRunReport, _ options: MigrateOptions) {
    for planned in report.plan.migrations {
      say("Would apply \(planned.migration.id.visible):")
      for (index, operation) in planned.operations.enumerated() {
        say("  \(index + 1) \(operation.operation.inWords.visible)")
        say("    (\(operation.operation.name), \(operation.explanation.visible))")
        say("    " + (planned.costs[index]?.inWords ?? planned.work[index].inWords))
      }
      for answer in report.answers where answer.migration == planned.migration.id {
        say("  " + sentence(answer))
      }
    }
    if report.plan.migrations.isEmpty, report.failure == nil {
      mention(
        report.plan.isHistoryEmpty
          ? nothingThere(options) : report.plan.beyond.map(sentence) ?? arrival(0, options))
    }
    for change in report.plan.drift { note("drift: " + change.sentence) }
    if let failure = report.failure { complain(Problem(failure)) }
    if !report.plan.migrations.isEmpty { mention("Nothing was changed.") }
  }

  private func sentence(_ answer: DryRunReport.Answer) -> String {
    let question = answer.question.visible
    guard answer.isAsked else {
      return "not checked: \(question) (a migration before it writes these rows)"
    }
    return answer.obstacle == nil ? "checked: \(question)" : "in the way: not \(question)"
  }

  func show(_ report: RehearsalReport, _ options: MigrateOptions) {
    for applied in report.run.applied {
      let effects = effects(of: applied).map { " (\($0))" } ?? ""
      say("On a copy, applied \(applied.id.visible) in \(applied.milliseconds) ms\(effects).")
    }
    for change in report.run.drift { note("drift: " + change.sentence) }
    let database = options.database.visible
    if let failure = report.run.failure {
      complain(Problem(failure))
      return advise("this was a copy: \(database) was not changed")
    }
    guard !report.run.applied.isEmpty else {
      return mention(
        report.run.isHistoryEmpty
          ? nothingThere(options) : report.run.beyond.map(sentence) ?? arrival(0, options))
    }
    mention(
      "\(counted(report.run.applied.count, "migration")) in \(report.milliseconds) ms, on a copy: "
        + "\(database) was not changed.")
  }

  func show(_ report: PlanReport) {
    sayScript(report.script)
    if let beyond = report.beyond { note(beyond.sentence) }
    for change in report.drift { note("drift: " + change.sentence) }
    if let failure = report.failure { complain(Problem(failure)) }
  }
}

extension ExitStatus {
  /// What to do after a migration that failed, where the message itself cannot know.
  fileprivate func advice(ofFrozen isFrozen: Bool) -> String? {
    switch self {
    case .migrationFailed where isFrozen:
      "next: correct the rows that it names, and run `schemactl migrate` again; the manifest is "
        + "frozen, and must stay as it is"
    case .migrationFailed:
      "next: correct the manifest, or the rows that it names, and run `schemactl migrate` again"
    case .interrupted: "next: run `schemactl migrate` again to go on"
    default: nil
    }
  }
}

import SchemaApply
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaReplay
import SchemaReport
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

enum CheckCommand: Command {
  static let declaration = CommandDeclaration(
    name: "check", summary: "Check the whole project, for example in CI.",
    discussion: """
      Reads every manifest, and compares the history with `history.lock` and with other git \
      revisions. Replays the history on a new database and from each release, and lints it. \
      Compares the schema file, if `schemactl.yaml` names one. Every check runs even if another \
      check fails. The exit code is that of the worst result. `check` needs no database and writes \
      nothing.
      """,
    examples: [
      "schemactl check": "Check the project before a merge.",
      "schemactl check --base origin/main --format github":
        "Check a branch and annotate the pull request.",
    ],
    options: [
      .base,
      .init(
        "full", summary: "Also run frozen migrations on rows, and simulate every pair of releases."),
      .profile, .strict,
      .init("report", .text("FILE"), summary: "Also write the HTML page of `schemactl report`."),
    ] + .reporting)

  static func run(_ session: Session) throws -> ExitStatus {
    let base = try session.base()
    let page = session.text("report")
    var chronicle: Chronicle?
    var report = CheckReport(
      base: base, schemaFile: session.schemaFile, interruption: session.interruption
    ) {
      try session.project()
    } linting: { project in
      if page != nil { chronicle = Chronicle(project) }
      return try session.lint(project) { step, scratch throws(Failure) in
        try chronicle?.note(step, scratch)
      }
    }
    if let page, let project = report.project, let chronicle, let lint = report.lint {
      report.attempt(.report) { try session.write(chronicle, of: project, lint, toPage: page) }
    } else if let page {
      let reason = report.project == nil ? "it cannot read the manifests" : "lint could not run"
      session.note("schemactl did not write `\(page)`, because \(reason)")
    }
    let annotations = Annotations(report)
    session.report(report.json, annotations) { $0.show(report, annotations) }
    return report.status
  }
}

extension CheckReport: JSONConvertible {
  package var json: JSON {
    let failures = problems.map(\.failure)
    let errors = failures.filter { !$0.status.isResult }
    let worst = ExitStatus.worst(errors.map(\.status))
    return (errors.first { $0.status == worst }?.errorMember ?? [:]) + [
      "ok": status == .success, "history": history?.historyJSON ?? [],
      "lock": history?.lock ?? [], "profile": lint?.profile.rawValue,
      "findings": lint?.findings ?? [], "summary": lint?.summary, "replay": replay,
      "schema": isSchemaCurrent.map { ["file": schemaFile?.path, "current": $0] as JSON },
      "failed": failure ?? failures.first { $0.status == .brokenHistory },
      "errors": errors.map(\.error), "notes": notes,
    ]
  }
}

extension TextReporter {
  /// Prints one line for each part, then the problems.
  fileprivate func show(_ report: CheckReport, _ annotations: Annotations) {
    let parts = CheckReport.Part.allCases.map { part in
      (part, sentence(report, part), isPassed: report.status(of: part) == .success)
    }
    for (part, sentence, isPassed) in parts {
      let mark =
        !isPassed ? paint("failed", "1;31") : sentence == nil ? "-     " : paint("ok    ", "32")
      let name = part.rawValue + String(repeating: " ", count: max(0, 9 - part.rawValue.count))
      let nothing =
        switch part {
        case .replay, .lint: "not done."
        case .report: "not written."
        default: "not compared."
        }
      let line = "\(mark)  \(name)  \(sentence ?? nothing)"
      // Skip the schema file if the configuration names none. Also skip a report that was written.
      if [.schema, .report].contains(part), sentence == nil, isPassed { continue }
      if isPassed { mention(line) } else { say(line) }
    }
    show(annotations)
    let failed = parts.count { !$0.isPassed }
    mention(failed == 0 ? "All checks passed" : "\(counted(failed, "check")) failed")
  }

  /// Returns the result of a part; nil if the part has none.
  private func sentence(_ report: CheckReport, _ part: CheckReport.Part) -> String? {
    switch part {
    case .manifests:
      guard let project = report.project else {
        let count = report.problems.first { $0.part == part }?.failure.diagnostics.count ?? 0
        return count > 0 ? "\(counted(count, "error"))." : "cannot be read."
      }
      return "\(counted(project.migrations.count, "manifest")) read."
    case .history: return report.history.map { summary($0.history) }
    case .replay:
      return report.replay.map { replay in
        counted(replay.steps.count, "migration")
          + (replay.failure == nil ? "." : ", then a failure.")
      }
    case .lint:
      return report.lint.map { "\(verdict(on: $0, countsFailure: report.replay?.failure == nil))." }
    case .schema:
      guard let file = report.schemaFile, let isCurrent = report.isSchemaCurrent else { return nil }
      let state = isCurrent ? "current" : file.isMissing ? "missing" : "stale"
      return "`\(file.path.visible)` is \(state)."
    case .report: return nil
    }
  }
}

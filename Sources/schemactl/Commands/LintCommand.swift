import SchemaCommandLine
import SchemaHistory
import SchemaLint
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaTimeline
import SchemaTrials
import SchemaYAML

enum LintCommand: Command {
  static let declaration = CommandDeclaration(
    name: "lint", summary: "Find migrations that lose data or break other devices.",
    discussion: """
      Replays the history in memory on generated rows. Reports the effects of each migration on \
      rows, on devices that sync with an older release, and on the application's queries. Each \
      finding names the place, the consequence and, where possible, a safe alternative. With only \
      warnings and notes, `lint` exits with code 0.

      `--on-copy` runs the pending migrations on a temporary copy of the database instead and \
      prints the row counts before and after. `--fix` changes drafts where the safe form is certain.

      To adopt lint for an old history, name a file as `lint: { baseline: FILE }` in \
      `schemactl.yaml`, and use `--write-baseline`. Lint does not report the findings in that file.
      """,
    examples: [
      "schemactl lint": "Check every migration.",
      "schemactl lint --on-copy --database app.sqlite": "Try the drafts on real rows.",
      "schemactl lint --explain drop-column": "Explain a rule.",
    ],
    options: [
      .profile, .strict,
      .init("fix", summary: "Correct drafts where the correction is certain."),
      .init(
        "full", summary: "Also run frozen migrations on rows, and simulate every pair of releases."),
      .init("on-copy", summary: "Run pending migrations on a copy of the database."),
      .init(
        "explain", .text("RULE"), completion: .lookup("rules"), summary: "Explain a rule."),
      .init("write-baseline", summary: "Write the current findings to the baseline."),
    ] + .database + .reporting)

  static func readsConfiguration(_ invocation: Invocation) -> Bool {
    !invocation.isGiven("explain")
  }

  /// With `--on-copy`, an interrupted command must delete its copy before it ends.
  static func heedsInterruptions(_ invocation: Invocation) -> Bool { invocation.isGiven("on-copy") }

  static func run(_ session: Session) throws -> ExitStatus {
    let modes = ["on-copy", "explain", "write-baseline", "fix"].filter(session.flag)
    try session.require(modes.count < 2, "`--\(modes[0])` and `--\(modes[1])` exclude each other")
    let report: LintReport
    switch modes.first {
    case "explain": return try explain(session.text("explain") ?? "", session)
    case "write-baseline": return try writeBaseline(session)
    case "on-copy": report = try lintOnCopy(session)
    case "fix": report = try session.withClaim { try fix(session) }
    default: report = try session.lint(session.project())
    }
    let annotations = Annotations(report)
    session.report(report.json, annotations) { $0.show(report, annotations) }
    return report.status
  }

  private static func lintOnCopy(_ session: Session) throws -> LintReport {
    let database = try session.requiredDatabase()
    let readable = try session.open(database)
    let project = try session.project().view(of: readable)
    return try session.lint(
      project,
      on: { (timeline) throws(Failure) in
        try project.dataReport(
          on: readable, timeline, timeout: session.timeout, interruption: session.interruption,
          onEvent: session.follow)
      })
  }

  private static func fix(_ session: Session) throws -> LintReport {
    let result = try Fixer.fix(session.project()) { try session.lint($0) }
    try session.writing.withLock { _ in
      for (file, bytes) in result.files { try writeFileAtomically(bytes, to: file) }
    }
    return result.report
  }

  private static func writeBaseline(_ session: Session) throws -> ExitStatus {
    guard let file = session.baselineFile else {
      throw session.usageError(
        "`schemactl.yaml` names no baseline",
        hint: "Add a line such as `lint: { baseline: lint.baseline }`.")
    }
    let report = try session.linter(of: session.project(), isForBaseline: true)
      .lint(isFull: session.flag("full"))
    // Lint cannot judge the migrations after one that fails.
    if let failure = report.failure { throw failure }
    try writeFileAtomically(Baseline.text(report.findings, replacing: file), to: file)
    let count = Baseline.count(report.findings)
    session.report(["baseline": file, "findings": count]) {
      $0.mention("Wrote \(counted(count, "finding")) to `\(file.visible)`.")
    }
    return .success
  }

  private static func explain(_ rule: String, _ session: Session) throws -> ExitStatus {
    try session.require(
      OutputFormat.common.contains(session.format),
      "`--explain` and `--format \(session.format.rawValue)` exclude each other")
    guard let explanation = explanation(of: rule) else {
      if let problem = Rule.problem(withOldID: rule) { throw Failure(.invalidInput, problem) }
      throw session.usageError(
        "`\(rule.visible)` is not a rule",
        hint: ruleSuggestion(for: rule).map { "Did you mean `\($0)`?" })
    }
    session.report(["rule": rule, "explanation": explanation]) { $0.sayScript(explanation) }
    return .success
  }
}

extension TextReporter {
  fileprivate func show(_ report: LintReport, _ annotations: Annotations) {
    for fix in annotations.fixes { say(fix.visible) }
    show(annotations, listsSuppressed: true)
    if let data = report.data { show(data) }
    mention(scope(of: report))
    mention(verdict(on: report))
  }

  /// Prints the number of rows in each table, such as `reminders: 1,000 rows before, 998 after`.
  private func show(_ data: DataReport) {
    let count = counted(data.applied.count, "migration")
    say("Applied \(count) to a copy of `\(data.database.visible)`:")
    list(data.tables, "table") { table in
      let before = table.before.map { counted($0, "row") }
      let text: String? =
        switch (before, table.after) {
        case (let before?, let after?):
          before + (table.before == after ? "" : " before, \(grouped(after)) after")
        case (nil, let after?): "created with \(counted(after, "row"))"
        case (let before?, nil): "dropped with \(before)"
        case (nil, nil): nil
        }
      if let text { say("  \(table.name.visible): \(text)") }
    }
    guard let id = data.failure?.migration?.id else { return }
    say("  `\(id.visible)` failed; later migrations did not run.")
  }

  /// Returns text such as `Profile local: nothing syncs; 3 queries.`
  private func scope(of report: LintReport) -> String {
    let queries = report.queries.map { $0 == 1 ? "; 1 query" : "; \(grouped($0)) queries" } ?? ""
    let text = "Profile \(report.profile.rawValue): \(report.profile.meaning)\(queries)."
    guard let migration = report.failure?.migration?.id else { return text }
    return text
      + " The replay ended at `\(migration.visible)`: lint did not check later migrations."
  }

  /// Returns text such as `Found 3 errors, 1 warning (2 fixable with --fix); 1 suppressed`.
  ///
  /// - Parameter countsFailure: whether a failure of the replay counts as an error.
  func verdict(on report: LintReport, countsFailure: Bool = true) -> String {
    let summary = report.summary
    let counts = [
      (summary.errors - (countsFailure ? 0 : 1), "error"), (summary.warnings, "warning"),
      (summary.notes, "note"),
    ].filter { $0.0 > 0 }.map { counted($0.0, $0.1) }
    let fixable =
      report.fixes == nil ? report.findings.count { $0.isFixable && !$0.isSuppressed } : 0
    var text = "Found " + (counts.isEmpty ? "no problems" : counts.joined(separator: ", "))
    if fixable > 0 { text += " (\(fixable) fixable with `--fix`)" }
    if summary.suppressed > 0 { text += "; \(summary.suppressed) suppressed" }
    if let fixes = report.fixes { text += "; \(fixes.count) fixed" }
    return text
  }
}

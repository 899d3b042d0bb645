import SchemaHistory
import SchemaLint
import SchemaTrials
import SchemaTimeline
import SchemaManifest
import SchemaSQLText

extension TextReporter {
  func show(_ report: LintReport) {
    for fix in report.fixes ?? [] {
      say(
        "\(fix.file.visible):\(fix.line):\(fix.column): fixed: \(fix.message.visible) [\(fix.rule)]"
      )
    }
    showFindings(report, withSuppressed: true)
    if let failure = report.unfoundFailure { complain(Problem(failure)) }
    if let data = report.data { show(data) }
    mention(scope(of: report))
    mention(verdict(on: report))
    for text in report.notes { note(text) }
  }

  /// `reminders: 1000 rows before, 998 after`.
  private func show(_ data: DataReport) {
    let count = data.applied.count
    say(
      "\(data.database.visible): \(count == 0 ? "nothing" : counted(count, "migration")) "
        + "ran on a copy.")
    for table in data.tables {
      let name = table.name.visible
      switch (table.before, table.after) {
      case (let before?, let after?):
        let rows = counted(Int(before), "row")
        say(before == after ? "  \(name): \(rows)" : "  \(name): \(rows) before, \(after) after")
      case (nil, let after?): say("  \(name): new, with \(counted(Int(after), "row"))")
      case (let before?, nil): say("  \(name): gone, with \(counted(Int(before), "row"))")
      case (nil, nil): break
      }
    }
    guard let id = data.failure?.migration?.id else { return }
    say("  \(id.visible) did not run, nor did what comes after it.")
  }

  /// Findings about frozen manifests, which nobody can change, are one line unless all are wanted.
  func showFindings(_ report: LintReport, withSuppressed: Bool = false) {
    var excerpts = SourceExcerpts()
    let hidden = report.hiddenFindings
    for finding in report.findings where !hidden.contains(finding) {
      if !finding.isSuppressed {
        show(finding, &excerpts)
      } else if withSuppressed {
        mention(suppression(of: finding))
      }
    }
    if let summary = report.hiddenSummary { mention(summary) }
  }

  private func suppression(of finding: Finding) -> String {
    "\(finding.file.visible):\(finding.line):\(finding.column): suppressed: \(finding.rule): "
      + (finding.reason?.visible ?? "")
  }

  /// `Profile local: nothing syncs; 3 queries.`
  private func scope(of report: LintReport) -> String {
    let queries = report.queries.map { $0 == 1 ? "; 1 query" : "; \($0) queries" } ?? ""
    let text = "Profile \(report.profile.rawValue): \(report.profile.meaning)\(queries)."
    guard let migration = report.failure?.migration?.id else { return text }
    return text + " The replay ended at \(migration.visible): later migrations were not checked."
  }

  /// `Found 3 errors, 1 warning (2 fixable with --fix); 1 suppressed`
  ///
  /// - Parameter countsFailure: what ended the replay is one of the errors.
  func verdict(on report: LintReport, countsFailure: Bool = true) -> String {
    let summary = report.summary
    let counts = [
      (summary.errors - (countsFailure ? 0 : 1), "error"), (summary.warnings, "warning"),
      (summary.notes, "note"),
    ].filter { $0.0 > 0 }.map(counted)
    let fixable = report.findings.count { $0.isFixable && !$0.isSuppressed }
    var text = "Found " + (counts.isEmpty ? "no problems" : counts.joined(separator: ", "))
    if fixable > 0 { text += " (\(fixable) fixable with --fix)" }
    if summary.suppressed > 0 { text += "; \(summary.suppressed) suppressed" }
    if let fixes = report.fixes { text += "; \(fixes.count) fixed" }
    return text
  }

  /// Why nothing was frozen.
  func refuse(_ report: LintReport) {
    let errors = report.findings.filter { $0.severity == .error && !$0.isSuppressed }
    var excerpts = SourceExcerpts()
    for finding in errors { show(finding, &excerpts) }
    let message =
      "nothing was frozen: lint finds \(counted(errors.count, "error")). Change the migrations, or "
      + "suppress a finding with a reason under `lint.allow` in its manifest"
    complain(Problem(Failure(.finding, message)))
  }

  private func show(_ finding: Finding, _ excerpts: inout SourceExcerpts) {
    say(
      "\(finding.file.visible):\(finding.line):\(finding.column): \(label(finding.severity)) "
        + "\(finding.lines[0].visible) [\(finding.rule)]")
    for line in excerpts.lines(finding.file, line: finding.line, column: finding.column) {
      say(line)
    }
    for line in finding.lines.dropFirst() { say("  \(line.visible)") }
    if let fix = finding.fix {
      say("help: write this instead")
      for line in fix.lines where !line.isEmpty { say("    \(line.visible)") }
    } else if let help = finding.help {
      say("help: \(help)")
    }
  }

  private func label(_ severity: Severity) -> String {
    switch severity {
    case .error: paint("error:", "1;31")
    case .warning: paint("warning:", "1;33")
    case .note, .off: "\(severity.rawValue):"
    }
  }
}

extension LintReport {
  /// What only frozen manifests bring about, and nobody has asked for.
  var hiddenFindings: Set<Finding> {
    isVerbose ? [] : Set(findings.lazy.filter { $0.isFrozen && !$0.isSuppressed })
  }

  var hiddenSummary: String? {
    let count = hiddenFindings.count
    return count == 0
      ? nil : "\(counted(count, "finding")) in frozen migrations; see `lint --verbose`"
  }
}

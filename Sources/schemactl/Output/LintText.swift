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
    if let failure = report.unfoundFailure { complain(failure) }
    if let data = report.data { show(data) }
    for text in report.notes { note(text) }
    mention(scope(of: report))
    mention(verdict(on: report))
  }

  /// `reminders: 1,000 rows before, 998 after`.
  private func show(_ data: DataReport) {
    say(
      "On a copy of \(data.database.visible): "
        + "\(counted(data.applied.count, "migration")) applied.")
    list(data.tables, "table") { table in
      let name = table.name.visible
      switch (table.before, table.after) {
      case (let before?, let after?) where before == after:
        say("  \(name): \(counted(before, "row"))")
      case (let before?, let after?):
        say("  \(name): \(counted(before, "row")) before, \(grouped(after)) after")
      case (nil, let after?): say("  \(name): created with \(counted(after, "row"))")
      case (let before?, nil): say("  \(name): dropped with \(counted(before, "row"))")
      case (nil, nil): break
      }
    }
    guard let id = data.failure?.migration?.id else { return }
    say("  \(id.visible) failed; later migrations did not run.")
  }

  /// Summarises findings about frozen manifests in one line, because nobody can change those
  /// manifests, unless all findings are requested.
  func showFindings(_ report: LintReport, withSuppressed: Bool = false) {
    let hidden = report.hiddenFindings
    list(report.findings.filter { !hidden.contains($0) && !$0.isSuppressed }, "finding") {
      show($0)
    }
    if withSuppressed, volume != .quiet {
      list(report.findings.filter(\.isSuppressed), "suppressed finding") { finding in
        say(
          "\(finding.file.visible):\(finding.line):\(finding.column): suppressed: \(finding.rule): "
            + (finding.reason?.visible ?? ""))
      }
    }
    if let summary = report.hiddenSummary { mention(summary) }
  }

  /// `Profile local: nothing syncs; 3 queries.`
  private func scope(of report: LintReport) -> String {
    let queries = report.queries.map { $0 == 1 ? "; 1 query" : "; \(grouped($0)) queries" } ?? ""
    let text = "Profile \(report.profile.rawValue): \(report.profile.meaning)\(queries)."
    guard let migration = report.failure?.migration?.id else { return text }
    return text + " The replay ended at \(migration.visible): later migrations were not checked."
  }

  /// `Found 3 errors, 1 warning (2 fixable with --fix); 1 suppressed`
  ///
  /// - Parameter countsFailure: whether a failure of the replay counts as an error.
  func verdict(on report: LintReport, countsFailure: Bool = true) -> String {
    let summary = report.summary
    let counts = [
      (summary.errors - (countsFailure ? 0 : 1), "error"), (summary.warnings, "warning"),
      (summary.notes, "note"),
    ].filter { $0.0 > 0 }.map { counted($0.0, $0.1) }
    let fixable = report.findings.count { $0.isFixable && !$0.isSuppressed }
    var text = "Found " + (counts.isEmpty ? "no problems" : counts.joined(separator: ", "))
    if fixable > 0 { text += " (\(fixable) fixable with --fix)" }
    if summary.suppressed > 0 { text += "; \(summary.suppressed) suppressed" }
    if let fixes = report.fixes { text += "; \(fixes.count) fixed" }
    return text
  }

  /// Reports why nothing was frozen.
  func refuse(_ report: LintReport) {
    let errors = report.findings.filter { $0.severity == .error && !$0.isSuppressed }
    list(errors, "error") { show($0) }
    complain(
      Failure(
        .finding, "lint found \(counted(errors.count, "error")), so nothing was frozen",
        remedy: "Change the migrations, or suppress a finding with a reason under `lint.allow` in "
          + "its manifest"))
  }
}

extension LintReport {
  /// Findings that concern only frozen manifests and that no option requests.
  var hiddenFindings: Set<Finding> {
    isVerbose ? [] : Set(findings.lazy.filter { $0.isFrozen && !$0.isSuppressed })
  }

  var hiddenSummary: String? {
    let count = hiddenFindings.count
    return count == 0
      ? nil : "\(counted(count, "finding")) in frozen migrations; see `lint --verbose`"
  }
}

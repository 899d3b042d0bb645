import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaSQLText

extension TextReporter {
  func show(_ report: LintReport) {
    for fix in report.fixes ?? [] {
      say(
        "\(fix.file.visible):\(fix.line):\(fix.column): fixed: \(fix.message.visible) [\(fix.rule)]"
      )
    }
    for finding in report.findings {
      finding.waived ? mention(waiver(of: finding)) : show(finding)
    }
    if let failure = report.unfoundFailure { complain(Problem(failure)) }
    if let data = report.data { show(data) }
    mention(summary(of: report))
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

  func showFindings(_ report: LintReport) {
    for finding in report.findings where !finding.waived { show(finding) }
  }

  private func waiver(of finding: Finding) -> String {
    "\(finding.file.visible):\(finding.line):\(finding.column): waived: \(finding.rule): "
      + (finding.reason?.visible ?? "no reason is given")
  }

  /// `1 error, 0 warnings, 2 notes, 1 waived (profile local: nothing syncs; 3 queries).`
  func summary(of report: LintReport) -> String {
    let summary = report.summary
    var counts = [
      counted(summary.errors, "error"), counted(summary.warnings, "warning"),
      counted(summary.notes, "note"),
    ]
    if summary.waived > 0 { counts.append("\(summary.waived) waived") }
    if let fixes = report.fixes { counts.append("\(fixes.count) fixed") }
    let queries =
      switch report.queries {
      case nil: ""
      case 1?: "; 1 query"
      case let count?: "; \(count) queries"
      }
    let text =
      "\(counts.joined(separator: ", ")) (profile \(report.profile.rawValue): "
      + "\(report.profile.meaning)\(queries))."
    guard let migration = report.failure?.migration?.id else { return text }
    return text + " The replay ended at \(migration.visible): what comes after was not looked at."
  }

  /// Why nothing was frozen.
  func refuse(_ report: LintReport) {
    let errors = report.findings.filter { $0.severity == .error && !$0.waived }
    for finding in errors { show(finding) }
    let message =
      "nothing was frozen: lint finds \(counted(errors.count, "error")). Change the migrations, or "
      + "allow a finding with a reason under `lint.allow` in its manifest"
    complain(Problem(Failure(.finding, message)))
  }

  private func show(_ finding: Finding) {
    // What is shown below the first line, a script for instance, is for whoever looks closer.
    say(
      "\(finding.file.visible):\(finding.line):\(finding.column): \(label(finding.severity)) "
        + "\(finding.lines[0].visible) [\(finding.rule)]")
    for line in finding.lines.dropFirst() { say("  \(line.visible)") }
    guard let fix = finding.fix else { return }
    say("  instead:")
    for line in fix.lines where !line.isEmpty { say("    \(line.visible)") }
  }

  private func label(_ severity: Severity) -> String {
    switch severity {
    case .error: paint("error:", "1;31")
    case .warning: paint("warning:", "1;33")
    case .note, .off: "\(severity.rawValue):"
    }
  }
}

import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaReplay
import SchemaSQLText

extension TextReporter {
  /// Prints one line for each part, then the problems.
  func show(_ report: CheckReport) {
    for part in CheckReport.Part.allCases {
      let line = "\(mark(report, part))  \(padded(part.rawValue))  \(sentence(report, part))"
      // Skip the schema file when the configuration names none.
      if part == .schema, !report.wasRun(part), report.status(of: part) == .success { continue }
      if report.status(of: part) == .success { mention(line) } else { say(line) }
    }
    if let history = report.history { showHistory(history) }
    for path in report.proof?.paths ?? [] where path.failure == nil && path.differs {
      say("replay: \(path.inWords.visible)")
    }
    if let lint = report.lint { showFindings(lint) }
    for text in report.notes { note(text) }
    for path in report.proof?.paths ?? [] {
      guard let failure = path.failure else { continue }
      state(
        Failure(
          failure.status, path.inWords, place: failure.place, migration: failure.migration))
    }
    if let failure = report.failure { state(failure) }
    for (_, failure) in report.problems { state(failure) }
    if let schema = report.schema, !schema.isCurrent { state(schema.failure) }
    let failed = CheckReport.Part.allCases.count { report.status(of: $0) != .success }
    mention(failed == 0 ? "All checks passed" : "\(counted(failed, "check")) failed")
  }

  private func mark(_ report: CheckReport, _ part: CheckReport.Part) -> String {
    if report.status(of: part) != .success { return paint("failed", "1;31") }
    return report.wasRun(part) ? paint("ok    ", "32") : "-     "
  }

  private func padded(_ name: String) -> String {
    name + String(repeating: " ", count: max(0, 9 - name.count))
  }

  private func sentence(_ report: CheckReport, _ part: CheckReport.Part) -> String {
    let problem = report.problems.first { $0.part == part }?.failure
    switch part {
    case .manifests:
      guard let project = report.project else {
        let count = problem?.diagnostics.count ?? 0
        return count > 0 ? "\(counted(count, "error"))." : "cannot be read."
      }
      return "\(counted(project.migrations.count, "manifest")) read."
    case .history: return report.history.map { summary($0.history) } ?? "not compared."
    case .replay:
      guard let proof = report.proof else { return "not done." }
      return proof.sentence
    case .schema:
      guard let schema = report.schema else { return "not compared." }
      return "\(schema.file.visible) is \(schema.isCurrent ? "current" : "stale")."
    case .lint:
      return report.lint.map { "\(verdict(on: $0, countsFailure: !report.isSameFailure))." }
        ?? "not done."
    }
  }
}

extension CheckReport.SchemaFile {
  /// The failure for an outdated schema file.
  var failure: Failure {
    Failure(
      .finding, "\(file) is not the schema of the latest migration",
      remedy: "`schemactl inspect --write` updates it",
      place: Failure.Place(file: file, position: Position(line: 1, column: 1)))
  }
}

extension ReplayProof {
  /// `7 migrations; the same schema from release 1.0 and release 1.1.`
  fileprivate var sentence: String {
    let replayed = counted(migrations, "migration")
    var parts = [failure == nil ? replayed : "\(replayed), then one that fails"]
    let starts = Set(paths.map(\.from))
    let bad = Set(paths.filter { !$0.isProven }.map(\.from.inWords.visible.exact)).sorted().map(
      \.text)
    if !bad.isEmpty {
      parts.append("not the same schema from \(bad.joined(separator: ", "))")
    } else if let start = starts.first {
      parts.append(
        "the same schema from "
          + (starts.count == 1 ? start.inWords.visible : "each of \(starts.count) releases"))
    }
    return parts.joined(separator: "; ") + "."
  }
}

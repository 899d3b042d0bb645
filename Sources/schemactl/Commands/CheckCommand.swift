import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaManifest
import SchemaPlatform
import SchemaReplay
import SchemaReport
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

enum CheckCommand: Command {
  static let declaration = CommandDeclaration(
    name: "check", summary: "Check the whole project, for example in CI.",
    discussion: """
      Reads every manifest, compares the history with history.lock and with other git revisions, \
      replays it from the beginning and from each release, lints it, and compares the schema file, if \
      schemactl.yaml names one. Every check runs even if another one fails; the exit code is that of \
      the worst result. check needs no database and writes nothing.
      """,
    examples: [
      "schemactl check": "Check the project before a merge.",
      "schemactl check --base origin/main --format github":
        "Check a branch and annotate the pull request.",
    ],
    options: [
      .base,
      .init(
        "full", summary: "Also replay and simulate every pair of releases, not only adjacent ones."),
      .profile, .strict,
      .init("report", .text("FILE"), summary: "Also write the HTML page of `schemactl report`."),
    ] + .reporting)

  static func run(_ session: Session) throws -> ExitStatus {
    let base = try session.base()
    let page = session.text("report")
    var report = CheckReport()
    var chronicle: Chronicle?
    report.project = report.attempt(.manifests) {
      try session.project(asksGitAboutDrafts: false)
    }
    if var project = report.project {
      let compared = report.attempt(.history) { try project.verifyHistory(base: base) }
      project.keptIDs = compared?.1?.keptIDs ?? []
      report.project = project
      var history = compared?.0 ?? VerifyReport(comparing: project)
      report.proof = report.attempt(.replay) {
        try project.proveReplay(
          noting: &history, everyPair: session.flag("full"), interruption: session.interruption)
      }
      report.attempt(.history) {
        try project.verifySquashed(into: &history, session.interruption)
        try project.showEdits(in: &history, compared?.1)
        if let failure = history.failure { throw failure }
      }
      report.history = history
      if page != nil { chronicle = Chronicle(project) }
      report.lint = report.attempt(.lint) {
        try session.lint(project) { step, scratch throws(Failure) in
          try chronicle?.note(step, scratch)
        }
      }
      if report.proof?.status == .success, let file = session.schemaFile {
        report.schema = report.attempt(.schema) {
          (file, isCurrent: try (try? readFile(file)) == project.schemaText())
        }
      }
    }
    if let page, let project = report.project, let chronicle, let lint = report.lint {
      report.attempt(.replay) { try session.write(chronicle, of: project, lint, toPage: page) }
    } else if let page {
      let reason = report.project == nil ? "the manifests cannot be read" : "lint could not run"
      session.note("\(page) was not written, because \(reason)")
    }
    let annotations = Annotations(report)
    session.report(report.json, annotations) { $0.show(report, annotations) }
    return report.status
  }
}

/// The results of `check`, one for each part. A part that fails does not prevent the other parts
/// from running.
struct CheckReport {
  enum Part: String, CaseIterable {
    case manifests, history, replay, lint, schema
  }

  /// Nil when the manifests or the lock cannot be read. No other part can run then.
  var project: Project?
  var history: VerifyReport?
  var proof: ReplayProof?
  var lint: LintReport?
  /// The schema file. Also nil when the configuration names none.
  var schema: (file: String, isCurrent: Bool)?
  /// The failures that ended a part early, without duplicates.
  private(set) var problems: [(part: Part, failure: Failure)] = []

  var notes: [String] { (history?.notes ?? []) + (lint?.notes ?? []) }

  /// The failure that ended the full replay or, if there is none, lint's own replay.
  var failure: Failure? { proof?.failure ?? lint?.failure }

  /// The failure for an outdated schema file.
  var staleSchema: Failure? {
    guard let schema, !schema.isCurrent else { return nil }
    return Failure(
      .finding,
      schema.file
        + (FileStatus(schema.file) == nil
          ? " does not exist" : " is not the schema of the latest migration"),
      remedy: "`schemactl inspect --write` updates it",
      place: Failure.Place(file: schema.file, position: Position(line: 1, column: 1)))
  }

  var status: ExitStatus { ExitStatus.worst(Part.allCases.map(status)) }

  fileprivate func status(of part: Part) -> ExitStatus {
    let found: ExitStatus? =
      switch part {
      case .manifests: nil
      case .history: history?.status
      case .replay: proof?.status
      // A failing migration is a result of the replay. Lint stops at the same migration.
      case .lint: proof?.failure == nil ? lint?.status : lint?.statusOfFindings
      case .schema: staleSchema?.status
      }
    let problems = problems.filter { $0.part == part }.map(\.failure.status)
    return ExitStatus.worst(problems + [found ?? .success])
  }

  /// Runs a part, and records under its name a failure that ends it.
  @discardableResult
  fileprivate mutating func attempt<Result>(_ part: Part, _ body: () throws -> Result) -> Result? {
    do {
      return try body()
    } catch {
      let failure = Failure(of: error)
      // A manifest that requires another version of SQLite ends three parts with the same failure.
      if !problems.contains(where: { $0.failure.message == failure.message }) {
        problems.append((part, failure))
      }
      return nil
    }
  }
}

extension CheckReport: JSONConvertible {
  package var json: JSON {
    let failures = problems.map(\.failure)
    let errors = failures.filter { !$0.isResult }
    let worst = ExitStatus.worst(errors.map(\.status))
    return (errors.first { $0.status == worst }?.errorMember ?? [:]) + [
      "ok": status == .success, "history": history?.historyJSON ?? [],
      "lock": history?.lock ?? [], "profile": lint?.profile.rawValue,
      "findings": lint?.findings ?? [], "summary": lint?.summary, "replay": proof,
      "schema": schema.map { ["file": $0.file, "current": $0.isCurrent] as JSON },
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
      let nothing = [.replay, .lint].contains(part) ? "not done." : "not compared."
      let line = "\(mark)  \(name)  \(sentence ?? nothing)"
      // Skip the schema file when the configuration names none.
      if part == .schema, sentence == nil, isPassed { continue }
      if isPassed { mention(line) } else { say(line) }
    }
    show(annotations)
    let failed = parts.count { !$0.isPassed }
    mention(failed == 0 ? "All checks passed" : "\(counted(failed, "check")) failed")
  }

  /// The result of a part; nil if it has none.
  private func sentence(_ report: CheckReport, _ part: CheckReport.Part) -> String? {
    switch part {
    case .manifests:
      guard let project = report.project else {
        let count = report.problems.first { $0.part == part }?.failure.diagnostics.count ?? 0
        return count > 0 ? "\(counted(count, "error"))." : "cannot be read."
      }
      return "\(counted(project.migrations.count, "manifest")) read."
    case .history: return report.history.map { summary($0.history) }
    case .replay: return report.proof?.sentence
    case .lint:
      return report.lint.map { "\(verdict(on: $0, countsFailure: report.proof?.failure == nil))." }
    case .schema:
      return report.schema.map { "\($0.file.visible) is \($0.isCurrent ? "current" : "stale")." }
    }
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

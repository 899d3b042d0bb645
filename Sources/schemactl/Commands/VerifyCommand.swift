import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaSQLText

enum VerifyCommand: Command {
  static let declaration = CommandDeclaration(
    name: "verify", summary: "Check that released migrations are unchanged.",
    discussion: """
      Compares the manifests with history.lock and replays the whole history in memory. If a \
      database is named, compares its ledger and its schema with the history. In a git repository, \
      compares history.lock with that of HEAD, of every tag, and of the parents of an open merge, \
      rebase or cherry-pick, and shows edits of frozen manifests. It writes nothing.
      """,
    examples: [
      "schemactl verify": "Verify the history.",
      "schemactl verify --database app.sqlite": "Verify a database against it as well.",
      "schemactl verify --base origin/main": "Verify a branch before it is merged.",
    ],
    options: [.base] + .databaseOrCluster + .reporting)

  static func run(_ session: Session) throws -> ExitStatus {
    let base = try session.base()
    let opened =
      try session.databaseName == nil ? nil : session.projectAndDatabase(asksGitAboutDrafts: false)
    let project = try opened?.project ?? session.project(asksGitAboutDrafts: false)
    let report = try project.verify(
      opened?.database, base: base, interruption: session.interruption)
    session.report(report.json, Annotations(report, of: project)) {
      $0.show(report, opened?.database.name.visible)
    }
    return report.status
  }
}

extension TextReporter {
  fileprivate func show(_ report: VerifyReport, _ database: String?) {
    showHistory(report)
    let ledger = report.ledger ?? []
    list(ledger.filter { !$0.detail.isEmpty }, "ledger entry") {
      say(
        "\($0.id.visible): \($0.state.rawValue) in \(database ?? "the database")",
        detail: $0.detail)
    }
    list(report.drift ?? [], "difference") { say("drift: \($0.sentence.visible)") }
    if let failure = report.failure { complain(failure) }
    report.notes.forEach(note)
    mention(summary(report.history))
    if let database, report.drift?.isEmpty == true, !ledger.contains(where: \.state.stops) {
      mention("\(database) matches its history.")
    }
  }

  func showHistory(_ report: VerifyReport) {
    for difference in report.lock {
      say("\(HistoryLock.fileName): \(difference.kind.rawValue)", detail: difference.message)
    }
    list(report.history.filter { !$0.detail.isEmpty }, "migration") { entry in
      say("\(entry.id.visible): \(entry.state.rawValue)", detail: entry.detail)
      for line in report.edits[entry.id]?.lines ?? [] { say("  \(line)") }
    }
  }

  /// `7 migrations: 5 unchanged, 2 draft.`
  func summary(_ history: [HistoryEntry]) -> String {
    let states = HistoryState.allCases.compactMap { state in
      let count = history.count { $0.state == state }
      return count == 0 ? nil : "\(grouped(count)) \(state.rawValue)"
    }
    let total = counted(history.count, "migration")
    return states.isEmpty ? "\(total)." : "\(total): \(states.joined(separator: ", "))."
  }
}

extension ManifestDiff {
  /// The text for a person, with control characters escaped.
  var lines: [String] {
    text.split(separator: "\n").map { String($0).visible }
      + schema.map { "schema after it: \($0.sentence.visible)" }
      + (problem.map { ["the edit cannot be shown: \($0.visible)"] } ?? [])
  }
}

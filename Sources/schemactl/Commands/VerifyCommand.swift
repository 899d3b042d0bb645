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
      Compares the manifests with `history.lock` and replays the whole history in memory. With a \
      database, compares its ledger and its schema with the history. A database that only \
      `schemactl.yaml` names may be missing. In a git repository, compares `history.lock` with \
      that of `HEAD`, of every tag, and of the parents of an open merge, rebase or cherry-pick. \
      Shows edits of frozen manifests. `verify` writes nothing.
      """,
    examples: [
      "schemactl verify": "Verify the history.",
      "schemactl verify --database app.sqlite": "Verify a database against it as well.",
      "schemactl verify --base origin/main": "Verify a branch before it is merged.",
    ],
    options: [.base] + .databaseOrCluster + .reporting)

  static func run(_ session: Session) throws -> ExitStatus {
    let base = try session.base()
    let isDatabaseNamed = try session.cluster != nil || session.optionalDatabase() != nil
    let opened =
      try isDatabaseNamed ? session.projectAndDatabase() : nil
    let project = try opened?.project ?? session.project()
    let report = try project.verify(
      opened?.database, base: base, interruption: session.interruption)
    let annotations = Annotations(report, of: project)
    session.report(report.json, annotations) { text in
      text.show(annotations)
      text.mention(text.summary(report.history))
      if let name = opened?.database.name.visible, report.drift?.isEmpty == true,
        report.ledger?.contains(where: \.state.stops) != true
      {
        text.mention("`\(name)` matches its history.")
      }
    }
    return report.status
  }
}

extension TextReporter {
  /// Returns text such as `7 migrations: 5 unchanged, 2 drafts.`
  func summary(_ history: [HistoryEntry]) -> String {
    let states = HistoryState.allCases.compactMap { state -> String? in
      let count = history.count { $0.state == state }
      if count == 0 { return nil }
      return state == .draft
        ? counted(count, "draft") : "\(grouped(count)) \(state.rawValue)"
    }
    let total = counted(history.count, "migration")
    return states.isEmpty ? "\(total)." : "\(total): \(states.joined(separator: ", "))."
  }
}

extension ManifestDiff {
  /// The text for a person, with control characters escaped.
  var lines: [String] {
    text.split(separator: "\n").map { String($0).visible }
      + schema.map { "schema difference: \($0.sentence.visible)" }
      + (problem.map { ["schemactl cannot show the edit: \($0.visible)"] } ?? [])
  }
}

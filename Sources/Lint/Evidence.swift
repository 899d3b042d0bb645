import SchemaDevices
import SchemaQueries
import SchemaTimeline

/// What the rules look at.
struct Evidence: Sendable {
  var timeline: Timeline
  /// What devices of two versions of the app disagree about.
  var disagreements: [Disagreement] = []
  /// What the history does to the application's queries.
  var queries: [QueryVerdict] = []
  /// The queries that could be judged.
  var judgedQueries: [ApplicationQuery] = []
  /// Suppressions in query files that belong to no statement.
  var idleSuppressions: [ApplicationQuery] = []
}

extension Rule {
  func drafts(_ evidence: Evidence, _ scope: LintScope) -> [Draft] {
    switch check {
    case .history(let check): check(evidence.timeline, scope)
    case .devices(let check): check(evidence.disagreements, evidence.timeline)
    case .queries(let check): check(evidence.queries, evidence.timeline)
    case .suppressions: []
    }
  }

  /// Whether it reports what the compatibility simulation finds.
  var needsDevices: Bool { if case .devices = check { true } else { false } }
}

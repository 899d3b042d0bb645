import SchemaDevices
import SchemaQueries
import SchemaTimeline

/// The input of the rules.
struct Evidence: Sendable {
  var timeline: Timeline
  /// The differences that the compatibility simulation found between devices.
  var disagreements: [Disagreement] = []
  /// The effects of the history on the application's queries.
  var queries: [QueryVerdict] = []
  /// The queries that lint could check.
  var judgedQueries: [ApplicationQuery] = []
  /// Suppressions in query files that precede no statement.
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

  /// Whether the rule needs the compatibility simulation.
  var needsDevices: Bool { if case .devices = check { true } else { false } }
}

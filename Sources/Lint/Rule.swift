import SchemaDevices
import SchemaQueries
import SchemaSQLText
import SchemaTimeline

/// The input of the rules.
struct Evidence: Sendable {
  var timeline: Timeline
  /// The differences that the compatibility simulation found between devices.
  var disagreements: [Disagreement] = []
  /// The effects of the history on the application's queries.
  var queries: [QueryVerdict] = []
  /// The statements of the query files, with their suppressions.
  var suppressingQueries: [ApplicationQuery] = []
  /// The number of queries that lint could check.
  var judgedQueries = 0
}

/// A lint rule: its documentation, its examples and its check.
package struct Rule: Sendable, CustomStringConvertible {
  package let id: String
  package let section: Section
  let severities: Severities
  /// Whether the rule concerns devices with an older version of the app. For a migration that every
  /// device has run, the severity is that of the profile `local`.
  var concernsOlderVersions = false
  /// Whether the rule concerns synced tables of the latest schema, including tables that a
  /// migration before `sync.since` created.
  var concernsSyncedSchema = false
  /// Whether the rule concerns the latest schema. Its findings in frozen manifests still affect
  /// future changes.
  var concernsLatestSchema = false
  /// Whether the rule also covers migrations that fail on rows, in addition to its own subject.
  var isAboutFailures = false
  /// Whether only runs on rows find the problem. Lint does not report unused suppressions of the
  /// rule for a migration that did not run on generated rows, nor if it runs on a copy of a real
  /// database.
  var isFoundByRows = false
  /// One paragraph.
  package let why: String
  /// The remedy, in one paragraph.
  package let fix: String
  /// The history before both examples, and its configuration.
  var examples = Example()
  /// The last manifest of a history with exactly one finding of the rule, or only its operations.
  /// For a rule about queries, the query.
  let wrong: String
  /// A replacement for `wrong` with the same result and without a finding.
  let right: String
  let check: Check

  /// The check of a rule, by its input.
  enum Check: Sendable {
    case history(@Sendable (Timeline, LintScope) -> [Draft])
    /// Checks the differences that the compatibility simulation found.
    case devices(@Sendable ([Disagreement], Timeline) -> [Draft])
    /// Checks the effects of the history on the application's queries.
    case queries(@Sendable ([QueryVerdict], Timeline) -> [Draft])
  }

  func drafts(_ evidence: Evidence, _ scope: LintScope) -> [Draft] {
    switch check {
    case .history(let check): check(evidence.timeline, scope)
    case .devices(let check): check(evidence.disagreements, evidence.timeline)
    case .queries(let check): check(evidence.queries, evidence.timeline)
    }
  }

  /// Whether the rule needs the compatibility simulation.
  var needsDevices: Bool { if case .devices = check { true } else { false } }

  /// The severity before the configuration of a project overrides it.
  package func severity(under profile: Profile) -> Severity { severities[profile] }

  /// The subject of a rule. The cases are in the order of the documentation.
  package enum Section: String, Sendable, CaseIterable {
    case removes = "Removes or renames"
    case losesData = "Loses data"
    case failsOnData = "Fails on real data"
    case breaksDevices = "Breaks other devices"
    case misplaced = "Does not belong in a migration"
    case breaksQueries = "Breaks the application's queries"
    case hurtsLater = "Causes problems later"
    case suppressions = "Suppressions"
  }

  /// All rules in the order of the documentation: by section, then by name.
  package static let all: [Rule] = Section.allCases.flatMap { section in
    registered.filter { $0.section == section }
  }

  package static func named(_ id: String) -> Rule? { all.first { $0.id == id } }

  /// Explains an id that is not the id of a rule; nil if it is.
  package static func problem(withID id: String) -> String? {
    guard named(id) == nil else { return nil }
    if let problem = problem(withOldID: id) { return problem }
    return "`\(id)` is not a rule" + didYouMean(id, among: all.map(\.id))
  }

  package var description: String { id }

  /// The first sentence of `why`.
  package var summary: String { Self.firstSentence(of: why) + "." }

  /// The first sentence of `fix`, for a `help:` line.
  var advice: String {
    let sentence = Self.firstSentence(of: fix)
    return sentence.prefix(1).lowercased() + sentence.dropFirst()
  }

  private static func firstSentence(of text: String) -> String {
    let words = text.split(separator: " ")
    let end = words.firstIndex { $0.hasSuffix(".") } ?? words.count - 1
    let sentence = words.prefix(end + 1).joined(separator: " ")
    return String(sentence.hasSuffix(".") ? sentence.dropLast() : sentence[...])
  }

  /// Whether the rule covers migrations that fail on rows, alone or among other subjects.
  var foreseesFailures: Bool {
    isAboutFailures || isFoundByRows && [.losesData, .failsOnData].contains(section)
  }

  /// Whether the rule concerns suppressions. No suppression applies to it.
  var isAboutSuppressions: Bool { section == .suppressions }
}

package enum Severity: String, Sendable, CaseIterable {
  case error, warning, note, off
}

/// A rule's severity under each profile.
struct Severities: Sendable {
  let local: Severity
  let additive: Severity
  let sqliteData: Severity
  let crSQLite: Severity

  init(_ local: Severity, _ additive: Severity, _ engine: Severity, crSQLite: Severity? = nil) {
    self.local = local
    self.additive = additive
    sqliteData = engine
    self.crSQLite = crSQLite ?? engine
  }

  static let alwaysError = Severities(.error, .error, .error)
  /// Off unless `lint.rules` of the configuration sets a severity.
  static let optIn = Severities(.off, .off, .off)

  subscript(profile: Profile) -> Severity {
    switch profile {
    case .local: local
    case .additive: additive
    case .sqliteData: sqliteData
    case .crSQLite: crSQLite
    }
  }
}

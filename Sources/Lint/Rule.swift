import SchemaDevices
import SchemaManifest
import SchemaQueries
import SchemaSQLText
import SchemaTimeline

/// A rule: its text, its examples and its check.
package struct Rule: Sendable, CustomStringConvertible {
  package let id: String
  package let section: Section
  let severities: Severities
  /// It is about devices with an older version of the app: a migration that every device has run
  /// is judged as under `local`.
  var concernsOlderVersions = false
  /// It is about what a table that syncs is like, whenever it was made: also before anything synced.
  var concernsSyncedSchema = false
  /// It is about the latest schema: a finding in a frozen manifest concerns what happens from now on.
  var concernsLatestSchema = false
  /// It is also about what makes a migration fail on rows, besides its own subject.
  var isAboutFailures = false
  /// One paragraph.
  package let why: String
  /// What to do instead: one paragraph.
  package let fix: String
  /// A history that breaks the rule once.
  package let bad: Example
  /// A history with the same result and no finding.
  package let good: Example
  let check: Check

  /// What a rule looks at.
  enum Check: Sendable {
    case history(@Sendable (Timeline, LintScope) -> [Draft])
    /// What the compatibility simulation found.
    case devices(@Sendable ([Disagreement], Timeline) -> [Draft])
    /// What the history does to the application's queries.
    case queries(@Sendable ([QueryVerdict], Timeline) -> [Draft])
    /// `Suppressions`, once the findings of all other rules are known.
    case suppressions
  }

  /// Without the configuration of a project.
  package func severity(under profile: Profile) -> Severity { severities[profile] }

  package struct Example: Sendable {
    package let profile: Profile
    /// How many of the migrations each release has, where the rule asks for releases.
    package let releases: [String: Int]
    /// `schemactl.yaml`, where the rule asks for it.
    package let configuration: String
    /// The baseline, where the rule asks for it.
    package let baseline: String?
    /// `queries/reminders.sql`, where the rule asks for it.
    package let queries: String?
    /// The texts of the manifests, in order.
    package let manifests: [String]

    init(
      _ profile: Profile, releases: [String: Int] = [:], configuration: String = "",
      baseline: String? = nil, queries: String? = nil, _ manifests: String...
    ) {
      self.profile = profile
      self.releases = releases
      self.configuration = configuration
      self.baseline = baseline
      self.queries = queries
      self.manifests = manifests
    }
  }

  /// What a rule is about, in the order of the documentation.
  package enum Section: String, Sendable, CaseIterable {
    case removes = "Removes or renames"
    case losesData = "Loses data"
    case failsOnData = "Fails on real data"
    case breaksDevices = "Breaks other devices"
    case misplaced = "Does not belong in a migration"
    case breaksQueries = "Breaks the application's queries"
    case hurtsLater = "Will hurt later"
    case suppressions = "Suppressions"
  }

  /// The rules, in the order of the documentation: by section, then by name.
  package static let all: [Rule] = Section.allCases.flatMap { section in
    registered.filter { $0.section == section }
  }

  package static func named(_ id: String) -> Rule? { all.first { $0.id == id } }

  /// Why this is not the id of a rule; nil when it is.
  package static func problem(withID id: String) -> String? {
    guard named(id) == nil else { return nil }
    if let problem = problem(withOldID: id) { return problem }
    let near = suggestion(for: id, among: all.map(\.id)).map { ": did you mean `\($0)`?" }
    return "`\(id)` is not a rule" + (near ?? "")
  }

  package var description: String { id }

  /// The first sentence of `why`.
  package var summary: String {
    let words = why.split(separator: " ")
    let end = words.firstIndex { $0.hasSuffix(".") } ?? words.count - 1
    return words.prefix(end + 1).joined(separator: " ")
  }

  /// The first sentence of `fix`, as a `help:` line gives it.
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

  /// Whether it is about what makes a migration fail on rows, among other things.
  var foreseesFailures: Bool { isAboutFailures || [.failsOnData, .losesData].contains(section) }

  /// Whether the rule is about suppressions, which no suppression can allow.
  var isAboutSuppressions: Bool { section == .suppressions }
}

/// A finding before its severity and its suppression are known.
struct Draft: Sendable {
  var message: String
  /// The statements that show it on two devices.
  var transcript: DeviceTranscript?
  /// The query whose file it concerns; nil for a manifest.
  var query: ApplicationQuery?
  /// It is the query's alone: no migration has to do with it.
  var isOfQueryAlone = false
  /// The index of the migration; the last one for what no migration has to do with.
  let migration: Int
  /// The operation's index, nil for what concerns the whole manifest.
  let operation: Int?
  let position: Position
  let object: String?
  /// The table whose syncing decides on the severity; nil: the profile does.
  let table: String?
  let fix: String?
  /// What `lint --fix` does about it in a draft, where that is certain.
  var correction: Correction?
  /// The severity of this case, where it is not the rule's own.
  var severity: Severity?
  /// The migration is older than the syncing, and its result still exists.
  var isStanding = false
  /// It has happened, on a copy of a real database: an error, unless the rule is off.
  var isCertain = false
  /// The tables of a statement that failed on rows; nil for what was found without running one.
  var failedTables: Set<Identifier>?
}

extension Timeline {
  /// A finding at a statement: at one of the operation's own keys, where the operation is more than
  /// SQL; there the statement itself is the place.
  ///
  /// - Parameters:
  ///   - keys: the first of them that the operation has is the place.
  ///   - column: the place is where the operation defines this column, if it does.
  ///   - position: the place, where it is known better.
  func draft(
    _ message: String, at place: StatementPlace, keys: [String] = [], column: String? = nil,
    object: String?, table: String?, fix: String? = nil, correction: Correction? = nil,
    position: Position? = nil, severity: Severity? = nil
  ) -> Draft {
    let operation = operation(place)
    let position =
      position ?? column.flatMap { operation?.definition(ofColumn: $0)?.position }
      ?? keys.lazy.compactMap { operation?.keys[$0] }.first ?? place.position
    return Draft(
      message: message, migration: place.migration, operation: place.operation,
      position: position, object: object, table: table, fix: fix, correction: correction,
      severity: severity)
  }
}

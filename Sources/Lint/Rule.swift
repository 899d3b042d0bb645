import SchemaDevices
import SchemaManifest
import SchemaQueries
import SchemaSQLText
import SchemaTimeline

/// A lint rule: its documentation, its examples and its check.
package struct Rule: Sendable, CustomStringConvertible {
  package let id: String
  package let section: Section
  let severities: Severities
  /// Whether the rule concerns devices with an older version of the app. For a migration that every
  /// device has run, the severity is that of the profile `local`.
  var concernsOlderVersions = false
  /// Whether the rule concerns properties of synced tables, including tables that are older than
  /// the syncing.
  var concernsSyncedSchema = false
  /// Whether the rule concerns the latest schema. Its findings in frozen manifests still affect
  /// future changes.
  var concernsLatestSchema = false
  /// Whether the rule also covers migrations that fail on rows, in addition to its own subject.
  var isAboutFailures = false
  /// One paragraph.
  package let why: String
  /// The remedy, in one paragraph.
  package let fix: String
  /// A history with exactly one finding of the rule.
  package let bad: Example
  /// A history with the same result and without a finding.
  package let good: Example
  let check: Check

  /// The check of a rule, by its input.
  enum Check: Sendable {
    case history(@Sendable (Timeline, LintScope) -> [Draft])
    /// Checks the differences that the compatibility simulation found.
    case devices(@Sendable ([Disagreement], Timeline) -> [Draft])
    /// Checks the effects of the history on the application's queries.
    case queries(@Sendable ([QueryVerdict], Timeline) -> [Draft])
    /// `Suppressions` checks them after all other rules.
    case suppressions
  }

  /// The severity before the configuration of a project overrides it.
  package func severity(under profile: Profile) -> Severity { severities[profile] }

  package struct Example: Sendable {
    package let profile: Profile
    /// The number of migrations in each release, if the rule needs releases.
    package let releases: [String: Int]
    /// `schemactl.yaml`, if the rule needs it.
    package let configuration: String
    /// `queries/reminders.sql`, if the rule needs it.
    package let queries: String?
    /// The texts of the manifests, in order.
    package let manifests: [String]

    init(
      _ profile: Profile, releases: [String: Int] = [:], configuration: String = "",
      queries: String? = nil, _ manifests: String...
    ) {
      self.profile = profile
      self.releases = releases
      self.configuration = configuration
      self.queries = queries
      self.manifests = manifests
    }
  }

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
  var foreseesFailures: Bool { isAboutFailures || [.failsOnData, .losesData].contains(section) }

  /// Whether the rule concerns suppressions. No suppression applies to it.
  var isAboutSuppressions: Bool { section == .suppressions }
}

/// A finding whose severity and suppression are not determined yet.
struct Draft: Sendable {
  var message: String
  /// The statements that demonstrate the problem on two devices.
  var transcript: DeviceTranscript?
  /// The query at whose file the finding is reported; nil for a manifest.
  var query: ApplicationQuery?
  /// Whether the query alone is wrong, independently of any migration.
  var isOfQueryAlone = false
  /// The index of the migration; the last one for a finding that no migration caused.
  let migration: Int
  /// The index of the operation; nil for the whole manifest.
  let operation: Int?
  let position: Position
  let object: String?
  /// The table that determines the severity by whether it syncs; nil if the profile alone
  /// determines it.
  let table: String?
  let fix: String?
  /// Where `fix` belongs.
  var fixPlace = FixPlace.instead
  /// The remedy of this case, if it differs from that of the rule.
  var help: String?
  /// The change that `lint --fix` makes in a draft, if a safe one is known.
  var correction: Correction?
  /// The severity of this case, if it differs from that of the rule.
  var severity: Severity?
  /// Whether the migration is older than the syncing and its result still exists.
  var isStanding = false
  /// Whether the problem occurred on a copy of a real database. It is then an error unless the rule
  /// is off.
  var isCertain = false
  /// The tables of a statement that failed on rows; nil if no statement ran.
  var failedTables: Set<Identifier>?
}

extension Timeline {
  /// A finding at a statement. Its place is a key of the operation, or the statement itself if the
  /// operation consists of SQL.
  ///
  /// - Parameters:
  ///   - keys: keys of operations; the first one that the operation has is the place.
  ///   - column: moves the place to the operation's definition of this column, if there is one.
  ///   - position: replaces the place by a more precise one.
  func draft(
    _ message: String, at place: StatementPlace, keys: [String] = [], column: String? = nil,
    object: String?, table: String?, fix: String? = nil, _ fixPlace: FixPlace = .instead,
    help: String? = nil, correction: Correction? = nil, position: Position? = nil,
    severity: Severity? = nil
  ) -> Draft {
    let operation = operation(place)
    let position =
      position ?? column.flatMap { operation?.definition(ofColumn: $0)?.position }
      ?? keys.lazy.compactMap { operation?.keys[$0] }.first ?? place.position
    return Draft(
      message: message, migration: place.migration, operation: place.operation,
      position: position, object: object, table: table, fix: fix, fixPlace: fixPlace,
      help: help, correction: correction, severity: severity)
  }

  /// A finding about a column, at its definition in the operation if there is one.
  func draft(
    _ message: String, about column: TableShape.Column, of table: TableShape,
    at place: StatementPlace, keys: [String], fix: String? = nil, _ fixPlace: FixPlace = .instead,
    correction: Correction? = nil
  ) -> Draft {
    draft(
      message, at: place, keys: keys, column: column.name, object: "\(table.name).\(column.name)",
      table: table.name, fix: fix, fixPlace, correction: correction)
  }
}

import History
import ManifestFormat
import Migrating
import Planning
import SQLite
import SchemaModel

/// Judges a history by what it does, never by how it is written: it is replayed on a shadow, and
/// the rules look at what became of each table and each column.
package struct Linter: Sendable {
  package let profile: Profile
  private let project: Project
  private let scope: SyncScope
  /// By the rule's id.
  private let overrides: [String: Severity]
  private let oldestRelease: String?
  private let today: String

  /// - Parameters:
  ///   - profile: instead of the one that `sync.engine` of the configuration picks.
  ///   - configurationFile: how messages name the configuration.
  ///   - today: waivers whose last day is over by then do not hold.
  /// - Throws: when the configuration names a rule or a migration that is not there (65).
  package init(
    project: Project, configuration: Configuration, profile: Profile? = nil,
    configurationFile: String = "schemactl.yaml", today: Timestamp = .now
  ) throws(Failure) {
    self.project = project
    self.profile = profile ?? Profile(configuration.sync.engine)
    scope = try SyncScope(
      configuration.sync, profile: self.profile, migrations: project.migrations,
      file: configurationFile)
    var overrides: [String: Severity] = [:]
    for setting in configuration.rules {
      guard Rule.named(setting.rule) != nil else {
        throw Failure(
          .invalidInput,
          "there is no rule `\(setting.rule)`" + Rule.suggestion(for: setting.rule),
          place: Failure.Place(file: configurationFile, position: setting.position))
      }
      overrides[setting.rule] = Severity(setting.severity)
    }
    self.overrides = overrides
    oldestRelease = configuration.sync.oldestRelease
    self.today = String(today.description.prefix(10))
  }

  /// Replays the history and reports what the rules find.
  ///
  /// - Parameters:
  ///   - through: the last migration to look at, by id or number; nil is all.
  ///   - ids: findings of other migrations are left out; they are replayed all the same.
  ///   - isStrict: warnings and notes count as found, too.
  ///   - isFull: the proof by two devices tries all pairs of releases.
  /// - Throws: what is 64 and above. A migration that fails (3) is in the report.
  package func lint(
    through: String? = nil, reporting ids: Set<String>? = nil, isStrict: Bool = false,
    isFull: Bool = false
  ) throws(Failure) -> LintReport {
    let migrations = try targets(through)
    try project.requireEngine(for: migrations)
    let (timeline, complete, failure) = try replay(migrations, isFull)
    var found: [(rule: Rule, draft: Draft)] = []
    for rule in Rule.all { found += rule.check(timeline, scope).map { (rule, $0) } }
    var waivers = Waivers(migrations, today: today)
    var findings = found.map { rule, draft in
      let waiver =
        rule.id == Rule.twoDevices.id
        ? waivers.waive(draft, foundAlsoBy: found, migrations) : waivers.waive(rule.id, draft)
      return finding(rule, draft, waiver, migrations)
    }
    let problems = waivers.problems(complete: complete) { rule, migration in
      severity(rule, scope.profile(nil, in: migration)) != .off
    }
    findings += problems.map { finding($0.rule, $0.draft, nil, migrations) }
    let reported = findings.filter { finding in
      finding.severity != .off && (ids?.contains(finding.migration) ?? true)
    }
    return LintReport(
      profile: profile, findings: inReadingOrder(reported, migrations), failure: failure,
      isStrict: isStrict)
  }

  private func targets(_ through: String?) throws(Failure) -> [Migration] {
    var options = MigrateOptions(database: "")
    options.through = through
    return try project.targets(options)
  }

  /// What the history did, as far as it can be replayed; how many migrations that is.
  private func replay(
    _ migrations: [Migration], _ isFull: Bool
  ) throws(Failure) -> (Timeline, complete: Int, Failure?) {
    let shadow = try Shadow(project.application, passesOverRefused: true)
    let tracker = TableTracker(migrations)
    shadow.observe { tracker.note($0) }
    var deltas: [SchemaDelta] = []
    for (index, migration) in migrations.enumerated() {
      tracker.begin(index)
      do {
        let delta = try shadow.apply(migration).delta
        tracker.end(delta)
        deltas.append(delta)
      } catch {
        guard error.status.rawValue < ExitStatus.usage.rawValue else { throw error }
        return (try proven(tracker.timeline, deltas, isFull), index, error)
      }
    }
    do {
      tracker.note(try shadow.schema.brokenObjects(project.application))
    } catch {
      throw Failure(error.status, "the schema cannot be looked through: \(error.message)")
    }
    return (try proven(tracker.timeline, deltas, isFull), migrations.count, nil)
  }

  /// With what devices of two versions disagree about.
  private func proven(
    _ timeline: Timeline, _ deltas: [SchemaDelta], _ isFull: Bool
  ) throws(Failure) -> Timeline {
    guard severity(.twoDevices, profile) != .off else { return timeline }
    var timeline = timeline
    timeline.disagreements = try TwoDeviceProof.disagreements(
      project, since: oldestRelease, deltas, timeline, scope, isFull: isFull)
    return timeline
  }

  private func severity(_ rule: Rule, _ profile: Profile) -> Severity {
    overrides[rule.id] ?? rule.severities[profile]
  }

  private func finding(
    _ rule: Rule, _ draft: Draft, _ waiver: Waiver?, _ migrations: [Migration]
  ) -> Finding {
    let migration = migrations[draft.migration]
    let severity = severity(rule, scope.profile(draft.table, in: draft.migration))
    return Finding(
      rule: rule.id,
      severity: draft.isNote && severity != .off ? .note : severity,
      message: draft.message, file: migration.file, line: draft.position.line,
      column: draft.position.column, migration: migration.id, object: draft.object,
      waived: waiver != nil, reason: waiver?.reason, fix: draft.fix)
  }

  private func inReadingOrder(_ findings: [Finding], _ migrations: [Migration]) -> [Finding] {
    let order = Dictionary(
      migrations.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { a, _ in a })
    func key(_ finding: Finding) -> (Int, Int, Int) {
      (order[finding.migration] ?? 0, finding.line, finding.column)
    }
    return findings.enumerated().sorted { a, b in
      let (left, right) = (key(a.element), key(b.element))
      return left == right ? a.offset < b.offset : left < right
    }.map(\.element)
  }
}

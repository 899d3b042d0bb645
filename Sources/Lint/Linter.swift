import SchemaApply
import SchemaCopies
import SchemaDevices
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaQueries
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials
import SchemaYAML

/// Checks a history by its effects: replays it on a scratch database, and passes each change of a
/// table or a column to the rules.
package struct Linter: Sendable {
  package let profile: Profile
  private var project: Project
  let scope: LintScope
  /// The configured severities, by rule id.
  private let overrides: [ExactText: Severity]
  private let baseline: Baseline?
  private let queries: [QueryFile]?
  private let today: String
  private let interruption: Interruption

  /// - Parameters:
  ///   - profile: replaces the profile of `sync.engine` in the configuration.
  ///   - baseline: known findings, which are not reported.
  ///   - queries: the application's queries; nil without a folder for them.
  ///   - configurationFile: the name of the configuration in messages.
  ///   - today: suppressions that expired before this day do not apply.
  ///   - interruption: ends a replay early.
  /// - Throws: every unknown rule in the configuration and in manifests, and every unknown migration
  ///   and release in the configuration.
  package init(
    project: Project, configuration: Configuration, profile: Profile? = nil,
    baseline: Baseline? = nil, queries: [QueryFile]? = nil,
    configurationFile: String = "schemactl.yaml", today: Timestamp = .now,
    interruption: Interruption = Interruption()
  ) throws {
    self.project = project
    self.profile = profile ?? Profile(configuration.sync.engine)
    var problems: [Diagnostic] = []
    scope = LintScope(
      configuration, profile: self.profile, project: project, file: configurationFile,
      problems: &problems)
    var overrides: [ExactText: Severity] = [:]
    for setting in configuration.rules {
      if let problem = Rule.problem(withID: setting.rule) {
        problems.append(
          Diagnostic(file: configurationFile, position: setting.position, message: problem))
      }
      overrides[setting.rule] = Severity(rawValue: setting.severity.rawValue)
    }
    try throwIfAny(problems + project.migrations.invalidSuppressions)
    self.overrides = overrides
    self.baseline = baseline
    self.queries = queries
    self.today = String(today.description.prefix(10))
    self.interruption = interruption
    self.project.application.declare(self.profile.functions)
  }

  /// Replays the history and reports findings.
  ///
  /// - Parameters:
  ///   - through: the last migration to check, by id or number; nil for all.
  ///   - ids: the migrations whose findings are reported. All migrations are replayed.
  ///   - isStrict: whether warnings and notes affect the exit status.
  ///   - isFull: whether frozen migrations also run on generated rows, and whether the
  ///     compatibility simulation tries all pairs of releases.
  ///   - isVerbose: whether text output includes every finding about frozen migrations.
  ///   - observe: called after each migration of the replay.
  ///   - data: runs the pending migrations on a copy of a real database. If it is given, failures
  ///     on generated rows are not reported.
  /// - Throws: failures with exit code 64 and above. A failing migration (3) is part of the report.
  package func lint(
    through: String? = nil, reporting ids: Set<ExactText>? = nil, isStrict: Bool = false,
    isFull: Bool = false, isVerbose: Bool = false,
    observing observe:
      (ScratchDatabase.Step, ScratchDatabase) throws(Failure) -> Void = { _, _ in },
    on data: ((Timeline) throws(Failure) -> DataReport)? = nil
  ) throws(Failure) -> LintReport {
    let migrations = try targets(through)
    try project.requireEngine(for: migrations)
    let (evidence, complete, report, failure) = try replay(migrations, data, isFull, observe)
    let timeline = evidence.timeline
    var found: [FoundDraft] = []
    for rule in Rule.all { found += rule.drafts(evidence, scope).map { (rule, $0) } }
    found = withoutRepeatedFailures(found, timeline)
    var suppressions = Suppressions(
      migrations, evidence.suppressingQueries,
      untried: timeline.losses.untried, today: today)
    var findings = found.map { rule, draft in
      finding(rule, draft, suppressions.suppress(rule, draft, among: found), migrations)
    }.filter { $0.severity != .off }
    findings = inReadingOrder(findings, migrations)
    var baseline = baseline
    // A suppression in the manifest states a reason, so it takes precedence.
    for index in findings.indices where !findings[index].isSuppressed {
      findings[index].reason = baseline?.reason(for: findings[index])
      findings[index].isInBaseline = findings[index].isSuppressed
    }
    func canFind(_ rule: Rule, in migration: Int) -> Bool {
      migration < complete && severity(rule, scope.profile(nil, in: migration)) != .off
        && !(rule.isFoundByRows && (report != nil || timeline.losses.untried.contains(migration)))
    }
    let unused = suppressions.unused(canFind)
    let judgesQueries = evidence.judgedQueries > 0 || (queries ?? []).isEmpty
    findings += unused.map { finding(.unusedSuppression, $0, nil, migrations) }
    findings +=
      baseline?.unused(severity(.unusedSuppression, profile)) { known, home in
        // A missing migration has no findings. The home may also be a query file.
        (judgesQueries || known.section != .breaksQueries)
          && project.migrations.firstIndex { $0.id == home }.map { canFind(known, in: $0) } ?? true
      } ?? []
    let reported = findings.filter { finding in
      finding.severity != .off && (ids?.contains(finding.migration) ?? true)
    }
    return LintReport(
      profile: profile, findings: inReadingOrder(reported, migrations), failure: failure,
      isStrict: isStrict, isVerbose: isVerbose,
      queries: queries.map { _ in evidence.judgedQueries },
      notes: notes(on: reported) + timeline.losses.notes + emptyDrafts(migrations, ids),
      data: report)
  }

  private func emptyDrafts(_ migrations: [Migration], _ ids: Set<ExactText>?) -> [String] {
    migrations.filter { migration in
      migration.manifest.isEmpty && !project.isFrozen(migration)
        && ids?.contains(migration.id.exact) ?? true
    }.map { "`\($0.file)` has no operations: `freeze` refuses it" }
  }

  /// Advice for errors in frozen manifests.
  private func notes(on findings: [Finding]) -> [String] {
    let count = findings.count { $0.severity == .error && !$0.isSuppressed && $0.isFrozen }
    guard count > 0, profile != .local, !scope.beginsLater else { return [] }
    return [
      "\(count == 1 ? "1 error concerns a frozen manifest" : "\(count) errors concern frozen manifests"), "
        + "which must not change. If nothing synced when they were written, set `sync: { engine: "
        + "none }` in `schemactl.yaml`, or the first migration that syncs (`sync: { engine: …, "
        + "since: ID }`). `lint --write-baseline` accepts today's findings"
    ]
  }

  private func targets(_ through: String?) throws(Failure) -> [Migration] {
    var options = MigrateOptions(database: "")
    options.through = through
    return try project.targets(options)
  }

  /// Replays the history as far as possible. Returns its effects and the number of migrations that
  /// ran.
  private func replay(
    _ migrations: [Migration], _ data: ((Timeline) throws(Failure) -> DataReport)?, _ isFull: Bool,
    _ observe: (ScratchDatabase.Step, ScratchDatabase) throws(Failure) -> Void
  ) throws(Failure) -> (Evidence, complete: Int, DataReport?, Failure?) {
    let tracker = TableTracker(migrations, application)
    let trial = RowTrial(project, application, isFull: isFull, interruption)
    // A later migration, which lint does not check, may create tables that the queries need.
    let isWhole = migrations.count == project.migrations.count
    let queries = isWhole ? self.queries ?? [] : []
    var queryTrial = queries.isEmpty ? nil : try QueryTrial(queries, project, scope)
    try failing { try throwIfAny(queryTrial?.all.invalidSuppressions ?? []) }
    var deltas: [SchemaDelta] = []
    var schema: Schema?
    var failure: Failure?
    do {
      schema = try project.replay(
        migrations, application: application, isForLint: true, interruption: interruption,
        preparing: { scratch in scratch.observe { tracker.note($0, on: $1) } },
        observing: { step, scratch throws(Failure) in
          tracker.end(step.delta, scratch.schema, leftBehind: step.temporary)
          deltas.append(step.delta)
          try queryTrial?.note(step.delta, on: scratch.connection)
          try trial.follow(step, on: scratch, tracker.timeline)
          try observe(step, scratch)
        }
      ).schema
    } catch {
      guard error.status.isResult else { throw error }
      failure = error
    }
    if let schema { try finish(tracker, schema) }
    if let fault = tracker.fault {
      throw Failure(fault.status, "cannot read the scratch database: \(fault.message)")
    }
    var timeline = tracker.timeline
    let report = try data?(timeline)
    let failures = report.map { [$0.rowFailure].compactMap { $0 } } ?? trial.failures
    timeline.rowFailures = failures.filter { $0.place.migration < deltas.count }
    timeline.losses = trial.evidence
    timeline.noteCopiedColumns()
    if failure == nil, isWhole, !migrations.isEmpty {
      let tables = timeline.changes.compactMap { ($0.after ?? $0.before)?.name }
      try failing { try scope.requireKnownTables(tables) }
    }
    var evidence = Evidence(timeline: timeline)
    if Rule.all.contains(where: { $0.needsDevices && severity($0, profile) != .off }) {
      evidence.disagreements = try CompatibilitySimulation.disagreements(
        project, deltas, timeline, scope, isFull: isFull)
    }
    if let queryTrial, failure == nil, !migrations.isEmpty {
      evidence.suppressingQueries = queryTrial.all
      evidence.judgedQueries = queryTrial.queries.count
      evidence.queries = queryTrial.verdicts
    }
    return (evidence, deltas.count, report, failure)
  }

  private func finish(_ tracker: TableTracker, _ schema: Schema) throws(Failure) {
    do {
      // An object that compiles without strings in double quotes also compiles with them.
      let doubleQuoted = try schema.brokenObjects(project.application, allowsQuotedStrings: false)
      tracker.finish(
        schema,
        broken: doubleQuoted.isEmpty ? [] : try schema.brokenObjects(project.application),
        doubleQuoted: doubleQuoted)
    } catch {
      throw Failure(error.status, "cannot read the schema: \(error.inWords)")
    }
  }

  /// Plans operations one by one, so that each finding has the place of its operation.
  private var application: Application {
    var application = project.application
    application.plansOperationsAlone = true
    return application
  }

  private func severity(_ rule: Rule, _ profile: Profile) -> Severity {
    overrides[rule.id] ?? rule.severities[profile]
  }

  private func severity(_ rule: Rule, _ draft: Draft) -> Severity {
    let isKnownToAll = rule.concernsOlderVersions && !scope.mayBeMissingOnDevices(draft.migration)
    let profile =
      switch (isKnownToAll, rule.concernsSyncedSchema) {
      case (true, _): Profile.local
      case (_, true): scope.profile(draft.table)
      case (_, false): scope.profile(draft.table, in: draft.migration)
      }
    let severity = severity(rule, profile)
    if severity == .off { return .off }
    if draft.severity == .note { return .note }
    if draft.isCertain { return .error }
    return overrides[rule.id] == nil ? draft.severity ?? severity : severity
  }

  private func finding(
    _ rule: Rule, _ draft: Draft, _ suppression: Suppression?, _ migrations: [Migration]
  ) -> Finding {
    let migration = migrations[draft.migration]
    let age =
      isOlderThanSyncing(rule, draft)
      ? " (older than `sync.since`, and it syncs now: a new migration must repair it)" : ""
    return Finding(
      rule: rule.id, severity: severity(rule, draft),
      lines: (draft.message + age).split(separator: "\n").map(String.init)
        + (draft.transcript?.script ?? []),
      file: draft.query?.file ?? migration.file,
      line: draft.position.line, column: draft.position.column, migration: migration.id,
      queryFile: draft.isOfQueryAlone ? draft.query?.name : nil, object: draft.object,
      reason: suppression?.reason, fix: draft.fix, fixPlace: draft.fixPlace,
      correction: draft.correction, isFrozen: isFrozen(rule, draft, migration),
      help: draft.fix == nil ? draft.help ?? rule.advice : nil, transcript: draft.transcript)
  }

  /// Whether a finding concerns only a manifest that can no longer change and has no effect on
  /// future changes.
  private func isFrozen(_ rule: Rule, _ draft: Draft, _ migration: Migration) -> Bool {
    project.isFrozen(migration) && draft.query == nil && !isOlderThanSyncing(rule, draft)
      && !draft.isCertain
      && !rule.isAboutSuppressions && !rule.concernsLatestSchema
  }

  /// Whether the finding concerns a table that syncs now, in a migration before `sync.since`.
  private func isOlderThanSyncing(_ rule: Rule, _ draft: Draft) -> Bool {
    rule.concernsSyncedSchema && scope.isBeforeSyncing(draft.migration)
  }

  private func inReadingOrder(_ findings: [Finding], _ migrations: [Migration]) -> [Finding] {
    let order = Dictionary(
      migrations.enumerated().map { ($0.element.id.exact, $0.offset) },
      uniquingKeysWith: { a, _ in a })
    func key(_ finding: Finding) -> (Int, String, Int, Int) {
      let index = order[finding.migration] ?? 0
      let isElsewhere = index < migrations.count && finding.file != migrations[index].file
      return (index, isElsewhere ? finding.file : "", finding.line, finding.column)
    }
    return findings.enumerated().sorted { a, b in
      let (left, right) = (key(a.element), key(b.element))
      return left == right ? a.offset < b.offset : left < right
    }.map(\.element)
  }
}

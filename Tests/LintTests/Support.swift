import Foundation
import SchemaTestPrograms
import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaPlanning
import SchemaPlatform
import SchemaQueries
import SchemaReplay
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

/// A history of manifests named `0001_step` and so on.
///
/// - Parameter releases: the number of manifests in each release; the others are drafts.
func project(
  _ manifests: [String], functions: [String] = [], releases: [String: Int] = [:]
) throws -> Project {
  let migrations = try manifests.enumerated().map { index, text in
    let id = String(repeating: "0", count: 3) + "\(index + 1)_step"
    let bytes = Array(text.utf8)
    let file = "migrations/\(id).yaml"
    return Migration(
      id: id, file: file, bytes: bytes, manifest: try decodeManifest(bytes, file: file))
  }
  return Project(
    folder: MigrationFolder("migrations"), migrations: migrations,
    lock: try lock(migrations, releases),
    application: Application(declaredFunctions: functions.map { DeclaredFunction(name: $0) }))
}

private func lock(_ migrations: [Migration], _ releases: [String: Int]) throws -> HistoryLock? {
  guard let frozen = releases.values.max() else { return nil }
  var lock = HistoryLock()
  let digest = String(repeating: "0", count: 64)
  for (index, migration) in migrations.prefix(frozen).enumerated() {
    let release = releases.filter { $0.value > index }.min { $0.value < $1.value }?.key
    try lock.freeze(
      LockEntry(
        id: migration.id, release: release,
        digests: LockedDigests(raw: digest, canonical: digest, schema: digest, sqlite: "3.40.1")))
  }
  return lock
}

/// Runs lint on a history; `configuration` is YAML.
func lint(
  _ manifests: [String], _ profile: Profile? = nil, configuration: String = "",
  functions: [String] = [], releases: [String: Int] = [:], baseline: String? = nil,
  queries: String? = nil, through: String? = nil, reporting: Set<ExactText>? = nil,
  isStrict: Bool = false, isFull: Bool = false
) throws -> LintReport {
  let linter = try Linter(
    project: project(manifests, functions: functions, releases: releases),
    configuration: decodeConfiguration(Array(configuration.utf8), file: "schemactl.yaml"),
    profile: profile,
    baseline: baseline.map { (text) throws(Failure) in
      try Baseline(Array(text.utf8), file: "lint.baseline")
    }, queries: queries.map { [QueryFile(path: "queries/reminders.sql", text: $0)] } ?? [],
    today: noon)
  return try linter.lint(through: through, reporting: reporting, isStrict: isStrict, isFull: isFull)
}

/// Runs lint on a rule's example, under its own profile or another one.
/// Lints an example once: several tests read the findings of all of them.
func lint(_ example: Rule.Example, _ profile: Profile? = nil) throws -> LintReport {
  let profile = profile ?? example.profile
  let key = "\(profile) \(example)"
  if let known = reports.withLock({ $0[key] }) { return known }
  let report = try lint(
    example.manifests, profile, configuration: example.configuration, releases: example.releases,
    queries: example.queries)
  reports.withLock { $0[key] = report }
  return report
}

private let reports = Locked<[String: LintReport]>([:])

/// 2026-11-20T12:00:00Z.
let noon = Timestamp(milliseconds: 1_795_176_000_000)

extension LintReport {
  /// The findings that are not suppressed: `0002 4:7 error drop-column reminders.isCompleted`.
  /// Omits missing STRICT, which has tests of its own and applies to most tables here.
  var lines: [String] {
    findings.filter { !$0.isSuppressed && $0.rule != "missing-strict" }.map(\.short)
  }
}

extension Finding {
  /// The finding without its place.
  var kind: String { "\(severity.rawValue) \(rule) \(object ?? "")" }

  var short: String {
    "\(migration.prefix(4)) \(line):\(column) \(severity.rawValue) \(rule) \(object ?? "")"
  }
}

/// A manifest with a single `sql` block.
func sql(_ text: String) -> String {
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  return "operations:\n  - sql: |\n" + lines.map { "      \($0)" }.joined(separator: "\n") + "\n"
}

/// The texts of the repository's own manifests.
func livingExample() throws -> [String] {
  let folder = repository.appendingPathComponent("migrations")
  return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    .filter { $0.hasSuffix(".yaml") }.sorted()
    .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
}

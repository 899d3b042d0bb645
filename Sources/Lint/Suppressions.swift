import SchemaHistory
import SchemaManifest
import SchemaQueries
import SchemaSQLText

/// The suppressions of a history and of the application's queries, with their findings.
struct Suppressions {
  private struct Entry {
    let suppression: Suppression
    let migration: Int
    /// The index of the operation; nil if the suppression applies to the whole manifest.
    var operation: Int?
    /// The query whose comment contains the suppression.
    var query: ApplicationQuery?
    var isUsed = false
  }

  private var entries: [Entry] = []
  private let migrations: [Migration]
  private let today: String
  private let untried: Set<Int>

  /// - Parameters:
  ///   - queries: the statements of the query files.
  ///   - untried: the migrations that did not run on rows.
  ///   - today: in UTC, as `2026-11-20`.
  init(
    _ migrations: [Migration], _ queries: [ApplicationQuery], untried: Set<Int>, today: String
  ) {
    self.migrations = migrations
    self.untried = untried
    self.today = today
    for (index, migration) in migrations.enumerated() {
      entries += migration.manifest.suppressions.map { Entry(suppression: $0, migration: index) }
      for (number, operation) in migration.manifest.operations.enumerated() {
        entries += operation.suppressions.map {
          Entry(suppression: $0, migration: index, operation: number)
        }
      }
    }
    for query in queries {
      entries += query.suppressions.map {
        Entry(suppression: $0, migration: migrations.count - 1, query: query)
      }
    }
  }

  /// The suppression of a finding. A suppression of a query or an operation precedes one of a
  /// manifest. A finding of the compatibility simulation is also covered by a suppression of
  /// another rule that found the same change.
  mutating func suppress(
    _ rule: Rule, _ draft: Draft, among others: [FoundDraft]
  ) -> Suppression? {
    if let own = suppress(rule.id, draft) { return own }
    // Only runs on rows show that a hand-written rebuild renames a column.
    if rule.id == Rule.dropColumn.id, untried.contains(draft.migration),
      let renamed = suppress(Rule.renameColumn.id, draft)
    {
      return renamed
    }
    guard rule.needsDevices else { return nil }
    for (rule, other) in others
    where !rule.needsDevices && draft.isSameChange(as: other, migrations) {
      if let suppression = suppress(rule.id, other) { return suppression }
    }
    return nil
  }

  private mutating func suppress(_ rule: String, _ draft: Draft) -> Suppression? {
    let known = entries.indices.filter { index in
      entries[index].suppression.rule == rule && !isExpired(entries[index].suppression)
    }
    let ofManifest = known.filter {
      entries[$0].query == nil && entries[$0].migration == draft.migration
    }
    let index =
      draft.query.flatMap { query in
        known.first {
          entries[$0].query?.file == query.file && entries[$0].query?.position == query.position
        }
      } ?? draft.operation.flatMap { number in ofManifest.first { entries[$0].operation == number }
      }
      ?? ofManifest.first { entries[$0].operation == nil && !draft.isOfQueryAlone }
    guard let index else { return nil }
    entries[index].isUsed = true
    return entries[index].suppression
  }

  private func isExpired(_ suppression: Suppression) -> Bool {
    suppression.until.map { $0 < today } ?? false
  }

  /// The suppressions that matched no finding, and the expired ones. Call it after all findings.
  ///
  /// - Parameter canFind: whether a rule can report anything in a migration.
  func unused(_ canFind: (Rule, Int) -> Bool) -> [Draft] {
    entries.compactMap { entry in
      let suppression = entry.suppression
      guard let rule = Rule.named(suppression.rule) else { return nil }
      func draft(_ message: String, _ severity: Severity?, _ correction: Correction?) -> Draft {
        Draft(
          message: message, query: entry.query, isOfQueryAlone: entry.query != nil,
          migration: entry.migration, operation: entry.operation, position: suppression.position,
          object: suppression.rule, table: nil, fix: nil,
          correction: entry.query == nil ? correction : nil, severity: severity)
      }
      if isExpired(suppression) {
        return draft(
          "the suppression of `\(rule.id)` expired after \(suppression.until ?? "")", .error, nil)
      }
      guard !entry.isUsed, canFind(rule, entry.migration) else { return nil }
      return draft(
        "`\(rule.id)` has no finding here: the suppression is not needed", nil,
        .removeSuppression(suppression.position))
    }
  }
}

extension Suppression {
  /// The problem of a suppression that does not name a valid rule; nil if it does.
  fileprivate func problem(in file: String) -> Diagnostic? {
    let problem =
      Rule.named(rule).map { rule in
        rule.isAboutSuppressions ? "a finding of `\(rule.id)` cannot be suppressed" : nil
      } ?? Rule.problem(withID: rule)
    return problem.map { Diagnostic(file: file, position: position, message: $0) }
  }
}

extension [ApplicationQuery] {
  /// The suppressions of an unknown rule or of a rule about suppressions.
  var invalidSuppressions: [Diagnostic] {
    flatMap { query in query.suppressions.compactMap { $0.problem(in: query.file) } }
  }
}

extension [Migration] {
  /// The suppressions of an unknown rule or of a rule about suppressions.
  var invalidSuppressions: [Diagnostic] {
    flatMap { migration in
      let manifest = migration.manifest
      return (manifest.suppressions + manifest.operations.flatMap(\.suppressions)).compactMap {
        $0.problem(in: migration.file)
      }
    }
  }
}

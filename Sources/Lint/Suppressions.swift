import SchemaHistory
import SchemaManifest
import SchemaQueries
import SchemaSQLText
import SchemaTimeline

/// The suppressions of a history and of the application's queries, and the findings of each.
struct Suppressions {
  private struct Entry {
    let waiver: Waiver
    let migration: Int
    /// Nil: it holds for the whole manifest.
    let operation: Int?
    /// The query whose comment it is.
    var query: ApplicationQuery?
    var isUsed = false
  }

  private var entries: [Entry] = []
  private let today: String

  /// - Parameters:
  ///   - queries: those of which it is known what lint finds.
  ///   - today: in UTC, as `2026-11-20`.
  init(_ migrations: [Migration], _ queries: [ApplicationQuery], today: String) {
    self.today = today
    for (index, migration) in migrations.enumerated() {
      let manifest = migration.manifest
      entries += manifest.waivers.map { Entry(waiver: $0, migration: index, operation: nil) }
      for (number, operation) in manifest.operations.enumerated() {
        entries += operation.waivers.map {
          Entry(waiver: $0, migration: index, operation: number)
        }
      }
    }
    entries += queries.flatMap { query in
      query.waivers.map {
        Entry(waiver: $0, migration: migrations.count - 1, operation: nil, query: query)
      }
    }
  }

  /// The suppression of a finding: one of its query or its operation before one of its manifest.
  mutating func waive(_ rule: String, _ draft: Draft) -> Waiver? {
    func index(_ isOfDraft: (Entry) -> Bool) -> Int? {
      entries.firstIndex { isOfDraft($0) && $0.waiver.rule == rule && holds($0.waiver) }
    }
    func index(of operation: Int?) -> Int? {
      index { entry in
        entry.query == nil && entry.migration == draft.migration && entry.operation == operation
      }
    }
    let own = draft.query.flatMap { query in
      index { $0.query?.file == query.file && $0.query?.position == query.position }
    }
    guard
      let index = own ?? draft.operation.flatMap({ index(of: $0) })
        ?? (draft.isOfQueryAlone ? nil : index(of: nil))
    else { return nil }
    entries[index].isUsed = true
    return entries[index].waiver
  }

  private func holds(_ waiver: Waiver) -> Bool { !isExpired(waiver) }

  private func isExpired(_ waiver: Waiver) -> Bool {
    waiver.until.map { $0 < today } ?? false
  }

  /// The suppressions without a finding, once every finding has asked for its own.
  ///
  /// - Parameters:
  ///   - complete: how many migrations could be replayed; only of those is it known what is unused.
  ///   - canFind: whether a rule reports anything in a migration.
  func unused(complete: Int, canFind: (Rule, Int) -> Bool) -> [Draft] {
    entries.compactMap { entry in
      let waiver = entry.waiver
      guard let rule = Rule.named(waiver.rule) else { return nil }
      func draft(_ message: String, _ severity: Severity?, _ correction: Correction?) -> Draft {
        Draft(
          message: message, query: entry.query, isOfQueryAlone: entry.query != nil,
          migration: entry.migration, operation: entry.operation, position: waiver.position,
          object: waiver.rule, table: nil, fix: nil,
          correction: entry.query == nil ? correction : nil, severity: severity)
      }
      if isExpired(waiver) {
        return draft(
          "the suppression of `\(rule.id)` expired after \(waiver.until ?? "")", .error, nil)
      }
      guard !entry.isUsed, entry.migration < complete, canFind(rule, entry.migration) else {
        return nil
      }
      return draft(
        "`\(rule.id)` finds nothing here that this suppresses", nil, .removeWaiver(waiver.position))
    }
  }
}

extension Waiver {
  /// Why it suppresses nothing; nil when it names a rule.
  var problem: String? {
    guard let rule = Rule.named(rule) else { return Rule.problem(withID: self.rule) }
    return rule.isAboutSuppressions ? "a finding of `\(rule.id)` cannot be suppressed" : nil
  }
}

extension [ApplicationQuery] {
  /// - Throws: at the first suppression that names no rule.
  func requireKnownRules() throws(Failure) {
    for query in self {
      for waiver in query.waivers {
        guard let problem = waiver.problem else { continue }
        throw Failure(
          .invalidInput, problem,
          place: Failure.Place(file: query.file, position: waiver.position))
      }
    }
  }
}

extension [Migration] {
  /// - Throws: at every suppression that names no rule.
  func requireKnownRules() throws(InvalidInput) {
    try throwIfAny(
      flatMap { migration in
        let manifest = migration.manifest
        return (manifest.waivers + manifest.operations.flatMap(\.waivers)).compactMap { waiver in
          waiver.problem.map {
            Diagnostic(file: migration.file, position: waiver.position, message: $0)
          }
        }
      })
  }
}

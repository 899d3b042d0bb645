import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// The waivers of a history and of the application's queries, and which findings each of them allows.
struct Waivers {
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

  /// The waiver that allows a finding: one of its query or its operation before one of its manifest.
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

  private func holds(_ waiver: Waiver) -> Bool {
    waiver.reason != nil && !isExpired(waiver)
      && Rule.named(waiver.rule).map { !$0.isAboutWaivers } ?? false
  }

  private func isExpired(_ waiver: Waiver) -> Bool {
    waiver.until.map { $0 < today } ?? false
  }

  /// What is wrong with the waivers themselves, once every finding has asked for its own.
  ///
  /// - Parameters:
  ///   - complete: how many migrations could be replayed; only of those is it known what is unused.
  ///   - canFind: whether a rule reports anything in a migration.
  func problems(
    complete: Int, canFind: (Rule, Int) -> Bool
  ) -> [(rule: Rule, draft: Draft)] {
    var problems: [(rule: Rule, draft: Draft)] = []
    for entry in entries {
      let waiver = entry.waiver
      func report(_ rule: Rule, _ message: String, _ correction: Correction? = nil) {
        problems.append(
          (
            rule,
            Draft(
              message: message, query: entry.query, isOfQueryAlone: entry.query != nil,
              migration: entry.migration, operation: entry.operation,
              position: waiver.position, object: waiver.rule, table: nil, fix: nil,
              correction: entry.query == nil ? correction : nil)
          ))
      }
      if waiver.reason == nil {
        report(
          .waiverWithoutReason,
          "the waiver of \(waiver.rule) gives no reason, so it does not hold: whoever reads it later "
            + "must be able to tell whether it still may stand")
      }
      guard let rule = Rule.named(waiver.rule) else {
        report(
          .waiverUnknownRule,
          "there is no rule `\(waiver.rule)`" + Rule.suggestion(for: waiver.rule))
        continue
      }
      if rule.isAboutWaivers {
        report(.waiverUnknownRule, "\(rule.id) cannot be waived: mend the waiver that it is about")
      } else if isExpired(waiver) {
        report(
          .waiverExpired,
          "the waiver of \(rule.id) ended with \(waiver.until ?? ""), so it does not hold any more: "
            + "mend what it allowed, or think again and give it another day")
      } else if waiver.reason != nil, !entry.isUsed, entry.migration < complete,
        canFind(rule, entry.migration)
      {
        report(
          .waiverUnused,
          "nothing here is a finding of \(rule.id): remove the waiver, or it will hide the next one",
          .removeWaiver(waiver.position))
      }
    }
    return problems
  }
}

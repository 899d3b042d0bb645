import History
import SQLText

/// What tells databases apart that have run the same migrations: when they have.
struct LedgerRun: Sendable, Hashable {
  let id: String
  let startedAt: String
}

extension LedgerRow {
  /// A repair of the ledger may change all the rest of a row.
  var run: LedgerRun { LedgerRun(id: id, startedAt: startedAt) }
}

/// Whether two ledgers are of one database: whether the first migration that both have run was run
/// at the same moment. One may have got or lost rows by repairs; nil when one has none.
func areOfOneDatabase(_ rows: [LedgerRow], _ others: [LedgerRow]) -> Bool? {
  guard !rows.isEmpty, !others.isEmpty else { return nil }
  let moments = Dictionary(
    others.map { ($0.id.exact, $0.startedAt) }, uniquingKeysWith: { first, _ in first })
  guard let first = rows.first(where: { moments[$0.id] != nil }) else { return false }
  return moments[first.id] == first.startedAt
}

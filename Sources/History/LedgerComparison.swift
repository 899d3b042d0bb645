import SchemaSQLText

/// The state of a migration in one database.
package enum LedgerState: String, Sendable, Hashable, CaseIterable {
  /// The database has run the current form: for a draft, that of the file; otherwise that of the lock.
  case applied
  /// The database has run neither it nor any later migration.
  case pending
  /// The database has run a form that an accepted edit has replaced since.
  case accepted
  /// Only the ledger contains it: the database is ahead of the history.
  case unknown
  /// It is frozen and missing from the ledger, although the ledger contains a later migration.
  case missing
  /// It is frozen, and the database has run a form that the lock does not know.
  case edited
  /// The row contradicts itself, other rows, the lock or the draft's file: another program wrote it.
  case altered
  /// A draft that is missing from the ledger, although the ledger contains a later migration.
  case outOfOrder = "out-of-order"
  /// A draft that was edited after the database ran it.
  case draftEdited = "draft-edited"

  /// Whether `migrate` stops because of this state.
  package var stops: Bool {
    switch self {
    case .applied, .pending, .accepted: false
    case .unknown, .missing, .edited, .altered, .outOfOrder, .draftEdited: true
    }
  }
}

extension LedgerState {
  /// The problem in one sentence; nil if the state is not a problem.
  package var problem: String? {
    switch self {
    case .applied, .pending, .accepted: nil
    case .unknown: "A database has run a migration that the history does not have."
    case .missing: "A database has skipped a frozen migration and run a later one."
    case .edited: "A database has run another form of a frozen migration."
    case .altered: "A row of the ledger contradicts itself or `history.lock`."
    case .outOfOrder: "A database has skipped a draft and run a later migration."
    case .draftEdited: "A draft was edited after a database ran it."
    }
  }
}

/// One migration of the history or the ledger, and its state in the database.
package struct LedgerEntry: Sendable, Equatable {
  package let id: String
  package let state: LedgerState
  /// The problem, or a remark about an accepted edit; empty without either.
  package let problem: String
  /// The advice, which follows the problem.
  private let remedy: String

  package init(id: String, state: LedgerState, detail: String = "", remedy: String = "") {
    self.id = id
    self.state = state
    problem = detail
    self.remedy = remedy
  }

  /// The problem and the advice; empty without a problem.
  package var detail: String { problem + remedy }
}

/// Compares the migrations that a database has run with the history.
///
/// A frozen migration is compared with the lock, never with its file, because a later edit or removal of the
/// file does not change the form that a database has run. A draft is compared with its file.
///
/// - Returns: the history's migrations in the order of the numbers, then those that only the ledger contains,
///   in the order of their positions.
package func compareLedger(
  _ rows: [LedgerRow], with migrations: [Migration], _ lock: HistoryLock?
) -> [LedgerEntry] {
  let items = historyItems(migrations, lock)
  let rowsByID = Dictionary(rows.map { ($0.id.exact, $0) }, uniquingKeysWith: { first, _ in first })
  let lastApplied = items.last { rowsByID[$0.id] != nil }
  let rowsOfPosition = Dictionary(grouping: rows, by: \.position)
  // A renamed frozen manifest is listed under its frozen id.
  let newNames = Set(renamedFiles(items).values.map(\.id.exact))

  var previous: LedgerRow?
  let known = items.compactMap { item -> LedgerEntry? in
    guard let row = rowsByID[item.id] else {
      return newNames.contains(item.id) ? nil : absent(item, lastApplied)
    }
    defer { previous = row }
    let twin = rowsOfPosition[row.position]?.first { $0.id != row.id }
    if let problem = problem(of: row, after: previous, twin) ?? contradiction(row, item) {
      return LedgerEntry(id: item.id, state: .altered, detail: problem + altered)
    }
    return present(row, item)
  }

  let ids = Set(items.map(\.id.exact))
  var seen: Set<ExactText> = []
  let unknown = rows.filter { !ids.contains($0.id) || !seen.insert($0.id) }
  return known
    + unknown.map { row in
      let twin = items.first { item in
        item.entry == nil && rowsByID[item.id] == nil
          && item.migration?.canonicalDigest == row.canonicalDigest
      }
      let why =
        twin.map { "it was a draft, which is now `\($0.id)`" }
        ?? "it belongs to a newer version or another branch, or is a deleted draft"
      return LedgerEntry(
        id: row.id, state: .unknown,
        detail:
          "the database has run it (\(row.startedAt)), but the history does not contain it: \(why)",
        remedy: twin != nil
          ? ": \(resetting)" : "; update the migrations. For a deleted draft, \(resetting)")
    }
}

/// The changes of drafts can only be undone by restoring the whole database.
private let resetting =
  "go back to the state before the drafts (`schemactl migrate --reset-drafts`; rows written since "
  + "are then in the `.before-reset` copy only) or to a backup (`schemactl restore`)"

private func absent(_ item: HistoryItem, _ lastApplied: HistoryItem?) -> LedgerEntry {
  guard let lastApplied, item.number < lastApplied.number else {
    return LedgerEntry(id: item.id, state: .pending)
  }
  guard item.entry == nil else {
    return LedgerEntry(
      id: item.id, state: .missing,
      detail:
        "it is frozen, and the database has not run it, though it has run `\(lastApplied.id)`: "
        + "somebody removed its row, or migrated the database with another history",
      remedy:
        "; if `schemactl diff --database FILE` shows no difference, record it: `schemactl repair "
        + "\(shellQuoted(item.id)) applied --reason … --database FILE`")
  }
  return LedgerEntry(
    id: item.id, state: .outOfOrder,
    detail: "it comes before `\(lastApplied.id)`, which the database has run: give it a higher "
      + "number")
}

private func present(_ row: LedgerRow, _ item: HistoryItem) -> LedgerEntry {
  guard let entry = item.entry else {
    if row.canonicalDigest == item.migration?.canonicalDigest {
      return LedgerEntry(id: item.id, state: .applied)
    }
    return LedgerEntry(
      id: item.id, state: .draftEdited,
      detail: "the file was edited after the database ran it (\(row.startedAt))",
      remedy: ": undo the edit, or \(resetting)")
  }
  if row.canonicalDigest == entry.digests.canonical {
    return LedgerEntry(id: item.id, state: .applied)
  }
  if entry.forms.contains(where: { $0 == row.canonicalDigest }) {
    let reason = entry.acceptances.last?.reason ?? ""
    return LedgerEntry(
      id: item.id, state: .accepted,
      detail: "the database has run it as it was before an accepted edit: \(reason)")
  }
  return LedgerEntry(
    id: item.id, state: .edited,
    detail:
      "the database has run another form of it (\(row.startedAt)) than the frozen manifest: "
      + "somebody edited it before or after the freeze",
    remedy:
      "; compare the schema with `schemactl diff --database FILE`, and correct it in a new migration"
  )
}

private let altered =
  ": another program changed the ledger; compare it with a backup"

/// The problem of a row by itself, or of its position among the other rows.
private func problem(of row: LedgerRow, after previous: LedgerRow?, _ twin: LedgerRow?) -> String? {
  for (name, digest) in [
    ("raw_digest", row.rawDigest), ("canonical_digest", row.canonicalDigest),
    ("fingerprint", row.fingerprint),
  ] where !isDigest(digest.utf8) {
    return "its `\(name)` is not a digest"
  }
  if row.position < 1 { return "its position is not a number above 0" }
  if let twin { return "its position \(row.position) is also the position of `\(twin.id)`" }
  if let previous, row.position < previous.position {
    return
      "its position \(row.position) comes before \(previous.position), that of `\(previous.id)`"
  }
  return nil
}

/// A contradiction between the row and the lock or file. Equal bytes have equal canonical digests, so if only
/// the raw digests are equal, the row or the lock is wrong.
private func contradiction(_ row: LedgerRow, _ item: HistoryItem) -> String? {
  let form =
    item.entry.map { ($0.digests.raw, $0.digests.canonical) }
    ?? item.migration.map { ($0.rawDigest, $0.canonicalDigest) }
  guard let (raw, canonical) = form, raw == row.rawDigest, canonical != row.canonicalDigest else {
    return nil
  }
  return "its `raw_digest` matches the \(item.entry == nil ? "file" : "frozen manifest"), but its "
    + "`canonical_digest` does not"
}

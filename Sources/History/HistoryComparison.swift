import SchemaSQLText

/// The state of a manifest compared with the lock.
package enum HistoryState: String, Sendable, Hashable, CaseIterable {
  case unchanged
  case draft
  /// The file differs only in text that the canonical digest ignores: comments, key order, quoting, line
  /// ends.
  case cosmetic
  case edited
  /// Edited after the freeze; the lock accepts the edit and records the reason.
  case accepted
  case removed
  /// The frozen file is missing, and a draft has the same content.
  case renamed
  /// A draft whose number is not above that of the last frozen migration.
  case inserted
  /// The replay on another SQLite version results in another fingerprint. The replay finds this, not the
  /// comparison with the lock.
  case engineDiffers = "engine-differs"

  /// Whether the frozen history is broken (exit code 2).
  package var isBroken: Bool {
    switch self {
    case .edited, .removed, .renamed, .inserted: true
    case .unchanged, .draft, .cosmetic, .accepted, .engineDiffers: false
    }
  }
}

extension HistoryState {
  /// The problem in one sentence; nil if the state is not a problem.
  package var problem: String? {
    switch self {
    case .unchanged, .draft, .cosmetic, .accepted: nil
    case .edited: "A frozen migration was edited."
    case .removed: "The file of a frozen migration is missing."
    case .renamed: "A frozen migration was renamed."
    case .inserted: "A new migration comes before a frozen one."
    case .engineDiffers:
      "This SQLite version gives a frozen migration another schema than the version that froze it."
    }
  }
}

/// One manifest of the history, and its state.
package struct HistoryEntry: Sendable, Equatable {
  package let id: String
  package let frozen: Bool
  package var state: HistoryState
  /// The problem or remark, and what to do; empty without one.
  package var detail: String

  package init(id: String, frozen: Bool, state: HistoryState, detail: String = "") {
    self.id = id
    self.frozen = frozen
    self.state = state
    self.detail = detail
  }
}

/// A line of another revision's lock that is missing or changed in the current lock.
package struct LockDifference: Sendable, Equatable {
  package enum Kind: String, Sendable, Hashable {
    /// The line is missing.
    case missing
    /// The line has another release or other digests, and does not accept the edit.
    case changed
    /// The whole lock is missing.
    case removed
  }

  package let kind: Kind
  /// The revision: `HEAD`, `tag 1.0`.
  package let older: String
  /// The problem and what to do.
  package let message: String

  package init(kind: Kind, older: String, message: String) {
    self.kind = kind
    self.older = older
    self.message = message
  }
}

extension MigrationFolder {
  /// Compares the folder's manifests with its lock. Without a lock, every manifest is a draft.
  ///
  /// - Returns: each manifest once, in the order of the numbers. A frozen manifest that was renamed is listed
  ///   only under its frozen id.
  package func compare(_ migrations: [Migration], with lock: HistoryLock?) -> [HistoryEntry] {
    let items = historyItems(migrations, lock)
    let renames = renamedFiles(items)
    let newNames = Set(renames.values.map(\.id.exact))
    let lastFrozen = lock?.entries.last
    return items.compactMap { item in
      if let entry = item.entry {
        guard let migration = item.migration else { return missing(entry, renames) }
        return compare(migration, with: entry)
      }
      return newNames.contains(item.id) ? nil : draft(item, lastFrozen)
    }
  }

  // MARK: Frozen, with a file

  package func compare(_ migration: Migration, with entry: LockEntry) -> HistoryEntry {
    let digests = entry.digests
    let sameBytes = migration.rawDigest == digests.raw
    let (state, detail): (HistoryState, String) =
      if migration.canonicalDigest != digests.canonical {
        (.edited, editDetail(migration, entry, sameBytes: sameBytes))
      } else if let accepted = entry.acceptances.last {
        (.accepted, "edited after it was frozen, and accepted: \(accepted.reason)")
      } else if !sameBytes {
        (.cosmetic, "only comments, layout or spelling differ from the frozen manifest")
      } else if migration.hasCarriageReturns {
        (.cosmetic, "only the line ends differ from the frozen manifest")
      } else {
        (.unchanged, "")
      }
    return HistoryEntry(id: migration.id, frozen: true, state: state, detail: detail)
  }

  /// The entry of an edited or removed manifest whose frozen text is in git.
  ///
  /// - Parameters:
  ///   - restore: the command that restores the frozen text.
  ///   - migration: nil if the file is missing.
  package func found(
    _ frozen: LockEntry, _ migration: Migration?, restore: String
  ) -> HistoryEntry {
    guard let migration else { return removed(frozen, restore) }
    guard migration.canonicalDigest != frozen.digests.canonical else {
      return editedSchema(frozen, restore)
    }
    return HistoryEntry(
      id: frozen.id, frozen: true, state: .edited,
      detail: editDetail(migration, frozen, sameBytes: false, restore))
  }

  private func editDetail(
    _ migration: Migration, _ entry: LockEntry, sameBytes: Bool, _ restore: String? = nil
  ) -> String {
    if sameBytes {
      return "the file has the frozen raw digest, but another canonical digest: somebody changed "
        + "the lock; restore `\(lockFile)` from git"
    }
    if entry.forms.dropLast().contains(where: { $0 == migration.canonicalDigest }) {
      return
        "it has the form from before an accepted edit; \(restoring(entry, restore)), or accept "
        + acceptCommand(entry.id)
    }
    return
      "it differs from the frozen manifest\(shipping(entry)); \(restoring(entry, restore)) and put the "
      + "change into a new migration, or, if no device has run it, accept the edit "
      + acceptCommand(entry.id)
  }

  /// The entry of a frozen manifest whose SQL has the same tokens but creates another schema, as the replay
  /// found.
  package func editedSchema(_ entry: LockEntry, _ restore: String? = nil) -> HistoryEntry {
    HistoryEntry(
      id: entry.id, frozen: true, state: .edited,
      detail:
        "its SQL has the same tokens as the frozen manifest\(shipping(entry)), but creates another "
        + "schema. The text of an expression without an alias is the name of a column: "
        + "\(restoring(entry, restore)), or, if no device has run it, accept the edit "
        + acceptCommand(entry.id))
  }

  private func acceptCommand(_ id: String) -> String {
    "with `schemactl freeze --accept \(shellQuoted(id)) --reason …`"
  }

  // MARK: Frozen, without a file

  private func missing(_ entry: LockEntry, _ renames: [ExactText: Migration]) -> HistoryEntry {
    guard let file = renames[entry.id] else { return removed(entry) }
    let command =
      "`mv \(shellQuoted(file.file)) \(shellQuoted(self.file(ofMigration: entry.id)))`"
    return HistoryEntry(
      id: entry.id, frozen: true, state: .renamed,
      detail:
        "`\(entry.id)` is now `\(file.id)`, but databases know it by the old name; undo the renaming "
        + "with \(command)")
  }

  // MARK: Drafts

  private func draft(_ item: HistoryItem, _ lastFrozen: LockEntry?) -> HistoryEntry {
    // Equal numbers count too: the file of the frozen migration with that number is missing, and will be
    // restored.
    guard let lastFrozen, item.number <= lastFrozen.number else {
      return HistoryEntry(id: item.id, frozen: false, state: .draft)
    }
    return HistoryEntry(
      id: item.id, frozen: false, state: .inserted,
      detail:
        "it is not in the lock, but comes before the frozen `\(lastFrozen.id)`: databases that "
        + "have run that migration would never run it. If it was ever frozen, restore its line "
        + "(`git log -p -- \(shellQuoted(lockFile))`); otherwise give it a number above "
        + "\(lastFrozen.number) (`schemactl renumber \(shellQuoted(item.id))`)")
  }

  // MARK: Wording

  private func shipping(_ entry: LockEntry) -> String {
    entry.release.map { " for release \($0)" } ?? ""
  }

  private func removed(_ entry: LockEntry, _ restore: String? = nil) -> HistoryEntry {
    HistoryEntry(
      id: entry.id, frozen: true, state: .removed,
      detail:
        "it was frozen\(shipping(entry)), and its file is missing; \(restoring(entry, restore))")
  }

  private func restoring(_ entry: LockEntry, _ command: String?) -> String {
    if let command { return "restore it with `\(command)`" }
    return
      "restore it from git (`git log -- \(shellQuoted(file(ofMigration: entry.id)))` lists its "
      + "commits)"
  }
}

/// The commit, shortened as in git's own messages.
package func shortened(commit: String) -> String { String(commit.prefix(10)) }

/// One place of the history: a frozen migration, a manifest, or both.
struct HistoryItem {
  let id: String
  let number: MigrationNumber
  /// Nil for a draft.
  let entry: LockEntry?
  /// Nil when the file is missing.
  let migration: Migration?
}

/// Frozen migrations and manifests, in the order of their numbers.
func historyItems(_ migrations: [Migration], _ lock: HistoryLock?) -> [HistoryItem] {
  let files = Dictionary(
    migrations.map { ($0.id.exact, $0) }, uniquingKeysWith: { first, _ in first })
  let frozen = (lock?.entries ?? []).map { entry in
    HistoryItem(
      id: entry.id, number: MigrationNumber(id: entry.id),
      entry: entry, migration: files[entry.id])
  }
  let drafts = migrations.filter { lock?.contains($0.id) != true }.map {
    HistoryItem(id: $0.id, number: $0.number, entry: nil, migration: $0)
  }
  return (frozen + drafts).sorted { a, b in
    a.number == b.number ? a.entry != nil && b.entry == nil : a.number < b.number
  }
}

/// Maps each frozen id without a file to a draft with the same canonical digest. Uses each draft at most
/// once.
func renamedFiles(_ items: [HistoryItem]) -> [ExactText: Migration] {
  var drafts: [ExactText: [Migration]] = [:]
  for item in items.reversed() where item.entry == nil {
    guard let migration = item.migration else { continue }
    drafts[migration.canonicalDigest, default: []].append(migration)
  }
  var renames: [ExactText: Migration] = [:]
  for item in items where item.migration == nil {
    guard let canonical = item.entry?.digests.canonical,
      let first = drafts[canonical]?.popLast()
    else { continue }
    renames[item.id] = first
  }
  return renames
}

/// The text, quoted as one word of a POSIX shell.
package func shellQuoted(_ text: String) -> String {
  let isPlain =
    !text.isEmpty
    && text.utf8.allSatisfy { byte in
      byte.isLetter || byte.isDigit || byte >= 0x80 || "/._-+".utf8.contains(byte)
    }
  if isPlain { return text }
  let inner = text.utf8.flatMap { $0 == UInt8(ascii: "'") ? Array("'\\''".utf8) : [$0] }
  return "'\(String(decoding: inner, as: UTF8.self))'"
}

import SQLText

/// What has become of a manifest since it was frozen, or that it has not been frozen.
package enum HistoryState: String, Sendable, Hashable, CaseIterable {
  case unchanged
  case draft
  /// The file differs in what the canonical digest does not cover: comments, key order, quoting.
  case cosmetic
  /// The file differs in line ends only.
  case lineEnds = "line-ends"
  case edited
  /// Edited, and the lock records who answers for it.
  case accepted
  case removed
  /// The frozen file is gone, and a draft holds what it held.
  case renamed
  /// Renamed so that it runs before or after other frozen ones than it did.
  case reordered
  /// A draft that runs before a frozen one.
  case inserted
  /// The replay with another SQLite gives another fingerprint; found by the replay, not here.
  case engineDiffers = "engine-differs"

  /// What has shipped is not what is there (exit code 2).
  package var isBroken: Bool {
    switch self {
    case .edited, .removed, .renamed, .reordered, .inserted: true
    case .unchanged, .draft, .cosmetic, .lineEnds, .accepted, .engineDiffers: false
    }
  }
}

/// One manifest of the history, and its state.
package struct HistoryEntry: Sendable, Hashable {
  package let id: String
  package let frozen: Bool
  package var state: HistoryState
  /// What is wrong and what to do next; empty when there is nothing to say.
  package var detail: String

  package init(id: String, frozen: Bool, state: HistoryState, detail: String = "") {
    self.id = id
    self.frozen = frozen
    self.state = state
    self.detail = detail
  }
}

extension MigrationFolder {
  /// Compares the folder's manifests with its lock; without a lock everything is a draft.
  ///
  /// - Parameter baseline: what the lock stands for, where it is not this folder's.
  /// - Returns: each manifest once, in the order of the numbers. A frozen manifest that was renamed
  ///   is listed under its frozen id alone.
  package func compare(_ migrations: [Migration], with lock: HistoryLock?) -> [HistoryEntry] {
    compare(migrations, with: lock, baseline: .frozen)
  }

  func compare(
    _ migrations: [Migration], with lock: HistoryLock?, baseline: Baseline
  ) -> [HistoryEntry] {
    let items = historyItems(migrations, lock)
    let renames = renamedFiles(items)
    let passed = renames.isEmpty ? [:] : passedMigrations(items, renames)
    let newNames = Set(renames.values.map(\.id.exact))
    let lastFrozen = lock?.entries.last
    return items.compactMap { item in
      if let entry = item.entry {
        guard let migration = item.migration else {
          return gone(entry, renames, passed, baseline)
        }
        return compare(
          migration, with: entry, accepted: lock?.acceptances(of: entry.id).last,
          known: lock?.knownDigests(entry.id) ?? [], baseline)
      }
      if newNames.contains(item.id) { return nil }
      return draft(item, lastFrozen, baseline)
    }
  }

  // MARK: Frozen, with a file

  /// - Parameter entry: with the digests that hold now.
  private func compare(
    _ migration: Migration, with entry: LockEntry, accepted: LockAcceptance?,
    known: [LockedDigests], _ baseline: Baseline
  ) -> HistoryEntry {
    let digests = entry.digests
    let sameBytes = migration.rawDigest == digests.raw
    let (state, detail): (HistoryState, String) =
      if migration.canonicalDigest != digests.canonical {
        (.edited, editDetail(migration, entry, known, sameBytes: sameBytes, baseline))
      } else if let accepted {
        (.accepted, "edited after it was frozen, and accepted: \(accepted.reason)")
      } else if !sameBytes {
        (
          .cosmetic,
          "comments, layout or the like differ from what was \(baseline.verb); it does the same"
        )
      } else if migration.hasCarriageReturns {
        (.lineEnds, "only its line ends differ from what was \(baseline.verb)")
      } else {
        (.unchanged, "")
      }
    return HistoryEntry(
      id: migration.id, frozen: baseline == .frozen, state: state, detail: detail)
  }

  private func editDetail(
    _ migration: Migration, _ entry: LockEntry, _ known: [LockedDigests], sameBytes: Bool,
    _ baseline: Baseline
  ) -> String {
    if case .merged = baseline {
      return "it is not what was merged\(shipping(entry, baseline)); \(restoring(entry, baseline)) "
        + "and put the change into a new migration"
    }
    if sameBytes {
      return "the file is the frozen one, but its canonical digest is not: the lock was rewritten, "
        + "or schemactl has a bug; restore \(shellQuoted(lockFile)) from git"
    }
    if known.dropLast().contains(where: { $0.canonical == migration.canonicalDigest }) {
      return
        "it is what was frozen before an edit was accepted; \(restoring(entry, baseline)), or accept "
        + acceptCommand(entry.id)
    }
    return
      "it is not what was frozen\(shipping(entry, baseline)); \(restoring(entry, baseline)) and put the change "
      + "into a new migration, or, if no device has run it, accept the edit "
      + acceptCommand(entry.id)
  }

  /// A frozen manifest whose tokens are what they were, and whose schema is not: the replay finds it.
  package func editedSchema(_ entry: LockEntry) -> HistoryEntry {
    HistoryEntry(
      id: entry.id, frozen: true, state: .edited,
      detail:
        "its SQL has the same words as what was frozen\(shipping(entry, .frozen)), and makes another "
        + "schema: where an expression has no alias, its text, white space included, is the name of "
        + "a column; \(restoring(entry, .frozen)), or, if no device has run it, accept the edit "
        + acceptCommand(entry.id))
  }

  private func acceptCommand(_ id: String) -> String {
    "with `schemactl freeze --accept \(shellQuoted(id)) --reason …`"
  }

  // MARK: Frozen, without a file

  private func gone(
    _ entry: LockEntry, _ renames: [ExactText: Migration], _ passed: [ExactText: String],
    _ baseline: Baseline
  ) -> HistoryEntry {
    let frozen = baseline == .frozen
    guard let file = renames[entry.id] else {
      return HistoryEntry(
        id: entry.id, frozen: frozen, state: .removed,
        detail: "it was \(baseline.verb)\(shipping(entry, baseline)), and its file is gone; "
          + restoring(entry, baseline))
    }
    let command =
      "`mv \(shellQuoted(file.file)) \(shellQuoted(self.file(ofMigration: entry.id)))`"
    if let passed = passed[entry.id] {
      return HistoryEntry(
        id: entry.id, frozen: frozen, state: .reordered,
        detail:
          "\(entry.id) is now \(file.id), on the other side of \(passed): databases that have "
          + "run it did so in the old order; undo it with \(command)")
    }
    return HistoryEntry(
      id: entry.id, frozen: frozen, state: .renamed,
      detail:
        "\(entry.id) is now \(file.id), which databases that have run it do not know; undo it "
        + "with \(command)")
  }

  /// For each frozen id without a file the draft that holds the same, each draft at most once.
  private func renamedFiles(_ items: [HistoryItem]) -> [ExactText: Migration] {
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

  /// For each frozen migration that is no longer between the same others: one of these.
  private func passedMigrations(
    _ items: [HistoryItem], _ renames: [ExactText: Migration]
  ) -> [ExactText: String] {
    let places = items.filter { $0.entry != nil }.compactMap { item in
      (renames[item.id] ?? item.migration).map { (id: item.id, number: $0.number) }
    }
    var passed: [ExactText: String] = [:]
    var greatest = places.first
    for place in places {
      if let other = greatest, place.number < other.number {
        passed[place.id] = other.id
      } else {
        greatest = place
      }
    }
    var least = places.last
    for place in places.reversed() {
      if let other = least, other.number < place.number {
        passed[place.id] = other.id
      } else {
        least = place
      }
    }
    return passed
  }

  // MARK: Drafts

  private func draft(
    _ item: HistoryItem, _ lastFrozen: LockEntry?, _ baseline: Baseline
  ) -> HistoryEntry {
    // An equal number too: the frozen migration that has it is gone, and will be back.
    guard let lastFrozen, item.number <= MigrationNumber(id: lastFrozen.id) else {
      return HistoryEntry(id: item.id, frozen: false, state: .draft)
    }
    return HistoryEntry(
      id: item.id, frozen: false, state: .inserted,
      detail: "it is not \(baseline.verb), but comes before \(lastFrozen.id), which is"
        + "\(baseline.place.isEmpty ? "" : " merged" + baseline.place): databases that have run that one would never run it in this place; "
        + "give it a number above \(MigrationNumber(id: lastFrozen.id)) "
        + "(`schemactl rebase \(shellQuoted(item.id))`)")
  }

  // MARK: Wording

  private func shipping(_ entry: LockEntry, _ baseline: Baseline) -> String {
    guard baseline == .frozen else { return baseline.place }
    return entry.release.map { " for release \($0)" } ?? ""
  }

  private func restoring(_ entry: LockEntry, _ baseline: Baseline) -> String {
    let command =
      switch baseline {
      case .frozen: guessedRestore(of: entry)
      case .merged(let merged):
        "`\(merged.restoreCommand(entry.id + ".yaml", to: file(ofMigration: entry.id)))`"
      }
    return "restore it from git (\(command))"
  }

  /// How to restore a frozen manifest, as long as git has not been asked.
  package func guessedRestore(of entry: LockEntry) -> String {
    "`git log -- \(shellQuoted(file(ofMigration: entry.id)))` shows where"
  }
}

/// What a history is held against.
enum Baseline: Hashable {
  case frozen
  /// What a branch had where this one left it.
  case merged(MergedPlace)

  /// What was done to a manifest of it.
  var verb: String { self == .frozen ? "frozen" : "merged" }

  /// ` into main`, or nothing.
  var place: String {
    if case .merged(let merged) = self { " into \(merged.branch)" } else { "" }
  }
}

/// Where what is merged is.
struct MergedPlace: Hashable {
  /// As it was named.
  let branch: String
  let commit: String
  /// From the top of the repository, where it is another one than ours; ends in `/`.
  let folder: String?

  /// - Parameter file: as it is called here.
  func restoreCommand(_ name: String, to file: String) -> String {
    let commit = shortened(commit: commit)
    return folder.map { "git show \(shellQuoted("\(commit):\($0)\(name)")) > \(shellQuoted(file))" }
      ?? "git checkout \(commit) -- \(shellQuoted(file))"
  }
}

/// As git's own messages name a commit.
package func shortened(commit: String) -> String { String(commit.prefix(10)) }

/// One place of the history: a frozen migration, a manifest, or both.
struct HistoryItem {
  let id: String
  let number: MigrationNumber
  /// With the digests that hold now; nil for a draft.
  let entry: LockEntry?
  /// Nil when the file is gone.
  let migration: Migration?
}

/// What is frozen and what is there, in the order of the numbers.
func historyItems(_ migrations: [Migration], _ lock: HistoryLock?) -> [HistoryItem] {
  let files = Dictionary(
    migrations.map { ($0.id.exact, $0) }, uniquingKeysWith: { first, _ in first })
  let frozen = (lock?.entries ?? []).map { entry in
    HistoryItem(
      id: entry.id, number: MigrationNumber(id: entry.id),
      entry: lock?.effectiveEntry(entry.id) ?? entry, migration: files[entry.id])
  }
  let drafts = migrations.filter { lock?.contains($0.id) != true }.map {
    HistoryItem(id: $0.id, number: $0.number, entry: nil, migration: $0)
  }
  return (frozen + drafts).sorted { a, b in
    a.number == b.number ? a.entry != nil && b.entry == nil : a.number < b.number
  }
}

/// The text as one word of a POSIX shell.
package func shellQuoted(_ text: String) -> String {
  let isPlain =
    !text.isEmpty
    && text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
        true
      default: "/._-+".utf8.contains(byte)
      }
    }
  if isPlain { return text }
  let inner = text.utf8.flatMap { $0 == UInt8(ascii: "'") ? Array("'\\''".utf8) : [$0] }
  return "'\(String(decoding: inner, as: UTF8.self))'"
}

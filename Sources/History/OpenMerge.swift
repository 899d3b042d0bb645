import SQLText

/// A merge that has begun and not ended: the locks of its two branches, as they were committed.
package struct OpenMerge: Sendable {
  package let ours: HistoryLock
  package let theirs: HistoryLock

  package init(ours: HistoryLock, theirs: HistoryLock) {
    self.ours = ours
    self.theirs = theirs
  }

  /// What the branch that is being merged has frozen, and this one has not.
  private var onlyTheirs: [LockEntry] { theirs.entries.filter { !ours.contains($0.id) } }
  private var onlyOurs: [LockEntry] { ours.entries.filter { !theirs.contains($0.id) } }

  /// Whether both branches have frozen another migration of one number. Those of one branch then
  /// have to get other numbers, all that only it has: their order stays.
  private var isDisputed: Bool {
    !Set(onlyOurs.map(\.number)).isDisjoint(with: onlyTheirs.map(\.number))
  }

  /// What may have shipped, and must not be taken for a draft where the lock does not have it yet.
  package var keepingTheirNumbers: Set<ExactText> {
    isDisputed ? [] : Set(onlyTheirs.map(\.id.exact))
  }

  // MARK: The lock that comes of it

  /// How a lock fails to hold what both branches have frozen: the lines of each, in their order.
  ///
  /// Fingerprints are computed again where lines of the other branch come before, and of two
  /// releases or reasons one stays. What had to get another number is there under that one.
  ///
  /// - Parameters:
  ///   - name: whose lock ours is.
  ///   - next: what to do, as `restoring(in:)` says it.
  package func divergence(
    of lock: HistoryLock, named name: String, next: String
  ) -> LockDivergence? {
    func missing(_ side: HistoryLock, _ movable: [LockEntry]) -> LockLine? {
      let moved = Set(
        movable.map(\.id).filter { isMoved($0, of: side, in: lock) }.map(\.exact))
      return side.firstPlaceMissing(in: lock, besides: moved) { $0.holdsTheSame(as: $1) }
        .map { side.lines[$0] }
    }
    // That ours come after theirs is what `--base` asks for.
    let last = onlyTheirs.map(\.number).max()
    let isEarly = onlyOurs.contains { entry in last.map { entry.number <= $0 } ?? false }
    guard
      let line = missing(ours, isEarly ? onlyOurs : [])
        ?? missing(theirs, isDisputed ? onlyTheirs : [])
    else { return nil }
    return LockDivergence(
      kind: .rewritten, older: name,
      message: "both branches are being merged, and the lock lacks what one of them has frozen "
        + "(\(line.subject)); \(next)")
  }

  /// Whether a migration's manifest, as it was frozen last, is frozen under another name by now.
  private func isMoved(_ id: String, of side: HistoryLock, in lock: HistoryLock) -> Bool {
    let form = side.effectiveEntry(id)?.digests.canonical
    return lock.entries.contains { entry in
      !side.contains(entry.id) && lock.effectiveEntry(entry.id)?.digests.canonical == form
    }
  }

  /// How the lock gets what it lacks.
  package func restoring(in folder: MigrationFolder) -> String {
    let file = shellQuoted(folder.lockFile)
    if (try? folder.lockConflict()) ?? nil != nil { return "run `schemactl freeze --resolve`" }
    for (older, newer, commit) in [(ours, theirs, "MERGE_HEAD"), (theirs, ours, "HEAD")]
    where newer.divergence(from: older, named: "", restoring: "") == nil {
      return "restore the lock with `git checkout \(commit) -- \(file)`"
    }
    let again =
      "make git bring the conflict back (`git checkout -m -- \(file)`) and run `schemactl freeze "
      + "--resolve`"
    guard isDisputed else { return again }
    return
      "both have frozen one number, so it has to be frozen again, as it was, under another one "
      + "(`schemactl rebase`, `schemactl freeze`); or \(again)"
  }
}

extension LockEntry {
  fileprivate var number: MigrationNumber { MigrationNumber(id: id) }
}

extension MigrationFolder {
  /// What the branch that is being merged has frozen is no draft, though the lock does not have it
  /// yet: its number stays.
  package func keepingTheirNumbers(_ history: [HistoryEntry]) -> [HistoryEntry] {
    func isEarlyDraft(_ entry: HistoryEntry) -> Bool { !entry.frozen && entry.state == .inserted }
    guard history.contains(where: isEarlyDraft), let merge = openMerge() else { return history }
    return history.map { entry in
      guard isEarlyDraft(entry), merge.keepingTheirNumbers.contains(entry.id) else { return entry }
      return HistoryEntry(
        id: entry.id, frozen: false, state: .inserted,
        detail: "the branch that is being merged has frozen it, and the lock does not have it yet: "
          + merge.restoring(in: self))
    }
  }

  /// Nil where no merge is under way, one of the branches has frozen nothing, or git cannot be
  /// asked.
  package func openMerge() -> OpenMerge? {
    var notes: [String] = []
    guard let git = try? GitRepository(containing: path), let other = try? git.mergeHead(),
      let head = try? git.commit("HEAD"),
      let ours = try? MergedHistory.lock(in: head, of: git, notes: &notes),
      let theirs = try? MergedHistory.lock(in: other, of: git, notes: &notes)
    else { return nil }
    return OpenMerge(ours: ours, theirs: theirs)
  }
}

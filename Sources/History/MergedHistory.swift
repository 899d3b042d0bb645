import ManifestFormat
import SQLText

/// The history as another commit holds it: what is merged there may change no more than what is
/// frozen.
package struct MergedHistory: Sendable {
  /// The branch, as it was named.
  package let branch: String
  package let commit: String
  /// In the order of their numbers.
  package let migrations: [Migration]
  package let lock: HistoryLock?
  /// What could not be read there, and is not held against anything.
  package let notes: [String]
  fileprivate let digests: HistoryLock
  /// From the top of the repository, where it is not the one that git is asked in.
  private let folder: String?
  /// Merged too, and not comparable.
  fileprivate let unread: Set<ExactText>

  /// - Parameter path: of the folder, where it was another then; from the top of the repository.
  package init(
    branch: String, commit: String, in git: GitRepository, ofFolder path: String? = nil
  ) throws(GitError) {
    self.branch = branch
    self.commit = commit
    folder = path
    let files = try git.files(in: commit, ofFolder: path)
    var notes: [String] = []
    var migrations: [Migration] = []
    let manifests = files.filter {
      ManifestName(Array($0.name.utf8)).map { $0.problem == nil } == true
    }
    for (file, bytes) in zip(manifests, try git.contents(of: manifests)) {
      let id = String(file.name.dropLast(".yaml".count))
      do throws(InvalidInput) {
        // A link's blob is where it leads.
        guard let bytes, !file.isLink else { throw InvalidInput([]) }
        let manifest = try decodeManifest(bytes, file: file.name)
        migrations.append(Migration(id: id, file: file.name, bytes: bytes, manifest: manifest))
      } catch {
        notes.append(
          "\(file.name) cannot be read as it is in \(branch) (\(shortened(commit: commit))), so it "
            + "was not compared")
      }
    }
    self.migrations = migrations.sorted { $0.number < $1.number }
    lock = try Self.lock(files, git, &notes, commit)
    digests = Self.digests(self.migrations, &notes)
    self.notes = notes
    unread = Set(manifests.map { ExactText($0.name.dropLast(".yaml".count)) })
      .subtracting(digests.entries.map(\.id.exact))
  }

  fileprivate var ids: Set<ExactText> { unread.union(digests.entries.map(\.id.exact)) }

  /// What the branch has got in this folder since, in the order of the numbers.
  ///
  /// - Parameter tip: the branch's newest commit.
  package func newer(at tip: String, in git: GitRepository) throws(GitError) -> [String] {
    // A folder that has another name there by now is not there, which is no failure.
    guard tip != commit, try git.holds(folder, in: tip) else { return [] }
    return try git.files(in: tip, ofFolder: folder).filter {
      ManifestName(Array($0.name.utf8)).map { $0.problem == nil } == true
    }
    .map { String($0.name.dropLast(".yaml".count)) }
    .filter { !ids.contains($0) }
    .sorted { MigrationNumber(id: $0) < MigrationNumber(id: $1) }
  }

  fileprivate var place: MergedPlace {
    MergedPlace(branch: branch, commit: commit, folder: folder)
  }

  /// The command that puts its lock into the folder.
  package func restoringLock(of ours: MigrationFolder) -> String {
    place.restoreCommand(HistoryLock.fileName, to: ours.lockFile)
  }

  /// The folder was not there, or held no history.
  package var isEmpty: Bool { lock == nil && migrations.isEmpty && unread.isEmpty }

  /// The lock of a commit; nil when there is none that can be read.
  package static func lock(
    in commit: String, of git: GitRepository, notes: inout [String]
  ) throws(GitError) -> HistoryLock? {
    try lock(try git.files(in: commit), git, &notes, commit)
  }

  private static func lock(
    _ files: [GitFile], _ git: GitRepository, _ notes: inout [String], _ commit: String
  ) throws(GitError) -> HistoryLock? {
    guard let file = files.first(where: { $0.name == HistoryLock.fileName }) else { return nil }
    let bytes = try git.contents(of: [file])[0]
    do throws(LockError) {
      guard let bytes else { throw LockError(.malformed, line: 1, "its text is not here") }
      return try HistoryLock(parsing: bytes)
    } catch {
      notes.append(
        "the history.lock of commit \(shortened(commit: commit)) cannot be read (\(error)), so "
          + "today's was not held against it")
      return nil
    }
  }

  /// As a lock that freezes all of it, with which manifests can be compared.
  private static func digests(_ migrations: [Migration], _ notes: inout [String]) -> HistoryLock {
    var lock = HistoryLock()
    for migration in migrations {
      let digests = LockedDigests(
        raw: migration.rawDigest, canonical: migration.canonicalDigest,
        schema: migration.canonicalDigest, sqlite: "0.0")
      do throws(LockError) {
        try lock.freeze(LockEntry(id: migration.id, release: nil, digests: digests))
      } catch {
        notes.append("\(migration.id) was not compared: \(error.message)")
      }
    }
    return lock
  }
}

extension MigrationFolder {
  /// Compares the folder's manifests with its lock and with what is merged.
  ///
  /// What the lock says of a manifest that was frozen there already counts; everything else that is
  /// merged may not change, and what is new must come after all of it.
  package func compare(
    _ migrations: [Migration], with lock: HistoryLock?, merged: MergedHistory
  ) -> [HistoryEntry] {
    let byLock = compare(migrations, with: lock)
    let byBranch = compare(
      migrations, with: merged.digests,
      baseline: .merged(merged.place))
    let branchEntries = Dictionary(
      byBranch.map { ($0.id.exact, $0) }, uniquingKeysWith: { a, _ in a })
    let lockIDs = Set(byLock.map(\.id.exact))
    let kept = byLock.compactMap { entry -> HistoryEntry? in
      let isFrozen = lock?.contains(entry.id) == true
      if merged.unread.contains(entry.id) { return entry }
      if isFrozen, merged.lock?.contains(entry.id) == true { return entry }
      // The new name of a merged manifest, which stands under its old one.
      guard let other = branchEntries[entry.id] else { return isFrozen ? entry : nil }
      if entry.state.isBroken || entry.state == .accepted { return entry }
      guard other.state.isBroken || [.cosmetic, .lineEnds].contains(other.state) else {
        return entry
      }
      if isFrozen, !other.state.isBroken { return entry }
      let detail =
        isFrozen && other.state == .inserted ? frozenTooEarly(entry.id, merged) : other.detail
      return HistoryEntry(id: entry.id, frozen: isFrozen, state: other.state, detail: detail)
    }
    let gone = byBranch.filter { !lockIDs.contains($0.id) && $0.state.isBroken }
    return (kept + gone).enumerated().sorted { a, b in
      (MigrationNumber(id: a.element.id), a.offset) < (MigrationNumber(id: b.element.id), b.offset)
    }.map(\.element)
  }

  /// Marks what this branch has added and what does not come after all that the other one has got
  /// since they parted.
  ///
  /// - Parameter newer: what it has got, in the order of the numbers.
  package func mark(
    _ history: [HistoryEntry], behind newer: [String], merged: MergedHistory
  ) -> [HistoryEntry] {
    guard let last = newer.last else { return history }
    return history.map { entry in
      let isNew = !merged.ids.contains(entry.id) && !newer.contains(entry.id)
      let number = MigrationNumber(id: entry.id)
      guard isNew, !entry.state.isBroken, number <= MigrationNumber(id: last) else { return entry }
      let rival = newer.first { MigrationNumber(id: $0) == number }
      let what =
        rival.map { "\(merged.branch) has \($0) by now, with the same number" }
        ?? "\(merged.branch) has \(last) by now, and this one comes before it"
      let way =
        entry.frozen
        ? "merge it into this branch, take its lock (`git checkout \(shellQuoted(merged.branch)) -- "
          + "\(shellQuoted(lockFile))`), renumber this one (`schemactl rebase "
          + "\(shellQuoted(entry.id))`) and freeze it again"
        : "merge it into this branch, and then renumber this one (`schemactl rebase "
          + "\(shellQuoted(entry.id))`)"
      return HistoryEntry(
        id: entry.id, frozen: entry.frozen, state: .inserted, detail: "\(what): \(way)")
    }
  }

  /// A draft can be renumbered; what this branch has frozen has to become one again.
  private func frozenTooEarly(_ id: String, _ merged: MergedHistory) -> String {
    let last = merged.migrations.last?.id ?? ""
    return "this branch froze it, but it comes before \(last), which is merged into "
      + "\(merged.branch): take that branch's lock (`\(merged.restoringLock(of: self))`), renumber it "
      + "(`schemactl rebase \(shellQuoted(id))`) and freeze it again"
  }
}

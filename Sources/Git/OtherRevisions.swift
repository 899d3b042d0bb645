import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// The history lock of another revision.
package struct OtherLock: Sendable {
  package enum Kind: Sendable, Hashable {
    case head
    case base
    /// A parent of an open merge, rebase, cherry-pick or revert.
    case parent
    case tag
  }

  package let kind: Kind
  /// For messages: `HEAD`, `tag 1.0`.
  package let name: String
  /// As git understands it.
  package let revision: String
  /// From the top of the repository, ending in `/`, or empty.
  package let folder: String
  package let lock: HistoryLock
  /// Equal for locks with the same lines.
  package let content: ExactText
}

/// The locks and manifests of other revisions of a folder's repository, as far as they protect today's
/// history: HEAD, the merge base, the parents of an open merge, rebase or cherry-pick, and every tag.
package final class OtherRevisions {
  package let git: GitRepository
  private let objects: GitObjects
  private let folder: MigrationFolder
  /// By the id of the file: most tags have the same lock.
  private var parsed: [ExactText: HistoryLock] = [:]
  let lock: HistoryLock?
  package let operation: OpenOperation?
  package private(set) var locks: [OtherLock] = []
  /// Locks that could not be read, and why.
  package private(set) var problems: [String] = []

  /// - Parameters:
  ///   - lock: today's, which recognises itself in another folder of another revision.
  ///   - base: a revision whose merge base with HEAD is compared, too.
  /// - Throws: the reason why the comparison cannot be made. Without a base, a single lock that cannot
  ///   be read is one of the problems instead.
  package init(
    of folder: MigrationFolder, lock: HistoryLock?, base: String? = nil
  ) throws(GitError) {
    self.folder = folder
    self.lock = lock
    git = try GitRepository(containing: folder.path, base: base)
    operation = OpenOperation(gitFolder: git.gitFolder)
    let tags = try git.tags()
    objects = try git.objects()
    // Branches that were merged both ways have several.
    if let base {
      for commit in git.mergeBases { try add(.base, "\(base) (\(commit.prefix(10)))", commit) }
    }
    try addOrNote(.head, "HEAD", "HEAD")
    for (name, revision, isPicked) in operation?.parents ?? [] {
      try addOrNote(.parent, name, revision, changedSince: isPicked ? revision + "^" : nil)
    }
    for tag in tags { try addOrNote(.tag, "tag \(tag.dropFirst("refs/tags/".count))", tag) }
    if objects.isSearchIncomplete {
      problems.append("the repository has too many folders to search every tag for a moved lock")
    }
  }

  private func addOrNote(
    _ kind: OtherLock.Kind, _ name: String, _ revision: String, changedSince older: String? = nil
  ) throws(GitError) {
    do throws(GitError) {
      try add(kind, name, revision, changedSince: older)
    } catch {
      guard error.kind == .incomparable else { throw error }
      problems.append(error.message)
    }
  }

  /// - Parameter older: a revision whose lines do not count: a commit that is picked brings its own.
  private func add(
    _ kind: OtherLock.Kind, _ name: String, _ revision: String, changedSince older: String? = nil
  ) throws(GitError) {
    guard let (place, id, found) = try lock(of: revision, named: name) else { return }
    var lines = found
    if let older, let (_, _, parent) = try lock(of: older, named: older) {
      lines = found.lines { entry in parent.entry(entry.id)?.continues(entry) != true }
    }
    locks.append(
      OtherLock(
        kind: kind, name: name, revision: revision, folder: place, lock: lines,
        content: "\(id) \(older ?? "")".exact))
  }

  // MARK: Locks

  /// The lock of a revision, its id, and its folder, which may be another one than today.
  private func lock(
    of revision: String, named name: String
  ) throws(GitError) -> (folder: String, id: String, HistoryLock)? {
    let path = Array((git.prefix + HistoryLock.fileName).utf8)
    if let entry = try objects.entry(path, in: revision), entry.isFile,
      let lock = try lock(inFile: entry.id, name)
    {
      return (git.prefix, entry.id, lock)
    }
    // A tree that is missing in a shallow clone has no locks.
    for path in try objects.locks(in: revision) where !isPresent(path) {
      guard let file = try objects.file(path, in: revision),
        let lock = try? HistoryLock(parsingAnyVersion: file.bytes), isOurs(lock)
      else { continue }
      let folder = path.dropLast(HistoryLock.fileName.utf8.count)
      return (String(decoding: folder, as: UTF8.self), file.id, lock)
    }
    return nil
  }

  private func lock(inFile id: String, _ name: String) throws(GitError) -> HistoryLock? {
    if let lock = parsed[id] { return lock }
    guard let file = try objects.object(id) else { return nil }
    do throws(LockError) {
      let lock = try HistoryLock(parsingAnyVersion: file.bytes)
      parsed[id] = lock
      return lock
    } catch {
      throw GitError(
        kind: .incomparable,
        message: "the \(HistoryLock.fileName) of \(name) cannot be read: \(error)")
    }
  }

  /// Whether a lock of another folder is ours: it freezes a migration as ours does, or no other
  /// migrations than ours.
  private func isOurs(_ other: HistoryLock) -> Bool {
    let entries = other.entries
    if entries.contains(where: { lock?.entry($0.id)?.digests.canonical == $0.digests.canonical }) {
      return true
    }
    let files = Set(((try? folder.ids()) ?? []).map(\.exact))
    return !entries.isEmpty && entries.allSatisfy { files.contains($0.id) }
  }

  /// - Parameter path: from the top of the repository.
  private func isPresent(_ path: [UInt8]) -> Bool {
    let depth = git.prefix.utf8.count { $0 == UInt8(ascii: "/") }
    let place = joinedPath(
      folder.path, String(repeating: "../", count: depth) + String(decoding: path, as: UTF8.self))
    return (try? somethingExists(at: place)) ?? true
  }

  // MARK: Released and upstream migrations

  /// The ids that keep their number, though today's lock may lack them: those of the tags, and those of
  /// HEAD and the parents of an open operation, but for a side whose numbers today's lock gives to other
  /// migrations.
  package var keptIDs: Set<ExactText> {
    var ids = Set<ExactText>()
    for other in locks where other.kind == .tag || !isDisputed(other) {
      ids.formUnion(other.lock.all.map(\.id.exact))
    }
    return ids
  }

  package var releasedIDs: Set<ExactText> {
    Set(locks.filter { $0.kind == .tag }.flatMap(\.lock.all).map(\.id.exact))
  }

  /// Whether an open operation joins two locks that froze different migrations with one number.
  package func isDisputed(_ other: OtherLock) -> Bool {
    guard operation != nil, other.kind == .head || other.kind == .parent, let lock else {
      return false
    }
    return other.lock.entries.contains { entry in
      lock.entry(entry.number).map { $0.id != entry.id } ?? false
    }
  }

  /// Of migrations with one number the one that is upstream; nil where git cannot tell.
  package func upstream(among ids: [String]) throws(GitError) -> String? {
    for revision in operation?.upstream ?? OpenOperation.mainBranches {
      var found: [String] = []
      for id in ids {
        let path = Array((git.prefix + id + ".yaml").utf8)
        if try objects.entry(path, in: revision) != nil { found.append(id) }
      }
      if found.count == 1 { return found[0] }
    }
    return nil
  }

  // MARK: Frozen texts

  /// Where the bytes of a manifest with this raw digest are: in one of the compared revisions, or in an
  /// ancestor of HEAD.
  ///
  /// - Returns: the commit, the folder and the bytes; nil when no revision has them.
  package func text(
    ofMigration id: String, rawDigest digest: String
  ) throws(GitError) -> FrozenText? {
    var seen: Set<ExactText> = []
    func text(_ revision: String, _ folder: String) throws(GitError) -> FrozenText? {
      let path = folder + id + ".yaml"
      guard let entry = try objects.entry(Array(path.utf8), in: revision), entry.isFile,
        seen.insert(entry.id.exact).inserted, let file = try objects.object(entry.id),
        rawDigest(of: file.bytes) == digest,
        let commit = try objects.object(revision + "^{commit}")
      else { return nil }
      return FrozenText(bytes: file.bytes, commit: commit.id, path: path)
    }
    for other in locks {
      if let text = try text(other.revision, other.folder) { return text }
    }
    let folders = Set([git.prefix.exact] + locks.map(\.folder.exact)).sorted().map(\.text)
    var commits = ["HEAD"][...]
    var visited: Set<ExactText> = []
    while let name = commits.popFirst(), visited.count < Self.historyLimit {
      guard let commit = try objects.object(name + "^{commit}"),
        visited.insert(commit.id.exact).inserted
      else { continue }
      for folder in folders {
        if let text = try text(commit.id, folder) { return text }
      }
      commits += objects.parents(of: commit)
    }
    return nil
  }

  /// Commits that are searched for a frozen text.
  private static let historyLimit = 10_000
}

/// A text that a manifest once had.
package struct FrozenText: Sendable, Hashable {
  package let bytes: [UInt8]
  package let commit: String
  /// From the top of the repository.
  package let path: String
}

/// A merge, rebase, cherry-pick or revert that has begun and not ended.
package enum OpenOperation: Sendable, Hashable {
  /// - Parameter isOnMain: whether the branch that is checked out is the main one.
  case merge(parents: [String], isOnMain: Bool)
  case rebase(onto: String)
  case cherryPick
  case revert

  /// The branches that other people work on.
  static let mainBranches = ["refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"]

  /// - Parameter gitFolder: of the working tree.
  init?(gitFolder: String) {
    func lines(_ name: String) -> [String]? {
      (try? readFile(joinedPath(gitFolder, name), limit: 65_536)).map { bytes in
        bytes.split(separator: lineFeed).map { String(decoding: $0, as: UTF8.self) }
      }
    }
    if let onto = (lines("rebase-merge/onto") ?? lines("rebase-apply/onto"))?.first {
      self = .rebase(onto: onto)
    } else if let parents = lines("MERGE_HEAD"), !parents.isEmpty {
      let branch = lines("HEAD")?.first ?? ""
      let isOnMain = ["refs/heads/main", "refs/heads/master"].contains { branch == "ref: \($0)" }
      self = .merge(parents: parents, isOnMain: isOnMain)
    } else if lines("CHERRY_PICK_HEAD") != nil {
      self = .cherryPick
    } else if lines("REVERT_HEAD") != nil {
      self = .revert
    } else {
      return nil
    }
  }

  /// The revisions, besides HEAD, whose lines the result must hold. A commit that is picked brings only
  /// what it changed.
  var parents: [(name: String, revision: String, isPicked: Bool)] {
    switch self {
    case .merge(let parents, _): parents.map { ("MERGE_HEAD", $0, false) }
    case .rebase(let onto):
      [("the commit that the rebase is onto", onto, false), ("REBASE_HEAD", "REBASE_HEAD", true)]
    case .cherryPick: [("CHERRY_PICK_HEAD", "CHERRY_PICK_HEAD", true)]
    case .revert: [("REVERT_HEAD", "REVERT_HEAD", true)]
    }
  }

  /// Revisions that may tell which side is upstream, the most certain one first.
  var upstream: [String] {
    switch self {
    case .merge(let parents, let isOnMain):
      ["refs/remotes/origin/HEAD"] + (isOnMain ? ["HEAD"] : parents)
    case .rebase(let onto): [onto] + Self.mainBranches
    case .cherryPick, .revert: ["HEAD"] + Self.mainBranches
    }
  }

  /// The option of `git checkout` that takes the lock of the side that is upstream.
  package var upstreamSide: String {
    if case .merge(_, isOnMain: false) = self { "--theirs" } else { "--ours" }
  }
}

extension HistoryLock {
  /// The lock with some of its lines.
  fileprivate func lines(where isIncluded: (LockEntry) -> Bool) -> HistoryLock {
    var lock = HistoryLock()
    for entry in entries where isIncluded(entry) { try? lock.insert(entry, line: 1) }
    return lock
  }
}

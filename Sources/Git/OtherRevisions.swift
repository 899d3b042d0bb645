import SchemaHistory
import SchemaManifest
import SchemaPlatform
import SchemaSQLText

/// The history lock of another revision.
package struct OtherLock: Sendable {
  package enum Kind: Sendable, Hashable {
    case head
    case base
    /// A parent of an open merge, rebase or cherry-pick.
    case parent
    case tag
  }

  package let kind: Kind
  /// The name in messages: `HEAD`, `tag 1.0`.
  package let name: String
  /// The revision in git's notation.
  package let revision: String
  /// Relative to the top of the repository; empty, or ending in `/`.
  package let folder: String
  package let lock: HistoryLock
  /// Equal for locks with the same lines.
  package let content: ExactText
}

/// The locks and manifests of other revisions that protect the current history: those of HEAD, the
/// merge base, the parents of an open merge, rebase or cherry-pick, and every tag.
package final class OtherRevisions {
  package let git: GitRepository
  private let objects: GitObjects
  private let folder: MigrationFolder
  /// The parsed locks by the id of their git object, because most tags have the same lock.
  private var parsed: [ExactText: HistoryLock] = [:]
  let lock: HistoryLock?
  package let operation: OpenOperation?
  /// The compared revisions in git's notation.
  private let revisions: [String]
  /// The folders of locks in these revisions, without those that have a lock now. Searched only if a revision
  /// has no lock in the current folder.
  private var movedFolders: Result<[String], Failure>?
  package private(set) var locks: [OtherLock] = []
  /// The ancestors of HEAD in which frozen texts are searched; nil before the first search.
  private var commits: [String]?
  /// Unreadable locks and the reasons.
  package private(set) var problems: [String] = []

  /// - Parameters:
  ///   - lock: the current lock, for recognising the history in another folder of another revision.
  ///   - base: a revision whose merge base with HEAD is compared, too.
  /// - Throws: a failure with the reason why the comparison is impossible. Without a base, a single
  ///   unreadable lock is one of the problems instead.
  package init(
    of folder: MigrationFolder, lock: HistoryLock?, base: String? = nil
  ) throws(Failure) {
    self.folder = folder
    self.lock = lock
    git = try GitRepository(containing: folder.path, base: base)
    operation = OpenOperation(gitFolder: git.gitFolder)
    let parents = operation?.parents ?? []
    let tags = try git.tags()
    revisions =
      git.mergeBases + ["HEAD"]
      + parents.flatMap { $0.isPicked ? [$0.revision, $0.revision + "^"] : [$0.revision] } + tags
    objects = try git.objects()
    // Branches that were merged in both directions have several merge bases.
    if let base {
      for commit in git.mergeBases { try add(.base, "\(base) (\(commit.prefix(10)))", commit) }
    }
    try addOrNote(.head, "HEAD", "HEAD")
    for (name, revision, isPicked) in parents {
      try addOrNote(.parent, name, revision, changedSince: isPicked ? revision + "^" : nil)
    }
    for tag in tags { try addOrNote(.tag, "tag \(tag.dropFirst("refs/tags/".count))", tag) }
  }

  private func addOrNote(
    _ kind: OtherLock.Kind, _ name: String, _ revision: String, changedSince older: String? = nil
  ) throws(Failure) {
    do throws(Failure) {
      try add(kind, name, revision, changedSince: older)
    } catch {
      guard error.status == .brokenHistory else { throw error }
      if !problems.contains(error.message) { problems.append(error.message) }
    }
  }

  /// - Parameter older: a revision whose lines are ignored, because a cherry-picked commit
  ///   contributes only its own lines.
  private func add(
    _ kind: OtherLock.Kind, _ name: String, _ revision: String, changedSince older: String? = nil
  ) throws(Failure) {
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

  /// The lock of a revision with its id and its folder, which may differ from the current one.
  private func lock(
    of revision: String, named name: String
  ) throws(Failure) -> (folder: String, id: String, HistoryLock)? {
    let fileName = HistoryLock.fileName
    if let file = try objects.file(git.name(fileName, in: git.prefix, of: revision)) {
      return (git.prefix, file.id, try lock(in: file, name))
    }
    for folder in try searchedFolders() {
      guard let file = try objects.file(git.name(fileName, in: folder, of: revision)),
        let lock = try? HistoryLock(parsingAnyVersion: file.bytes), isOurs(lock)
      else { continue }
      return (folder, file.id, lock)
    }
    return nil
  }

  private func searchedFolders() throws(Failure) -> [String] {
    let result =
      movedFolders
      ?? Result { () throws(Failure) in
        var trees: [String] = []
        for revision in revisions {
          // A tree that is missing in a shallow clone has no locks.
          if let tree = try objects.object(revision + "^{tree}") { trees.append(tree.id) }
        }
        do throws(Failure) {
          return try git.paths(of: HistoryLock.fileName, inTrees: trees)
            .filter { !isPresent($0) }.map { String($0.dropLast(HistoryLock.fileName.count)) }
        } catch {
          throw Failure(
            .brokenHistory,
            "cannot search other revisions for a moved `\(HistoryLock.fileName)`: \(error.message)")
        }
      }
    movedFolders = result
    return try result.get()
  }

  private func lock(in file: GitObject, _ name: String) throws(Failure) -> HistoryLock {
    if let lock = parsed[file.id] { return lock }
    do throws(LockError) {
      let lock = try HistoryLock(parsingAnyVersion: file.bytes)
      parsed[file.id] = lock
      return lock
    } catch {
      throw Failure(
        .brokenHistory, "cannot read the `\(HistoryLock.fileName)` of \(name): \(error)")
    }
  }

  /// Whether a lock in another folder belongs to this history: it freezes a migration in the same form as the
  /// current lock, or the current folder has manifests for all its migrations.
  private func isOurs(_ other: HistoryLock) -> Bool {
    let entries = other.entries
    if entries.contains(where: { lock?.entry($0.id)?.digests.canonical == $0.digests.canonical }) {
      return true
    }
    let files = Set(((try? folder.ids()) ?? []).map(\.exact))
    return !entries.isEmpty && entries.allSatisfy { files.contains($0.id) }
  }

  /// - Parameter path: relative to the top of the repository.
  private func isPresent(_ path: String) -> Bool {
    let depth = git.prefix.utf8.count { $0 == UInt8(ascii: "/") }
    let place = joinedPath(
      folder.path, String(repeating: "../", count: depth) + path)
    if let other = FileStatus(place), let own = FileStatus(folder.lockFile) {
      // A symbolic link may lead from the former folder to the current one.
      return !other.isSameFile(as: own)
    }
    return (try? somethingExists(at: place)) ?? true
  }

  // MARK: Released and upstream migrations

  /// The ids that must keep their number even if the current lock lacks them: those of all compared
  /// revisions, except for a side of an open operation if the current lock assigns its numbers to other
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

  /// Whether an open operation joins two locks that froze different migrations with the same
  /// number.
  package func isDisputed(_ other: OtherLock) -> Bool {
    guard operation != nil, other.kind == .head || other.kind == .parent, let lock else {
      return false
    }
    return other.lock.entries.contains { entry in
      lock.entry(entry.number).map { $0.id != entry.id } ?? false
    }
  }

  /// The migration that is upstream, among several with the same number; nil if git cannot determine it.
  package func upstream(among ids: [String]) throws(Failure) -> String? {
    for revision in operation?.upstream ?? OpenOperation.mainBranches {
      var found: [String] = []
      for id in ids {
        let name = git.name(id + ".yaml", in: git.prefix, of: revision)
        if try objects.file(name) != nil { found.append(id) }
      }
      if found.count == 1 { return found[0] }
    }
    return nil
  }

  // MARK: Frozen texts

  /// Finds the bytes of a manifest with this raw digest in one of the compared revisions, or in an
  /// ancestor of HEAD that changes the folder of the manifests.
  ///
  /// - Returns: the commit, the folder and the bytes; nil if no revision contains them.
  package func text(
    ofMigration id: String, rawDigest digest: String
  ) throws(Failure) -> FrozenText? {
    var seen: Set<ExactText> = []
    func text(_ revision: String, _ folder: String) throws(Failure) -> FrozenText? {
      guard let file = try objects.file(git.name(id + ".yaml", in: folder, of: revision)),
        seen.insert(file.id.exact).inserted, rawDigest(of: file.bytes) == digest,
        let commit = try objects.object(revision + "^{commit}")
      else { return nil }
      return FrozenText(bytes: file.bytes, commit: commit.id, path: folder + id + ".yaml")
    }
    for other in locks {
      if let text = try text(other.revision, other.folder) { return text }
    }
    let folders = Set([git.prefix.exact] + locks.map(\.folder.exact)).sorted().map(\.text)
    if commits == nil { commits = try git.commits(changing: folders) }
    for commit in commits ?? [] {
      for folder in folders {
        if let text = try text(commit, folder) { return text }
      }
    }
    return nil
  }
}

/// An earlier text of a manifest.
package struct FrozenText: Sendable, Hashable {
  package let bytes: [UInt8]
  package let commit: String
  /// Relative to the top of the repository.
  package let path: String
}

/// An unfinished merge, rebase or cherry-pick.
package enum OpenOperation: Sendable, Hashable {
  /// - Parameter isOnMain: whether the current branch is the main branch.
  case merge(parents: [String], isOnMain: Bool)
  case rebase(onto: String)
  case cherryPick

  /// The names of shared main branches.
  static let mainBranches = ["refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"]

  /// - Parameter gitFolder: the git folder of the working tree.
  init?(gitFolder: String) {
    func lines(_ name: String) -> [String]? {
      (try? readFile(joinedPath(gitFolder, name), limit: 65_536)).map { bytes in
        bytes.split(separator: .lineFeed).map { String(decoding: $0, as: UTF8.self) }
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
    } else {
      return nil
    }
  }

  /// The revisions other than HEAD whose lines the result must contain. A cherry-picked commit
  /// contributes only its changes.
  var parents: [(name: String, revision: String, isPicked: Bool)] {
    switch self {
    case .merge(let parents, _): parents.map { ("MERGE_HEAD", $0, false) }
    case .rebase(let onto):
      [("the commit that the rebase is onto", onto, false), ("REBASE_HEAD", "REBASE_HEAD", true)]
    case .cherryPick: [("CHERRY_PICK_HEAD", "CHERRY_PICK_HEAD", true)]
    }
  }

  /// Revisions that may show which side is upstream, the most reliable one first.
  var upstream: [String] {
    switch self {
    case .merge(let parents, let isOnMain):
      ["refs/remotes/origin/HEAD"] + (isOnMain ? ["HEAD"] : parents)
    case .rebase(let onto): [onto] + Self.mainBranches
    case .cherryPick: ["HEAD"] + Self.mainBranches
    }
  }
}

extension HistoryLock {
  /// A lock with a subset of its lines.
  fileprivate func lines(where isIncluded: (LockEntry) -> Bool) -> HistoryLock {
    var lock = HistoryLock()
    for entry in entries where isIncluded(entry) { try? lock.insert(entry, line: 1) }
    return lock
  }
}

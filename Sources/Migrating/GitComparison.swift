import History
import ManifestFormat
import SQLText

/// Whether git is asked about a history.
package enum VersionControl: Sendable, Hashable {
  /// For apps, whose history is in no repository.
  case ignored
  /// - Parameter base: a revision; what it and HEAD have in common is taken as frozen too.
  case git(base: String? = nil)
}

/// A history held against its lock, and both against git.
package struct GitComparison: Sendable {
  package var history: [HistoryEntry]
  /// How the lock fails to go on from older ones.
  package var lock: [LockDivergence] = []
  /// What changed, by the id, for each entry of `history` that is edited or removed.
  package var edits: [ExactText: EditReport] = [:]
  /// What could not be checked, and why.
  package var notes: [String] = []

  package var isBroken: Bool { !lock.isEmpty || history.contains(where: \.state.isBroken) }
}

extension Project {
  /// Holds the manifests against the lock and, as far as git can be asked, the lock against the one
  /// that was committed last, and both against what is merged.
  ///
  /// - Throws: when the base that was named is not there (66), or the machine fails under a replay.
  package func comparison(_ control: VersionControl) throws(Failure) -> GitComparison {
    guard case .git(let base) = control else { return GitComparison(history: comparison) }
    do {
      let git = try GitRepository(containing: folder.path)
      var result = GitComparison(history: comparison)
      let merged = try base.flatMap { try mergedHistory($0, git, &result.notes) }
      if let merged { try compare(with: merged, git, &result) }
      // What was not merged yet is free: a freeze too may be taken back.
      let other = try git.mergeHead()
      if merged == nil || other != nil { try compareWithLastCommit(git, merging: other, &result) }
      try explainEdits(git, merged, &result)
      return result
    } catch let failure as Failure {
      throw failure
    } catch let error as GitError {
      return comparison(without: error, base)
    } catch {
      throw Failure(.bug, "\(error)")
    }
  }

  private func comparison(without error: GitError, _ base: String?) -> GitComparison {
    var result = GitComparison(history: comparison)
    if let base {
      result.notes.append(
        "nothing was held against \(base), because git could not be asked: \(error.message)")
    }
    if lock != nil {
      result.notes.append(
        "git could not be asked whether history.lock itself was rewritten: \(error.message). "
          + "Only git or a database's ledger (--database) can tell")
    }
    for entry in result.history where [.edited, .removed].contains(entry.state) {
      result.edits[entry.id] = EditReport(problem: error.message)
    }
    return result
  }

  // MARK: The last commit

  private func compareWithLastCommit(
    _ git: GitRepository, merging other: String?, _ result: inout GitComparison
  ) throws(GitError) {
    guard let head = try git.commit("HEAD") else {
      if lock != nil {
        result.notes.append(
          "history.lock could not be compared with git: the repository has no commit yet")
      }
      return
    }
    let known = result.notes.count
    guard let older = try MergedHistory.lock(in: head, of: git, notes: &result.notes) else {
      if lock != nil, result.notes.count == known {
        result.notes.append(
          "history.lock could not be compared with git: it is not in the last commit yet")
      }
      return
    }
    let otherLock = try other.flatMap { other throws(GitError) in
      try MergedHistory.lock(in: other, of: git, notes: &result.notes)
    }
    if let lock, let otherLock {
      let merge = OpenMerge(ours: older, theirs: otherLock)
      let divergence = merge.divergence(
        of: lock, named: "the last commit", next: merge.restoring(in: folder))
      if let divergence { result.lock.append(divergence) }
      return
    }
    compareLock(
      with: older, "the last commit",
      restoring: "git checkout HEAD -- \(shellQuoted(folder.lockFile))", &result)
  }

  private func compareLock(
    with older: HistoryLock, _ name: String, restoring command: String,
    _ result: inout GitComparison
  ) {
    let restoring = "`\(command)`"
    if let lock {
      let divergence = lock.divergence(from: older, named: name, restoring: restoring)
      if let divergence { result.lock.append(divergence) }
    } else {
      result.lock.append(LockDivergence(removedFrom: name, restoring: restoring))
    }
  }

  // MARK: What is merged

  /// Nil, with a note, when a shallow clone does not hold where HEAD left it.
  private func mergedHistory(
    _ base: String, _ git: GitRepository, _ notes: inout [String]
  ) throws -> MergedHistory? {
    if let names = try git.ambiguity(of: base) { throw ambiguous(base, names) }
    guard let head = try git.commit("HEAD") else {
      notes.append("nothing was held against \(base): the repository has no commit yet")
      return nil
    }
    guard let tip = try git.commit(base) else { throw missing(base, git) }
    guard let commit = try git.mergeBase(tip, head) else {
      let problem = "\(base) and HEAD have no commit in common"
      guard git.isShallow else {
        throw Failure(.notFound, "\(problem) in the repository of \(folder.path)")
      }
      notes.append(
        "nothing was held against \(base): the clone is shallow, and \(problem) in it; fetch more "
          + "(`git fetch --unshallow`, or `fetch-depth: 0` for actions/checkout)")
      return nil
    }
    let merged = try MergedHistory(branch: base, commit: commit, in: git)
    guard merged.isEmpty, let old = try git.formerFolder(in: commit) else {
      notes += merged.notes
      let others = merged.isEmpty ? try git.locks(in: commit) : []
      if !others.isEmpty {
        notes.append(
          "nothing of \(folder.path) is in \(base), so nothing was held against it; the lock there "
            + "is \(others.prefix(3).joined(separator: ", "))\(others.count > 3 ? ", …" : "")")
      }
      return merged
    }
    notes.append("in \(base) the folder of the migrations was \(old.isEmpty ? "the top" : old)")
    let moved = try MergedHistory(branch: base, commit: commit, in: git, ofFolder: old)
    notes += moved.notes
    return moved
  }

  private func ambiguous(_ base: String, _ names: [String]) -> Failure {
    let advice =
      names.isEmpty
      ? "write more digits of the commit"
      : "name one of them in full: "
        + names.map { "`--base \(shellQuoted($0))`" }.joined(separator: " or ")
    return Failure(
      .notFound, "\(base) is ambiguous in the repository of \(folder.path): \(advice)")
  }

  /// A misspelt one must not pass for a check, in a shallow clone either.
  private func missing(_ base: String, _ git: GitRepository) -> Failure {
    let problem = "there is no commit \(base) in the repository of \(folder.path)"
    guard git.isShallow else { return Failure(.notFound, problem) }
    let name = base.hasPrefix("origin/") ? String(base.dropFirst("origin/".count)) : base
    return Failure(
      .notFound,
      "\(problem): the clone is shallow; fetch it (`fetch-depth: 0` for actions/checkout, or "
        + "`git fetch origin \(shellQuoted(name))` and `--base FETCH_HEAD`)")
  }

  private func compare(
    with merged: MergedHistory, _ git: GitRepository, _ result: inout GitComparison
  ) throws(GitError) {
    result.history = folder.keepingTheirNumbers(
      folder.compare(migrations, with: lock, merged: merged))
    if let tip = try git.commit(merged.branch) {
      do throws(GitError) {
        let newer = try merged.newer(at: tip, in: git)
        result.history = folder.mark(result.history, behind: newer, merged: merged)
        noteMissing(newer, of: merged.branch, &result.notes)
      } catch {
        // What has been compared by now counts.
        result.notes.append(
          "nothing was held against what \(merged.branch) has got since this branch left it, because "
            + "git could not be asked: \(error.message)")
      }
    }
    guard let older = merged.lock else { return }
    compareLock(
      with: older, "\(merged.branch) (\(shortened(commit: merged.commit)))",
      restoring: merged.restoringLock(of: folder), &result)
  }
  private func noteMissing(_ newer: [String], of branch: String, _ notes: inout [String]) {
    let ours = Set(migrations.map(\.id.exact))
    let missing = newer.filter { !ours.contains($0) }
    guard !missing.isEmpty else { return }
    let names = missing.prefix(3).joined(separator: ", ") + (missing.count > 3 ? ", …" : "")
    notes.append(
      "\(branch) has \(missing.count) migration\(missing.count == 1 ? "" : "s") that this branch does "
        + "not have (\(names)): merge it to have all of it checked")
  }
}

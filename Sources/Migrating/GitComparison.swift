import History
import SQLText

/// Whether a history is compared with git.
package enum VersionControl: Sendable, Hashable {
  /// For apps, whose history is not in a repository.
  case ignored
  /// - Parameter base: a revision; the lock of its merge base with HEAD is compared, too.
  case git(base: String? = nil)
}

extension Project {
  /// The other revisions that protect this history; nil where git is not asked.
  ///
  /// - Throws: a comparison with a named base that cannot be made (66): a check that cannot run fails.
  package func otherRevisions(
    _ control: VersionControl, noting problems: inout [String]
  ) throws(Failure) -> OtherRevisions? {
    guard case .git(let base) = control else { return nil }
    do throws(GitError) {
      let others = try OtherRevisions(of: folder, lock: lock, base: base)
      problems += others.problems
      return others
    } catch {
      if let base {
        throw Failure(.notFound, "the history cannot be compared with \(base): \(error.message)")
      }
      if lock != nil { problems.append("history.lock was not compared with git: \(error.message)") }
      return nil
    }
  }

  /// The manifests compared with the lock. Git is asked only about a draft that comes before a frozen
  /// migration: another revision may have frozen it.
  package var comparison: [HistoryEntry] {
    let history = folder.compare(migrations, with: lock)
    guard history.contains(where: { $0.state == .inserted }) else { return history }
    return folder.compare(migrations, with: lock, keeping: folder.keptIDs(lock))
  }
}

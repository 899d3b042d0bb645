import SchemaHistory
import SchemaReplay
import SchemaSQLText

extension Project {
  /// The other revisions that protect this history; nil if git is not available.
  ///
  /// - Throws: a failure (66) if a requested base cannot be compared: a check that cannot run must
  ///   fail.
  package func otherRevisions(
    _ base: String?, noting problems: inout [String]
  ) throws(Failure) -> OtherRevisions? {
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

  /// The history with information about migrations that other revisions have frozen. Runs git only
  /// if a draft precedes a frozen migration, because another revision may have frozen the draft.
  package func askingGitAboutDrafts() -> Project {
    guard comparison.contains(where: { $0.state == .inserted }) else { return self }
    var project = self
    project.keptIDs = folder.keptIDs(lock)
    return project
  }
}

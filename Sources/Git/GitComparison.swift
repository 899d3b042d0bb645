import SchemaHistory
import SchemaReplay
import SchemaSQLText

extension Project {
  /// The other revisions that protect this history; nil where git cannot be asked.
  ///
  /// - Throws: a comparison with a named base that cannot be made (66): a check that cannot run fails.
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

  /// The history, knowing what other revisions have frozen. Git is asked only if a draft comes before a
  /// frozen migration: another revision may have frozen the draft.
  package func askingGitAboutDrafts() -> Project {
    guard comparison.contains(where: { $0.state == .inserted }) else { return self }
    var project = self
    project.keptIDs = folder.keptIDs(lock)
    return project
  }
}

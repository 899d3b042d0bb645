import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLText

extension Project {
  /// Checks that the frozen migrations are unchanged, that the history can be replayed and, with a
  /// database, that its schema matches the history.
  ///
  /// - Parameter base: a revision; the lock of its merge base with HEAD is compared, too.
  /// - Throws: failures with exit status 64 and above; the report contains all other problems.
  package func verify(
    _ database: ReadableDatabase?, base: String?, interruption: Interruption = Interruption()
  ) throws(Failure) -> VerifyReport {
    let (history, others) = try verifyHistory(base: base)
    var report = try verify(database, continuing: history, interruption: interruption)
    try showEdits(in: &report, others)
    return report
  }

  /// Compares the manifests with the lock, and the lock with other revisions, without a replay.
  ///
  /// - Parameter base: a revision; the lock of its merge base with HEAD is compared, too.
  /// - Returns: the report, and the revisions that can show edits.
  package func verifyHistory(
    base: String?
  ) throws(Failure) -> (VerifyReport, OtherRevisions?) {
    var notes: [String] = []
    let others = try otherRevisions(base, noting: &notes)
    var report = VerifyReport(
      history: folder.compare(migrations, with: lock, keeping: others?.keptIDs ?? []), notes: notes)
    report.lock = others?.differences(in: folder) ?? []
    if let others { explainLostLines(in: &report, others) }
    if lock == nil, report.lock.isEmpty {
      report.notes.append("no migration is frozen yet: history.lock does not exist")
    } else if let others, others.locks.isEmpty, others.problems.isEmpty {
      report.notes.append("history.lock was not compared with git: no other revision has it yet")
    }
    return (report, others)
  }

  /// A draft that comes too late for its number may have been frozen once: then its line was lost, perhaps in a merge.
  private func explainLostLines(in report: inout VerifyReport, _ others: OtherRevisions) {
    for (index, entry) in report.history.enumerated()
    where entry.state == .inserted && !others.keptIDs.contains(entry.id) {
      guard let commit = try? others.commit(freezing: entry.id) else { continue }
      let lock = shellQuoted("\(commit):\(others.git.prefix)\(HistoryLock.fileName)")
      report.history[index].detail =
        "it was frozen in an earlier commit, and \(HistoryLock.fileName) has lost its line: copy the line "
        + "from `git show \(lock)`; if no database has run the migration, you can renumber it instead "
        + "(`schemactl renumber \(shellQuoted(entry.id))`)"
    }
  }
}

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

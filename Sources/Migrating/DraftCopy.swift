import History
import SQLText
import SQLite

/// The copy of a database that `migrate` keeps before it applies the first draft. A draft may still
/// change: then the copy is the way back, because a migration that ran cannot be taken back.
package struct DraftCopy: Sendable {
  package let database: String
  /// `<database>.before-drafts`.
  package var path: String { database + ".before-drafts" }

  package init(of database: String) {
    self.database = database
  }

  /// Whether the next migration is the first draft of a database that has run frozen ones.
  static func isDue(before next: Migration, known: [String], in project: Project) -> Bool {
    guard let lock = project.lock, !known.isEmpty, !project.isFrozen(next) else { return false }
    return known.allSatisfy(lock.contains)
  }

  /// What was put back, and where what it replaced is: `<database>.before-reset`, with a number when
  /// there is one already.
  package struct Reset: Sendable {
    package let copy: String
    package let setAside: String
  }

  /// Puts the copy back, and keeps what it replaces.
  ///
  /// - Throws: when there is no copy, or it is not of this database as it was before its drafts.
  package func restore(
    _ project: Project, timeout: Double, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> Reset {
    try DatabaseFile.require(database)
    guard try DatabaseFile.exists(path) else {
      throw Failure(
        .notFound,
        "there is no \(path): \(database) has run no draft, or the copy was removed. Nothing was "
          + "changed")
    }
    try requireOwn(project, timeout)
    let setAside = try Copier(timeout: timeout, interruption: interruption, onEvent: onEvent)
      .replace(database, by: path, keepingAs: database + ".before-reset")
    return Reset(copy: path, setAside: setAside)
  }

  /// Whether it is there, and is of the database as it was before its drafts.
  ///
  /// - Parameter rows: of the database's ledger.
  func isFrom(before rows: [LedgerRow], _ project: Project) -> Bool {
    guard (try? DatabaseFile.exists(path)) == true,
      let kept = try? DatabaseFile.ledger(ofStill: path, timeout: 0)
    else { return false }
    return kept.map(\.run) == frozen(rows, project).map(\.run)
  }

  private func frozen(_ rows: [LedgerRow], _ project: Project) -> [LedgerRow] {
    rows.filter { project.lock?.contains($0.id) ?? false }
  }

  /// The same migrations, at the same moments: every database of an app has the same digests.
  private func requireOwn(_ project: Project, _ timeout: Double) throws(Failure) {
    let kept = try DatabaseFile.ledger(ofStill: path, timeout: timeout)
    let live = try LiveDatabase(
      DatabaseFile.openForReading(database, timeout: timeout), path: database)
    let frozen = frozen(live.rows ?? [], project)
    guard kept.map(\.run) != frozen.map(\.run) else { return }
    throw Failure(
      .finding,
      "\(path) is not \(database) as it was before its drafts: it has run \(list(kept)), and the "
        + "frozen ones of \(database) are \(list(frozen)). Nothing was changed")
  }

  private func list(_ rows: [LedgerRow]) -> String {
    rows.last.map {
      "\(counted(Int64(rows.count), "migration")) through \($0.id) (\($0.startedAt))"
    } ?? "nothing"
  }
}

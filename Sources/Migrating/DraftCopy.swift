import History
import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The copy of a database that `migrate` keeps before it applies the first draft. A draft may still
/// change: then the copy is the way back, because a migration that ran cannot be taken back.
package struct DraftCopy: Sendable {
  package let database: String
  /// `<database>.before-drafts`.
  package var path: String { database + ".before-drafts" }
  /// Where a reset puts the database that it replaces.
  package var setAside: String { database + ".before-reset" }

  package init(of database: String) {
    self.database = database
  }

  /// Whether the next migration is the first draft of a database that has run frozen ones.
  static func isDue(before next: Migration, known: [String], in project: Project) -> Bool {
    guard let lock = project.lock, !known.isEmpty, !project.isFrozen(next) else { return false }
    return known.allSatisfy(lock.contains)
  }

  /// Copies the database as it is, in place of an older copy.
  func keep(timeout: Double, interruption: Interruption) throws(Failure) {
    try copy(from: database, to: path, timeout: timeout, interruption: interruption)
  }

  /// Puts the copy back, and keeps what it replaces.
  ///
  /// - Throws: when there is no copy, or it is not of this database as it was before its drafts.
  package func restore(
    _ project: Project, timeout: Double, interruption: Interruption = Interruption()
  ) throws(Failure) {
    try DatabaseFile.require(database)
    guard try DatabaseFile.exists(path) else {
      throw Failure(
        .notFound,
        "there is no \(path): \(database) has run no draft, or the copy was removed. Nothing was "
          + "changed")
    }
    let live = try rows(of: database, timeout)
    let kept = try rows(of: path, timeout)
    let frozen = live.filter { project.lock?.contains($0.id) ?? false }
    guard kept.map(\.id) == frozen.map(\.id),
      kept.map(\.canonicalDigest) == frozen.map(\.canonicalDigest)
    else {
      throw Failure(
        .finding,
        "\(path) is not \(database) as it was before its drafts: it has run \(list(kept)), and the "
          + "frozen ones of \(database) are \(list(frozen)). Nothing was changed")
    }
    try copy(from: database, to: setAside, timeout: timeout, interruption: interruption)
    do {
      let source = try Connection(path: path, mode: .readOnly)
      let target = try Connection(path: database, mode: .readWrite)
      source.setBusyHandler(timeout: timeout, isCancelled: { interruption.isRequested })
      target.setBusyHandler(timeout: timeout, isCancelled: { interruption.isRequested })
      // Written as one transaction: who reads meanwhile sees the old content or the new.
      try source.backup(to: target)
    } catch {
      throw Failure(error, database: database)
    }
  }

  private func rows(of path: String, _ timeout: Double) throws(Failure) -> [LedgerRow] {
    try LiveDatabase(DatabaseFile.openForReading(path, timeout: timeout), path: path).rows ?? []
  }

  private func list(_ rows: [LedgerRow]) -> String {
    rows.last.map { "\(counted(Int64(rows.count), "migration")) through \($0.id)" } ?? "nothing"
  }

  /// The copy gets its name only when it is whole, and is for the eyes that may see the database.
  private func copy(
    from source: String, to path: String, timeout: Double, interruption: Interruption
  ) throws(Failure) {
    let partial = path + ".partial"
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(partial + suffix) }
    defer { for suffix in ["", "-journal", "-wal", "-shm"] { unlink(partial + suffix) } }
    try makeFile(partial, like: source)
    do {
      let from = try Connection(path: source, mode: .readWrite)
      from.setBusyHandler(timeout: timeout, isCancelled: { interruption.isRequested })
      let to = try Connection(path: partial, mode: .readWrite)
      try from.backup(to: to, pages: 4096) { _, _ in !interruption.isRequested }
    } catch {
      throw Failure(error, database: error.code == .full ? path : source)
    }
    guard rename(partial, path) == 0 else {
      throw Failure(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
    }
  }

  private func makeFile(_ path: String, like source: String) throws(Failure) {
    var status = stat()
    let mode = stat(source, &status) == 0 ? status.st_mode & 0o777 : 0o600
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
    guard descriptor >= 0 else {
      throw Failure(
        errno == EACCES ? .permission : .inputOutput,
        "\(path) cannot be made: \(String(cString: strerror(errno)))")
    }
    close(descriptor)
  }
}

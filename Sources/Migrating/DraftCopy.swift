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

  package init(of database: String) {
    self.database = database
  }

  /// Whether the next migration is the first draft of a database that has run frozen ones.
  static func isDue(before next: Migration, known: [String], in project: Project) -> Bool {
    guard let lock = project.lock, !known.isEmpty, !project.isFrozen(next) else { return false }
    return known.allSatisfy(lock.contains)
  }

  /// Copies the database as it is, in place of an older copy. False, and the older one stays, when
  /// another process has applied more than `known` meanwhile.
  func keep(
    known: [String], timeout: Double, interruption: Interruption
  ) throws(Failure) -> Bool {
    let partial = try copy(timeout, interruption)
    defer { partial.remove() }
    guard try rows(of: partial.path, timeout).map(\.id) == known else { return false }
    guard rename(partial.path, path) == 0 else {
      throw Failure(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
    }
    return true
  }

  /// Puts the copy back, and keeps what it replaces.
  ///
  /// - Returns: where that is: `<database>.before-reset`, with a number when there is one already.
  /// - Throws: when there is no copy, or it is not of this database as it was before its drafts.
  package func restore(
    _ project: Project, timeout: Double, interruption: Interruption = Interruption()
  ) throws(Failure) -> String {
    try DatabaseFile.require(database)
    guard try DatabaseFile.exists(path) else {
      throw Failure(
        .notFound,
        "there is no \(path): \(database) has run no draft, or the copy was removed. Nothing was "
          + "changed")
    }
    try requireOwn(project, timeout)
    for _ in 0..<5 {
      let partial = try copy(timeout, interruption)
      defer { partial.remove() }
      // It has its name before anything is overwritten: afterwards it is all that is left.
      let setAside = try partial.keep(as: database + ".before-reset")
      do {
        if try overwrite(unless: partial, timeout, interruption) { return setAside }
      } catch {
        throw Failure(
          error.status, error.message + ". What \(database) held is in \(setAside), too")
      }
      // Between the copy and the lock another process has written: both are made anew.
      unlink(setAside)
    }
    throw Failure(
      .busy, "\(database) cannot be reset: others keep writing to it. Nothing was changed")
  }

  /// The same migrations, at the same moments: every database of an app has the same digests.
  private func requireOwn(_ project: Project, _ timeout: Double) throws(Failure) {
    let kept = try rows(of: path, timeout)
    let frozen = try rows(of: database, timeout).filter { project.lock?.contains($0.id) ?? false }
    guard kept != frozen else { return }
    throw Failure(
      .finding,
      "\(path) is not \(database) as it was before its drafts: it has run \(list(kept)), and the "
        + "frozen ones of \(database) are \(list(frozen)). Nothing was changed")
  }

  private func rows(of path: String, _ timeout: Double) throws(Failure) -> [LedgerRow] {
    try LiveDatabase(DatabaseFile.openForReading(path, timeout: timeout), path: path).rows ?? []
  }

  private func list(_ rows: [LedgerRow]) -> String {
    rows.last.map {
      "\(counted(Int64(rows.count), "migration")) through \($0.id) (\($0.startedAt))"
    } ?? "nothing"
  }

  // MARK: Copying

  /// The live database beside itself, and what tells whether it has changed since.
  private func copy(
    _ timeout: Double, _ interruption: Interruption
  ) throws(Failure) -> PartialCopy {
    var partial = try PartialCopy(beside: database)
    do {
      let live = try open(database, .readWrite, timeout, interruption)
      partial.watch = try ChangeWatch(live)
      let target = try Connection(path: partial.path, mode: .readWrite)
      try live.backup(to: target, pages: 4096) { _, _ in !interruption.isRequested }
    } catch {
      partial.remove()
      throw Failure(error, database: database)
    }
    return partial
  }

  /// Writes the kept copy over the database, as one transaction: who reads meanwhile sees the old
  /// content or the new. False, and nothing is written, when the database has changed since
  /// `partial` was made.
  private func overwrite(
    unless partial: PartialCopy, _ timeout: Double, _ interruption: Interruption
  ) throws(Failure) -> Bool {
    var hasChanged = false
    do {
      let source = try open(path, .readOnly, timeout, interruption)
      let target = try open(database, .readWrite, timeout, interruption)
      try target.makeCommitsDurable()
      try source.backup(to: target, pages: 4096, first: 1) { _, _ in
        // The first page has taken the lock: what is seen now stays.
        hasChanged = hasChanged || partial.watch?.hasChanged ?? true
        return !hasChanged && !interruption.isRequested
      }
      return true
    } catch {
      if hasChanged { return false }
      throw Failure(error, database: database)
    }
  }

  private func open(
    _ path: String, _ mode: Connection.Mode, _ timeout: Double, _ interruption: Interruption
  ) throws(DatabaseError) -> Connection {
    let connection = try Connection(path: path, mode: mode)
    connection.setBusyHandler(timeout: timeout, isCancelled: { interruption.isRequested })
    return connection
  }
}

/// Tells whether anybody has committed to a database since a moment, also while somebody holds it
/// locked for writing.
private final class ChangeWatch {
  private let connection: Connection
  private let isWAL: Bool
  private var version: Int64?

  init(_ connection: Connection) throws(DatabaseError) {
    self.connection = connection
    isWAL = try connection.value("PRAGMA journal_mode") == "wal"
    version = current
  }

  var hasChanged: Bool { version == nil || current != version }

  /// In WAL mode readers are never locked out and may ask; otherwise the file's own counter tells.
  private var current: Int64? {
    isWAL
      ? (try? connection.value("PRAGMA data_version"))?.integer : connection.fileChangeCounter
  }
}

/// A file of this process alone, until it is whole and gets its name.
private struct PartialCopy {
  let path: String
  var watch: ChangeWatch?

  /// For the eyes that may see the database.
  init(beside database: String) throws(Failure) {
    var status = stat()
    let mode = stat(database, &status) == 0 ? status.st_mode & 0o777 : 0o600
    path = "\(database).\(getpid())-\(UInt32.random(in: .min ... .max)).partial"
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
    guard descriptor >= 0 else {
      throw Failure(
        errno == EACCES ? .permission : .inputOutput,
        "\(path) cannot be made: \(String(cString: strerror(errno)))")
    }
    close(descriptor)
  }

  /// Gives it the name, or the name with the first number that is free.
  func keep(as name: String) throws(Failure) -> String {
    for number in 1...10_000 {
      let free = number == 1 ? name : "\(name)-\(number)"
      // Reserved and then replaced: a link would do both at once, but not on every file system.
      let descriptor = open(free, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        close(descriptor)
        if rename(path, free) == 0 { return free }
        break
      }
      guard errno == EEXIST else { break }
    }
    throw Failure(.inputOutput, "\(name): \(String(cString: strerror(errno)))")
  }

  func remove() {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
  }
}

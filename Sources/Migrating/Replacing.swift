import SQLText
import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Writes a copy over the database that it was made of.
extension Copier {
  /// Writes one database over another, as one transaction: who reads meanwhile sees the old content
  /// or the new. What is replaced is kept, and has its name before anything is overwritten:
  /// afterwards it is all that is left.
  ///
  /// - Parameter name: what is kept gets it, with a number when it is taken.
  /// - Returns: where that is.
  func replace(
    _ database: String, by copy: String, keepingAs name: String
  ) throws(Failure) -> String {
    // The copy, a journal of what is overwritten or written, and what the file grows by.
    let new = DatabaseFile.size(copy)
    func room(_ live: Int64) -> Int64 {
      live.saturatingPlus(max(live, new)).saturatingPlus(max(0, new - live))
    }
    let purpose = "a copy of what \(database) holds"
    let live = DatabaseFile.size(database)
      .saturatingPlus(DatabaseFile.size(database + "-wal"))
    // First, because leaving WAL mode cannot be taken back.
    try FreeSpace.require(room(live), in: parentFolder(of: database), for: purpose)
    try takePageSize(of: copy, database)
    for _ in 0..<5 {
      let old = try self.copy(database, as: database, purpose, room: room)
      guard let old else { continue }
      old.partial.admitReaders(of: database)
      let kept = try old.partial.keep(as: name)
      do {
        if try overwrite(database, with: copy, unless: old.watch, kept) { return kept }
      } catch {
        let state =
          error.isUnchanged && unlink(kept) == 0
          ? "Nothing was changed"
          : "It is not certain whether \(copy) was put back: \(database) holds what it held or "
            + "what was to be put there, whole; what it held is in \(kept), too"
        throw Failure(error.failure.status, "\(error.failure.message). \(state)")
      }
      // Between the copy and the lock another process has written: both are made anew.
      unlink(kept)
    }
    throw Failure(
      .busy,
      "\(database) cannot be replaced: others keep writing to it. Nothing was changed; stop what "
        + "writes to it and try again")
  }

  private struct OverwriteError: Error {
    let failure: Failure
    /// It is certain that nothing was committed.
    let isUnchanged: Bool
  }

  /// False, and nothing is written, when the database has changed since `watch` began.
  private func overwrite(
    _ database: String, with copy: String, unless watch: ChangeWatch, _ kept: String
  ) throws(OverwriteError) -> Bool {
    var hasChanged = false
    var hasMoved = false
    do {
      let source = try open(copy, DatabaseFile.stillMode(of: copy))
      let target = try open(database, .readWrite)
      try target.makeCommitsDurable()
      let size = try source.value("PRAGMA main.page_size")?.integer ?? 0
      try source.backup(to: target, pages: 4096, first: 0) { left, all in
        // The first call has taken the lock: what is seen now stays.
        hasChanged = hasChanged || watch.hasChanged
        hasMoved = target.hasMoved
        if left == all, !hasChanged { onEvent(.note("what \(database) held is kept in \(kept)")) }
        onEvent(.copying(done: Int64(all - left) * size, of: Int64(all) * size))
        return !hasChanged && !hasMoved && !interruption.isRequested
      }
      return true
    } catch {
      if hasMoved {
        throw OverwriteError(failure: Failure(moved: database), isUnchanged: false)
      }
      if hasChanged { return false }
      // After these SQLite has not begun to commit, and rolls back. After a fault of the disk
      // nobody knows what a crash would bring back.
      let isStopped = [.busy, .locked, .interrupted].contains(error.code)
      throw OverwriteError(
        failure: Failure(error, database: database), isUnchanged: isStopped && !watch.hasChanged)
    }
  }

  /// In WAL mode the size of pages cannot change (Online Backup API, `sqlite3_backup_step`).
  private func takePageSize(of copy: String, _ database: String) throws(Failure) {
    do {
      let target = try open(database, .readWrite)
      guard try target.value("PRAGMA journal_mode") == "wal" else { return }
      let source = try open(copy, DatabaseFile.stillMode(of: copy))
      let size = "PRAGMA main.page_size"
      guard try source.value(size) != target.value(size) else { return }
      guard try target.value("PRAGMA journal_mode = DELETE") == "delete" else {
        throw DatabaseError(
          extendedCode: ResultCode.busy.rawValue, message: "its page size is about to change")
      }
    } catch {
      throw Failure(of: error, database: database)
    }
  }
}

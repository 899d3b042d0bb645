import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Replaces the content of a database by a copy, and keeps the previous content.
///
/// Renaming the copy over the database would not be safe. In rollback-journal mode, a connection that does
/// not read at that moment holds no lock, and would continue to use the old file with the journal of the new
/// one. At its next read it would roll back and delete the journal of a transaction that another process
/// writes to the new file (How To Corrupt An SQLite Database File, section 2.4).
struct Replacement {
  let database: String
  let copy: String
  /// The name for the previous content. A number is added if a file has that name.
  let keptName: String
  let copier: Copier

  /// The number of attempts. An attempt fails if another process writes between the copy and the lock.
  private static let attempts = 5

  // MARK: The content

  /// Writes the copy over the database in one transaction: other connections see either the old or the new
  /// content. Before that, the old content is saved under its new name.
  ///
  /// - Returns: the path of the previous content.
  func overwrite() throws(Failure) -> String {
    // Space for the copy of the old content, the journal of the overwritten pages, and the growth of the
    // file.
    let new = Double(DatabaseFile.size(copy))
    func needed(_ old: Double) -> Double { 2 * max(old, new) }
    let purpose = "a copy of the content of `\(database)`"
    let live = Double(DatabaseFile.size(database)) + Double(DatabaseFile.size(database + "-wal"))
    // Check this before the database leaves WAL mode, because that change is not undone.
    try FreeSpace.require(needed(live), in: parentFolder(of: database), for: purpose)
    for _ in 0..<Self.attempts {
      let target = try copier.open(database)
      let source = try copier.openCopy(copy)
      let (kept, version) = try keep(target, source, purpose, needed)
      if try overwrite(target, with: source, ifStill: version, kept) { return kept }
      // Another process has written after the copy was made.
      try? removeFile(kept)
    }
    throw Failure(
      .busy,
      "cannot replace `\(database)`: other processes continue to write to it. Nothing changed. Stop "
        + "these processes and try again")
  }

  /// - Returns: the path of a copy of the database, and the data version of the copied content.
  private func keep(
    _ target: Connection, _ source: Connection, _ purpose: String, _ needed: (Double) -> Double
  ) throws(Failure) -> (path: String, version: UInt32) {
    return try failing(on: database) {
      // In WAL mode, the page size cannot change (Online Backup API, `sqlite3_backup_step`).
      let pageSize = "PRAGMA main.page_size"
      if try source.value(pageSize) != target.value(pageSize),
        try target.value("PRAGMA journal_mode") == "wal",
        try target.value("PRAGMA journal_mode = DELETE") != "delete"
      {
        throw DatabaseError(
          extendedCode: ResultCode.busy.rawValue, message: "its page size is about to change")
      }
      try target.makeCommitsDurable()
      let (old, version) = try target.reading {
        (try copier.copy(target, for: database, purpose, needed: needed), target.dataVersion)
      }
      old.admitReaders(of: database)
      return (try firstName(keptName) { try old.publish(asNew: $0) }, version)
    }
  }

  /// Returns false, and writes nothing, if the content no longer has that version.
  private func overwrite(
    _ target: Connection, with source: Connection, ifStill version: UInt32, _ kept: String
  ) throws(Failure) -> Bool {
    var isLocked = false
    var hasChanged = false
    var hasMoved = false
    do {
      let size = try source.value("PRAGMA main.page_size")?.integer ?? 0
      try source.backup(to: target, pages: Copier.step, first: 0) { left, all in
        // The first step has locked the database.
        if !isLocked {
          hasChanged = target.dataVersion != version
          if !hasChanged {
            copier.onEvent(
              .note("the previous content of `\(database)` is in `\(kept)`"))
          }
        }
        isLocked = true
        hasMoved = target.hasMoved
        copier.onEvent(.copying(done: Int64(all - left) * size, of: Int64(all) * size))
        return !hasChanged && !hasMoved && !copier.interruption.isRequested
      }
      return true
    } catch {
      if hasChanged { return false }
      if hasMoved {
        throw Failure(moved: database).saying("Its previous content is in `\(kept)`")
      }
      // With these errors SQLite has not begun to commit. After a disk error, either content may appear after
      // a crash.
      let isUnchanged =
        [.busy, .locked, .interrupted, .readOnly].contains(error.code)
        && (try? removeFile(kept)) != nil
      let failure = Failure(error, database: database)
      throw Failure(
        failure.status,
        failure.message
          + (isUnchanged
            ? ". Nothing changed"
            : ". It is unknown whether `\(copy)` was restored. `\(database)` holds either its old or "
              + "the new content; the old content is also in `\(kept)`"))
    }
  }

  // MARK: The file

  /// Puts the copy in place as a file, if the database is missing or SQLite cannot write to it.
  ///
  /// - Returns: the path of the replaced file, or of its first journal if only journals existed; nil if no
  ///   file existed.
  func install() throws(Failure) -> String? {
    // A symbolic link remains, and its target is replaced.
    let target = followingLinks(database)
    let source = try copier.openCopy(copy)
    let new = try copier.copy(source, for: target, "a copy of `\(copy)`")
    let exists = FileStatus(target) != nil
    new.admitReaders(of: exists ? target : copy)
    let lock = exists ? try? Connection(path: target, mode: .readWrite) : nil
    defer { withExtendedLifetime(lock) {} }
    guard lock?.lockFile() != false else {
      throw Failure(
        .busy,
        "`\(database)` is damaged, and another process has it open: stop that process, then restore "
          + "again. Nothing changed")
    }
    var aside = RenamedFiles(target: target)
    do {
      let name = target + keptName.dropFirst(database.count)
      try aside.move(to: firstName(name, where: DatabaseFile.isFree))
      try new.publish(replacing: target)
    } catch {
      let failure = Failure(of: error, database: database)
      throw Failure(failure.status, "\(failure.message). \(state(new, aside))")
    }
    if let path = aside.path {
      copier.onEvent(
        .note("the previous content of `\(database)` is in `\(path)`"))
    }
    return aside.path
  }

  /// Moves the previous files back if the copy could not take their place, and describes the result.
  private func state(_ new: TemporaryFile, _ aside: RenamedFiles) -> String {
    let held = aside.path.map { "the previous content of `\(database)` is in `\($0)`" }
    guard !new.isPublished else {
      return "It is unknown whether `\(copy)` was restored: after a power cut `\(database)` may be "
        + "missing\(held.map { ", and \($0)" } ?? ""). Restore again once the disk is repaired"
    }
    return aside.moveBack()
      ? "Nothing changed"
      : "schemactl did not undo everything: \(held ?? "")"
  }

  /// The name, or the name with the first number, for which `isAccepted` returns true.
  private func firstName(_ name: String, where isAccepted: (String) throws -> Bool) throws -> String
  {
    for number in 1...10_000 {
      let numbered = number == 1 ? name : "\(name)-\(number)"
      if try isAccepted(numbered) { return numbered }
    }
    throw Failure(.inputOutput, "\(name): 10,000 files of this name exist")
  }
}

/// The files of a database under new names.
private struct RenamedFiles {
  let target: String
  private var name = ""
  /// The suffixes of the files that have their new names.
  private var suffixes: [String] = []

  init(target: String) { self.target = target }

  /// The path of the first moved file. If the database itself was missing, this is its journal or WAL.
  var path: String? { suffixes.first.map { name + $0 } }

  mutating func move(to name: String) throws(FileError) {
    self.name = name
    // SQLite would play back a remaining journal into the new file.
    for suffix in databaseSuffixes where FileStatus(target + suffix) != nil {
      // Use a hard link, so that the database's own path always leads to a file.
      if !suffix.isEmpty || (try? linkFile(target, to: name)) == nil {
        try renameFile(target + suffix, to: name + suffix)
      }
      suffixes.append(suffix)
    }
    if path != nil { try syncFolder(of: name) }
  }

  /// Returns false if a file could not be moved back.
  func moveBack() -> Bool {
    suffixes.reversed().reduce(true) { isDone, suffix in
      // If the file has both names, a rename would have no effect.
      let isLinked = suffix.isEmpty && FileStatus(target) != nil
      let isBack =
        isLinked
        ? (try? removeFile(name)) != nil
        : (try? renameFile(name + suffix, to: target + suffix)) != nil
      return isBack && isDone
    }
  }
}

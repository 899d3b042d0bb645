/// A new file of this process that gets its final name when its content is complete.
///
/// Until then it is `<target>.<process>-<number>.<ending>`, next to the target and thus on the same
/// file system. It is deleted with the last reference unless it was published. A killed process
/// leaves its file behind; the next process that creates one for the same target deletes it. A lock
/// (flock(2)) marks the files in use.
package final class TemporaryFile {
  package enum Content: Sendable {
    /// Bytes that this process writes.
    case bytes
    /// An SQLite database. On some file systems flock(2) conflicts with the locks of SQLite, and
    /// closing a second descriptor would release those. Therefore the lock is on a separate, empty
    /// file.
    case database(isPrivate: Bool)

    var isDatabase: Bool { if case .database = self { true } else { false } }
    var ending: String { isDatabase ? ".partial" : ".tmp" }
    var claimSuffix: String { isDatabase ? "-claim" : "" }
    /// The suffixes of the files that belong to the name.
    var suffixes: [String] { isDatabase ? databaseSuffixes : [""] }
    /// The mode before the umask. For a public database, the same mode as SQLite uses.
    var mode: mode_t {
      switch self {
      case .bytes: 0o666
      case .database(let isPrivate): isPrivate ? 0o600 : 0o644
      }
    }
  }

  package let path: String
  /// Whether the file has its final name. Syncing that name may still have failed.
  package private(set) var isPublished = false
  private let content: Content
  /// The descriptor of the file with the lock.
  private let claim: Int32

  /// - Parameter target: the beginning of its path, usually its final name.
  package init(for target: String, _ content: Content) throws(FileError) {
    Self.removeLeftovers(of: target, content)
    for _ in 0..<100 {
      let path = "\(target).\(getpid())-\(UInt32.random(in: .min ... .max))\(content.ending)"
      guard let claim = try Self.claim(path + content.claimSuffix, content.mode) else { continue }
      if content.isDatabase {
        do throws(FileError) {
          close(
            try openDescriptor(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode: content.mode))
        } catch {
          unlink(path + content.claimSuffix)
          close(claim)
          throw error
        }
      }
      self.path = path
      self.content = content
      self.claim = claim
      return
    }
    throw FileError(
      path: target, systemError: EBUSY,
      message: "another process deletes its temporary file: try again")
  }

  deinit {
    removeNames()
    close(claim)
  }

  private func removeNames() {
    Self.remove(path, content)
    if !content.claimSuffix.isEmpty { unlink(path + content.claimSuffix) }
  }

  // MARK: Content

  package func write(_ bytes: [UInt8]) throws(FileError) {
    let descriptor = try openDescriptor(path, O_WRONLY)
    defer { close(descriptor) }
    if let error = writeAll(bytes, to: descriptor) {
      throw FileError(path: path, systemError: error)
    }
  }

  package func setMode(_ mode: mode_t) throws(FileError) {
    guard chmod(path, mode) == 0 else { throw FileError(path: path, systemError: errno) }
  }

  /// Gives the file the owner, the group and the permissions to read and write of another file, as far as
  /// this process may. Removes the permissions of a group that it cannot set.
  package func admitReaders(of other: String) {
    guard let status = FileStatus(other) else { return }
    var mode = status.mode & 0o666
    // Only root may change the owner. Otherwise, members of the group are not authorised readers.
    if chown(path, status.owner, status.group) != 0, chown(path, uid_t.max, status.group) != 0 {
      mode &= 0o606
    }
    chmod(path, mode)
  }

  // MARK: Publishing

  /// Renames the file atomically, replacing a file with that name, and syncs the content and the name. A
  /// database must be closed: syncing opens and closes a descriptor, which would release SQLite's locks.
  ///
  /// - Throws: an error of the system. If `isPublished` is true then, a power failure may undo the renaming.
  package func publish(replacing name: String) throws(FileError) {
    try sync()
    // SQLite would use such files of the old database as part of the new one.
    for suffix in content.suffixes where !suffix.isEmpty { unlink(name + suffix) }
    try renameFile(path, to: name)
    isPublished = true
    removeNames()
    try syncFolder(of: name)
  }

  /// Renames the file atomically to a free name, like `publish(replacing:)`.
  ///
  /// - Returns: false if the name exists, or if SQLite would use a file next to it as part of the
  ///   database.
  package func publish(asNew name: String) throws(FileError) -> Bool {
    guard isFree(name) else { return false }
    try sync()
    // Creating a link never replaces a file.
    if link(path, name) != 0 {
      guard errno != EEXIST, try renameToFree(name) else { return false }
    }
    isPublished = true
    removeNames()
    do throws(FileError) {
      try syncFolder(of: name)
    } catch {
      unlink(name)
      throw error
    }
    return true
  }

  /// Renames the file on a file system without links. Another process must not create the name between the
  /// test and the renaming, so this claims the folder of a database. Commands that write manifests have
  /// claimed theirs already.
  private func renameToFree(_ name: String) throws(FileError) -> Bool {
    let claim = content.isDatabase ? FolderClaim(parentFolder(of: name), timeout: 5) : nil
    guard claim != nil || !content.isDatabase else {
      throw FileError(
        path: name, systemError: EBUSY, message: "another process changes its folder: try again")
    }
    defer { withExtendedLifetime(claim) {} }
    guard isFree(name) else { return false }
    try renameFile(path, to: name)
    return true
  }

  private func isFree(_ name: String) -> Bool {
    content.suffixes.allSatisfy { FileStatus(name + $0, followingLinks: false) == nil }
  }

  private func sync() throws(FileError) {
    let descriptor = try openDescriptor(path, O_RDONLY)
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw FileError(path: path, systemError: errno)
    }
  }

  // MARK: Leftovers

  /// Creates the file with the lock; nil if another process deleted it before it was locked.
  private static func claim(_ path: String, _ mode: mode_t) throws(FileError) -> Int32? {
    let descriptor = try openDescriptor(
      path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, mode: mode)
    // On a file system without such locks, no process deletes leftovers.
    let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    do throws(FileError) {
      if try isStill(descriptor, at: path), isLocked { return descriptor }
    } catch {
      unlink(path)
      close(descriptor)
      throw error
    }
    close(descriptor)
    return nil
  }

  /// Deletes files that killed processes have left for the same target. Unless the content is a database,
  /// deletes those for all files of a history.
  private static func removeLeftovers(of target: String, _ content: Content) {
    let folder = parentFolder(of: target)
    let own = nameBytes(of: target)
    for name in (try? folderNames(folder)) ?? [] {
      guard let other = Self.target(of: name, content),
        other == own || !content.isDatabase && isOfHistory(other)
      else { continue }
      let claimPath = joinedPath(folder, String(decoding: name, as: UTF8.self))
      guard
        let descriptor = try? openDescriptor(claimPath, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
      else { continue }
      defer { close(descriptor) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0,
        (try? isStill(descriptor, at: claimPath)) == true
      else { continue }
      remove(String(claimPath.dropLast(content.claimSuffix.count)), content)
      unlink(claimPath)
    }
  }

  private static func isOfHistory(_ name: [UInt8]) -> Bool {
    name == Array("history.lock".utf8) || name.suffix(5).elementsEqual(".yaml".utf8)
  }

  /// Deletes a temporary file after the files next to it. The caller deletes a separate file with the lock
  /// last, because its name leads to the others.
  private static func remove(_ path: String, _ content: Content) {
    for suffix in content.suffixes.reversed() { unlink(path + suffix) }
  }

  /// The name of the target; nil if the name does not belong to a temporary file's lock.
  private static func target(of name: [UInt8], _ content: Content) -> [UInt8]? {
    let end = Array((content.ending + content.claimSuffix).utf8)
    guard name.count > end.count, name.suffix(end.count).elementsEqual(end) else { return nil }
    let rest = name.dropLast(end.count)
    guard let dot = rest.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    let numbers = rest[(dot + 1)...]
      .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let isOurs =
      numbers.count == 2
      && numbers.allSatisfy { !$0.isEmpty && $0.allSatisfy { (48...57).contains($0) } }
    return isOurs ? Array(rest[..<dot]) : nil
  }

  private static func isStill(_ descriptor: Int32, at path: String) throws(FileError) -> Bool {
    let opened = try FileStatus(descriptor: descriptor, path: path)
    return try FileStatus(existing: path, followingLinks: false)?.isSameFile(as: opened) == true
  }
}

// MARK: Whole files

/// Replaces a file's content atomically: a reader sees either the old or the new bytes, even after
/// a power failure.
///
/// It follows a link and replaces the link's target. An existing file keeps its mode; a
/// write-protected file is refused.
package func writeFileAtomically(_ bytes: [UInt8], to path: String) throws(FileError) {
  let target = try somethingExists(at: path) ? try resolvedPath(path) : path
  let oldMode = try modeOfWritableFile(target)
  let file = try temporaryFile(bytes, for: target, named: path)
  do throws(FileError) {
    if let mode = oldMode { try file.setMode(mode) }
    try file.publish(replacing: target)
  } catch {
    throw FileError(
      path: path, systemError: error.systemError,
      message: file.isPublished
        ? "has the new content, but a power cut may undo this: \(error.message)"
        : nil)
  }
}

/// Creates a file atomically with its full content, without replacing an existing file.
///
/// - Throws: with `EEXIST` if the name exists.
package func createFileAtomically(_ bytes: [UInt8], at path: String) throws(FileError) {
  guard try temporaryFile(bytes, for: path, named: path).publish(asNew: path) else {
    throw FileError(path: path, systemError: EEXIST)
  }
}

/// - Parameter path: the name of the file in messages.
private func temporaryFile(
  _ bytes: [UInt8], for target: String, named path: String
) throws(FileError) -> TemporaryFile {
  do throws(FileError) {
    let file = try TemporaryFile(for: target, .bytes)
    try file.write(bytes)
    return file
  } catch {
    throw FileError(path: path, systemError: error.systemError)
  }
}

/// The permission bits; nil if the file does not exist.
private func modeOfWritableFile(_ path: String) throws(FileError) -> mode_t? {
  guard let status = try FileStatus(existing: path) else { return nil }
  guard status.isRegularFile else { throw .notAFile(path) }
  guard access(path, W_OK) == 0 else { throw FileError(path: path, systemError: errno) }
  return status.mode
}

/// A change in a folder: the renaming or the creation of a file.
package enum FileChange {
  case renaming(String, to: String)
  case creation(of: String, [UInt8])

  /// Makes all changes in their order, or none of them. An existing file is never replaced.
  ///
  /// - Parameter last: a further step, which must change nothing if it fails.
  /// - Throws: the first error. Its message names the files that could not be renamed back.
  package static func make(
    _ changes: [FileChange], then last: () throws(FileError) -> Void = {}
  ) throws(FileError) {
    var done: [FileChange] = []
    do throws(FileError) {
      for change in changes {
        try change.make()
        done.append(change)
      }
      try last()
    } catch {
      let remaining = done.reversed().compactMap { $0.undo() }
      guard !remaining.isEmpty else { throw error }
      throw FileError(
        path: error.path, systemError: error.systemError,
        message: "\(error.message). These files could not be renamed back: "
          + remaining.joined(separator: ", "))
    }
  }

  private func make() throws(FileError) {
    switch self {
    case .renaming(let old, let new):
      guard try !somethingExists(at: new) else { throw FileError(path: new, systemError: EEXIST) }
      guard rename(old, new) == 0 else { throw FileError(path: old, systemError: errno) }
    case .creation(let file, let bytes): try createFileAtomically(bytes, at: file)
    }
  }

  /// - Returns: both names of a file that could not be renamed back; nil if there is none.
  private func undo() -> String? {
    switch self {
    case .renaming(let old, let new):
      return (try? FileChange.renaming(new, to: old).make()) == nil
        ? "`\(new)` (formerly `\(old)`)" : nil
    case .creation(let file, _):
      try? removeFile(file)
      return nil
    }
  }
}

/// An exclusive claim to change a folder of manifests. A process holds it from before it reads the
/// files until it has written its changes.
///
/// It is a lock of the operating system (flock(2)) on the folder itself, if its file system
/// supports locks. The lock ends with the process at the latest.
package struct FolderClaim: ~Copyable {
  /// -1 if nothing can be locked. Errors of the folder are then reported when it is read.
  private let descriptor: Int32

  /// - Parameter timeout: how long to wait for another process, in seconds.
  /// - Returns: nil if another process holds the claim for longer.
  package init?(_ path: String, timeout: Double) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let waiting = Stopwatch()
    while descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
      guard waiting.seconds < timeout else {
        close(descriptor)
        return nil
      }
      usleep(5000)
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}

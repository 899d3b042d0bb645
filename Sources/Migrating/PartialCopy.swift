import History

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file of this process alone, until it is whole and gets its name. It goes with the last
/// reference to it, unless it was kept.
///
/// A process that is killed leaves its file behind. The next one that makes a copy there removes
/// it, and knows by a lock (`flock`) which of them are in use.
final class PartialCopy {
  let path: String
  private let descriptor: Int32
  private var isKept = false

  /// - Parameter base: how its path begins: it stands beside what it will be, on the same disk.
  init(as base: String) throws(Failure) {
    Self.sweep(base)
    for _ in 0..<100 {
      let path = "\(base).\(getpid())-\(UInt32.random(in: .min ... .max)).partial"
      let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw Self.failure(path) }
      // Where there are no such locks nobody sweeps, either.
      let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
      guard let isStill = Self.isStill(descriptor, at: path) else {
        let failure = Self.failure(path, "cannot be looked at")
        unlink(path)
        close(descriptor)
        throw failure
      }
      if isLocked, isStill {
        self.path = path
        self.descriptor = descriptor
        return
      }
      // Somebody swept it in the moment before it was locked.
      close(descriptor)
    }
    throw Failure(.busy, "\(base): others keep removing the copy that is made there")
  }

  deinit {
    if !isKept { DatabaseFile.remove(path) }
    close(descriptor)
  }

  // MARK: Keeping

  /// For the eyes that may see the database, and no others.
  func admitReaders(of database: String) {
    var status = stat()
    guard stat(database, &status) == 0 else { return }
    var mode = status.st_mode & 0o666
    // Only root may give a file away; then those who share the group are others.
    if fchown(descriptor, status.st_uid, status.st_gid) != 0,
      fchown(descriptor, uid_t.max, status.st_gid) != 0
    {
      mode &= 0o606
    }
    fchmod(descriptor, mode)
  }

  /// Gives it the name, or the name with the first number that is free.
  func keep(as name: String) throws(Failure) -> String {
    for number in 1...10_000 {
      let free = number == 1 ? name : "\(name)-\(number)"
      if try take(free) { return free }
    }
    throw Failure(.inputOutput, "\(name): there are 10,000 of this name")
  }

  /// Gives it the name, unless something has it, or has left its journals there.
  func take(_ name: String) throws(Failure) -> Bool {
    guard DatabaseFile.isFree(name) else { return false }
    try sync()
    // A link never replaces anything, and is there whole or not at all.
    if link(path, name) == 0 {
      unlink(path)
    } else if errno == EEXIST {
      return false
    } else {
      // Not every file system has links.
      let reserved = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      if reserved < 0, errno == EEXIST { return false }
      guard reserved >= 0 else { throw Self.failure(name) }
      close(reserved)
      guard rename(path, name) == 0 else {
        let failure = Self.failure(name)
        unlink(name)
        throw failure
      }
    }
    isKept = true
    do {
      try Self.syncFolder(of: name)
    } catch {
      unlink(name)
      throw error
    }
    return true
  }

  /// Gives it the name, in place of what has it.
  func replace(_ name: String) throws(Failure) {
    try sync()
    for suffix in DatabaseFile.companions { unlink(name + suffix) }
    guard rename(path, name) == 0 else { throw Self.failure(name) }
    isKept = true
    try Self.syncFolder(of: name)
  }

  private func sync() throws(Failure) {
    guard fsync(descriptor) == 0 else { throw Self.failure(path, "cannot be written to the disk") }
  }

  /// A file system that cannot sync a folder does so by itself.
  static func syncFolder(of path: String) throws(Failure) {
    let parent = parentFolder(of: path)
    let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, "the folder of which cannot be opened") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw failure(path, "the name of which cannot be written to the disk")
    }
  }

  // MARK: Sweeping

  /// Removes what killed processes have left.
  private static func sweep(_ base: String) {
    let parent = parentFolder(of: base)
    let name = nameBytes(of: base)
    for found in (try? folderNames(parent)) ?? [] where isPartial(found, of: name) {
      let path = parent + "/" + String(decoding: found, as: UTF8.self)
      let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0, isStill(descriptor, at: path) == true {
        DatabaseFile.remove(path)
      }
      close(descriptor)
    }
  }

  /// `<name>.<process>-<number>.partial`
  private static func isPartial(_ found: [UInt8], of name: [UInt8]) -> Bool {
    let start = name + Array(".".utf8)
    let end = Array(".partial".utf8)
    guard found.starts(with: start), found.count > start.count + end.count,
      found.suffix(end.count).elementsEqual(end)
    else { return false }
    let numbers = found.dropFirst(start.count).dropLast(end.count)
      .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return numbers.count == 2
      && numbers.allSatisfy { !$0.isEmpty && $0.allSatisfy { (48...57).contains($0) } }
  }

  /// Nil where neither can be looked at.
  private static func isStill(_ descriptor: Int32, at path: String) -> Bool? {
    var opened = stat()
    var named = stat()
    guard fstat(descriptor, &opened) == 0 else { return nil }
    guard lstat(path, &named) == 0 else { return errno == ENOENT ? false : nil }
    return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }

  /// What `errno` says.
  static func failure(_ path: String, _ what: String = "cannot be made") -> Failure {
    Failure(
      ExitStatus(systemError: errno),
      "\(path) \(what): \(String(cString: strerror(errno)))")
  }
}

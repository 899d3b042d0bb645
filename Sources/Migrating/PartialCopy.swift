import History
import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A copy in the making, which gets its name once it is whole. It goes with the last reference to
/// it, unless it was kept.
final class PartialCopy {
  private let file: ClaimedFile
  /// Whether it has its name. What comes after that may still fail.
  private(set) var isKept = false

  var path: String { file.path }

  /// - Parameters:
  ///   - base: how its path begins: it stands beside what it will be, on the same disk.
  ///   - mode: before the umask. A copy is for nobody's eyes until it is known for whose.
  init(as base: String, mode: mode_t = 0o600) throws(Failure) {
    let name = nameBytes(of: base)
    ClaimedFile.sweep(parentFolder(of: base), Self.ending, remove: DatabaseFile.remove) {
      $0 == name
    }
    do {
      guard let file = try ClaimedFile(base, Self.ending, mode: mode) else {
        throw Failure(.busy, "\(base): others keep removing the copy that is made there")
      }
      self.file = file
    } catch let error as FileError {
      throw Failure(
        ExitStatus(systemError: error.systemError),
        "\(error.path) cannot be made: \(error.message)")
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.bug, "\(error)")
    }
  }

  private static let ending = "partial"

  deinit {
    if !isKept { DatabaseFile.remove(path) }
  }

  // MARK: Keeping

  /// For the eyes that may see the database, and no others.
  func admitReaders(of database: String) {
    var status = stat()
    guard stat(database, &status) == 0 else { return }
    var mode = status.st_mode & 0o666
    // Only root may give a file away; then those who share the group are others.
    if fchown(file.descriptor, status.st_uid, status.st_gid) != 0,
      fchown(file.descriptor, uid_t.max, status.st_gid) != 0
    {
      mode &= 0o606
    }
    fchmod(file.descriptor, mode)
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
      return try takeWithoutLink(name)
    }
    return try named(name)
  }

  /// Not every file system has links. A name that is reserved by an empty file would after a kill be
  /// taken for a copy, so other runs are kept out instead, and a look must do.
  private func takeWithoutLink(_ name: String) throws(Failure) -> Bool {
    guard let claim = FolderClaim(parentFolder(of: name), timeout: 5) else {
      throw Failure(
        .busy, "another schemactl is working in \(parentFolder(of: name)): try again")
    }
    defer { withExtendedLifetime(claim) {} }
    guard DatabaseFile.isFree(name) else { return false }
    guard rename(path, name) == 0 else { throw Self.failure(name) }
    return try named(name)
  }

  private func named(_ name: String) throws(Failure) -> Bool {
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
    guard fsync(file.descriptor) == 0 else {
      throw Self.failure(path, "cannot be written to the disk")
    }
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

  /// What `errno` says.
  static func failure(_ path: String, _ what: String = "cannot be made") -> Failure {
    Failure(
      ExitStatus(systemError: errno),
      "\(path) \(what): \(String(cString: strerror(errno)))")
  }
}

import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A new file of this process alone, which is to get its name once it is whole:
/// `<base>.<process>-<number>.<ending>`.
///
/// A process that is killed leaves its file behind. The next one that makes such files there removes
/// it, and knows by a lock (flock(2)) which of them are in use.
package final class ClaimedFile {
  package let path: String
  /// Open for reading and writing, and closed with the last reference.
  package let descriptor: Int32

  /// - Parameters:
  ///   - base: how its path begins: it stands beside what it will be, on the same disk.
  ///   - mode: before the umask.
  /// - Returns: nil when others keep removing it.
  package init?(_ base: String, _ ending: String, mode: mode_t) throws(FileError) {
    for _ in 0..<100 {
      let path = "\(base).\(getpid())-\(UInt32.random(in: .min ... .max)).\(ending)"
      let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode)
      guard descriptor >= 0 else { throw FileError(path: path, systemError: errno) }
      // Where there are no such locks nobody sweeps, either.
      let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
      guard let isStill = Self.isStill(descriptor, at: path) else {
        let problem = errno
        unlink(path)
        close(descriptor)
        throw FileError(path: path, systemError: problem)
      }
      if isLocked, isStill {
        self.path = path
        self.descriptor = descriptor
        return
      }
      // Somebody swept it in the moment before it was locked.
      close(descriptor)
    }
    return nil
  }

  deinit { close(descriptor) }

  /// Removes what killed processes have left in a folder.
  ///
  /// - Parameter isMeant: asked for what the name of such a file begins with, its base.
  package static func sweep(
    _ folder: String, _ ending: String, remove: (String) -> Void = { _ = unlink($0) },
    where isMeant: ([UInt8]) -> Bool
  ) {
    for name in (try? folderNames(folder)) ?? [] {
      guard let base = base(of: name, ending), isMeant(base) else { continue }
      let path = folder + "/" + String(decoding: name, as: UTF8.self)
      let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0, isStill(descriptor, at: path) == true {
        remove(path)
      }
      close(descriptor)
    }
  }

  /// Nil for a name that is none of ours.
  private static func base(of name: [UInt8], _ ending: String) -> [UInt8]? {
    let end = Array(".\(ending)".utf8)
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

  /// Nil where neither can be looked at.
  private static func isStill(_ descriptor: Int32, at path: String) -> Bool? {
    var opened = stat()
    var named = stat()
    guard fstat(descriptor, &opened) == 0 else { return nil }
    guard lstat(path, &named) == 0 else { return errno == ENOENT ? false : nil }
    return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }
}

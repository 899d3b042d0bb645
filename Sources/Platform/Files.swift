/// A file or folder that could not be read or written.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
  package let path: String
  /// The `errno` of the failed call.
  package let systemError: Int32
  /// The problem without the path: `No such file or directory`.
  package let message: String

  package init(path: String, systemError: Int32, message: String? = nil) {
    self.path = path
    self.systemError = systemError
    self.message = message ?? String(cString: strerror(systemError))
  }

  package var isMissing: Bool { [ENOENT, ENOTDIR].contains(systemError) }

  /// Whether the path or the file itself is the problem, such as a missing file or a link, as opposed to an
  /// error of the system.
  package var isOfFile: Bool {
    isMissing || [ELOOP, EISDIR, ENXIO, EFBIG].contains(systemError)
  }

  package var description: String { "\(path): \(message)" }

  /// Advice about an error of the system; nil if there is none.
  package var remedy: String? {
    switch systemError {
    case EACCES, EPERM: "Check the permissions of the file and of its folder"
    case ENOSPC, EDQUOT: "Free disk space, and run the command again"
    default: nil
    }
  }

  package static func brokenLink(_ path: String, systemError: Int32) -> FileError {
    let reason = String(cString: strerror(systemError))
    return FileError(
      path: path, systemError: systemError, message: "is a broken link: \(reason)")
  }

  package static func notAFile(_ path: String) -> FileError {
    FileError(path: path, systemError: EISDIR, message: "is not a regular file")
  }
}

/// Opens a regular file for reading. It never waits for the writer of a pipe and never opens a device.
private func openRegularFile(
  _ path: String, followingLinks: Bool = true
) throws(FileError) -> (descriptor: Int32, size: Int) {
  let descriptor = try openDescriptor(
    path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (followingLinks ? 0 : O_NOFOLLOW))
  do throws(FileError) {
    let status = try FileStatus(descriptor: descriptor, path: path)
    guard status.isRegularFile else { throw .notAFile(path) }
    return (descriptor, Int(status.bytes))
  } catch {
    close(descriptor)
    throw error
  }
}

/// Reads at most `count` bytes from the start of a regular file.
package func readStart(of path: String, count: Int) throws(FileError) -> [UInt8] {
  let (descriptor, _) = try openRegularFile(path)
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: count)
  let got = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
  guard got >= 0 else { throw FileError(path: path, systemError: errno) }
  return Array(bytes.prefix(got))
}

/// Reads a whole regular file.
///
/// - Parameters:
///   - limit: the maximum size in bytes; a larger file is refused without reading it (`EFBIG`).
///   - followingLinks: false refuses a path whose last part is a symbolic link (`ELOOP`).
package func readFile(
  _ path: String, limit: Int = .max, followingLinks: Bool = true
) throws(FileError) -> [UInt8] {
  let (descriptor, size) = try openRegularFile(path, followingLinks: followingLinks)
  defer { close(descriptor) }
  let tooLarge = FileError(
    path: path, systemError: EFBIG, message: "is larger than \(limit / 1_048_576) MiB")
  guard size <= limit else { throw tooLarge }

  // One byte more than the size, so that the first read also detects the end.
  var bytes = [UInt8](repeating: 0, count: size + 1)
  var count = 0
  while true {
    if count == bytes.count { bytes.append(contentsOf: [UInt8](repeating: 0, count: count)) }
    let got = bytes.withUnsafeMutableBytes { room in
      read(descriptor, room.baseAddress.map { $0 + count }, room.count - count)
    }
    if got < 0 {
      if errno == EINTR { continue }
      throw FileError(path: path, systemError: errno)
    }
    count += got
    guard count <= limit else { throw tooLarge }
    // For a regular file, a short read means the end.
    if count < bytes.count { break }
  }
  bytes.removeLast(bytes.count - count)
  return bytes
}

/// Reads a file of a folder. A link is followed only to a file in the same folder or in one of its
/// subfolders.
///
/// - Parameter limit: the maximum size in bytes; a larger file is refused without reading it (`EFBIG`).
package func readFile(
  _ file: String, inFolder folder: String, limit: Int
) throws(FileError) -> [UInt8] {
  do throws(FileError) {
    return try readFile(file, limit: limit, followingLinks: false)
  } catch  where error.systemError == ELOOP {
    return try readFile(
      try targetOfLink(file, inFolder: folder), limit: limit, followingLinks: false)
  } catch {
    throw error
  }
}

private func targetOfLink(
  _ file: String, inFolder folder: String
) throws(FileError) -> String {
  let target: String
  do throws(FileError) {
    target = try resolvedPath(file)
  } catch  where error.isOfFile {
    throw FileError.brokenLink(file, systemError: error.systemError)
  }
  guard target.utf8.starts(with: joinedPath(try resolvedPath(folder), "").utf8) else {
    throw FileError(
      path: file, systemError: ELOOP,
      message: "is a link that leads out of the folder, to `\(target)`: put the file itself here")
  }
  return target
}

/// The names in a folder as bytes, sorted. Names need not be UTF-8.
package func folderNames(_ path: String) throws(FileError) -> [[UInt8]] {
  var names: [[UInt8]] = []
  try forEachName(inFolder: path) { name in
    names.append(name)
    return true
  }
  return names.sorted { $0.lexicographicallyPrecedes($1) }
}

/// Passes the names in a folder to `body` as bytes, unsorted and including `.` and `..`, until
/// `body` returns false.
package func forEachName(
  inFolder path: String, _ body: ([UInt8]) -> Bool
) throws(FileError) {
  try requireName(path)
  guard let folder = opendir(path) else { throw FileError(path: path, systemError: errno) }
  defer { closedir(folder) }
  while true {
    // Only errno distinguishes the end from an error.
    errno = 0
    guard let entry = readdir(folder) else { break }
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
    guard body(name) else { return }
  }
  guard errno == 0 else { throw FileError(path: path, systemError: errno) }
}

/// The path without links, `.` and `..`.
package func resolvedPath(_ path: String) throws(FileError) -> String {
  guard let resolved = realpath(path, nil) else { throw FileError(path: path, systemError: errno) }
  defer { free(resolved) }
  return String(cString: resolved)
}

/// The path with its folder resolved, so that two names of one file are the same. The file itself
/// may be missing.
package func inResolvedFolder(_ path: String) -> String {
  guard let folder = try? resolvedPath(parentFolder(of: path)) else { return path }
  return joinedPath(folder, String(decoding: nameBytes(of: path), as: UTF8.self))
}

/// Whether the name exists, including a dangling link.
package func somethingExists(at path: String) throws(FileError) -> Bool {
  try FileStatus(existing: path, followingLinks: false) != nil
}

/// Refuses a path with a NUL: C would truncate the path there and open another file.
private func requireName(_ path: String) throws(FileError) {
  guard path.utf8.contains(0) else { return }
  throw FileError(
    path: path, systemError: EINVAL, message: "a path cannot contain the character U+0000")
}

package func openDescriptor(
  _ path: String, _ flags: Int32, mode: mode_t = 0
) throws(FileError) -> Int32 {
  try requireName(path)
  while true {
    let descriptor = open(path, flags | O_CLOEXEC, mode)
    if descriptor >= 0 { return descriptor }
    if errno != EINTR { throw FileError(path: path, systemError: errno) }
  }
}

/// Whether the bytes are valid UTF-8. (`String(validating:as:)` needs macOS 15 and iOS 18.)
package func isUTF8(_ bytes: some Collection<UInt8>) -> Bool {
  // Decoding repairs invalid bytes, so the result differs.
  var text = String(decoding: bytes, as: UTF8.self)
  return text.withUTF8 { text in
    bytes.withContiguousStorageIfAvailable(text.elementsEqual) ?? text.elementsEqual(bytes)
  }
}

/// The suffixes of a database and of the files that SQLite creates next to it. SQLite treats such files as
/// part of the database with that name.
package let databaseSuffixes = ["", "-journal", "-wal", "-shm"]

package func renameFile(_ path: String, to name: String) throws(FileError) {
  guard rename(path, name) == 0 else { throw FileError(path: name, systemError: errno) }
}

/// Creates a hard link, if the file system supports links.
package func linkFile(_ path: String, to name: String) throws(FileError) {
  guard link(path, name) == 0 else { throw FileError(path: name, systemError: errno) }
}

/// - Throws: an error if the file still exists afterwards.
package func removeFile(_ path: String) throws(FileError) {
  guard unlink(path) == 0 || errno == ENOENT else {
    throw FileError(path: path, systemError: errno)
  }
}

/// Writes all bytes; returns `errno` on failure.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
  var written = 0
  while written < bytes.count {
    let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 {
      written += count
    } else if errno == EAGAIN {
      // Another process made a shared pipe non-blocking.
      var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&ready, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return nil
}

/// Syncs the folder of a file, so that its names are on disk. A file system that cannot sync
/// folders does so automatically.
package func syncFolder(of path: String) throws(FileError) {
  do throws(FileError) {
    let folder = parentFolder(of: path)
    let descriptor = try openDescriptor(folder, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    if fsync(descriptor) != 0, errno != EINVAL {
      throw FileError(path: folder, systemError: errno)
    }
  } catch {
    throw FileError(
      path: path, systemError: error.systemError,
      message: "cannot sync its folder: \(error.message)")
  }
}

/// The number of bytes available in a folder; nil if the file system does not report it.
package func freeBytes(inFolder folder: String) -> Double? {
  var status = statvfs()
  // A file system without this information reports zero blocks.
  guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return nil }
  return Double(status.f_bavail) * Double(status.f_frsize)
}

/// Whether the process may write in a folder.
package func isWritableFolder(_ folder: String) -> Bool { access(folder, W_OK | X_OK) == 0 }

/// The target of a chain of links, even if it does not exist.
package func followingLinks(_ path: String) -> String {
  var path = path
  for _ in 0..<40 {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &target, target.count)
    guard count > 0 else { break }
    let next = String(
      decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    path = next.utf8.first == UInt8(ascii: "/") ? next : joinedPath(parentFolder(of: path), next)
  }
  return path
}

/// Metadata of a file.
package struct FileStatus: Sendable {
  private let status: stat

  /// Nil if the file does not exist or its status cannot be read.
  package init?(_ path: String, followingLinks: Bool = true) {
    var status = stat()
    guard (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
    self.status = status
  }

  /// Nil if the file does not exist.
  package init?(existing path: String, followingLinks: Bool = true) throws(FileError) {
    guard let status = FileStatus(path, followingLinks: followingLinks) else {
      let error = FileError(path: path, systemError: errno)
      if error.isMissing { return nil }
      throw error
    }
    self = status
  }

  init(descriptor: Int32, path: String) throws(FileError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError(path: path, systemError: errno) }
    self.status = status
  }

  package var isRegularFile: Bool { status.st_mode & S_IFMT == S_IFREG }
  package var isSymbolicLink: Bool { status.st_mode & S_IFMT == S_IFLNK }
  package var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }
  package var bytes: Int64 { Int64(status.st_size) }
  /// The device and inode numbers, which are equal for all names of one file.
  package var identity: (device: UInt64, inode: UInt64) {
    (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
  }
  /// The number of hard links.
  package var names: Int { Int(status.st_nlink) }
  var mode: mode_t { status.st_mode & 0o7777 }
  var owner: uid_t { status.st_uid }
  var group: gid_t { status.st_gid }

  /// Whether both describe the same file.
  package func isSameFile(as other: FileStatus) -> Bool {
    status.st_ino == other.status.st_ino && status.st_dev == other.status.st_dev
  }
}

package func joinedPath(_ folder: String, _ name: String) -> String {
  folder.isEmpty || folder.utf8.last == UInt8(ascii: "/") ? folder + name : folder + "/" + name
}

/// The folder of a path; `.` if the path has none.
package func parentFolder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// The last part of a path as bytes, because file names need not be UTF-8.
package func nameBytes(of path: String) -> [UInt8] {
  path.utf8.lastIndex(of: UInt8(ascii: "/")).map { Array(path.utf8[$0...].dropFirst()) }
    ?? Array(path.utf8)
}

/// Encodes the text as part of a URI's path (RFC 3986, section 3.3), except `/`.
package func percentEncoded(_ path: String) -> String {
  path.utf8.map { byte in
    let scalar = Unicode.Scalar(byte)
    if scalar.properties.isAlphabetic && byte < 128 || "0123456789-._~/".utf8.contains(byte) {
      return String(scalar)
    }
    return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
  }.joined()
}

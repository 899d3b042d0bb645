/// A file or folder that could not be read or written.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Kind: Sendable, Equatable {
    case missing
    case permission
    /// A folder, pipe, socket or device instead of a file.
    case notAFile
    case other
  }

  package let path: String
  /// The `errno` of the failed call.
  package let systemError: Int32
  /// The problem without the path: `No such file or directory`.
  package let message: String
  package let kind: Kind
  /// Whether the file has invalid properties, as opposed to an error of the system.
  package let isOfFile: Bool

  package init(path: String, systemError: Int32, message: String? = nil) {
    self.path = path
    isOfFile =
      message != nil || [ENOENT, ENOTDIR, ELOOP, EISDIR, ENXIO].contains(systemError)
    self.systemError = systemError
    self.message = message ?? String(cString: strerror(systemError))
    kind =
      switch systemError {
      case ENOENT, ENOTDIR: .missing
      case EACCES, EPERM, EROFS: .permission
      case EISDIR, ENXIO: .notAFile
      default: .other
      }
  }

  /// Whether the file is a link and links were not allowed.
  package var isLink: Bool { systemError == ELOOP }

  package var description: String { "\(path): \(message)" }

  package static func notAFile(_ path: String) -> FileError {
    FileError(path: path, systemError: EISDIR, message: "is not a regular file")
  }
}

/// Reads at most `count` bytes from the start of a regular file.
package func readStart(of path: String, count: Int) throws(FileError) -> [UInt8] {
  let descriptor = try openDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
  defer { close(descriptor) }
  var status = stat()
  guard fstat(descriptor, &status) == 0 else { throw FileError(path: path, systemError: errno) }
  guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
  var bytes = [UInt8](repeating: 0, count: count)
  let got = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
  guard got >= 0 else { throw FileError(path: path, systemError: errno) }
  return Array(bytes.prefix(got))
}

/// Reads a whole regular file. It never waits for a pipe and never reads a device.
///
/// - Parameters:
///   - limit: the maximum size in bytes; a larger file is refused without reading it (`EFBIG`).
///   - followingLinks: false refuses a path whose last part is a symbolic link (`ELOOP`).
package func readFile(
  _ path: String, limit: Int = .max, followingLinks: Bool = true
) throws(FileError) -> [UInt8] {
  // O_NONBLOCK, because opening a pipe would wait for a writer.
  let descriptor = try openDescriptor(
    path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (followingLinks ? 0 : O_NOFOLLOW))
  defer { close(descriptor) }
  var status = stat()
  guard fstat(descriptor, &status) == 0 else { throw FileError(path: path, systemError: errno) }
  guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
  let tooLarge = FileError(
    path: path, systemError: EFBIG, message: "is larger than \(limit / 1_048_576) MiB")
  guard Int(status.st_size) <= limit else { throw tooLarge }

  // One byte more than the size, so that the first read also detects the end.
  var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
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
  guard !path.utf8.contains(0) else { throw FileError(path: path, systemError: EINVAL) }
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

/// Whether the name exists, including a dangling link.
package func somethingExists(at path: String) throws(FileError) -> Bool {
  var status = stat()
  if lstat(path, &status) == 0 { return true }
  guard errno == ENOENT || errno == ENOTDIR else {
    throw FileError(path: path, systemError: errno)
  }
  return false
}

func openDescriptor(
  _ path: String, _ flags: Int32, mode: mode_t = 0
) throws(FileError) -> Int32 {
  // C would truncate the path at the NUL and open another file.
  guard !path.utf8.contains(0) else { throw FileError(path: path, systemError: EINVAL) }
  while true {
    let descriptor = open(path, flags | O_CLOEXEC, mode)
    if descriptor >= 0 { return descriptor }
    if errno != EINTR { throw FileError(path: path, systemError: errno) }
  }
}

package func joinedPath(_ folder: String, _ name: String) -> String {
  folder.isEmpty || folder.utf8.last == UInt8(ascii: "/") ? folder + name : folder + "/" + name
}

/// Whether the bytes are valid UTF-8. (`String(validating:as:)` needs macOS 15 and iOS 18.)
package func isUTF8(_ bytes: some Collection<UInt8>) -> Bool {
  // Decoding repairs invalid bytes, so the result differs.
  var text = String(decoding: bytes, as: UTF8.self)
  return text.withUTF8 { text in
    bytes.withContiguousStorageIfAvailable(text.elementsEqual) ?? text.elementsEqual(bytes)
  }
}

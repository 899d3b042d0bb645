import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Replaces a file's content so that whoever reads it, even after a power cut, finds either the old
/// bytes or the new ones.
///
/// A link is followed: the file that it leads to is replaced. An existing file keeps its mode, and
/// a write-protected one is refused.
///
/// - Parameter mode: of a new file; nil is what the umask allows.
package func writeFileAtomically(
  _ bytes: [UInt8], to path: String, mode: mode_t? = nil
) throws(FileError) {
  let target = try somethingExists(at: path) ? try resolvedPath(path) : path
  let oldMode = try modeOfWritableFile(target)
  let temporary = try temporaryFile(beside: target, path)
  do throws(FileError) {
    try fill(temporary.descriptor, with: bytes, mode: oldMode ?? mode, path)
    try check(rename(temporary.path, target), path)
  } catch {
    unlink(temporary.path)
    throw error
  }
  do throws(FileError) {
    try syncFolder(of: target)
  } catch {
    throw FileError(
      path: path, systemError: error.systemError,
      message: "holds the new content, which a power cut may take back, for its folder cannot be "
        + "synced: \(error.message)")
  }
}

/// Makes a file that nobody sees half written, and that replaces none.
///
/// - Throws: with `EEXIST` when something has the name.
package func createFileAtomically(_ bytes: [UInt8], at path: String) throws(FileError) {
  let temporary = try temporaryFile(beside: path, path)
  defer { unlink(temporary.path) }
  try fill(temporary.descriptor, with: bytes, mode: nil, path)
  if link(temporary.path, path) != 0 {
    let problem = errno
    // Where the file system knows no links, the claim of the folder and this look must do.
    guard problem != EEXIST, access(path, F_OK) != 0, errno == ENOENT,
      rename(temporary.path, path) == 0
    else { throw FileError(path: path, systemError: problem) }
  }
  do throws(FileError) {
    try syncFolder(of: path)
  } catch {
    unlink(path)
    throw error
  }
}

private func check(_ result: Int32, _ path: String) throws(FileError) {
  guard result == 0 else { throw FileError(path: path, systemError: errno) }
}

/// The permission bits, nil when there is no such file.
private func modeOfWritableFile(_ path: String) throws(FileError) -> mode_t? {
  var status = stat()
  guard stat(path, &status) == 0 else {
    if errno == ENOENT { return nil }
    throw FileError(path: path, systemError: errno)
  }
  guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
  try check(access(path, W_OK), path)
  return status.st_mode & 0o7777
}

/// - Parameter path: as it was named, for messages.
private func temporaryFile(
  beside target: String, _ path: String
) throws(FileError) -> ClaimedFile {
  let name = lastPart(of: target)
  let slash = target.lastIndex(of: "/")
  // A folder in which a manifest is made has others that were never finished.
  ClaimedFile.sweep(slash.map { String(target[...$0]) } ?? ".", temporaryEnding) { base in
    base == name || base == Array(HistoryLock.fileName.utf8) || base.hasSuffix(".yaml")
  }
  do throws(FileError) {
    if let file = try ClaimedFile(target, temporaryEnding, mode: 0o666) { return file }
  } catch {
    throw FileError(path: path, systemError: error.systemError)
  }
  throw FileError(path: path, systemError: EEXIST)
}

private let temporaryEnding = "tmp"

private func lastPart(of path: String) -> [UInt8] {
  Array(path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed())
}

extension [UInt8] {
  fileprivate func hasSuffix(_ end: String) -> Bool {
    suffix(end.utf8.count).elementsEqual(end.utf8)
  }
}

private func fill(
  _ descriptor: Int32, with bytes: [UInt8], mode: mode_t?, _ path: String
) throws(FileError) {
  if let mode { try check(fchmod(descriptor, mode), path) }
  try writeAll(bytes, to: descriptor, path)
  try check(fsync(descriptor), path)
}

private func writeAll(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError) {
  var written = 0
  while written < bytes.count {
    let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 {
      written += count
    } else if errno != EINTR {
      throw FileError(path: path, systemError: errno)
    }
  }
}

/// Makes the new name last; a file system that cannot sync a folder does so by itself.
private func syncFolder(of path: String) throws(FileError) {
  let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
  let descriptor = try openDescriptor(folder, O_RDONLY | O_DIRECTORY)
  defer { close(descriptor) }
  if fsync(descriptor) != 0, errno != EINVAL { throw FileError(path: path, systemError: errno) }
}

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
  let file = try temporaryFile(bytes, for: target, named: path)
  do throws(FileError) {
    if let mode = oldMode ?? mode { try file.setMode(mode) }
    try file.publish(replacing: target)
  } catch {
    throw FileError(
      path: path, systemError: error.systemError,
      message: file.isPublished
        ? "holds the new content, which a power cut may take back: \(error.message)"
        : nil)
  }
}

/// Makes a file that nobody sees half written, and that replaces none.
///
/// - Throws: with `EEXIST` when something has the name.
package func createFileAtomically(_ bytes: [UInt8], at path: String) throws(FileError) {
  guard try temporaryFile(bytes, for: path, named: path).publish(asNew: path) else {
    throw FileError(path: path, systemError: EEXIST)
  }
}

/// - Parameter path: for messages.
private func temporaryFile(
  _ bytes: [UInt8], for target: String, named path: String
) throws(FileError) -> TemporaryFile {
  let name = nameBytes(of: target)
  do throws(FileError) {
    // A folder in which a manifest is made may hold others that were never finished.
    let file = try TemporaryFile(for: target, .bytes) { other in
      other == name || other == Array("history.lock".utf8)
        || other.suffix(5).elementsEqual(".yaml".utf8)
    }
    try file.write(bytes)
    return file
  } catch {
    throw FileError(path: path, systemError: error.systemError)
  }
}

/// The permission bits, nil when there is no such file.
private func modeOfWritableFile(_ path: String) throws(FileError) -> mode_t? {
  var status = stat()
  guard stat(path, &status) == 0 else {
    if errno == ENOENT { return nil }
    throw FileError(path: path, systemError: errno)
  }
  guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
  guard access(path, W_OK) == 0 else { throw FileError(path: path, systemError: errno) }
  return status.st_mode & 0o7777
}

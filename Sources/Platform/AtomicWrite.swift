/// Replaces a file's content atomically: a reader sees either the old or the new bytes, even after
/// a power failure.
///
/// It follows a link and replaces the link's target. An existing file keeps its mode; a
/// write-protected file is refused.
///
/// - Parameter mode: the mode of a new file; nil for the default of the umask.
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
  let name = nameBytes(of: target)
  do throws(FileError) {
    // The folder may contain other unfinished manifests of killed processes.
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

/// The permission bits; nil if the file does not exist.
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

/// Reads a file of a folder. A link is followed only to another file of the same folder.
///
/// - Parameter limit: the maximum size in bytes; a larger file is refused without reading it
///   (`EFBIG`).
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
    throw FileError(
      path: file, systemError: error.systemError,
      message: "is a broken link: \(error.message)")
  }
  guard target.utf8.starts(with: joinedPath(try resolvedPath(folder), "").utf8) else {
    throw FileError(
      path: file, systemError: EACCES,
      message: "is a link that leads out of the folder, to \(target): put the file itself here")
  }
  return target
}

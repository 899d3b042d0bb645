/// The suffixes of a database and of the files that SQLite keeps next to it. SQLite treats such
/// files as part of any database with the name.
package let databaseSuffixes = ["", "-journal", "-wal", "-shm"]

package func renameFile(_ path: String, to name: String) throws(FileError) {
  guard rename(path, name) == 0 else { throw FileError(path: name, systemError: errno) }
}

/// Creates a hard link, if the file system supports links.
package func linkFile(_ path: String, to name: String) throws(FileError) {
  guard link(path, name) == 0 else { throw FileError(path: name, systemError: errno) }
}

/// - Throws: if the file still exists afterwards.
package func removeFile(_ path: String) throws(FileError) {
  guard unlink(path) == 0 || errno == ENOENT else {
    throw FileError(path: path, systemError: errno)
  }
}

func writeAll(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError) {
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
      message: "its folder cannot be synced: \(error.message)")
  }
}

/// The number of bytes available in a folder; nil if the file system does not report it.
package func freeBytes(inFolder folder: String) -> Int64? {
  var status = statvfs()
  // A file system without this information reports zero blocks.
  guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return nil }
  return Int64(clamping: UInt64(status.f_bavail).saturatingTimes(UInt64(status.f_frsize)))
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

extension FixedWidthInteger {
  /// The sum, or the maximum on overflow. Some file systems report 16 EiB, and a sparse file can be
  /// nearly as large.
  package func saturatingPlus(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? .max : sum
  }

  /// The product of non-negative numbers, or the maximum on overflow.
  package func saturatingTimes(_ other: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? .max : product
  }
}

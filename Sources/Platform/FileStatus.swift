/// Metadata of a file.
package struct FileStatus: Sendable {
  private let status: stat

  /// Nil if the file does not exist or its status cannot be read.
  package init?(_ path: String, followingLinks: Bool = true) {
    var status = stat()
    guard (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
    self.status = status
  }

  package var isRegularFile: Bool { status.st_mode & S_IFMT == S_IFREG }
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

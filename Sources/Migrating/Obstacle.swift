import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension DatabaseFile {
  /// What keeps this process from writing a database, where SQLite only says that it cannot; nil
  /// when nothing does.
  static func obstacle(_ path: String) -> String? {
    let readsAndWrites = [path, path + "-journal", path + "-wal", path + "-shm"]
    for file in readsAndWrites where access(file, F_OK) == 0 && access(file, R_OK | W_OK) != 0 {
      return "\(file): \(String(cString: strerror(errno)))"
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard access(folder, W_OK | X_OK) != 0 else { return nil }
    return
      "its folder: \(String(cString: strerror(errno))). SQLite writes files beside a database, "
      + "in WAL mode even to read it"
  }
}

extension ExitStatus {
  /// What `errno` means for a file.
  package init(systemError: Int32) {
    self = [EACCES, EPERM, EROFS].contains(systemError) ? .permission : .inputOutput
  }
}

import SchemaPlatform
import SchemaSQLText

extension DatabaseFile {
  /// What keeps this process from writing a database, where SQLite only says that it cannot; nil
  /// when nothing does.
  package static func obstacle(_ path: String) -> String? {
    for file in databaseSuffixes.map({ path + $0 }) where access(file, F_OK) == 0 {
      if let refusal = refusal(file, R_OK | W_OK) { return "\(file): \(refusal)" }
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    return refusal(folder, W_OK | X_OK).map {
      "its folder: \($0). SQLite writes files in the folder of a database, in WAL mode also to "
        + "read it"
    }
  }

  /// Why the file itself cannot be read, regardless of the files beside it.
  static func unreadability(_ path: String) -> String? {
    access(path, F_OK) == 0 ? refusal(path, R_OK) : nil
  }

  /// What permission is missing, in words. That the disk does not answer is another matter.
  private static func refusal(_ path: String, _ mode: Int32) -> String? {
    guard access(path, mode) != 0, ExitStatus(systemError: errno) == .permission else { return nil }
    return String(cString: strerror(errno))
  }
}

extension ExitStatus {
  /// What `errno` means for a file.
  package init(systemError: Int32) {
    self = [EACCES, EPERM, EROFS].contains(systemError) ? .permission : .inputOutput
  }
}

import SchemaPlatform
import SchemaSQLText

/// Where a file stands, as seen from the top of the repository that the working folder is in: that
/// is how GitHub and SARIF name files, wherever in it a command runs. Without a repository the
/// working folder is the top.
struct RepositoryPaths {
  private let workingFolder: [Substring]
  private let root: [Substring]

  init() {
    let folder = schemactl.workingFolder ?? "/"
    let parts = folder.split(separator: "/")
    workingFolder = parts
    let top = (0...parts.count).last { depth in
      access("/" + (parts.prefix(depth) + [".git"]).joined(separator: "/"), F_OK) == 0
    }
    root = top.map { Array(parts.prefix($0)) } ?? parts
  }

  /// From the root of the file system, without `.` and `..`.
  func absolute(_ file: String) -> String {
    "/" + parts(of: file).joined(separator: "/")
  }

  /// From the top of the repository; nil for a file that is not in it.
  func relative(_ file: String) -> String? {
    let parts = parts(of: file)
    guard parts.starts(with: root) else { return nil }
    return parts.dropFirst(root.count).joined(separator: "/")
  }

  private func parts(of file: String) -> [Substring] {
    var parts = file.hasPrefix("/") ? [] : workingFolder
    for part in file.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return parts
  }
}

/// Nil when it has been removed.
var workingFolder: String? {
  guard let path = getcwd(nil, 0) else { return nil }
  defer { free(path) }
  return String(cString: path)
}

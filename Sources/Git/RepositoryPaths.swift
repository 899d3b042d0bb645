import SchemaPlatform
import SchemaSQLText

/// Paths relative to the top folder of the repository around the working folder. GitHub and SARIF
/// name files this way, regardless of the folder in which a command runs. Without a repository,
/// paths are relative to the working folder.
package struct RepositoryPaths: Sendable {
  private let workingFolder: [Substring]
  private let root: [Substring]

  package init() {
    let parts = ((try? resolvedPath(".")) ?? "/").split(separator: "/")
    workingFolder = parts
    let top = (0...parts.count).last { depth in
      access("/" + (parts.prefix(depth) + [".git"]).joined(separator: "/"), F_OK) == 0
    }
    root = top.map { Array(parts.prefix($0)) } ?? parts
  }

  /// The absolute path, without `.` and `..`.
  package func absolute(_ file: String) -> String { "/" + parts(of: file).joined(separator: "/") }

  /// The path from the top of the repository; nil for a file outside of it.
  package func relative(_ file: String) -> String? {
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

import SQLText

/// The lines of `.gitattributes` with which git keeps a history's bytes, and never merges two locks
/// by itself.
package struct GitAttributes: Sendable {
  package static let lines = ["*.yaml text eol=lf", "history.lock -merge"]
  package static let fileName = ".gitattributes"

  /// Which of the lines the repository does not give yet.
  package static func missing(in git: GitRepository) throws(GitError) -> [String] {
    let manifest = try git.attributes(["text", "eol"], of: "0001_a.yaml")
    let lock = try git.attributes(["merge"], of: HistoryLock.fileName)
    // `-text` too leaves the bytes as they are.
    let keepsBytes =
      manifest["text"] == "unset" || (manifest["text"] != "unspecified" && manifest["eol"] == "lf")
    return (keepsBytes ? [] : [lines[0]]) + (lock["merge"] == "unset" ? [] : [lines[1]])
  }
}

extension MigrationFolder {
  package var attributesFile: String { joinedPath(path, GitAttributes.fileName) }

  /// Adds the lines that the folder's `.gitattributes` does not hold.
  ///
  /// - Returns: what was added.
  package func writeGitAttributes() throws(FileError) -> [String] {
    var bytes: [UInt8] = []
    do throws(FileError) {
      bytes = try readFile(attributesFile, limit: 1_048_576)
    } catch {
      guard error.kind == .missing, try !somethingExists(at: attributesFile) else { throw error }
    }
    let present = readingCRLFAsLF(bytes).split(separator: lineFeed).map(Array.init)
    let missing = GitAttributes.lines.filter { !present.contains(Array($0.utf8)) }
    guard !missing.isEmpty else { return [] }
    if let last = bytes.last, last != lineFeed { bytes.append(lineFeed) }
    bytes += missing.joined(separator: "\n").utf8 + [lineFeed]
    try writeFileAtomically(bytes, to: attributesFile)
    return missing
  }
}

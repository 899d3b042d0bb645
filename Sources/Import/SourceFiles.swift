import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// The files in another tool's folder, or a single file.
package struct SourceFiles: Sendable {
  /// The folder as the user named it; for a single file, the folder that contains it.
  package let folder: String
  /// Paths relative to the folder, in the order of their bytes.
  let paths: [String]
  /// Whether the user named a file and not a folder.
  let isSingleFile: Bool

  private static let depth = 4
  private static let sizeLimit = 64 * 1_048_576

  /// Lists the files at a path.
  ///
  /// - Throws: a failure (66) if the path does not exist.
  package init(_ path: String) throws(Failure) {
    do {
      guard let status = FileStatus(path) else { throw FileError(path: path, systemError: errno) }
      guard status.isFolder else {
        folder = folderName(path)
        paths = [String(decoding: nameBytes(of: path), as: UTF8.self)]
        isSingleFile = true
        return
      }
      folder = path
      isSingleFile = false
      var found: [String] = []
      try Self.collect(path, "", Self.depth, &found)
      paths = found
    } catch {
      throw Failure(of: error, database: path)
    }
  }

  private static func collect(
    _ root: String, _ prefix: String, _ depth: Int, _ found: inout [String]
  ) throws(FileError) {
    for bytes in try folderNames(joinedPath(root, prefix)) {
      guard bytes.first != UInt8(ascii: "."),
        let name = String(validating: bytes, as: UTF8.self), name != "node_modules"
      else { continue }
      let path = prefix.isEmpty ? name : prefix + "/" + name
      guard let status = FileStatus(joinedPath(root, path)) else { continue }
      if !status.isFolder {
        found.append(path)
      } else if depth > 1 {
        try collect(root, path, depth - 1, &found)
      }
    }
  }

  /// The folder or file as the user named it.
  var name: String { isSingleFile ? shown(paths[0]) : folder }

  /// Returns the path for messages.
  func shown(_ path: String) -> String { joinedPath(folder, path) }

  func bytes(_ path: String) throws(Failure) -> [UInt8] {
    return try failing { try readFile(shown(path), limit: Self.sizeLimit) }
  }

  func has(_ path: String) -> Bool { paths.contains(path) }

  /// The paths of the SQL files.
  var scripts: [String] { paths.filter { isSQLFile(Array(fileName($0).utf8)) } }

  /// Whether a file of this name, in the folder or in one of the four folders above it, contains a word.
  func projectFile(_ name: String, holds word: String) -> Bool {
    var folder = folder.isEmpty ? "." : folder
    for _ in 0..<5 {
      if let bytes = try? readFile(joinedPath(folder, name), limit: 1_048_576),
        String(decoding: bytes, as: UTF8.self).contains(word)
      {
        return true
      }
      folder = joinedPath(folder, "..")
    }
    return false
  }
}

/// Returns the last component of a path.
func fileName(_ path: String) -> String { String(decoding: nameBytes(of: path), as: UTF8.self) }

/// Returns the path's folder without a trailing slash; empty if the path has no folder.
func folderName(_ path: String) -> String {
  path.contains("/") ? parentFolder(of: path) : ""
}

/// Returns the text without an ending (given in lower case); nil if the text has another ending. Ignores the
/// case of ASCII letters.
func stem(_ name: String, without ending: String) -> String? {
  guard name.utf8.count > ending.utf8.count,
    name.utf8.suffix(ending.utf8.count).lazy.map(\.lowercased).elementsEqual(ending.utf8)
  else { return nil }
  return String(decoding: name.utf8.dropLast(ending.utf8.count), as: UTF8.self)
}

/// Splits a text into its leading digits and the rest; nil without leading digits.
func leadingNumber(_ text: String) -> (digits: String, rest: String)? {
  let digits = text.utf8.prefix(while: \.isDigit)
  guard !digits.isEmpty else { return nil }
  return (
    String(decoding: digits, as: UTF8.self),
    String(decoding: text.utf8.dropFirst(digits.count), as: UTF8.self)
  )
}

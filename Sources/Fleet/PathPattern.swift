import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// A pattern of paths. In each part between slashes `*` matches any characters, `?` one, `[a-z]` one of these
/// and `[^a-z]` or `[!a-z]` one other, as in SQLite's GLOB; `**` matches any number of folders, and at the
/// end all files in them.
///
/// A name that begins with a dot matches only a part that does.
struct PathPattern {
  private let parts: [String]
  /// The start of every match: `/` or empty.
  private let root: String

  init(_ pattern: String) {
    root = pattern.hasPrefix("/") ? "/" : ""
    var bytes = Array(pattern.utf8)
    // Shells write `[!a]` for SQLite's `[^a]`.
    for index in bytes.indices.dropFirst()
    where bytes[index - 1] == UInt8(ascii: "[") && bytes[index] == UInt8(ascii: "!") {
      bytes[index] = UInt8(ascii: "^")
    }
    let parts = bytes.split(separator: UInt8(ascii: "/")).map {
      String(decoding: $0, as: UTF8.self)
    }
    self.parts = parts.last == "**" ? parts + ["*"] : parts
  }

  static func isPattern(_ text: String) -> Bool {
    text.utf8.contains { [UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "[")].contains($0) }
  }

  /// Passes each match once, in no particular order. Skips folders, and the files that SQLite and schemactl
  /// write beside a database.
  ///
  /// - Throws: when a folder cannot be read, or a match is not UTF-8.
  func forEachMatch(_ body: (String) throws(Failure) -> Void) throws(Failure) {
    do {
      try match(parts[...], in: root, body)
    } catch {
      throw Failure(ofList: error)
    }
  }

  private func match(
    _ parts: ArraySlice<String>, in folder: String, _ body: (String) throws(Failure) -> Void
  ) throws {
    guard let part = parts.first else { return }
    let rest = parts.dropFirst()
    guard Self.isPattern(part) else {
      let path = joinedPath(folder, part)
      if !rest.isEmpty {
        try match(rest, in: path, body)
      } else if try somethingExists(at: path) {
        try body(path)
      }
      return
    }
    let isAnyDepth = part == "**"
    if isAnyDepth { try match(rest, in: folder, body) }
    try forEachName(matching: isAnyDepth ? "*" : part, in: folder) { name in
      let path = joinedPath(folder, name)
      let isFolder = FileStatus(path, followingLinks: !isAnyDepth)?.isFolder == true
      if isFolder, isAnyDepth || !rest.isEmpty {
        try match(isAnyDepth ? parts : rest, in: path, body)
      } else if !isFolder, !isAnyDepth, rest.isEmpty, try !isSideFile(path) {
        try body(path)
      }
    }
  }

  private func forEachName(
    matching part: String, in folder: String, _ body: (String) throws -> Void
  ) throws {
    var problem: (any Error)?
    do throws(FileError) {
      try SchemaPlatform.forEachName(inFolder: folder.isEmpty ? "." : folder) { bytes in
        // Replaces invalid UTF-8, so that the message can show the name.
        let name = String(decoding: bytes, as: UTF8.self)
        guard name != ".", name != "..", part.hasPrefix(".") || !name.hasPrefix("."),
          globMatches(part, name)
        else { return true }
        do {
          guard Array(name.utf8) == bytes else {
            throw Failure(
              .invalidInput,
              "the name of \(joinedPath(folder, name)) is not UTF-8. Nothing was changed")
          }
          try body(name)
        } catch {
          problem = error
        }
        return problem == nil
      }
    } catch {
      guard error.kind == .missing else { throw error }
      return
    }
    if let problem { throw problem }
  }

  /// Journals and logs of SQLite; backups and copies of schemactl.
  private func isSideFile(_ path: String) throws(FileError) -> Bool {
    for suffix in databaseSuffixes where !suffix.isEmpty && path.hasSuffix(suffix) {
      return try somethingExists(at: String(path.dropLast(suffix.count)))
    }
    return ["*.backup-[0-9]*-[0-9]*T[0-9]*Z", "*.before-drafts*", "*.before-reset*"]
      .contains { globMatches($0, path) }
  }
}

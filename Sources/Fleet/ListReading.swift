import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// A source of database names.
package enum ListSource: Sendable, Hashable {
  /// A path, or a pattern of paths.
  case pattern(String)
  /// A file with one name per line, or with a NUL after each name.
  case file(String)
  case standardInput
}

extension DatabaseList {
  /// Adds the names of a source.
  ///
  /// - Parameter interruption: stops waiting for input.
  package func add(
    _ source: ListSource, interruption: Interruption = Interruption()
  ) throws(Failure) {
    do {
      switch source {
      case .pattern(let pattern): try add(matching: pattern)
      case .file(let path): try add(fromFile: path, interruption)
      case .standardInput: try add(fromFile: nil, interruption)
      }
    } catch {
      guard !interruption.isRequested else {
        throw Failure(.interrupted, "interrupted: nothing changed")
      }
      throw Failure(ofList: error)
    }
  }

  private func add(matching pattern: String) throws {
    guard PathPattern.isPattern(pattern) else { return try add(pattern) }
    let count = try addSorted(PathPattern(pattern).forEachMatch)
    guard count > 0 else { throw Failure(.notFound, "no file matches `\(pattern)`") }
  }

  private func add(fromFile path: String?, _ interruption: Interruption) throws {
    let limit = Int(PATH_MAX)
    var reader = try RecordReader(path, limit: limit, isCancelled: { interruption.isRequested })
    // No path is longer, so a list that uses NULs contains one within these bytes.
    let separator: UInt8 = try reader.contains(0, inNext: limit + 1) ? 0 : 10
    var line = 0
    while let (bytes, _) = try reader.next(endingWith: separator) {
      line += 1
      guard !bytes.isEmpty else { continue }
      guard let name = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
        throw Failure(
          .invalidInput,
          "\(reader.path): name \(line) is not UTF-8, or contains a NUL. Nothing changed")
      }
      try add(name)
    }
  }
}

/// A pattern of paths. In each part between slashes, as in SQLite's GLOB, `*` matches any characters, `?`
/// matches one character, `[a-z]` matches one of these characters, and `[^a-z]` or `[!a-z]` matches one other
/// character. `**` matches any number of folders, and at the end all files in them.
///
/// A name that begins with a dot matches only a part that begins with a dot.
struct PathPattern {
  private let parts: [String]
  /// The start of every path: `/` or empty.
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

  /// Passes each match to `body`, in no particular order. A pattern with several `**` can pass a match more
  /// than once. Skips folders, and the files that SQLite and schemactl write next to a database.
  ///
  /// - Throws: if a folder cannot be read, or the name of a match is not UTF-8.
  func forEachMatch(_ body: (String) throws -> Void) throws {
    try match(parts[...], in: root, body)
  }

  private func match(
    _ parts: ArraySlice<String>, in folder: String, _ body: (String) throws -> Void
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
        // This replaces invalid UTF-8, so that the message can show the name.
        let name = String(decoding: bytes, as: UTF8.self)
        guard name != ".", name != "..", part.hasPrefix(".") || !name.hasPrefix("."),
          globMatches(part, name)
        else { return true }
        do {
          guard Array(name.utf8) == bytes else {
            throw Failure(
              .invalidInput,
              "the name of `\(joinedPath(folder, name))` is not UTF-8. Nothing changed")
          }
          try body(name)
        } catch {
          problem = error
        }
        return problem == nil
      }
    } catch {
      guard error.isMissing else { throw error }
      return
    }
    if let problem { throw problem }
  }

  /// Whether a file is a journal or log of SQLite, or a backup or copy of schemactl.
  private func isSideFile(_ path: String) throws(FileError) -> Bool {
    for suffix in databaseSuffixes where !suffix.isEmpty && path.hasSuffix(suffix) {
      return try somethingExists(at: String(path.dropLast(suffix.count)))
    }
    return ["*.backup-[0-9]*-[0-9]*T[0-9]*Z", "*.before-drafts*", "*.before-reset*"]
      .contains { globMatches($0, path) }
  }
}

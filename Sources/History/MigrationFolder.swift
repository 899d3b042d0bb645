import SchemaPlatform
import SchemaSQLText

/// A folder of manifests and their history lock.
package struct MigrationFolder: Sendable, Equatable {
  /// The size of the largest manifest that schemactl reads, in bytes.
  package static let manifestSizeLimit = 8 * 1_048_576

  package let path: String

  package init(_ path: String) {
    self.path = path
  }

  /// The folder of the manifests that a squash replaces.
  package var squashed: MigrationFolder { MigrationFolder(joinedPath(path, "squashed")) }

  /// The path of the manifest with this id, whether or not the file exists.
  package func file(ofMigration id: String) -> String { joinedPath(path, id + ".yaml") }

  /// The ids of all manifests, in the order of their numbers. Does not read the manifests; two of them may
  /// have the same number.
  ///
  /// - Parameter mayHoldOther: whether the folder may contain only the history of another tool. If not, such
  ///   a folder is an error (66).
  package func ids(mayHoldOther: Bool = false) throws(Failure) -> [String] {
    try manifestNames(mayHoldOther: mayHoldOther).filter { $0.problem == nil }.map(\.id)
      .sorted { MigrationNumber(id: $0) < MigrationNumber(id: $1) }
  }

  package func manifestNames(mayHoldOther: Bool = false) throws(Failure) -> [ManifestName] {
    let names: [[UInt8]]
    do throws(FileError) {
      names = try folderNames(path)
    } catch {
      throw error.systemError == ENOENT ? missingFolder(similar: similar) : Failure(error)
    }
    let manifests = names.compactMap(ManifestName.init)
    // Do not report an empty history as a checked one.
    let others = manifests.isEmpty && !mayHoldOther ? otherHistory(names) : []
    guard others.isEmpty else {
      throw Failure(
        .notFound,
        "`\(path)` contains no manifests, but "
          + others.prefix(3).map { "`\($0)`" }.joined(separator: ", ")
          + "\(others.count > 3 ? ", …" : ""): schemactl runs manifests (`0001_what_it_does.yaml`) "
          + "that are in the folder itself. Name the folder of the manifests with `--migrations` "
          + "or in `schemactl.yaml`. `schemactl import \(shellQuoted(path)) --migrations FOLDER` "
          + "imports the history of another tool")
    }
    return manifests
  }

  /// The folder beside this one that contains manifests and has the most similar name; nil without such a folder.
  private var similar: String? {
    let parent = parentFolder(of: path)
    let folders = ((try? folderNames(parent)) ?? []).map { String(decoding: $0, as: UTF8.self) }
      .filter { name in
        (try? folderNames(joinedPath(parent, name)))?.contains(where: isManifest) ?? false
      }
    return suggestion(for: String(decoding: nameBytes(of: path), as: UTF8.self), among: folders)
      .map { parent == "." ? $0 : joinedPath(parent, $0) }
  }

  /// Fails if the folder is missing and a folder beside it has a similar name and manifests.
  package func requireNoTypingError() throws(Failure) {
    guard FileStatus(path) == nil, errno == ENOENT, let similar else { return }
    throw missingFolder(similar: similar)
  }

  private func missingFolder(similar: String?) -> Failure {
    Failure(
      .notFound,
      "the migrations directory `\(path)` does not exist"
        + (similar.map { ": did you mean `\($0)`?" } ?? ""),
      remedy: similar != nil
        ? "Correct the name. For a second history, create the directory "
          + "(`mkdir \(shellQuoted(path))`)"
        : "`schemactl init` starts a project, `schemactl init --from FILE` starts one from a "
          + "database, and `schemactl import FOLDER` imports the migrations of another tool. "
          + "`--migrations`, or `migrations` in `schemactl.yaml`, names another directory")
  }

  /// The `.sql` files of the folder, and its subfolders that contain `.sql` files or manifests, at most four
  /// levels deep. Ignores `connection.sql` and a folder `queries`: they belong to the application.
  private func otherHistory(_ names: [[UInt8]]) -> [String] {
    let known = ["connection.sql", "queries"]
    return names.compactMap { bytes in
      let name = String(decoding: bytes, as: UTF8.self)
      guard !name.hasPrefix("."), !known.contains(name) else { return nil }
      if isSQLFile(bytes) { return name }
      return holdsHistory(joinedPath(path, name), depth: 4) ? name + "/" : nil
    }
  }

  private func holdsHistory(_ folder: String, depth: Int) -> Bool {
    let inside = (try? folderNames(folder)) ?? []
    if inside.contains(where: { isSQLFile($0) || isManifest($0) }) { return true }
    return depth > 1
      && inside.contains { bytes in
        let name = String(decoding: bytes, as: UTF8.self)
        return !name.hasPrefix(".") && holdsHistory(joinedPath(folder, name), depth: depth - 1)
      }
  }

  // MARK: The lock

  package var lockFile: String { joinedPath(path, HistoryLock.fileName) }

  /// The history lock; nil if nothing has been frozen yet.
  package func lock() throws(Failure) -> HistoryLock? {
    guard let bytes = try lockBytes() else { return nil }
    do throws(LockError) {
      return try HistoryLock(parsing: bytes)
    } catch {
      throw Failure(error, file: lockFile)
    }
  }

  package func lockBytes() throws(Failure) -> [UInt8]? {
    guard FileStatus(lockFile, followingLinks: false)?.isSymbolicLink != true else {
      throw Failure(
        .brokenHistory,
        "`\(lockFile)` is a symbolic link. git does not follow it, so nobody can compare the lock with other "
          + "revisions", remedy: "Replace the link by the file")
    }
    return try failing {
      do throws(FileError) {
        return try readFile(lockFile, limit: 64 * 1_048_576)
      } catch  where error.systemError == ENOENT {
        // A dangling link is not a missing lock: otherwise frozen migrations would become drafts.
        if try somethingExists(at: lockFile) { throw error }
        return nil
      }
    }
  }

  package func write(_ lock: HistoryLock) throws(FileError) {
    try writeFileAtomically(lock.rendered(), to: lockFile)
  }
}

/// The name of a file that is, or was meant to be, a manifest.
package struct ManifestName: Sendable {
  package let text: String
  /// The name without its extension.
  package let id: String
  /// The problem of the name; nil if the name is valid.
  package let problem: String?

  /// Returns nil if the name does not end in `.yaml` or `.yml`.
  init?(_ bytes: [UInt8]) {
    // Lock files of editors (`.#`) and attribute files of macOS (`._`) have the extension of their file.
    if bytes.starts(with: ".#".utf8) || bytes.starts(with: "._".utf8) { return nil }
    let ending = bytes.dropFirst(bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.count)
    guard [".yaml", ".yml"].contains(where: { ending.hasSameLetters(as: $0) }) else { return nil }
    text = String(decoding: bytes, as: UTF8.self)
    id = String(decoding: bytes.dropLast(ending.count), as: UTF8.self)
    if !isUTF8(bytes) {
      problem = "the name is not UTF-8"
    } else if !ending.elementsEqual(".yaml".utf8) {
      problem = "rename it to `\(id).yaml`: manifests end in `.yaml`"
    } else {
      problem = SchemaHistory.problem(ofMigrationID: id)
    }
  }
}

private func isManifest(_ name: [UInt8]) -> Bool {
  ManifestName(name).map { $0.problem == nil } ?? false
}

/// Whether the name ends in `.sql`, in any letter case, and is neither a lock file of an editor nor an
/// attribute file of macOS.
package func isSQLFile(_ name: [UInt8]) -> Bool {
  name.count > 4 && name.suffix(4).hasSameLetters(as: ".sql") && !name.starts(with: ".#".utf8)
    && !name.starts(with: "._".utf8)
}

extension Collection<UInt8> {
  /// - Parameter word: in lower case.
  fileprivate func hasSameLetters(as word: String) -> Bool {
    lazy.map(\.lowercased).elementsEqual(word.utf8)
  }
}

extension MigrationFolder {
  package var connectionFile: String { joinedPath(path, "connection.sql") }

  /// The SQL that the app runs on each of its connections; nil if the file does not exist.
  package func connectionSQL() throws(FileError) -> String? {
    do throws(FileError) {
      let bytes = try readFile(connectionFile, limit: 1_048_576)
      guard isUTF8(bytes) else {
        throw FileError(path: connectionFile, systemError: 0, message: "is not UTF-8")
      }
      return String(decoding: bytes, as: UTF8.self)
    } catch  where error.systemError == ENOENT {
      return nil
    }
  }
}

// MARK: Changing the folder

extension MigrationFolder {
  /// Runs `body` while no other schemactl process changes the folder, so that files which `body` reads do not
  /// change before it writes.
  ///
  /// - Parameter timeout: how long to wait for another process, in seconds.
  package func withClaim<Success>(
    timeout: Double, _ body: () throws -> Success
  ) throws -> Success {
    guard let claim = FolderClaim(path, timeout: timeout) else {
      throw Failure(
        .busy,
        "another schemactl has been writing in `\(path)` for \(timeout) s. Nothing changed",
        remedy: "Try again when it has ended")
    }
    defer { withExtendedLifetime(claim) {} }
    return try body()
  }

  /// The last id of the history, or the name of the lock if no manifest exists. Nil without a history.
  ///
  /// - Parameter mayHoldOther: whether the folder may contain another tool's files, next to which
  ///   the manifests are written.
  package func historyEnd(mayHoldOther: Bool = false) throws -> String? {
    guard try somethingExists(at: path) else { return nil }
    let isFrozen = try lock() != nil
    return try ids(mayHoldOther: mayHoldOther).last ?? (isFrozen ? HistoryLock.fileName : nil)
  }

  /// Fails if the folder already contains a history. For commands that start one.
  package func requireNoHistory(mayHoldOther: Bool = false) throws {
    guard let last = try historyEnd(mayHoldOther: mayHoldOther) else { return }
    throw Failure(
      .finding, "`\(path)` already has a history, up to `\(last)`",
      remedy: "Add a migration with `schemactl new`, or name another folder with `--migrations`")
  }
}

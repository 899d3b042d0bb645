import History
import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where a backup will stand.
enum BackupDestination: Sendable {
  /// A file that somebody has named.
  case file(String)
  /// Among others, as the next one.
  case series(Backups)

  /// - Throws: when a backup can never stand there. It never takes the place of a file.
  init(_ place: BackupOptions.Place, of database: String) throws(Failure) {
    switch place {
    case .besideDatabase: self = .series(Backups(of: database))
    case .folder(let folder):
      guard kind(of: folder) == S_IFDIR else {
        throw Failure(
          .notFound, "there is no folder \(folder) for backups: make it, or name another one")
      }
      self = .series(Backups(of: database, in: folder))
    case .path(let path) where kind(of: path) == S_IFDIR:
      self = .series(Backups(of: database, in: path))
    case .path(let path):
      try Self.requireNew(path, of: database)
      self = .file(path)
    }
  }

  private static func requireNew(_ path: String, of database: String) throws(Failure) {
    let isCompanion = DatabaseFile.companions.contains {
      resolvedParent(of: path) == resolvedParent(of: database + $0)
    }
    guard !path.isEmpty, !isCompanion else {
      throw Failure(.usage, "a backup cannot be called '\(path)': name another file")
    }
    guard DatabaseFile.isFree(path) else {
      throw Failure(
        .usage,
        "\(path) is there already, or a journal or write-ahead log of that name is, and a backup "
          + "never takes a file's place. Nothing was changed: name another file, or a folder, in which each backup gets a name of its own"
      )
    }
    guard !path.hasSuffix("/"), kind(of: parentFolder(of: path)) == S_IFDIR else {
      throw Failure(.notFound, "\(path): there is no such folder. Nothing was changed")
    }
  }

  /// How the path of the copy begins while it is made.
  var base: String {
    switch self {
    case .file(let path): path
    case .series(let backups): backups.base
    }
  }
}

/// The file's type, 0 when there is nothing.
private func kind(of path: String) -> mode_t {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
}

/// The path with its folder as it really is, so that two names of one file are the same.
private func resolvedParent(of path: String) -> String {
  guard let parent = try? resolvedPath(parentFolder(of: path)) else { return path }
  return parent + "/" + (path.split(separator: "/").last ?? "")
}

import SchemaHistory
import SchemaModel
import SchemaPlatform
import SchemaSQLText

/// The place of the backup that `migrate` makes, and the number of backups to keep.
package struct BackupOptions: Sendable {
  package enum Place: Sendable {
    case besideDatabase
    /// An existing folder.
    case folder(String)
    /// An existing folder, or a new file. A path that ends in `/` is a folder.
    case path(String)
  }

  package var place: Place
  /// The number of backups of the database to keep, including the new one; at least 1.
  package var keep: Int

  package static let usualCount = 5

  package init(_ place: Place = .besideDatabase, keep: Int = usualCount) {
    self.place = place
    self.keep = keep
  }
}

/// The backups of one database in one folder: `app.sqlite.backup-0007-20261120T130000Z`.
///
/// In another folder than the database's own, the name also contains a digest of the database's path, because
/// databases of one name may share the folder: `app.sqlite-1a2b3c4d5e6f.backup-0007-20261120T130000Z`.
///
/// The number increases within the folder: the newest backup has the highest number. The time is only for
/// people: with it, a clock that was ahead once would hide every later backup.
package struct Backups: Sendable {
  package let database: String
  let ledger: Ledger
  /// The common beginning of the backups' paths.
  let base: String

  private static let mark = ".backup-"

  /// - Parameter folder: nil for the folder of the database.
  package init(of database: String, _ ledger: Ledger, in folder: String? = nil) {
    self.database = database
    self.ledger = ledger
    guard let folder,
      (try? resolvedPath(folder)) != (try? resolvedPath(parentFolder(of: database)))
    else {
      base = database
      return
    }
    let name = String(decoding: nameBytes(of: database), as: UTF8.self)
    let digest = SHA256.hex(inResolvedFolder(database).utf8).prefix(12)
    base = joinedPath(folder, "\(name)-\(digest)")
  }

  package var folder: String { parentFolder(of: base) }

  package struct Backup: Sendable, Equatable {
    package let path: String
    let number: Int
    let moment: Timestamp
    package let bytes: Int64

    /// The time of the backup: `2026-11-20T13:00:00Z`.
    package var madeAt: String { moment.toTheSecond }

    /// The ledger rows of the backup. Throws if they cannot be read.
    package func rows(_ ledger: Ledger) throws(Failure) -> [LedgerRow] {
      guard bytes > 0 else { throw Failure(.inputOutput, "`\(path)` is empty (0 bytes)") }
      do {
        return try LiveDatabase(Copier(timeout: 0).openCopy(path), ledger, path: path).rows ?? []
      } catch {
        throw error.withoutRemedy
      }
    }
  }

  /// A backup and its ledger, if it could be read.
  package struct Entry: Sendable {
    package let backup: Backup
    package let ledger: Result<[LedgerRow], Failure>

    package var rows: [LedgerRow]? { try? ledger.get() }
  }

  /// The backups with their ledgers, newest first by number.
  package func entries() throws(Failure) -> [Entry] {
    try all().map { backup in
      Entry(backup: backup, ledger: Result { () throws(Failure) in try backup.rows(ledger) })
    }
  }

  /// Whether the name of a file shows that it is a backup of the database.
  func contains(_ path: String) -> Bool {
    (try? all())?.contains { nameBytes(of: $0.path) == nameBytes(of: path) } ?? false
  }

  // MARK: Names

  /// Parses the part of a name that follows the mark.
  private static func parse(_ text: Substring) -> (number: Int, moment: Timestamp)? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    // After a number of at most 18 digits, a next number always exists.
    guard parts.count == 2, (4...18).contains(parts[0].utf8.count),
      parts[0].utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(parts[0]),
      let moment = Timestamp(compact: String(parts[1]))
    else { return nil }
    return (number, moment)
  }

  /// The backups, newest first by number. Does not read their content.
  package func all() throws(Failure) -> [Backup] {
    let names: [[UInt8]]
    do {
      names = try folderNames(folder)
    } catch {
      guard error.isMissing else {
        throw Failure(ExitStatus(systemError: error.systemError), error.description)
      }
      throw Failure(
        .notFound,
        "folder `\(folder)` does not exist: mount or create it, correct `backup.path` in "
          + "`schemactl.yaml`, name another folder with `--from`, or name a backup")
    }
    return names.compactMap { backup(named: $0) }.sorted {
      ($0.number, $0.moment.milliseconds) > ($1.number, $1.moment.milliseconds)
    }
  }

  /// The file to restore.
  ///
  /// - Parameter name: a path, or the name of one of the backups; nil for the newest backup.
  package func file(named name: String?) throws(Failure) -> String {
    if let name {
      let all = (try? all()) ?? []
      if let own = all.first(where: { $0.path == name || $0.path.hasSuffix("/" + name) }) {
        return own.path
      }
      let path = joinedPath(folder, name)
      return DatabaseFile.isFile(name) || !DatabaseFile.isFile(path) ? name : path
    }
    if let newest = try all().first { return newest.path }
    throw Failure(
      .notFound, "`\(folder)` has no backup of `\(database)`",
      remedy: "Name a backup file, or the directory of the backups with `--from`. If the database "
        + "has moved, name the file")
  }

  private func backup(named name: [UInt8]) -> Backup? {
    let start = nameBytes(of: base) + Array(Self.mark.utf8)
    let end = String(decoding: name.dropFirst(start.count), as: UTF8.self)
    guard name.starts(with: start), let parsed = Self.parse(end[...]) else { return nil }
    let path = base + Self.mark + end
    guard let status = FileStatus(path, followingLinks: false), status.isRegularFile else {
      return nil
    }
    return Backup(
      path: path, number: parsed.number, moment: parsed.moment, bytes: status.bytes)
  }

  /// Gives a copy the next name.
  func publish(_ copy: TemporaryFile) throws -> String {
    let moment = Timestamp.now.compact
    var number = try all().first?.number ?? 0
    while true {
      number += 1
      let path = "\(base)\(Self.mark)\(padded("\(number)", 4))-\(moment)"
      // If another run takes the name at this moment, try the next number.
      if try copy.publish(asNew: path) { return path }
    }
  }

  /// Removes all but the newest backups, and never `made`. A backup that cannot be read does not count, and
  /// remains.
  ///
  /// - Returns: the files that could not be removed, and the reasons.
  package func prune(keeping count: Int, _ made: String) throws(Failure) -> [String] {
    let own = try all().filter { $0.path != made && (try? $0.rows(ledger)) != nil }
    return own.dropFirst(max(0, count - 1)).compactMap { backup in
      do throws(FileError) {
        // Remove the file last, because its name identifies the others.
        for suffix in databaseSuffixes.reversed() { try removeFile(backup.path + suffix) }
        return nil
      } catch {
        return "cannot remove `\(backup.path)`: \(error.message)"
      }
    }
  }
}

/// The destination of a backup.
package enum BackupDestination: Sendable {
  /// A new file of this name.
  case file(String)
  /// The next one of a series.
  case series(Backups)

  /// - Throws: a failure if a backup cannot be created there. A backup never replaces a file.
  package init(
    _ place: BackupOptions.Place, of database: String, _ ledger: Ledger
  ) throws(Failure) {
    switch place {
    case .besideDatabase: self = .series(Backups(of: database, ledger))
    case .path(let path) where !path.hasSuffix("/") && FileStatus(path)?.isFolder != true:
      try Self.requireNew(path, of: database)
      self = .file(path)
    case .path(let folder):
      try Self.requireFolder(folder, "name another folder")
      self = .series(Backups(of: database, ledger, in: folder))
    case .folder(let folder):
      try Self.requireFolder(folder, "correct `backup.path` in `schemactl.yaml`")
      self = .series(Backups(of: database, ledger, in: folder))
    }
  }

  private static func requireFolder(_ folder: String, _ alternative: String) throws(Failure) {
    guard FileStatus(folder)?.isFolder != true else { return }
    let creation = "Create it (`mkdir -p \(shellQuoted(folder))`), or \(alternative)"
    var path = folder[...]
    while path.hasSuffix("/") { path.removeLast() }
    let isFile = FileStatus(String(path)) != nil
    throw Failure(
      .notFound,
      "folder `\(folder)` for the backup \(isFile ? "is a file" : "does not exist"). Nothing changed",
      remedy: isFile ? "Move that file, or \(alternative)" : creation)
  }

  private static func requireNew(_ path: String, of database: String) throws(Failure) {
    let isOfDatabase = databaseSuffixes.dropFirst().contains {
      inResolvedFolder(path) == inResolvedFolder(database + $0)
    }
    guard !path.isEmpty, !isOfDatabase else {
      throw Failure(.usage, "a backup cannot have the name `\(path)`: name another file")
    }
    guard DatabaseFile.isFree(path) else {
      throw Failure(
        .usage,
        "`\(path)` already exists, or has a journal or write-ahead log, and a backup never replaces "
          + "a file. Nothing changed. Name another file, or a folder")
    }
    try requireFolder(parentFolder(of: path), "name another file")
  }

  /// The beginning of the copy's path before it has its name.
  package var base: String {
    switch self {
    case .file(let path): path
    case .series(let backups): backups.base
    }
  }

  /// Gives a copy its name.
  package func publish(_ copy: TemporaryFile) throws -> String {
    switch self {
    case .series(let backups): return try backups.publish(copy)
    case .file(let path):
      guard try copy.publish(asNew: path) else {
        throw Failure(
          .inputOutput, "another process created `\(path)`. Nothing changed")
      }
      return path
    }
  }
}

/// A run of a migration. Databases that have run the same migrations differ in the start times.
package struct LedgerRun: Sendable, Hashable {
  package let id: ExactText
  package let startedAt: String
}

extension LedgerRow {
  /// The part of a row that a repair of the ledger does not change.
  package var run: LedgerRun { LedgerRun(id: id.exact, startedAt: startedAt) }
}

/// Whether two ledgers with rows belong to one database: the first migration that both contain has the same
/// start time. Other rows do not count, because repairs may add and remove rows.
func isSameDatabase(_ rows: [LedgerRow], _ others: [LedgerRow]) -> Bool {
  for row in rows {
    if let other = others.first(where: { $0.id.exact == row.id.exact }) {
      return other.startedAt == row.startedAt
    }
  }
  return false
}

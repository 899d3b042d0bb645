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
    /// An existing folder, or a new file.
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
/// The number increases within the folder: the newest backup has the highest number. The time is only for
/// people: with it, a clock that was ahead once would hide every later backup.
package struct Backups: Sendable {
  package let database: String
  let ledger: Ledger
  /// The common beginning of the backups' paths. If they are next to the database, it is the path of the
  /// database.
  let base: String

  private static let mark = ".backup-"

  package init(of database: String, _ ledger: Ledger, in folder: String? = nil) {
    self.database = database
    self.ledger = ledger
    let name = String(decoding: nameBytes(of: database), as: UTF8.self)
    base = folder.map { $0.hasSuffix("/") ? $0 + name : "\($0)/\(name)" } ?? database
  }

  package var folder: String { parentFolder(of: base) }
  var areBesideDatabase: Bool { base == database }

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
  package func file(named name: String?, timeout: Double) throws(Failure) -> String {
    if let name {
      let all = (try? all()) ?? []
      return all.first { $0.path == name || $0.path.hasSuffix("/" + name) }?.path ?? name
    }
    if let newest = try newest(timeout: timeout) { return newest.path }
    throw Failure(
      .notFound, "`\(folder)` has no backup of `\(database)`",
      remedy: "Name a backup file, or the directory of the backups with `--from`")
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

  /// Removes all but the newest backups, and never `made`. A backup that cannot be read or belongs to another
  /// database does not count, and remains.
  ///
  /// - Parameter known: the ledger of the database.
  /// - Returns: the files that could not be removed, and the reasons.
  package func prune(
    keeping count: Int, _ made: String, knowing known: [LedgerRow]
  ) throws(Failure) -> [String] {
    let own = try all().filter { backup in
      guard backup.path != made, let rows = try? backup.rows(ledger) else { return false }
      return areBesideDatabase || isSameDatabase(rows, known) == true
    }
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
    case .folder(let folder):
      guard FileStatus(folder)?.isFolder == true else {
        throw Failure(
          .notFound, "folder `\(folder)` does not exist: create it, or name another folder")
      }
      self = .series(Backups(of: database, ledger, in: folder))
    case .path(let path) where FileStatus(path)?.isFolder == true:
      self = .series(Backups(of: database, ledger, in: path))
    case .path(let path):
      try Self.requireNew(path, of: database)
      self = .file(path)
    }
  }

  private static func requireNew(_ path: String, of database: String) throws(Failure) {
    let isOfDatabase = databaseSuffixes.dropFirst().contains {
      resolvedFolder(of: path) == resolvedFolder(of: database + $0)
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
    guard !path.hasSuffix("/"), FileStatus(parentFolder(of: path))?.isFolder == true else {
      throw Failure(.notFound, "\(path): the folder does not exist. Nothing changed")
    }
  }

  /// The path with its folder resolved, so that two names of one file are the same.
  private static func resolvedFolder(of path: String) -> String {
    guard let folder = try? resolvedPath(parentFolder(of: path)) else { return path }
    return folder + "/" + (path.split(separator: "/").last ?? "")
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

/// The choice among several backups. schemactl finds backups by the file name of the database. In a separate
/// folder, another database may have the same file name: then the ledgers distinguish the backups.
extension Backups {
  /// A backup and its ledger, if it could be read.
  package struct Entry: Sendable {
    package let backup: Backup
    package let ledger: Result<[LedgerRow], Failure>
    /// Whether the backup belongs to the database; nil if one of them has no ledger to compare.
    package let isOwn: Bool?

    package var rows: [LedgerRow]? { try? ledger.get() }
  }

  /// The backups with their ledgers, newest first by number.
  package func entries(timeout: Double) throws(Failure) -> [Entry] {
    let own = try DatabaseFile.knownLedger(of: database, ledger, timeout: timeout)
    return try all().map { backup in
      let rows = Result { () throws(Failure) in try backup.rows(ledger) }
      return Entry(
        backup: backup, ledger: rows, isOwn: isSameDatabase((try? rows.get()) ?? [], own))
    }
  }

  /// The newest backup that does not belong to another database. If all of them do, it is the newest one,
  /// which the restore then refuses.
  ///
  /// - Throws: a failure if the backup cannot be read, or if its database is unknown. schemactl never takes
  ///   an older one instead: the user has to name it.
  package func newest(timeout: Double) throws(Failure) -> Backup? {
    let entries = try entries(timeout: timeout)
    // A backup from before the first migration has no ledger rows. Next to the database, its name is
    // sufficient.
    let newest = entries.first {
      $0.isOwn ?? (areBesideDatabase || $0.rows?.isEmpty != true)
    }
    guard let newest = newest ?? entries.first else { return nil }
    if case .failure(let failure) = newest.ledger {
      throw Failure(
        .inputOutput,
        "`\(newest.backup.path)` is the newest backup, and cannot be restored: \(failure.message). "
          + "Nothing changed. " + advice(insteadOf: newest.backup.path, entries))
    }
    if entries.allSatisfy({ $0.isOwn == nil }) { try requireOneOwner(newest, entries) }
    return newest.backup
  }

  /// For a database without a ledger to compare. A backup next to it belongs to it by its name. In a separate
  /// folder, or with backups of several databases, the user has to choose.
  private func requireOneOwner(_ newest: Entry, _ entries: [Entry]) throws(Failure) {
    let known = entries.filter { $0.rows?.isEmpty == false }
    guard let rows = known.first?.rows else { return }
    let isOfSeveral = known.contains { isSameDatabase($0.rows ?? [], rows) == false }
    guard isOfSeveral || !areBesideDatabase else { return }
    let list = known.map { "`\($0.backup.path)` (first run at \($0.rows?[0].startedAt ?? ""))" }
    let why = "`\(database)` is missing, or has no readable ledger"
    throw Failure(
      .finding,
      isOfSeveral
        ? "the backups in `\(folder)` are of more than one database, and \(why): "
          + "\(list.joined(separator: ", ")). Nothing changed. Name the backup to restore: "
          + "\(restoreCommand(database)) BACKUP`"
        : "the backups in `\(folder)` may be of another database: \(why). Nothing changed. If they "
          + "belong to it, name the newest (first run at \(rows[0].startedAt)): "
          + "\(restoreCommand(database)) \(shellQuoted(newest.backup.path))`")
  }

  /// Advice for a backup that cannot be used.
  func advice(insteadOf path: String, timeout: Double) -> String {
    advice(insteadOf: path, (try? entries(timeout: timeout)) ?? [])
  }

  private func advice(insteadOf path: String, _ entries: [Entry]) -> String {
    let name = nameBytes(of: path)
    let others = entries.drop { nameBytes(of: $0.backup.path) != name }.dropFirst()
    guard let older = others.first(where: { $0.isOwn != false && $0.rows?.isEmpty == false }) else {
      return "Take another backup (\(restoreCommand(database)) --dry-run` lists them)"
    }
    return "To restore an older backup, name it: \(restoreCommand(database)) "
      + "\(shellQuoted(older.backup.path))`"
  }
}

extension DatabaseFile {
  /// The ledger rows of a database; empty if it has no ledger or is damaged.
  ///
  /// - Throws: a failure if the database cannot be read at the moment. Then nothing is known about its
  ///   ledger.
  static func knownLedger(
    of database: String, _ ledger: Ledger, timeout: Double
  ) throws(Failure) -> [LedgerRow] {
    guard isFile(database) else { return [] }
    // A single failed read looks like damage.
    for _ in 0..<2 {
      do throws(Failure) {
        return try LiveDatabase(
          openForReading(database, timeout: timeout), ledger, path: database
        ).rows ?? []
      } catch {
        guard [.inputOutput, .brokenHistory].contains(error.status) else {
          throw Failure(error.status, error.message + ". Nothing changed")
        }
      }
    }
    return []
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

/// Whether two ledgers belong to one database: the first migration that both contain has the same start time.
/// Other rows do not count, because repairs may add and remove rows. Nil if one ledger is empty.
func isSameDatabase(_ rows: [LedgerRow], _ others: [LedgerRow]) -> Bool? {
  guard !rows.isEmpty, !others.isEmpty else { return nil }
  for row in rows {
    if let other = others.first(where: { $0.id.exact == row.id.exact }) {
      return other.startedAt == row.startedAt
    }
  }
  return false
}

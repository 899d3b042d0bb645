import History
import SQLText
import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where `migrate` keeps a backup, and how many.
package struct BackupOptions: Sendable {
  package enum Place: Sendable {
    case besideDatabase
    /// It has to be there.
    case folder(String)
    /// A folder that is there, or a file that is not.
    case path(String)
  }

  package var place: Place
  /// How many backups of the database stay, the new one among them; 1 at least.
  package var keep: Int

  package static let usualCount = 5

  package init(_ place: Place = .besideDatabase, keep: Int = usualCount) {
    self.place = place
    self.keep = keep
  }
}

/// The backups of one database in one folder: `app.sqlite.backup-0007-20261120T130000Z`.
package struct Backups: Sendable {
  package let database: String
  /// How their paths begin, which is the database's own path when they stand beside it.
  let base: String

  package init(of database: String, in folder: String? = nil) {
    self.database = database
    let name = String(decoding: nameBytes(of: database), as: UTF8.self)
    base = folder.map { $0.hasSuffix("/") ? $0 + name : "\($0)/\(name)" } ?? database
  }

  package struct Backup: Sendable, Hashable {
    package let path: String
    let name: BackupName
    package let bytes: Int64

    /// `2026-11-20T13:00:00Z`
    package var madeAt: String { name.madeAt.toTheSecond }

    /// The migrations that it has run; throws when that cannot be read.
    package func ledger() throws(Failure) -> [LedgerRow] {
      guard bytes > 0 else { throw Failure(.inputOutput, "\(path) is empty (0 bytes)") }
      do {
        return try DatabaseFile.ledger(ofStill: path, timeout: 0)
      } catch {
        throw error.withoutRestoring(path)
      }
    }
  }

  /// The path of the next one.
  func nextPath(at moment: Timestamp) throws(Failure) -> String {
    let last = try all().first?.name.number ?? 0
    return base + BackupName.mark + BackupName.text(last + 1, moment)
  }

  /// By their names, the newest first. What is in them was not looked at.
  package func all() throws(Failure) -> [Backup] {
    let names: [[UInt8]]
    do {
      names = try folderNames(parentFolder(of: base))
    } catch {
      guard error.kind != .missing else {
        throw Failure(
          .notFound,
          "there is no folder \(folder) with backups: mount or make it, correct `backup.path` in "
            + "schemactl.yaml if it says so, or name another folder with --from, or a backup itself"
        )
      }
      throw Failure(
        error.kind == .permission ? .permission : .inputOutput, error.description)
    }
    return names.compactMap { backup(named: $0) }
      .sorted { $0.name > $1.name }
  }

  private func backup(named name: [UInt8]) -> Backup? {
    let start = nameBytes(of: base) + Array(BackupName.mark.utf8)
    guard name.starts(with: start),
      let rest = BackupName(String(decoding: name.dropFirst(start.count), as: UTF8.self))
    else { return nil }
    let path =
      String(decoding: base.utf8.dropLast(nameBytes(of: base).count), as: UTF8.self)
      + String(decoding: name, as: UTF8.self)
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Backup(path: path, name: rest, bytes: Int64(status.st_size))
  }

  package var folder: String { parentFolder(of: base) }

  /// Removes all but the newest ones, and never `made`.
  ///
  /// - Parameter ledger: of the database. In a folder of its own another database of the same name
  ///   may have backups, too: what has not run the same migration at the same moment stays.
  /// - Returns: what could not be removed, and why.
  func prune(keeping count: Int, _ made: String, ledger: [LedgerRow]) throws(Failure) -> [String] {
    let others = try all().filter { $0.path != made && isOwn($0, ledger) }
    return others.dropFirst(max(0, count - 1)).compactMap { backup in
      guard unlink(backup.path) != 0, errno != ENOENT else {
        DatabaseFile.remove(backup.path)
        return nil
      }
      return "\(backup.path) could not be removed: \(String(cString: strerror(errno)))"
    }
  }

  /// Whether a backup is of this database, as far as its ledger tells. What cannot be read is none:
  /// it is not counted, so that it never pushes out a good one, and it stays.
  private func isOwn(_ backup: Backup, _ ledger: [LedgerRow]) -> Bool {
    guard let rows = try? backup.ledger() else { return false }
    return base == database || areOfOneDatabase(rows, ledger) == true
  }
}

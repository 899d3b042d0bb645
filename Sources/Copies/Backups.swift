import SchemaHistory
import SchemaModel
import SchemaPlatform
import SchemaSQLText

/// Where `migrate` keeps a backup, and how many.
package struct BackupOptions: Sendable {
  package enum Place: Sendable {
    case besideDatabase
    /// An existing folder.
    case folder(String)
    /// An existing folder, or a new file.
    case path(String)
  }

  package var place: Place
  /// How many backups of the database stay, the new one included; 1 at least.
  package var keep: Int

  package static let usualCount = 5

  package init(_ place: Place = .besideDatabase, keep: Int = usualCount) {
    self.place = place
    self.keep = keep
  }
}

/// The backups of one database in one folder: `app.sqlite.backup-0007-20261120T130000Z`.
///
/// The number counts up in the folder and shows which one is the newest. The time is for people: a
/// clock that was ahead once would hide every later backup.
package struct Backups: Sendable {
  package let database: String
  let ledger: Ledger
  /// The beginning of their paths; the database's own path when they are beside it.
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

    /// `2026-11-20T13:00:00Z`
    package var madeAt: String { moment.toTheSecond }

    /// The migrations that it has run; throws when they cannot be read.
    package func rows(_ ledger: Ledger) throws(Failure) -> [LedgerRow] {
      guard bytes > 0 else { throw Failure(.inputOutput, "\(path) is empty (0 bytes)") }
      do {
        return try DatabaseFile.rows(ofCopy: path, ledger, timeout: 0)
      } catch {
        throw error.withoutRemedy
      }
    }
  }

  // MARK: Their names

  /// What follows the mark.
  private static func parse(_ text: Substring) -> (number: Int, moment: Timestamp)? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    // With 18 digits there is always a next number.
    guard parts.count == 2, (4...18).contains(parts[0].utf8.count),
      parts[0].utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(parts[0]),
      let moment = Timestamp(compact: String(parts[1]))
    else { return nil }
    return (number, moment)
  }

  /// By their numbers, the newest first. Their content is not read.
  package func all() throws(Failure) -> [Backup] {
    let names: [[UInt8]]
    do {
      names = try folderNames(folder)
    } catch {
      guard error.kind == .missing else {
        throw Failure(
          error.kind == .permission ? .permission : .inputOutput, error.description)
      }
      throw Failure(
        .notFound,
        "folder \(folder) does not exist: mount or create it, correct `backup.path` in "
          + "schemactl.yaml, name another folder with --from, or name a backup")
    }
    return names.compactMap { backup(named: $0) }.sorted {
      ($0.number, $0.moment.milliseconds) > ($1.number, $1.moment.milliseconds)
    }
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
      // Another run may take the name at this moment: then the next number is free.
      if try copy.publish(asNew: path) { return path }
    }
  }

  /// Removes all but the newest backups, and never `made`. A backup that cannot be read, or is another
  /// database's, is not counted and stays.
  ///
  /// - Parameter known: the ledger of the database.
  /// - Returns: the files that could not be removed, and why.
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
        return "\(backup.path) could not be removed: \(error.message)"
      }
    }
  }
}

/// Where a backup will be.
package enum BackupDestination: Sendable {
  /// A new file of this name.
  case file(String)
  /// Among others, as the next one.
  case series(Backups)

  /// - Throws: when a backup can never be there. It never replaces a file.
  package init(
    _ place: BackupOptions.Place, of database: String, _ ledger: Ledger
  ) throws(Failure) {
    switch place {
    case .besideDatabase: self = .series(Backups(of: database, ledger))
    case .folder(let folder):
      guard FileStatus(folder)?.isFolder == true else {
        throw Failure(
          .notFound, "folder \(folder) does not exist: create it, or name another folder")
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
      throw Failure(.usage, "a backup cannot be called '\(path)': name another file")
    }
    guard DatabaseFile.isFree(path) else {
      throw Failure(
        .usage,
        "\(path) already exists, or has a journal or write-ahead log, and a backup never "
          + "replaces a file. Nothing was changed. Name another file, or a folder")
    }
    guard !path.hasSuffix("/"), FileStatus(parentFolder(of: path))?.isFolder == true else {
      throw Failure(.notFound, "\(path): the folder does not exist. Nothing was changed")
    }
  }

  /// The path with its folder resolved, so that two names of one file are the same.
  private static func resolvedFolder(of path: String) -> String {
    guard let folder = try? resolvedPath(parentFolder(of: path)) else { return path }
    return folder + "/" + (path.split(separator: "/").last ?? "")
  }

  /// The beginning of the copy's path while it is made.
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
          .inputOutput, "\(path) was created by another process. Nothing was changed")
      }
      return path
    }
  }
}

import History
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

/// The backups of one database in one folder: `app.sqlite.backup-20261120T130000Z`.
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
    /// As the name has it: `20261120T130000Z`.
    let stamp: String
    /// Of several in one second.
    let number: Int
    package let bytes: Int64

    /// `2026-11-20T13:00:00Z`
    package var madeAt: String {
      let digits = Array(stamp)
      func part(_ range: Range<Int>) -> String { String(digits[range]) }
      return "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13))"
        + ":\(part(13..<15))Z"
    }

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

  func name(at moment: Timestamp) -> String { "\(base).backup-\(moment.compact)" }

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
      .sorted { ($0.stamp, $0.number) > ($1.stamp, $1.number) }
  }

  private func backup(named name: [UInt8]) -> Backup? {
    let start = nameBytes(of: base) + Array(".backup-".utf8)
    guard name.starts(with: start), let (stamp, number) = stamp(name.dropFirst(start.count)) else {
      return nil
    }
    let path =
      String(decoding: base.utf8.dropLast(start.count - 8), as: UTF8.self)
      + String(decoding: name, as: UTF8.self)
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Backup(path: path, stamp: stamp, number: number, bytes: Int64(status.st_size))
  }

  /// `20261120T130000Z` or `20261120T130000Z-2`.
  private func stamp(_ text: ArraySlice<UInt8>) -> (stamp: String, number: Int)? {
    let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let stamp = Array(parts[0])
    func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
    guard stamp.count == 16, stamp[8] == UInt8(ascii: "T"), stamp[15] == UInt8(ascii: "Z"),
      stamp[..<8].allSatisfy(isDigit), stamp[9..<15].allSatisfy(isDigit), parts.count <= 2
    else { return nil }
    let number = parts.count == 1 ? 1 : Int(String(decoding: parts[1], as: UTF8.self))
    guard let number, number > 0 else { return nil }
    return (String(decoding: stamp, as: UTF8.self), number)
  }

  package var folder: String { parentFolder(of: base) }

  /// Removes all but the newest ones, and never `made`.
  ///
  /// - Parameter ledger: of the database. In a folder of its own another database of the same name
  ///   may have backups, too: what has not begun with the same migration at the same moment stays.
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

  /// Whether a backup is of this database, as far as its ledger tells.
  private func isOwn(_ backup: Backup, _ ledger: [LedgerRow]) -> Bool {
    if base == database { return true }
    guard let first = try? backup.ledger().first else { return false }
    return first == ledger.first
  }
}

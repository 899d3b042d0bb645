import SchemaFaultyFileSystem

/// The conditions of a scenario: the journal mode, the disk and the page size.
struct Conditions: CustomStringConvertible {
  enum Journal: String, CaseIterable {
    case delete, truncate, persist, wal
    /// Used only to check that its damage is detected.
    case off

    static let allCases: [Journal] = [.delete, .truncate, .persist, .wal]
  }

  let journal: Journal
  private(set) var device: Device
  let pageSize: Int

  /// Uses another disk and another page size in each round.
  init(_ journal: Journal, round: Int) {
    self.journal = journal
    device =
      [
        Device(sectorSize: 512, isPowersafe: false), Device(sectorSize: 4096, isPowersafe: true),
        Device(sectorSize: 4096, isPowersafe: false),
      ][round % 3]
    pageSize = Self.pageSize(in: round)
  }

  /// The conditions after a power failure. After a commit, SQLite fills the sector. After the recovery of a
  /// WAL, however, it continues after the last valid frame, in the middle of a sector. On a disk that damages
  /// bytes next to a write, a second power failure may then lose committed data.
  var again: Conditions {
    var again = self
    if journal == .wal { again.device = Device(sectorSize: device.sectorSize, isPowersafe: true) }
    return again
  }

  static func pageSize(in round: Int) -> Int { [512, 1024, 4096, 2048][round % 4] }

  var description: String {
    "pages of \(pageSize), sectors of \(device.sectorSize)\(device.isPowersafe ? ", powersafe" : "")"
  }

  /// PRAGMA statements for each connection. A cache of a few pages makes a transaction write to the database
  /// before it is complete, so that its journal becomes hot. The journal mode is set too, because a file
  /// stores it only for WAL.
  private var settings: String {
    let cache = "PRAGMA main.cache_size = 8"
    return journal == .wal ? cache : "PRAGMA main.journal_mode = \(journal.rawValue); \(cache)"
  }

  func settled<Result>(_ body: () throws -> Result) rethrows -> Result {
    try withConnectionSettings(settings, body)
  }
}

/// Makes a power failure harmful, to check that damage is detected.
enum Sabotage: String, CaseIterable {
  case noJournal = "a transaction without a journal"
  case lyingDisk = "a disk with false syncs"
  case lostJournal = "a missing journal"

  var journals: [Conditions.Journal] {
    switch self {
    case .noJournal: [.off]
    case .lyingDisk: [.delete, .truncate, .persist, .wal]
    // Without its WAL, a database lacks the commits since the last checkpoint.
    case .lostJournal: [.delete, .truncate, .persist, .wal]
    }
  }
}

import SchemaFaultyFileSystem

/// Under what a scenario runs.
struct Conditions: CustomStringConvertible {
  enum Journal: String, CaseIterable {
    case delete, truncate, persist, wal
    /// Only to prove that it is found.
    case off

    static let allCases: [Journal] = [.delete, .truncate, .persist, .wal]
  }

  let journal: Journal
  private(set) var device: Device
  let pageSize: Int

  /// Another disk, and another page size, in each round.
  init(_ journal: Journal, round: Int) {
    self.journal = journal
    device =
      [
        Device(sectorSize: 512, isPowersafe: false), Device(sectorSize: 4096, isPowersafe: true),
        Device(sectorSize: 4096, isPowersafe: false),
      ][round % 3]
    pageSize = Self.pageSize(in: round)
  }

  /// For what goes on after a power cut. SQLite fills the sector after a commit, but once it has
  /// recovered a WAL it writes on from the last good frame, in the midst of a sector: what is
  /// committed does not outlive another power cut then on a disk that ruins what stands beside a
  /// write.
  var again: Conditions {
    var again = self
    if journal == .wal { again.device = Device(sectorSize: device.sectorSize, isPowersafe: true) }
    return again
  }

  static func pageSize(in round: Int) -> Int { [512, 1024, 4096, 2048][round % 4] }

  var description: String {
    "pages of \(pageSize), sectors of \(device.sectorSize)\(device.isPowersafe ? ", powersafe" : "")"
  }

  /// A cache of a few pages, so that a transaction writes to the database before it is complete and
  /// a journal becomes hot; and the journal mode, which but for WAL no file remembers.
  private var settings: String {
    let cache = "PRAGMA main.cache_size = 8"
    return journal == .wal ? cache : "PRAGMA main.journal_mode = \(journal.rawValue); \(cache)"
  }

  func settled<Result>(_ body: () throws -> Result) rethrows -> Result {
    try withConnectionSettings(settings, body)
  }
}

/// What makes a power cut do harm, to prove that harm is found.
enum Sabotage: String, CaseIterable {
  case noJournal = "a transaction without a journal"
  case lyingDisk = "a disk that lies about syncs"
  case lostJournal = "a journal that is gone"

  var journals: [Conditions.Journal] {
    switch self {
    case .noJournal: [.off]
    case .lyingDisk: [.delete, .truncate, .persist, .wal]
    // Without its WAL a database is as it was before, but for what was committed since.
    case .lostJournal: [.delete, .truncate, .persist, .wal]
    }
  }
}

import History
import ManifestFormat
import Migrating
import SchemaModel

/// Which tables sync, and since when.
struct SyncScope: Sendable {
  let profile: Profile
  /// Folded; nil: every table but the local ones.
  private let tables: Set<String>?
  private let localTables: Set<String>
  /// How many migrations of the history are older than the syncing.
  let unsynced: Int

  /// - Throws: when `sync.since` names no migration.
  init(
    _ sync: SyncConfiguration, profile: Profile, migrations: [Migration], file: String
  ) throws(Failure) {
    self.profile = profile
    tables = sync.tables.map { Set($0.map(\.asciiLowercased)) }
    localTables = Set(sync.localTables.map(\.asciiLowercased))
    guard let since = sync.since else {
      unsynced = 0
      return
    }
    guard let index = migrations.firstIndex(where: { $0.answers(to: since) }) else {
      let near = suggestion(for: since, among: migrations.map(\.id))
      throw Failure(
        .invalidInput,
        "`sync.since` is \(since), and there is no such migration"
          + (near.map { ": did you mean `\($0)`?" } ?? ""), place: Failure.Place(file: file))
    }
    unsynced = index
  }

  /// Whether the configuration takes the table out of what syncs.
  func isLocal(_ table: String) -> Bool {
    let key = table.asciiLowercased
    return localTables.contains(key) || tables.map { !$0.contains(key) } ?? false
  }

  /// The profile by which a migration's change of a table is judged.
  func profile(_ table: String?, in migration: Int) -> Profile {
    migration < unsynced || table.map(isLocal) ?? false ? .local : profile
  }

  /// Whether devices exchange the table's rows, as far as is known.
  func syncs(_ table: String, in migration: Int) -> Bool {
    profile(table, in: migration) != .local
  }
}

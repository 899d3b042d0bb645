import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// What the configuration says that rules ask for: which tables sync, since when, and which versions
/// of the app and of SQLite there are.
package struct LintScope: Sendable {
  package let profile: Profile
  /// The oldest SQLite that the application meets.
  package let minimumSQLite: SQLiteVersion?
  /// Nil: every table but the local ones.
  private let tables: Set<Identifier>?
  private let localTables: Set<Identifier>
  /// How many migrations of the history are older than the syncing.
  private var unsynced: Int
  /// How many migrations the oldest release that still runs has, and so every device.
  package let shipped: Int
  /// Whether the configuration says which release is the oldest that still runs.
  package let namesOldestRelease: Bool

  /// - Throws: when `sync.since` names no migration, or `sync.oldest_release` no release.
  package init(
    _ configuration: Configuration, profile: Profile, project: Project, file: String
  ) throws(Failure) {
    let sync = configuration.sync
    self.profile = profile
    minimumSQLite = configuration.minimumSQLite
    tables = sync.tables.map { Set($0.map(\.identifier)) }
    localTables = Set(sync.localTables.map(\.identifier))
    namesOldestRelease = sync.oldestRelease != nil
    unsynced =
      try sync.since.map { (since) throws(Failure) in
        try index(since, project.migrations, file)
      } ?? 0
    shipped =
      try sync.oldestRelease.map { (release) throws(Failure) in
        try count(release, project, file)
      } ?? 0
  }

  /// Whether the configuration takes the table out of what syncs.
  package func isLocal(_ table: Identifier) -> Bool {
    localTables.contains(table) || tables.map { !$0.contains(table) } ?? false
  }

  /// The profile by which a migration's change of a table is judged.
  package func profile(_ table: String?, in migration: Int) -> Profile {
    migration < unsynced || table.map { isLocal($0.identifier) } ?? false ? .local : profile
  }

  /// Whether nothing synced yet when the migration was written.
  package func isBeforeSyncing(_ migration: Int) -> Bool { migration < unsynced }

  /// The same as if everything had synced from the first migration on; nil where it did.
  package var syncingFromTheFirst: LintScope? {
    guard unsynced > 0, profile != .local else { return nil }
    var scope = self
    scope.unsynced = 0
    return scope
  }

  /// Whether devices exchange the table's rows, as far as is known.
  package func syncs(_ table: String, in migration: Int) -> Bool {
    profile(table, in: migration) != .local
  }

  /// How many migrations a version of the app has that exchanges rows with other ones, at least.
  package var oldestSynced: Int { max(unsynced, shipped) }

  /// Whether a device may still run a version of the app that does not know the migration.
  package func isUnknownSomewhere(_ migration: Int) -> Bool { migration >= shipped }
}

private func index(
  _ since: String, _ migrations: [Migration], _ file: String
) throws(Failure) -> Int {
  if let index = migrations.firstIndex(where: { $0.answers(to: since) }) { return index }
  let near = suggestion(for: since, among: migrations.map(\.id))
  throw Failure(
    .invalidInput,
    "`sync.since` is \(since), and there is no such migration"
      + (near.map { ": did you mean `\($0)`?" } ?? ""), place: Failure.Place(file: file))
}

/// How many migrations a release has.
private func count(
  _ release: String, _ project: Project, _ file: String
) throws(Failure) -> Int {
  let entries = project.lock?.entries ?? []
  if let last = entries.last(where: { $0.release == release }),
    let index = project.migrations.firstIndex(where: { $0.id == last.id })
  {
    return index + 1
  }
  let near = suggestion(for: release, among: entries.compactMap(\.release))
  throw Failure(
    .invalidInput,
    "`sync.oldest_release` is \(release), and the history lock knows no such release"
      + (near.map { ": did you mean `\($0)`?" } ?? ": `freeze --release` gives a release its name"),
    place: Failure.Place(file: file))
}

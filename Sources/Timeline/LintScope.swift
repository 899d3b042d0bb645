import SchemaHistory
import SchemaManifest
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// The settings of the configuration that rules need: which tables sync, since when, and which
/// versions of the app and of SQLite are supported.
package struct LintScope: Sendable {
  package let profile: Profile
  /// The oldest supported version of SQLite.
  package let minimumSQLite: SQLiteVersion?
  /// The tables that sync; nil if all tables except local ones sync.
  private let tables: Set<Identifier>?
  private let localTables: Set<Identifier>
  private let sync: SyncConfiguration
  /// The number of migrations before `sync.since`, when nothing synced.
  private let unsynced: Int
  /// The number of migrations in the oldest supported release. Every device has run them.
  package let shipped: Int

  private let drafts: Set<Int>
  /// The path of the configuration, for messages.
  private let file: String

  /// - Parameter problems: receives a `sync.since` that does not name a migration, and a
  ///   `sync.oldest_release` that does not name a release.
  package init(
    _ configuration: Configuration, profile: Profile, project: Project, file: String,
    problems: inout [Diagnostic]
  ) {
    sync = configuration.sync
    self.profile = profile
    self.file = file
    minimumSQLite = configuration.minimumSQLite
    tables = sync.tables.map { Set($0.map(\.text.identifier)) }
    localTables = Set(sync.localTables.map(\.text.identifier))
    drafts = Set(project.migrations.indices.filter { !project.isFrozen(project.migrations[$0]) })
    func number(
      _ name: PlacedName?, _ find: (PlacedName) throws(Diagnostic) -> Int
    ) -> Int {
      guard let name else { return 0 }
      do throws(Diagnostic) {
        return try find(name)
      } catch {
        problems.append(error)
        return 0
      }
    }
    unsynced = number(sync.since) { (since) throws(Diagnostic) in
      try index(since, project.migrations, file)
    }
    shipped = number(sync.oldestRelease) { (release) throws(Diagnostic) in
      try count(release, project, file)
    }
  }

  /// - Parameter known: every table that the history has created.
  /// - Throws: every other table that `sync.tables` and `sync.local_tables` name.
  package func requireKnownTables(_ known: [String]) throws(InvalidInput) {
    let all = Set(known.map(\.identifier))
    let lists = [("tables", sync.tables ?? []), ("local_tables", sync.localTables)]
    try throwIfAny(
      lists.flatMap { key, names in
        names.filter { !all.contains($0.text.identifier) }.map { name in
          Diagnostic(
            file: file, position: name.position,
            message: "`sync.\(key)` names `\(name.text)`, which is not a table of the history",
            meant: suggestion(for: name.text, among: known))
        }
      })
  }

  /// Whether the configuration excludes the table from syncing.
  package func isLocal(_ table: Identifier) -> Bool {
    localTables.contains(table) || tables.map { !$0.contains(table) } ?? false
  }

  /// The profile for a table of the latest schema, or for the whole database if the table is nil.
  package func profile(_ table: String?) -> Profile {
    table.map { isLocal($0.identifier) } ?? false ? .local : profile
  }

  /// The profile for a migration's change of a table.
  package func profile(_ table: String?, in migration: Int) -> Profile {
    isBeforeSyncing(migration) ? .local : profile(table)
  }

  /// Whether the migration may still change.
  package func isDraft(_ migration: Int) -> Bool { drafts.contains(migration) }

  /// Whether the migration precedes `sync.since`.
  package func isBeforeSyncing(_ migration: Int) -> Bool { migration < unsynced }

  /// Whether the database syncs, but only since a migration after the first.
  package var beginsLater: Bool { unsynced > 0 && profile != .local }

  /// Whether devices exchange the rows of a table of the latest schema.
  package func syncs(_ table: Identifier) -> Bool { profile != .local && !isLocal(table) }

  /// Whether devices exchange the table's rows, according to the configuration.
  package func syncs(_ table: String, in migration: Int) -> Bool {
    profile(table, in: migration) != .local
  }

  /// The minimum number of migrations in a version of the app that syncs with others.
  package var oldestSynced: Int { max(unsynced, shipped) }

  /// Whether a device may still run a version of the app without the migration.
  package func mayBeMissingOnDevices(_ migration: Int) -> Bool { migration >= shipped }
}

private func index(
  _ since: PlacedName, _ migrations: [Migration], _ file: String
) throws(Diagnostic) -> Int {
  let found = migrations.firstIndex { $0.answers(to: since.text) || $0.replaces(since.text) }
  if let found { return found }
  throw Diagnostic(
    file: file, position: since.position,
    message: "`sync.since` is `\(since.text)`, which is not a migration",
    meant: suggestion(for: since.text, among: migrations.map(\.id)))
}

/// The number of migrations in a release.
private func count(
  _ release: PlacedName, _ project: Project, _ file: String
) throws(Diagnostic) -> Int {
  let entries = (project.lock?.aside ?? []) + (project.lock?.entries ?? [])
  if let last = entries.last(where: { $0.release == release.text }) {
    if let index = project.migrations.firstIndex(where: { $0.id == last.id }) { return index + 1 }
    // A release contains a squash if it ends with the last migration that the squash replaces.
    if let index = project.migrations.firstIndex(where: { $0.replaces(last.id) }) {
      return project.migrations[index].replacedMigrations.last == last.id ? index + 1 : index
    }
  }
  let near = suggestion(for: release.text, among: entries.compactMap(\.release))
  throw Diagnostic(
    file: file, position: release.position,
    message: "`sync.oldest_release` is `\(release.text)`, which is not a release in `history.lock`"
      + (near == nil ? ": `freeze --release` gives a release its name" : ""), meant: near)
}

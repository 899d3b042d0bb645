import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A history, and everything that is needed to run it.
package struct Project: Sendable {
  package let folder: MigrationFolder
  package let migrations: [Migration]
  /// Nil if no migration is frozen.
  package let lock: HistoryLock?
  package var application: Application
  /// Objects of a live database that belong to other tools or that `ignore` names. They are not compared.
  package let foreign: ForeignObjects
  /// The bundle that contains the history, if any.
  package private(set) var bundle: HistoryBundle?
  /// Reads the folder of the migrations that a squash replaces; returns nil if it does not exist. Most
  /// commands do not need them.
  package var readSquashed: (@Sendable (MigrationFolder) throws -> [Migration]?)?
  /// The id of the squash whose migrations take its place in this view of the history.
  var replacedSquash: String?

  package init(
    folder: MigrationFolder, migrations: [Migration], lock: HistoryLock?,
    application: Application = Application(),
    foreign: ForeignObjects = ForeignObjects()
  ) {
    self.folder = folder
    self.migrations = migrations
    let replaced = Set((migrations.first?.manifest.squashed ?? []).map(\.exact))
    self.lock = replaced.isEmpty ? lock : lock?.alsoSettingAside { replaced.contains($0) }
    self.application = application
    self.foreign = foreign.adding(
      migrations.flatMap(\.manifest.replaces).map(\.ledger) + [application.ledger.table.text])
  }

  package var ledger: Ledger { application.ledger }

  /// Decodes the whole history of a bundle.
  package init(_ bundle: HistoryBundle, application: Application) throws(Failure) {
    var application = application
    application.ledger = bundle.ledger
    self.init(
      folder: MigrationFolder(bundle.folder), migrations: try bundle.migrations(),
      lock: try bundle.lock(), application: application,
      foreign: ForeignObjects(ignoring: bundle.ignored))
    self.bundle = bundle
    readSquashed = { _ in try bundle.squashedMigrations() }
  }

  /// The index of the migration with an id or a number.
  package func index(ofMigration name: String) throws(Failure) -> Int {
    if let index = migrations.firstIndex(where: { $0.answers(to: name) }) { return index }
    // The last migration that a squash replaces has the number of the squash.
    guard let replacedSquash, replacedSquash == name,
      let index = migrations.lastIndex(where: { $0.number <= MigrationNumber(id: replacedSquash) })
    else { throw unknownMigration(name) }
    return index
  }

  package func unknownMigration(_ name: String) -> Failure {
    Failure(
      .usage,
      "`\(folder.path)` has no migration `\(name)`" + didYouMean(name, among: migrations.map(\.id)))
  }

  package func isFrozen(_ migration: Migration) -> Bool {
    lock?.contains(migration.id) ?? false
  }

  /// Whether the failure belongs to a frozen migration.
  package func holdsFrozen(_ failure: Failure?) -> Bool {
    failure?.migration.map { lock?.contains($0.id) ?? false } ?? false
  }

  /// The part of a live schema that is compared with the expected one: without SQLite's own objects, the
  /// ledger and objects of other tools, but with objects of any name that the history creates and with the
  /// indexes and triggers of the ledger.
  package func comparable(_ live: Schema, with expected: Schema) -> Schema {
    let named = Set(expected.objects.map(\.key))
    return Schema(
      objects: live.objects.filter { object in
        if object.isInternal || object.kind == .table && object.key.name == ledger.table {
          return false
        }
        return object.isOf(ledger) || !foreign.contains(object, besides: named)
      })
  }

  /// The differences between a live schema and the one that the history creates.
  package func drift(of live: Schema, from expected: Schema) -> [SchemaChange] {
    compareSchemas(expected: expected, actual: comparable(live, with: expected))
  }

  /// Whether a live schema contains a trigger, a view or an index that the history does not create, and that
  /// a statement of schemactl may run or read. Objects of other tools and ignored objects count, too.
  package func hasUnexpectedCode(_ live: Schema, beside expected: Schema) -> Bool {
    let named = Set(expected.objects.map(\.key))
    return live.objects.contains { object in
      guard !named.contains(object.key) else { return false }
      return switch object.kind {
      case .trigger, .view: true
      case .index: object.sql != nil && expected.table(object.table) != nil
      case .table: false
      }
    }
  }

  /// The states of the manifests, compared with the lock.
  package var comparison: [HistoryEntry] {
    let states = folder.compare(migrations, with: lock)
    guard let end = replacedSquash.map({ MigrationNumber(id: $0) }),
      (lock?.entries ?? []).allSatisfy({ $0.number > end })
    else { return states }
    // The squash consists of drafts: the lock contains the squash, but none of the migrations in its place.
    return states.map { entry in
      MigrationNumber(id: entry.id) <= end
        ? HistoryEntry(id: entry.id, frozen: false, state: .draft) : entry
    }
  }

  /// Stops if a released migration was changed or removed.
  package func requireIntactHistory() throws(Failure) { try requireIntact(comparison) }

  package func requireIntact(_ history: [HistoryEntry]) throws(Failure) {
    let broken = history.filter(\.state.isBroken)
    guard !broken.isEmpty else { return }
    let list = broken.map { "`\($0.id)` is \($0.state.rawValue)" }
    throw Failure(
      .brokenHistory,
      "the frozen history is broken. Nothing changed",
      details: zip(list, broken).map { "\($0): \($1.detail)" }, plainDetails: list,
      remedy: "`schemactl verify` shows each edit and how to restore the manifest")
  }

  /// Stops if a manifest requires a newer SQLite than this one.
  package func requireEngine(for migrations: some Sequence<Migration>) throws(Failure) {
    for migration in migrations {
      guard let needed = migration.manifest.requiredSQLite,
        needed.number > Connection.libraryVersionNumber
      else { continue }
      throw Context(migration: migration).failure(
        .invalidInput,
        "`\(migration.id)` requires SQLite \(needed), but this is \(Connection.libraryVersion)")
    }
  }
}

extension ForeignObjects {
  /// Whether an object of a live database is foreign: it or its table has the name of another tool's ledger,
  /// or a name that `ignore` lists.
  ///
  /// - Parameter named: the objects that the history creates. They are never foreign.
  package func contains(_ object: SchemaObject, besides named: Set<SchemaDelta.Key>) -> Bool {
    guard !named.contains(object.key) else { return false }
    return contains(object.name)
      || contains(object.table) && !named.contains(SchemaDelta.Key(.table, object.table.identifier))
  }
}

extension LedgerState {
  package var status: ExitStatus {
    switch self {
    case .applied, .pending, .accepted: .success
    case .unknown: .databaseAhead
    case .missing, .edited, .altered: .brokenHistory
    case .outOfOrder, .draftEdited: .finding
    }
  }
}

extension LiveDatabase {
  /// The ids of the migrations in the ledger.
  package var known: Set<ExactText> { Set((rows ?? []).map(\.id.exact)) }

  /// Stops if no migration has run on the database. `requireOurs` has already refused tables of other
  /// programs, so where a migrated database was expected, something has emptied it.
  package func requireContent(path: String) throws(Failure) {
    guard (rows ?? []).isEmpty else { return }
    let tables = schema.tables.filter { !$0.isInternal }.map { "`\($0.name)`" }.abridged(to: 5)
    let problem =
      tables.isEmpty
      ? "is empty: it has no table and no ledger"
      : "has run no migration: it contains only \(tables.joined(separator: ", "))"
    throw Failure(
      .notFound, "`\(path)` \(problem). Nothing changed",
      remedy: "If it had rows, restore a backup. If it is new, run `schemactl migrate` on it alone")
  }

  private static let adoptingFile =
    "`schemactl adopt --database FILE` adopts such a database. Without a history, use `schemactl init --from FILE`"

  /// `adopt` needs a database file, so the advice for a cluster is another one.
  private static let adoptingOther =
    "Create a table in it with one row for each migration that it has run. Name the table, its "
    + "column and these rows under `replaces` in the manifests"

  /// Stops if a database has tables but no ledger rows: another program created it.
  package func requireOurs(_ project: Project, path: String) throws(Failure) {
    guard (rows ?? []).isEmpty else { return }
    let strangers = schema.ours(except: project.foreign.contains).objects
    guard !strangers.isEmpty else { return }
    let names = strangers.map { "`\($0.name)`" }.abridged(to: 5).joined(separator: ", ")
    let tables = schema.tables.map(\.name)
    let other = tables.first(where: ForeignLedgers.hasUsualName)
    let isFile = DatabaseFile.isFile(path)
    let misspelt = project.migrations.flatMap(\.manifest.replaces).lazy.map(\.ledger)
      .filter { schema.table($0) == nil }
      .compactMap { ledger in suggestion(for: ledger, among: tables).map { (ledger, $0) } }.first
    let advice =
      misspelt.map {
        "Correct `ledger: \($0)` in `replaces`: the database has no such table, but it has `\($1)`"
      }
      ?? other.map {
        "`\($0)` is the ledger of another tool: name its entries in the manifests under `replaces`"
          + (isFile
            ? ", or, if that ledger has no entries, use `schemactl adopt --database FILE`" : "")
      } ?? (isFile ? Self.adoptingFile : Self.adoptingOther)
    throw Failure(
      .finding,
      "`\(path)` holds \(names), but \(rows == nil ? "no" : "an empty") ledger: schemactl does not know "
        + "which migrations it has run. Nothing changed",
      remedy: advice)
  }
}

/// Compares the schema after each frozen migration of a replay with the lock.
package struct FrozenSchemas {
  private let lock: HistoryLock?
  private let folder: MigrationFolder
  /// Whether the schema before the migration equals the frozen one.
  private var isPreviousEqual = true
  /// False after an edit, because all later schemas differ, too.
  private var isComparing: Bool

  /// - Parameter history: the states of the manifests. If the history is broken, schemas are not compared.
  package init(_ project: Project, _ history: [HistoryEntry]) {
    lock = project.lock
    folder = project.folder
    isComparing = !history.contains(where: \.state.isBroken)
  }

  /// Compares the schema after a migration with the lock, and corrects the migration's state.
  ///
  /// If the schema before the migration is equal and the manifest has another layout, the migration is
  /// edited, provided that layout can name a column. SQLite or earlier migrations cause all other
  /// differences.
  package mutating func compare(
    _ step: ScratchDatabase.Step, _ scratch: ScratchDatabase, in history: inout [HistoryEntry]
  ) {
    guard isComparing, let entry = lock?.entry(step.migration.id) else { return }
    let isEqual = entry.digests.schema == scratch.fingerprint
    defer { isPreviousEqual = isEqual }
    guard !isEqual,
      let index = history.firstIndex(where: { $0.id == entry.id })
    else { return }
    if isPreviousEqual, step.layoutMatters(beside: entry) {
      isComparing = false
      history[index] = folder.editedSchema(entry)
      return
    }
    let known = history[index].detail
    history[index].state = .engineDiffers
    history[index].detail =
      "the manifest is unchanged, but SQLite \(Connection.libraryVersion) and the earlier "
      + "migrations produce another schema than SQLite \(entry.digests.sqlite) at the freeze. "
      + "After a merge, `schemactl freeze` computes the fingerprint again"
      + (known.isEmpty ? "" : " (\(known))")
  }
}

extension ScratchDatabase.Step {
  /// Whether the manifest's layout differs from the frozen one and can change its effect, because white space
  /// can be part of a column's name.
  package func layoutMatters(beside entry: LockEntry) -> Bool {
    migration.rawDigest != entry.digests.raw
      && delta.after.values.contains(where: \.isNamedByLayout)
  }
}

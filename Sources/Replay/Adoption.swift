import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

extension Project {
  /// Reads a database that schemactl may migrate, with the rows of its ledger or with those that adoption
  /// will add (`adopting`).
  ///
  /// - Parameter mayBeEmpty: whether the database may be a new one.
  package func live(
    in database: ReadableDatabase, mayBeEmpty: Bool = true
  ) throws(Failure) -> LiveDatabase {
    let live = try adopting(database)
    try live.requireOurs(self, path: database.name)
    if !mayBeEmpty { try live.requireContent(path: database.name) }
    return live
  }

  /// Reads a database. If its ledger has no rows, but `replaces` names a ledger of another tool in it, the
  /// result has the rows that adoption will add.
  ///
  /// - Throws: a failure if the other tool's ledger does not correspond to a position in the history.
  package func adopting(_ database: ReadableDatabase) throws(Failure) -> LiveDatabase {
    try adopting(
      LiveDatabase(database.connection, ledger, path: database.name), in: database)
  }

  /// Does the same for a database that has been read.
  package func adopting(
    _ live: LiveDatabase, in database: ReadableDatabase
  ) throws(Failure) -> LiveDatabase {
    let path = database.name
    var live = live
    live.rows = try countingSquash(live.rows, path: path)
    if (live.rows ?? []).isEmpty, let count = try adoptable(database.connection, path) {
      live.adopted = count
      live.rows = migrations.prefix(count).enumerated().map { index, migration in
        adoptedRow(migration, at: index, fingerprint: lock?.entry(migration.id)?.digests.schema)
      }
    }
    return live
  }

  /// Returns the ledger row of an adopted migration. Its tool version shows that schemactl has not run the
  /// migration.
  ///
  /// - Parameter fingerprint: the fingerprint of the schema after it; nil only for a row that is not written.
  package func adoptedRow(
    _ migration: Migration, at index: Int, fingerprint: String?
  ) -> LedgerRow {
    LedgerRow(
      of: migration, at: index + migrations.positionOffset,
      fingerprint: fingerprint ?? String(repeating: "0", count: migration.rawDigest.count),
      startedAt: Timestamp.now.description,
      toolVersion: ToolVersion.current + ToolVersion.adopted)
  }

  /// Stops if the schema differs from the history after the migrations that another tool has applied.
  /// Additional objects are drift and do not stop the adoption.
  package func requireAdoptable(
    _ drift: [SchemaChange], through last: Migration, path: String
  ) throws(Failure) {
    let differences = drift.filter { !$0.isObjectBesides }
    guard !differences.isEmpty else { return }
    throw Failure(
      .finding,
      "`\(path)` has run `\(last.id)` according to the ledger of another tool, but its schema "
        + "differs from the history. Nothing changed. The differences:",
      details: differences.map(\.sentence).abridged(to: 20).map { "  " + $0 },
      remedy:
        "Change the migrations that replace the entries so that they create this schema, or correct the "
        + "schema of the database")
  }

  /// The number of migrations that count as applied according to another tool's ledger. Nil if the database
  /// has no such ledger, or an empty one.
  private func adoptable(_ connection: Connection, _ path: String) throws(Failure) -> Int? {
    let items = migrations.flatMap(\.manifest.replaces)
    guard !items.isEmpty else { return nil }
    return try failing(on: path) {
      let ledgers = try ForeignLedgers(items, on: connection)
      // If the manifests that the squash replaces existed, `view` would have put them in its place.
      if let squash, ledgers.hasRunPart(of: squash) { throw missingManifests(squash, path) }
      return try ledgers.prefix(of: migrations, path)
    }
  }
}

extension SchemaChange {
  /// Whether the whole object is missing from the history.
  fileprivate var isObjectBesides: Bool {
    change == .unexpected && [.table, .index, .view, .trigger].contains(kind)
  }
}

extension ToolVersion {
  /// The end of the tool version in the ledger rows of adopted migrations.
  static let adopted = " adopted"
}

extension LedgerRow {
  /// Whether the migration was adopted and not run by schemactl.
  package var isAdopted: Bool { toolVersion.hasSuffix(ToolVersion.adopted) }
}

// A history may begin with a squash: one migration that replaces earlier ones. Their manifests are in the
// folder `squashed`, for databases that have run some of them.

extension Project {
  /// The squash at the beginning of the history; nil if there is none.
  package var squash: Migration? {
    migrations.first.flatMap { $0.manifest.squashed.isEmpty ? nil : $0 }
  }

  /// The file of a migration, which may be one that the squash replaces.
  package func file(ofMigration id: String) -> String {
    let isReplaced = squash?.manifest.squashed.contains { $0 == id } ?? false
    return (isReplaced ? folder.squashed : folder).file(ofMigration: id)
  }

  /// The migrations that the squash replaces, including older squashes, in order.
  ///
  /// - Returns: nil if their folder does not exist.
  /// - Throws: the error in a manifest.
  package func squashedMigrations() throws(Failure) -> [Migration]? {
    guard let readSquashed else { return nil }
    do {
      return try readSquashed(folder.squashed)
    } catch {
      throw Failure(of: error)
    }
  }

  /// The history for a database. The migrations that the squash replaces take its place if the database has
  /// run some of them, but not all, or if it has tables but no ledger rows.
  ///
  /// - Throws: a failure (66) if the manifests of these migrations are missing.
  package func view(of database: ReadableDatabase) throws(Failure) -> Project {
    guard squash != nil else { return self }
    let live = try LiveDatabase(database.connection, ledger, path: database.name)
    // For a database without ledger rows, another tool's ledger or the schema shows which of them it has run.
    let isAdoptable =
      live.known.isEmpty
      && !live.schema.ours(except: { $0.identifier == ledger.table }).objects.isEmpty
    return try view(of: database.name, after: live.known, isAdoptable: isAdoptable)
  }

  /// Does the same for a database that has run these migrations.
  package func view(
    of path: String, after run: Set<ExactText>, isAdoptable: Bool = false
  ) throws(Failure) -> Project {
    guard let squash else { return self }
    let hasRunSome = squash.manifest.squashed.contains(where: run.contains)
    guard !run.contains(squash.id), hasRunSome || isAdoptable, !squash.isReplaced(by: run) else {
      return self
    }
    guard let old = try squashedMigrations() else {
      if isAdoptable { return self }
      throw missingManifests(squash, path)
    }
    let base = squash.base(of: run)
    let start = base.map { MigrationNumber(id: $0) }
    let names =
      (base.map { [$0] } ?? [])
      + squash.replacedMigrations.filter { id in start.map { MigrationNumber(id: id) > $0 } ?? true
      }
    let chain = names.compactMap { id in old.first { $0.id == id } }
    guard chain.count == names.count else { throw missingManifests(squash, path) }
    return unsquashed(chain)
  }

  /// The history with other migrations in place of the squash.
  package func unsquashed(_ chain: [Migration]) -> Project {
    guard let squash else { return self }
    let ids = Set(chain.map(\.id.exact))
    var project = Project(
      folder: folder, migrations: chain + migrations.dropFirst(),
      lock: lock?.settingAside { id in
        MigrationNumber(id: id) <= squash.number && !ids.contains(id)
      }, application: application, foreign: foreign)
    project.readSquashed = readSquashed
    project.replacedSquash = squash.id
    return project
  }

  /// Replaces the rows of the migrations that the squash replaces by one row for the squash, if the database
  /// has run all of them.
  ///
  /// - Throws: a failure if the database has run only some of them.
  package func countingSquash(_ rows: [LedgerRow]?, path: String) throws(Failure) -> [LedgerRow]? {
    guard let squash, let rows else { return rows }
    let run = Set(rows.map(\.id.exact))
    let replaced = Set(squash.manifest.squashed.map(\.exact))
    guard !run.contains(squash.id), let last = rows.last(where: { replaced.contains($0.id) }) else {
      return rows
    }
    guard squash.isReplaced(by: run) else {
      throw Failure(
        .busy,
        "`\(path)` has run some of the migrations that `\(squash.id)` replaces",
        remedy:
          "Run `schemactl migrate`, or run it again if another process has migrated the database in the "
          + "meantime")
    }
    var row = last
    row.id = squash.id
    row.rawDigest = lock?.entry(squash.id)?.digests.raw ?? squash.rawDigest
    row.canonicalDigest = lock?.entry(squash.id)?.digests.canonical ?? squash.canonicalDigest
    return [row] + rows.filter { !replaced.contains($0.id) }
  }

  func missingManifests(_ squash: Migration, _ path: String) -> Failure {
    let last = squash.replacedMigrations.last ?? ""
    let release =
      lock?.anyEntry(last)?.release.map { "release \($0)" }
      ?? "the version that ends with `\(last)`"
    return Failure(
      .notFound,
      "`\(path)` has run some of the migrations that `\(squash.id)` replaces, and the manifests of the others "
        + "are missing in `\(folder.squashed.path)`. Nothing changed. Install \(release) first, which "
        + "migrates it to `\(last)`, or restore the folder from git")
  }
}

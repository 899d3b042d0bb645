import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

extension Project {
  /// A database that schemactl may migrate, with its ledger, or with the rows that it will get (`adopting`).
  ///
  /// - Parameter mayBeEmpty: whether it may be a new one.
  package func live(
    on connection: Connection, path: String, mayBeEmpty: Bool = true
  ) throws(Failure) -> LiveDatabase {
    let live = try adopting(
      LiveDatabase(connection, ledger, path: path), on: connection, path: path)
    try live.requireOurs(self, path: path)
    if !mayBeEmpty { try live.requireContent(path: path) }
    return live
  }

  /// Where a database has no ledger, but another tool's that `replaces` names, its rows are those that the
  /// ledger will get.
  ///
  /// - Throws: when the ledger of the other tool does not lead to a place in the history.
  package func adopting(
    _ live: LiveDatabase, on connection: Connection, path: String
  ) throws(Failure) -> LiveDatabase {
    var live = live
    live.rows = try countingSquash(live.rows, path: path)
    if (live.rows ?? []).isEmpty, let count = try adoptable(connection, path) {
      live.adopted = count
      live.rows = migrations.prefix(count).enumerated().map { index, migration in
        adoptedRow(migration, at: index, fingerprint: lock?.entry(migration.id)?.digests.schema)
      }
    }
    return live
  }

  /// A row like that of a migration that has run; its version says that schemactl has not run it.
  ///
  /// - Parameter fingerprint: nil for a row that is not written.
  package func adoptedRow(
    _ migration: Migration, at index: Int, fingerprint: String?
  ) -> LedgerRow {
    LedgerRow(
      of: migration, at: index + migrations.positionOffset,
      fingerprint: fingerprint ?? String(repeating: "0", count: migration.rawDigest.count),
      startedAt: Timestamp.now.description,
      toolVersion: ToolVersion.current + ToolVersion.adopted)
  }

  /// Stops if the schema differs from the history at the migrations that another tool has applied. Objects that
  /// the history does not know are drift, and may stay.
  package func requireAdoptable(
    _ drift: [SchemaChange], through last: Migration, path: String
  ) throws(Failure) {
    let differences = drift.filter { !$0.isObjectBesides }
    guard !differences.isEmpty else { return }
    throw Failure(
      .finding,
      "\(path) has run \(last.id) according to the ledger of another tool, but its schema "
        + "differs from the history. Nothing was changed. The differences:",
      details: differences.map(\.sentence).abridged(to: 20).map { "  " + $0 })
  }

  /// How many migrations another tool's ledger replaces; nil where the database has no such ledger, or an
  /// empty one.
  private func adoptable(_ connection: Connection, _ path: String) throws(Failure) -> Int? {
    let items = migrations.flatMap(\.manifest.replaces)
    guard !items.isEmpty else { return nil }
    do {
      let ledgers = try ForeignLedgers(items, on: connection)
      // With the manifests that it replaces, the history would begin with them (`view`).
      if let squash, ledgers.hasRunPart(of: squash) { throw missingManifests(squash, path) }
      return try ledgers.prefix(of: migrations, path)
    } catch {
      throw Failure(of: error, database: path)
    }
  }
}

extension SchemaChange {
  /// An object that the history does not know, as a whole.
  fileprivate var isObjectBesides: Bool {
    change == .unexpected && [.table, .index, .view, .trigger].contains(kind)
  }
}

extension ToolVersion {
  /// Ends the version in the rows of migrations that were adopted.
  static let adopted = " adopted"
}

extension LedgerRow {
  /// Whether the migration was adopted, and not run by schemactl.
  package var isAdopted: Bool { toolVersion.hasSuffix(ToolVersion.adopted) }
}

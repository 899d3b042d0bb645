import SchemaManifest
import SchemaSQLText
import SchemaSQLite

/// The ledgers of other tools that `replaces` names, in one database.
package struct ForeignLedgers {
  private var ledgers: [Identifier: ForeignLedger] = [:]
  /// The entries that the history names, for each ledger, in the order of the history.
  private var known: [Identifier: [String]] = [:]
  /// The entries of `known` that the database has run.
  private var run: [Identifier: Set<ExactText>] = [:]

  /// - Parameter items: the items of all migrations, in the order of the history.
  /// - Throws: a failure (65) if the kind of a table is unknown, or if the database has two ledgers and an
  ///   item does not give the kind.
  package init(_ items: [ReplacedEntries], on connection: Connection) throws {
    var parents: [Identifier: [ExactText: [String]]] = [:]
    for item in items {
      let table = item.ledger.identifier
      known[table, default: []] += item.entries
      if let first = item.entries.first { parents[table, default: [:]][first.exact] = item.parents }
      if ledgers[table] == nil { ledgers[table] = try ForeignLedger(item, on: connection) }
    }
    let isGiven = items.allSatisfy { $0.kind != nil || $0.column != nil }
    guard ledgers.count <= 1 || isGiven else {
      let tables = ledgers.values.map { "`\($0.table)`" }.sorted().joined(separator: " and ")
      throw Failure(
        .invalidInput,
        "the database has the ledgers of two tools, \(tables): set `kind` in each item of "
          + "`replaces`. Nothing changed")
    }
    for (table, ledger) in ledgers {
      run[table] = ledger.hasRun(known[table] ?? [], parents: parents[table] ?? [:])
    }
  }

  /// The number of migrations at the start of the history that the ledgers replace; nil if they replace none.
  ///
  /// - Throws: a failure (1) if an entry failed or ran out of order, or if only some entries of a migration
  ///   have run; a failure (4) if no migration replaces an entry.
  package func prefix(of migrations: [Migration], _ database: String) throws(Failure) -> Int? {
    for (table, ledger) in ledgers {
      let unknown = ledger.unknown(known[table] ?? [])
      guard !unknown.isEmpty else { continue }
      let unused = (known[table] ?? []).filter { run[table]?.contains($0) != true }
      // Numbers are always similar.
      let misspelt = unknown.lazy.filter { $0.contains(where: \.isLetter) }.compactMap { entry in
        suggestion(for: entry, among: unused).map { (entry, $0) }
      }.first
      let correction = misspelt.map {
        "If `\($1)` in `replaces` means `\($0)`, correct it. Otherwise use"
      }
      throw Failure(
        .databaseAhead,
        "`\(database)` is ahead of the history: no migration replaces "
          + "\(unknown.map { "`\($0)`" }.joined(separator: ", ")) in `\(ledger.table)`. Nothing changed",
        remedy:
          "\(correction ?? "Use") the history that contains these entries, or write a migration that "
          + "replaces them")
    }
    for ledger in ledgers.values where !ledger.failed.isEmpty {
      throw Failure(
        .finding,
        "`\(ledger.table)` in `\(database)` has entries that failed: "
          + "\(ledger.failed.map { "`\($0)`" }.joined(separator: ", ")). Repair the database with "
          + "the tool that created them. Nothing changed")
    }
    let count = migrations.firstIndex { !isReplaced($0) } ?? migrations.count
    guard count < migrations.count else { return count }
    let early = migrations[count...].flatMap(\.manifest.replaces).flatMap { item in
      item.entries.filter { hasRun($0, item) }
    }
    let adopted = migrations[..<count].flatMap(\.manifest.replaces).flatMap(\.entries)
    if let item = migrations[count].manifest.replaces.first(where: { item in
      item.entries.contains { hasRun($0, item) }
    }) {
      throw partOf(item, of: migrations[count], database)
    }
    let beyond = early.filter { !adopted.contains($0) }
    guard beyond.isEmpty else {
      throw Failure(
        .finding,
        "`\(database)` has run \(beyond.map { "`\($0)`" }.joined(separator: ", ")) with another "
          + "tool, and not all of `\(migrations[count].id)`, which comes before: running it now "
          + "could repeat a change. Nothing changed",
        remedy: "Run the missing migrations with that tool first")
    }
    return count == 0 ? nil : count
  }

  /// The failure of a database that has run only some of the entries that a migration replaces.
  private func partOf(
    _ item: ReplacedEntries, of migration: Migration, _ database: String
  ) -> Failure {
    let missing = item.entries.filter { !hasRun($0, item) }
    let run = item.entries.filter { hasRun($0, item) }
    return Failure(
      .finding,
      "`\(database)` has run \(run.map { "`\($0)`" }.joined(separator: ", ")) with another tool, but "
        + "not \(missing.map { "`\($0)`" }.joined(separator: ", ")): `\(migration.id)` replaces "
        + "all of them. Nothing changed",
      remedy:
        "Run \(missing.map { "`\($0)`" }.joined(separator: ", ")) with that tool first. Or write a "
        + "migration for each of these states: `schemactl import` needs a database that has run "
        + "`\(run[run.count - 1])` and not `\(missing[0])`")
  }

  /// Whether the database has run some of the entries that a migration replaces, but not all of any item.
  package func hasRunPart(of migration: Migration) -> Bool {
    !isReplaced(migration)
      && migration.manifest.replaces.contains { item in item.entries.contains { hasRun($0, item) } }
  }

  private func isReplaced(_ migration: Migration) -> Bool {
    migration.manifest.replaces.contains { item in
      item.entries.allSatisfy { hasRun($0, item) }
    }
  }

  private func hasRun(_ entry: String, _ item: ReplacedEntries) -> Bool {
    run[item.ledger.identifier]?.contains(entry) ?? false
  }
}

// MARK: Objects

/// The objects of a live database that do not belong to the history: the bookkeeping of known engines and
/// migration tools, the ledger, and the objects that match the configuration's `ignore`.
package struct ForeignObjects: Sendable, Equatable {
  /// The configuration's `ignore`.
  package let ignored: [String]
  private let globs: [Glob]
  /// The ledgers that `replaces` names.
  private var ledgers: Set<Identifier> = []

  /// - Parameter ignored: the configuration's `ignore`.
  package init(ignoring ignored: [String] = []) {
    self.ignored = ignored
    globs = bookkeeping + ignored.map(Glob.init)
  }

  /// Whether the object of this name, or an object that belongs to the table of this name, is foreign.
  package func contains(_ name: String) -> Bool {
    Self.isReserved(name) || ledgers.contains(name.identifier)
      || LedgerKind.usualTables.contains(name.identifier)
      || globs.contains { $0.matches(name) }
  }

  package func adding(_ ledgers: [String]) -> ForeignObjects {
    var foreign = self
    foreign.ledgers.formUnion(ledgers.map(\.identifier))
    return foreign
  }

  /// Whether schemactl reserves the name. Migrations must not use reserved names.
  package static func isReserved(_ name: String) -> Bool {
    name.identifier.hasPrefix("schemactl_")
  }
}

private let bookkeeping = [
  // Synchronisation and replication.
  "sqlitedata_*", "crsql_*", "__crsql_*", "*__crsql_*", "_litestream_*", "_cf_*",
  // Frameworks of applications.
  "android_metadata", "room_master_table", "room_table_modification_log",
  "ar_internal_metadata",
  // Migration tools whose ledgers schemactl cannot read.
  "DATABASECHANGELOG*", "refinery_schema_history", "d1_migrations", "knex_migrations*",
  "__EFMigrations*", "SequelizeMeta", "_yoyo_*", "yoyo_lock",
].map(Glob.init)

/// A pattern for whole names, as in SQLite's GLOB: `*` matches any characters, `?` matches one character,
/// `[a-z]` one of these, `[^a-z]` one other.
///
/// ASCII letters match in either case, as names in SQLite do.
package struct Glob: Sendable, Equatable {
  private let pattern: String

  package init(_ pattern: String) {
    self.pattern = Self.folded(pattern)
  }

  package func matches(_ name: String) -> Bool { globMatches(pattern, Self.folded(name)) }

  private static func folded(_ text: String) -> String {
    String(decoding: Array(text.identifier.folded), as: UTF8.self)
  }
}

import SchemaManifest
import SchemaSQLText
import SchemaSQLite

/// Which objects of a live database are not the history's: the bookkeeping of known engines and
/// migration tools, the ledger, and what the configuration's `ignore` names.
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

  /// Whether the object of this name, or what belongs to the table of this name, is not ours.
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

  /// Names that schemactl keeps for itself: no migration may use them.
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

/// A pattern for whole names, as SQLite's GLOB reads it: `*` any characters, `?` one, `[a-z]` one of
/// these, `[^a-z]` one other.
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

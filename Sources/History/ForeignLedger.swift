import SchemaManifest
import SchemaSQLText
import SchemaSQLite

/// The migrations table of another tool. schemactl only reads it.
struct ForeignLedger {
  let table: String
  /// The entries that the table stores, in its spelling, without the failed ones.
  private(set) var entries: [String] = []
  /// Entries that the other tool has begun and not completed.
  private(set) var failed: [String] = []
  private let rule: Rule
  /// The version up to which the other tool assumes that all migrations have run.
  private var baseline: String?

  /// How an entry of a manifest is compared with the ledger.
  private enum Rule {
    case text
    /// Entries are compared as texts. The ledger also contains the migrations that a squashed migration
    /// replaces.
    case django
    /// Versions are compared part by part, without leading zeros.
    case number
    /// Entries are compared by their leading digits.
    case timestamp
    /// The ledger stores one version. That version and all lower ones have run.
    case throughNumber
    /// The stored entries and all their ancestors have run.
    case throughEntry
  }

  /// Reads the ledger that an item of `replaces` names.
  ///
  /// - Parameters:
  ///   - item: names the table, and may name its kind or a column.
  /// - Returns: nil if the database does not have the table.
  /// - Throws: a failure (65) if the kind of the table is unknown, or (1) if a golang-migrate ledger stores
  ///   several versions.
  init?(_ item: ReplacedEntries, on connection: Connection) throws {
    table = item.ledger
    let columns = try Self.columns(of: table, on: connection)
    guard !columns.isEmpty else { return nil }
    if let column = item.column {
      // SQLite reads a quoted name without a column as a string.
      guard columns.contains(column.identifier) else {
        throw Failure(
          .invalidInput,
          "the table `\(table)` has no column `\(column)`, which `replaces` names"
            + didYouMean(column, among: columns.map(\.text).sorted()))
      }
      rule = .text
      entries = try Self.texts(
        "SELECT \(Quoting.quoted(column)) FROM main.\(Quoting.quoted(table))", connection)
      return
    }
    guard let kind = item.kind ?? LedgerKind(table: table.identifier, columns: columns) else {
      throw Failure(
        .invalidInput,
        "the table `\(table)` is not the ledger of a tool that schemactl knows: set its `kind` in "
          + "`replaces`, or the `column` that contains the entries")
    }
    let table = table
    let rows = "FROM main.\(Quoting.quoted(table))"
    func texts(_ query: String) throws -> [String] {
      do throws(DatabaseError) {
        return try Self.texts(query, connection)
      } catch {
        guard error.code == .error else { throw error }
        throw Failure(
          .invalidInput,
          "the table `\(table)` is not a ledger of \(kind.rawValue): \(error.message)",
          remedy: "Correct `kind` in `replaces`")
      }
    }
    switch kind {
    case .grdb: (rule, entries) = (.text, try texts("SELECT identifier \(rows)"))
    case .dbmate, .rails, .diesel: (rule, entries) = (.text, try texts("SELECT version \(rows)"))
    case .django: (rule, entries) = (.django, try texts("SELECT app || '.' || name \(rows)"))
    case .drizzle where item.entries.contains { $0.contains("_") }:
      // Since version 1.0 of drizzle, the ledger contains the names of the folders, which begin with a
      // timestamp. Before that, it contains only the time.
      rule = .timestamp
      let time = "strftime('%Y%m%d%H%M%S', created_at / 1000, 'unixepoch')"
      entries = try texts(
        "SELECT \(columns.contains("name") ? "coalesce(name, \(time))" : time) \(rows)")
    case .drizzle: (rule, entries) = (.number, try texts("SELECT created_at \(rows)"))
    case .alembic: (rule, entries) = (.throughEntry, try texts("SELECT version_num \(rows)"))
    case .prisma:
      rule = .text
      let kept = "\(rows) WHERE rolled_back_at IS NULL AND finished_at IS"
      entries = try texts("SELECT migration_name \(kept) NOT NULL")
      failed = try texts("SELECT migration_name \(kept) NULL")
    case .sqlx:
      rule = .number
      entries = try texts("SELECT version \(rows) WHERE success")
      failed = try texts("SELECT version \(rows) WHERE NOT success")
    case .flyway:
      rule = .number
      failed = try texts("SELECT version \(rows) WHERE NOT success AND version IS NOT NULL")
      let run = "\(rows) WHERE success AND version IS NOT NULL"
      guard columns.isSuperset(of: ["type", "installed_rank"]) else {
        entries = try texts("SELECT version \(run)")
        break
      }
      // The last row of a version counts: it may undo or delete the migration.
      entries = try texts(
        "SELECT version FROM (SELECT version, type, max(installed_rank) \(run) GROUP BY version) "
          + "WHERE type NOT LIKE 'UNDO%' AND type <> 'DELETE'")
      baseline = try texts("SELECT version \(run) AND type LIKE '%BASELINE'").last
    case .goose:
      rule = .number
      // The last row of a version counts. Version 0 is goose's own row.
      entries = try texts(
        "SELECT version_id \(rows) WHERE version_id <> 0 GROUP BY version_id "
          + "HAVING max(id) = max(CASE WHEN is_applied THEN id END)")
    case .atlas:
      rule = .text
      // A version that begins with a dot is Atlas's own.
      let kept = "\(rows) WHERE version NOT LIKE '.%' AND applied"
      entries = try texts("SELECT version \(kept) >= total")
      failed = try texts("SELECT version \(kept) < total")
    case .golangMigrate:
      rule = .throughNumber
      entries = try texts("SELECT version \(rows) WHERE NOT dirty")
      failed = try texts("SELECT version \(rows) WHERE dirty")
      guard entries.count + failed.count <= 1 else {
        throw Failure(
          .finding,
          "`\(table)` has the versions \((entries + failed).joined(separator: ", ")), but "
            + "golang-migrate keeps one version: delete the rows that are not the version of the "
            + "database. Nothing changed")
      }
    }
  }

  static func columns(
    of table: String, on connection: Connection
  ) throws(DatabaseError) -> Set<Identifier> {
    Set(
      try connection.rows("SELECT name FROM pragma_table_info(?1, 'main')", [.text(table)])
        .compactMap { $0[0].text?.identifier })
  }

  private static func texts(
    _ query: String, _ connection: Connection
  ) throws(DatabaseError) -> [String] {
    try connection.rows(query).compactMap { row in
      switch row[0] {
      case .text(let text): text
      case .integer(let number): "\(number)"
      // SQLite stores an integer of more than 64 bits as a real number.
      case .real(let number): "\(number)"
      case .null, .blob: nil
      }
    }
  }

  // MARK: Applied entries

  /// Returns the entries of `known` that have run.
  ///
  /// - Parameters:
  ///   - known: the entries of this ledger that the history names, in the order of the history.
  ///   - parents: the parents of an entry, if they are not the entry before it in `known`.
  func hasRun(_ known: [String], parents: [ExactText: [String]]) -> Set<ExactText> {
    switch rule {
    case .text, .django, .number, .timestamp:
      let run = Set(entries.map(form))
      return Set(known.filter { run.contains(form($0)) || isInBaseline($0) }.map(\.exact))
    case .throughNumber:
      guard let version = entries.first.flatMap(UInt64.init) else { return [] }
      return Set(known.filter { UInt64($0).map { $0 <= version } ?? false }.map(\.exact))
    case .throughEntry:
      let former = Dictionary(
        zip(known.dropFirst().map(\.exact), known), uniquingKeysWith: { first, _ in first })
      let names = Set(known.map(\.exact))
      var run: Set<ExactText> = []
      var waiting = entries.map(\.exact)
      while let entry = waiting.popLast() {
        guard names.contains(entry), run.insert(entry).inserted else { continue }
        waiting += parents[entry]?.map(\.exact) ?? former[entry].map { [$0.exact] } ?? []
      }
      return run
    }
  }

  private func isInBaseline(_ entry: String) -> Bool {
    guard let baseline else { return false }
    func parts(_ version: String) -> [UInt64] {
      version.split(separator: ".").compactMap { UInt64($0) }
    }
    return !parts(baseline).lexicographicallyPrecedes(parts(entry))
  }

  /// The entries of the ledger that are not in `known`, without the baseline and without migrations that a
  /// Django squash in `known` replaces.
  func unknown(_ known: [String]) -> [String] {
    let named = Set(known.map(form))
    let squashes = rule == .django ? known.compactMap(DjangoSquash.init) : []
    return (entries + failed).filter { entry in
      entry != baseline && !named.contains(form(entry)) && !squashes.contains { $0.replaces(entry) }
    }
  }

  private func form(_ entry: String) -> ExactText {
    switch rule {
    case .text, .django, .throughEntry: entry.exact
    case .timestamp: String(decoding: entry.utf8.prefix(while: \.isDigit), as: UTF8.self).exact
    case .number, .throughNumber:
      entry.split(separator: ".", omittingEmptySubsequences: false).map { part in
        let digits = part.drop { $0 == "0" }
        return digits.isEmpty ? part.isEmpty ? "" : "0" : String(digits)
      }.joined(separator: ".").exact
    }
  }
}

/// A migration that Django's `squashmigrations` wrote: `app.0001_squashed_0016_name` or
/// `app.0004_name_squashed_0016_name`.
private struct DjangoSquash {
  private let app: Substring
  private let numbers: ClosedRange<UInt64>

  init?(_ entry: String) {
    guard let dot = entry.firstIndex(of: "."), let mark = entry.firstRange(of: "squashed_"),
      let first = Self.number(entry[entry.index(after: dot)...]),
      let last = Self.number(entry[mark.upperBound...]), first <= last
    else { return nil }
    app = entry[..<dot]
    numbers = first...last
  }

  func replaces(_ entry: String) -> Bool {
    guard let dot = entry.firstIndex(of: "."),
      let number = Self.number(entry[entry.index(after: dot)...])
    else { return false }
    return entry[..<dot].utf8.elementsEqual(app.utf8) && numbers.contains(number)
  }

  private static func number(_ name: Substring) -> UInt64? {
    UInt64(String(decoding: name.utf8.prefix(while: \.isDigit), as: UTF8.self))
  }
}

extension ForeignLedgers {
  /// Whether a table has the usual name of another tool's ledger.
  package static func hasUsualName(_ table: String) -> Bool {
    LedgerKind.usualTables.contains(table.identifier)
  }

  /// The ledgers of other tools that a database has under their usual names, sorted by name.
  package static func usual(
    in database: String, timeout: Double, interruption: Interruption = Interruption()
  ) throws(Failure) -> [UsualLedger] {
    let connection = try DatabaseFile.openForReading(
      database, timeout: timeout, interruption: interruption)
    return try failing(on: database) {
      return try LedgerKind.usualTables.sorted { $0.text < $1.text }.compactMap { table in
        let columns = try ForeignLedger.columns(of: table.text, on: connection)
        guard let kind = LedgerKind(table: table, columns: columns) else { return nil }
        let item = ReplacedEntries(ledger: table.text, kind: kind, column: nil, entries: [])
        guard let ledger = try ForeignLedger(item, on: connection) else { return nil }
        return UsualLedger(
          table: table.text, kind: kind, entries: ledger.entries, failed: ledger.failed)
      }
    }
  }
}

/// Another tool's ledger under its usual name.
package struct UsualLedger: Sendable {
  package let table: String
  package let kind: LedgerKind
  /// The migrations that have run.
  package let entries: [String]
  /// Migrations that the other tool has begun and not completed.
  package let failed: [String]
}

extension UsualLedger {
  /// The entries as an item of `replaces`.
  package var replaced: ReplacedEntries {
    ReplacedEntries(ledger: table, kind: kind, column: nil, entries: entries)
  }
}

extension LedgerKind {
  /// The usual name of each tool's ledger, and the columns that identify it. Several tools share a name: the
  /// ledger with more columns comes first.
  private static let usual: [(table: Identifier, columns: [Identifier], kind: LedgerKind)] = [
    ("grdb_migrations", ["identifier"], .grdb),
    ("schema_migrations", ["version", "dirty"], .golangMigrate),
    ("schema_migrations", ["version"], .dbmate),
    ("_sqlx_migrations", ["version", "success"], .sqlx),
    ("__diesel_schema_migrations", ["version"], .diesel),
    ("__drizzle_migrations", ["created_at"], .drizzle),
    ("_prisma_migrations", ["migration_name", "finished_at"], .prisma),
    ("django_migrations", ["app", "name"], .django),
    ("goose_db_version", ["version_id", "is_applied"], .goose),
    ("flyway_schema_history", ["version", "success"], .flyway),
    ("alembic_version", ["version_num"], .alembic),
    ("atlas_schema_revisions", ["version", "applied", "total"], .atlas),
  ]

  static let usualTables = Set(usual.map(\.table))

  /// The usual names of the tool's own tables.
  package var ownTables: Set<Identifier> {
    switch self {
    case .rails: ["schema_migrations", "ar_internal_metadata"]
    default: Set(Self.usual.filter { $0.kind == self }.map(\.table))
    }
  }

  /// The tool that creates a table with this name and these columns; nil for an unknown table.
  fileprivate init?(table: Identifier, columns: Set<Identifier>) {
    let usual = Self.usual.first { $0.table == table && columns.isSuperset(of: $0.columns) }
    guard let usual else { return nil }
    self = usual.kind
  }
}

import SchemaHistory
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// Watches what the statements of a migration do, and refuses what no migration may do.
///
/// It is the connection's authorizer, so it sees what SQLite sees, however the SQL is written.
package final class StatementGuard {
  /// What the statement last compiled was refused for.
  private(set) var refusal: String?
  /// What the statement last compiled will do.
  private(set) var events: [AuthorizerEvent] = []
  private var isWatching = false
  private let ledger: Ledger

  init(refusing ledger: Ledger) {
    self.ledger = ledger
  }

  func install(on connection: Connection) {
    connection.setAuthorizer { event in
      self.isWatching ? self.decide(event) : .allow
    }
  }

  /// Watches while `body` compiles or runs a statement of a migration; everything else that the
  /// connection does (savepoints, the ledger, questions about the schema) is our own.
  func watching<Result>(_ body: () throws(DatabaseError) -> Result) throws(DatabaseError) -> Result
  {
    isWatching = true
    defer { isWatching = false }
    return try body()
  }

  func startStatement() {
    refusal = nil
    events = []
  }

  private func decide(_ event: AuthorizerEvent) -> AuthorizerDecision {
    events.append(event)
    if let reason = misplacement(event) {
      refusal = reason
      return .deny
    }
    if usesLedger(event) {
      refusal = "\(ledger) is schemactl's ledger: a migration may not use it"
      return .deny
    }
    if event.action == .pragma, let name = event.first,
      Pragmas.acceptedNotRun.contains(name)
    {
      return .ignore
    }
    return .allow
  }

  /// Why no migration may do this; nil when it may.
  private func misplacement(_ event: AuthorizerEvent) -> String? {
    switch event.action {
    case .transaction, .savepoint:
      return "transaction control (\(event.first ?? "")) does not belong in a migration: "
        + "each migration is atomic"
    case .attach:
      return "ATTACH and VACUUM do not belong in a migration: they need their own transaction"
    case .detach: return "DETACH does not belong in a migration"
    case .function where event.second?.identifier == "load_extension":
      return "load_extension() does not belong in a migration: extensions are not loaded"
    case .pragma: return Pragmas.reasonToRefuse(event)
    default: return nil
    }
  }

  private func usesLedger(_ event: AuthorizerEvent) -> Bool {
    let names = [event.first, event.second].compactMap { $0 }
    // ANALYZE reads every table, and writes but its statistics.
    if event.action == .analyze { return false }
    if event.action == .read, events.contains(where: { $0.action == .analyze }) { return false }
    return names.contains { $0.identifier == ledger.table }
  }
}

/// Which PRAGMAs a migration's `sql` may hold (DESIGN: the manifest, `sql`).
package enum Pragmas {
  /// Written by hand in many rebuilds, and done by schemactl in its own way.
  package static let acceptedNotRun: Set<Identifier> = [
    "foreign_keys", "defer_foreign_keys", "foreign_key_check",
  ]

  /// Run, and put back after the migration.
  package static let putBack: Set<Identifier> = [
    "writable_schema", "ignore_check_constraints", "legacy_alter_table",
  ]

  private static let readingWithArgument: Set<Identifier> = [
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo",
    "foreign_key_list", "integrity_check", "quick_check",
  ]

  private static let reading: Set<Identifier> = [
    "application_id", "auto_vacuum", "automatic_index", "busy_timeout", "cache_size",
    "cache_spill", "cell_size_check", "checkpoint_fullfsync", "collation_list", "compile_options",
    "data_version", "database_list", "encoding", "freelist_count", "fullfsync", "function_list",
    "journal_mode", "journal_size_limit", "locking_mode", "max_page_count", "mmap_size",
    "module_list", "page_count", "page_size", "pragma_list", "query_only",
    "read_uncommitted", "recursive_triggers", "reverse_unordered_selects", "schema_version",
    "secure_delete", "soft_heap_limit", "hard_heap_limit", "synchronous", "temp_store", "threads",
    "trusted_schema", "user_version", "wal_autocheckpoint",
  ]

  /// Whether it asks and changes nothing.
  package static func onlyReads(_ event: AuthorizerEvent) -> Bool {
    onlyReads((event.first ?? "").identifier, argument: event.second)
  }

  private static func onlyReads(_ name: Identifier, argument: String?) -> Bool {
    readingWithArgument.contains(name) || argument == nil && reading.contains(name)
  }

  static func reasonToRefuse(_ event: AuthorizerEvent) -> String? {
    reasonToRefuse((event.first ?? "").identifier, argument: event.second)
  }

  /// Why no migration may hold a PRAGMA; nil when it may.
  package static func reasonToRefuse(_ name: Identifier, argument: String?) -> String? {
    if acceptedNotRun.contains(name) || putBack.contains(name)
      || onlyReads(name, argument: argument)
    {
      return nil
    }
    return "PRAGMA \(name) does not belong in a migration: it changes the connection or the file, "
      + "not the schema"
  }
}

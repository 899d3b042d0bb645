import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// Observes the statements of a migration, and refuses those that no migration may contain.
///
/// It is the connection's authorizer, so it observes what SQLite compiles, however the SQL is written.
package final class StatementGuard {
  /// The reason why the last compiled statement was refused.
  private(set) var refusal: String?
  /// The authorizer events of the last compiled statement.
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

  /// Observes the connection while `body` compiles or runs a statement of a migration. All other statements
  /// on the connection (savepoints, the ledger, reads of the schema) are those of schemactl.
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
    if let reason = refusalReason(event) {
      refusal = reason
      return .deny
    }
    if usesLedger(event) {
      refusal = ledger.refusal
      return .deny
    }
    if event.action == .pragma, let name = event.first,
      Pragmas.acceptedNotRun.contains(name)
    {
      return .ignore
    }
    return .allow
  }

  /// The reason why no migration may do this; nil if a migration may.
  private func refusalReason(_ event: AuthorizerEvent) -> String? {
    switch event.action {
    case .transaction, .savepoint:
      return "transaction control (\(event.first ?? "")) does not belong in a migration: "
        + "each migration is atomic"
    case .attach:
      return "ATTACH and VACUUM do not belong in a migration: they need their own transaction"
    case .detach: return "DETACH does not belong in a migration"
    case .function where event.second?.identifier == "load_extension":
      return "`load_extension()` does not belong in a migration: schemactl does not load extensions"
    case .pragma:
      return Pragmas.reasonToRefuse((event.first ?? "").identifier, argument: event.second)
    default: return nil
    }
  }

  private func usesLedger(_ event: AuthorizerEvent) -> Bool {
    let names = [event.first, event.second].compactMap { $0 }
    // ANALYZE reads every table, but writes only the tables of statistics.
    if event.action == .analyze { return false }
    if event.action == .read, events.contains(where: { $0.action == .analyze }) { return false }
    return names.contains { $0.identifier == ledger.table }
  }
}

/// The PRAGMAs that `sql` of a migration may contain (DESIGN: the manifest, `sql`).
package enum Pragmas {
  /// Many hand-written rebuilds contain these. They are not run, because schemactl does their work itself.
  package static let acceptedNotRun: Set<Identifier> = [
    "foreign_keys", "defer_foreign_keys", "foreign_key_check",
  ]

  /// These run, and are reset after the migration.
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

  /// Whether a PRAGMA only reads.
  package static func onlyReads(_ event: AuthorizerEvent) -> Bool {
    onlyReads((event.first ?? "").identifier, argument: event.second)
  }

  private static func onlyReads(_ name: Identifier, argument: String?) -> Bool {
    readingWithArgument.contains(name) || argument == nil && reading.contains(name)
  }

  /// The reason why no migration may contain a PRAGMA; nil if a migration may.
  package static func reasonToRefuse(_ name: Identifier, argument: String?) -> String? {
    if acceptedNotRun.contains(name) || putBack.contains(name)
      || onlyReads(name, argument: argument)
    {
      return nil
    }
    return "`PRAGMA \(name)` does not belong in a migration: it changes the connection or the "
      + "file, not the schema"
  }
}

/// The tables of the main database that statements write.
package struct WriteSet: Sendable {
  /// The tables in which rows are inserted, changed or deleted.
  package var written: Set<Identifier> = []
  /// The tables in which rows are changed or deleted, or that are rewritten as a whole.
  package var rewritten: Set<Identifier> = []
  /// The index of the last operation that created, changed or wrote each table, from 0.
  private(set) var lastOperations: [Identifier: Int] = [:]
  /// Whether a statement frees pages of an index, which other b-trees may reuse.
  package var dropsIndexes = false
  /// Whether a statement names a temporary object.
  package var namesTemporary = false
  /// Whether a statement contains a PRAGMA, which may change a setting.
  package var namesSettings = false
  /// Whether a statement contains ROLLBACK as a conflict clause or in RAISE.
  package var namesRollback = false

  mutating func note(_ event: AuthorizerEvent, of operation: Int) {
    if event.database == "temp" { namesTemporary = true }
    switch event.action {
    case .pragma: namesSettings = true
    case .createTable where event.database == "main":
      if let table = event.first?.identifier { lastOperations[table] = operation }
    case .insert where event.database == "main": write(event.first, operation)
    case .update where event.database == "main": rewrite(event.first, by: operation)
    case .delete where event.database == "main": rewrite(event.first, by: operation)
    case .dropIndex where event.database == "main": dropsIndexes = true
    case .reindex where event.database == "main": dropsIndexes = true
    // For DROP COLUMN, which rewrites every row, the event has a third name.
    case .alterTable where event.database != nil: rewrite(event.second, by: operation)
    case .alterTable: if let table = event.second?.identifier { lastOperations[table] = operation }
    default: break
    }
  }

  private mutating func write(_ table: String?, _ operation: Int) {
    guard let table = table?.identifier, !table.isInternal else { return }
    written.insert(table)
    lastOperations[table] = operation
  }

  /// Removes a table that existed only during an operation.
  mutating func forget(_ table: String) {
    written.remove(table.identifier)
    rewritten.remove(table.identifier)
  }

  mutating func note(_ edit: SchemaEdit, of operation: Int) {
    lastOperations[edit.table.identifier] = operation
    if edit.exchangesRows { rewrite(edit.table, by: operation) }
  }

  private mutating func rewrite(_ table: String?, by operation: Int) {
    guard let table = table?.identifier, !table.isInternal else { return }
    write(table.text, operation)
    rewritten.insert(table)
  }
}

extension TokenizedSQL {
  package var namesRollback: Bool {
    significant.contains { $0.kind == .word && text($0).identifier == "rollback" }
  }
}

/// The current names of the tables that existed before a migration, whose statements may rename and drop
/// them.
///
/// Root pages do not identify tables: with `auto_vacuum`, SQLite moves the pages of other tables when a table
/// is dropped (PRAGMA auto_vacuum).
package struct TableRenames: Sendable {
  /// The current name of each renamed table, by its first name.
  private var current: [Identifier: Identifier] = [:]
  private var dropped: Set<Identifier> = []
  /// The current names of tables that did not exist at the beginning. A table that is created under the name
  /// of a dropped table is not among them, because it replaces that table.
  private var created: Set<Identifier> = []

  package init() {}

  /// The tables that a statement renames: a table, and the shadow tables of a virtual table (The Virtual
  /// Table Mechanism, section 2.16).
  package static func renamings(
    by sql: String, _ events: [AuthorizerEvent]
  ) -> [(from: Identifier, to: Identifier)] {
    // SQLite calls this function whenever a statement renames a table.
    guard events.contains(where: { $0.action == .function && $0.second == "sqlite_rename_table" })
    else { return [] }
    let tokens = TokenizedSQL(sql)
    let tables = events.filter { $0.action == .alterTable }.compactMap(\.second?.identifier)
    guard let old = tables.first,
      let last = tokens.significant.last(where: { tokens.text($0) != ";" })
    else { return [] }
    let new = Quoting.unquoted(tokens.text(last)).identifier
    return [(old, new)]
      + tables.dropFirst().filter { $0.hasPrefix(Identifier(old.text + "_")) }.map { shadow in
        let suffix = shadow.text.utf8.dropFirst(old.text.utf8.count)
        return (shadow, Identifier(new.text + String(decoding: Array(suffix), as: UTF8.self)))
      }
  }

  package mutating func note(_ sql: String, _ events: [AuthorizerEvent]) {
    for event in events where event.database == "main" {
      guard let name = event.first?.identifier else { continue }
      if event.action == .createTable, !dropped.contains(name) { created.insert(name) }
      if event.action == .dropTable, created.remove(name) == nil { dropped.insert(name) }
    }
    for (old, new) in Self.renamings(by: sql, events) {
      if created.remove(old) != nil {
        if !dropped.contains(new) { created.insert(new) }
      } else {
        current[firstName(of: old) ?? old] = new
      }
    }
  }

  /// The name of a table at the beginning; nil for a table that was not renamed.
  package func firstName(of name: Identifier) -> Identifier? {
    current.first { $0.value == name }?.key
  }

  /// Whether the table that had this name at the beginning may not be the table that has it now.
  func isReplaced(_ name: Identifier) -> Bool { dropped.contains(name) || current[name] != nil }
}

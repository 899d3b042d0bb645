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
      refusal = "`\(ledger)` is schemactl's ledger: a migration may not use it"
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
      return "`load_extension()` does not belong in a migration: schemactl does not load extensions"
    case .pragma:
      return Pragmas.reasonToRefuse((event.first ?? "").identifier, argument: event.second)
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

  /// Why no migration may hold a PRAGMA; nil when it may.
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
  /// Tables that get, lose or change rows.
  package var written: Set<Identifier> = []
  /// Tables whose rows are changed or removed, or that are rewritten as a whole.
  package var rewritten: Set<Identifier> = []
  /// The operation that last wrote each table, counted from 0.
  private(set) var lastOperations: [Identifier: Int] = [:]
  /// Whether pages of an index are given back, for others to write over.
  package var dropsIndexes = false
  /// Whether a statement names a temporary object.
  package var namesTemporary = false
  /// Whether a statement reads, or may change, a setting.
  package var namesSettings = false
  /// Whether a statement says ROLLBACK, as a conflict clause or in RAISE.
  package var namesRollback = false

  mutating func note(_ event: AuthorizerEvent, of operation: Int) {
    if event.database == "temp" { namesTemporary = true }
    switch event.action {
    case .pragma: namesSettings = true
    case .insert where event.database == "main": write(event.first, operation)
    case .update where event.database == "main": rewrite(event.first, by: operation)
    case .delete where event.database == "main": rewrite(event.first, by: operation)
    case .dropIndex where event.database == "main": dropsIndexes = true
    case .reindex where event.database == "main": dropsIndexes = true
    // The event has a third name when a column is dropped, which rewrites every row.
    case .alterTable where event.database != nil: rewrite(event.second, by: operation)
    default: break
    }
  }

  private mutating func write(_ table: String?, _ operation: Int) {
    guard let table = table?.identifier, !table.isInternal else { return }
    written.insert(table)
    lastOperations[table] = operation
  }

  /// Leaves out a table that existed for a moment only.
  mutating func forget(_ table: String) {
    written.remove(table.identifier)
    rewritten.remove(table.identifier)
  }

  mutating func rewrite(_ table: String?, by operation: Int) {
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

/// Under which names the tables of a migration's beginning stand, as its statements rename and drop them.
///
/// Root pages do not tell: with `auto_vacuum`, SQLite moves the pages of other tables when one is
/// dropped (PRAGMA auto_vacuum).
package struct TableRenames: Sendable {
  /// The present name of each table that was renamed, by its first name.
  private var current: [Identifier: Identifier] = [:]
  private var dropped: Set<Identifier> = []
  /// The present names of tables that did not exist at the beginning. One that takes the name of a table
  /// that was dropped takes its place.
  private var created: Set<Identifier> = []

  package init() {}

  /// What a statement renames: a table, and with a virtual table those that its module keeps (The Virtual
  /// Table Mechanism, section 2.16).
  package static func renamings(
    by sql: String, _ events: [AuthorizerEvent]
  ) -> [(from: Identifier, to: Identifier)] {
    // What SQLite calls when it renames a table, in any form of the statement.
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

  /// What a table was called at the beginning; nil for one that was not renamed.
  func firstName(of name: Identifier) -> Identifier? {
    current.first { $0.value == name }?.key
  }

  /// Whether the table of this name may be another one than the one of that name at the beginning.
  func isReplaced(_ name: Identifier) -> Bool { dropped.contains(name) || current[name] != nil }
}

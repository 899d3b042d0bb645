import SchemaSQLText
import SchemaSQLite

/// The tables of the main database that statements write.
package struct WriteSet: Sendable {
  /// Tables that get, lose or change rows.
  package var written: Set<Identifier> = []
  /// Tables whose rows are changed or removed, or that are rewritten as a whole.
  package var rewritten: Set<Identifier> = []
  /// Whether pages of an index are given back, for others to write over.
  package var dropsIndexes = false
  /// Whether a statement names a temporary object.
  package var namesTemporary = false
  /// Whether a statement reads, or may change, a setting.
  package var namesSettings = false
  /// Whether a statement says ROLLBACK, as a conflict clause or in RAISE.
  package var namesRollback = false

  mutating func note(_ event: AuthorizerEvent) {
    if event.database == "temp" { namesTemporary = true }
    switch event.action {
    case .pragma: namesSettings = true
    case .insert where event.database == "main": write(event.first)
    case .update where event.database == "main": rewrite(event.first)
    case .delete where event.database == "main": rewrite(event.first)
    case .dropIndex where event.database == "main": dropsIndexes = true
    case .reindex where event.database == "main": dropsIndexes = true
    // The event has a third name when a column is dropped, which rewrites every row.
    case .alterTable where event.database != nil: rewrite(event.second)
    default: break
    }
  }

  private mutating func write(_ table: String?) {
    guard let table = table?.identifier, !table.isInternal else { return }
    written.insert(table)
  }

  /// Leaves out a table that existed for a moment only.
  mutating func forget(_ table: String) {
    written.remove(table.identifier)
    rewritten.remove(table.identifier)
  }

  mutating func rewrite(_ table: String?) {
    guard let table = table?.identifier, !table.isInternal else { return }
    written.insert(table)
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

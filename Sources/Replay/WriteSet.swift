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

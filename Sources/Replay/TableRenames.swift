import SchemaSQLText
import SchemaSQLite

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

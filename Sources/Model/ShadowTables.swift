import SchemaSQLText

extension Schema {
  /// The schema without shadow tables of virtual tables. Only their modules create and change
  /// those, and each version of SQLite may do so differently.
  package func withoutShadowTables() -> Schema {
    let shadows = Set(tables.flatMap(\.shadowTables).map { SchemaDelta.Key(.table, $0.identifier) })
    guard !shadows.isEmpty else { return self }
    return Schema(
      objects: objects.filter { object in
        object.kind == .view || !shadows.contains(SchemaDelta.Key(.table, object.table.identifier))
      })
  }
}

extension SchemaObject {
  /// The possible names of a virtual table's shadow tables.
  fileprivate var shadowTables: [String] {
    guard isVirtualTable, let sql else { return [] }
    return shadowTableNames(ofVirtualTable: sql)
  }
}

/// The possible names of a virtual table's shadow tables.
///
/// - Parameter sql: a `CREATE VIRTUAL TABLE` statement.
package func shadowTableNames(ofVirtualTable sql: String) -> [String] {
  guard case .createVirtualTable(let table)? = try? parseCreate(TokenizedSQL(sql)) else {
    return []
  }
  return (shadowSuffixes[table.module.text.identifier] ?? []).map { "\(table.name.text)_\($0)" }
}

/// The suffixes that the `xShadowName` functions of SQLite's own modules accept.
private let shadowSuffixes: [Identifier: [String]] = [
  "fts3": fts3, "fts4": fts3, "fts5": ["config", "content", "data", "docsize", "idx"],
  "rtree": rtree, "rtree_i32": rtree, "geopoly": rtree,
]
private let fts3 = ["content", "docsize", "segdir", "segments", "stat"]
private let rtree = ["node", "parent", "rowid"]

import SchemaSQLText

extension Schema {
  /// Without the tables in which virtual tables keep what they hold: those are made and changed by
  /// their modules alone, by each version of SQLite as it likes.
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
  /// SQLite writes these words itself, whatever the statement was.
  package var isVirtualTable: Bool {
    sql?.utf8.starts(with: "CREATE VIRTUAL TABLE".utf8) ?? false
  }

  /// The names that a virtual table's shadow tables can have.
  fileprivate var shadowTables: [String] {
    guard isVirtualTable, let sql,
      case .createVirtualTable(let table)? = try? parseCreate(TokenizedSQL(sql))
    else { return [] }
    return (shadowSuffixes[table.module.text.identifier] ?? []).map { "\(name)_\($0)" }
  }
}

/// What the `xShadowName` of SQLite's own modules knows.
private let shadowSuffixes: [Identifier: [String]] = [
  "fts3": fts3, "fts4": fts3, "fts5": ["config", "content", "data", "docsize", "idx"],
  "rtree": rtree, "rtree_i32": rtree, "geopoly": rtree,
]
private let fts3 = ["content", "docsize", "segdir", "segments", "stat"]
private let rtree = ["node", "parent", "rowid"]

import SchemaSQLText
import SchemaSQLite

/// One row of `sqlite_schema`. It is a class because each step of a history copies the whole
/// schema, and the copies share nearly all objects.
package final class SchemaObject: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case table, index, view, trigger
  }

  package let kind: Kind
  package let name: String
  /// The table of an index or a trigger; for tables and views their own name.
  package let table: String
  /// The same as an identifier.
  package let holder: Identifier
  /// Nil for the indexes that SQLite creates for UNIQUE and PRIMARY KEY.
  package let sql: String?
  /// The first page of the b-tree, which does not change when a table is renamed. 0 for views,
  /// triggers and virtual tables.
  package let rootPage: Int64
  /// Identifies the object within a schema. Stored, because it is used often.
  package let key: SchemaDelta.Key
  package let isVirtualTable: Bool

  package init(kind: Kind, name: String, table: String, sql: String?, rootPage: Int64 = 0) {
    self.kind = kind
    self.name = name
    self.table = table
    self.sql = sql
    self.rootPage = rootPage
    key = SchemaDelta.Key(kind, name.identifier)
    holder = table.identifier
    // SQLite always stores exactly these words, regardless of the statement.
    isVirtualTable = sql?.utf8.starts(with: "CREATE VIRTUAL TABLE".utf8) ?? false
  }

  package static func == (a: SchemaObject, b: SchemaObject) -> Bool {
    a === b
      || a.rootPage == b.rootPage && a.key == b.key && a.name == b.name && a.table == b.table
        && a.sql == b.sql
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// The object without its root page, for comparisons between databases.
  package var unplaced: SchemaObject {
    SchemaObject(kind: kind, name: name, table: table, sql: sql)
  }

  /// SQLite's own objects: `sqlite_sequence`, `sqlite_stat1`, automatic indexes.
  package var isInternal: Bool { key.name.isInternal }
}

/// The whole schema of a database, as stored in `sqlite_schema`.
package struct Schema: Sendable, Equatable {
  /// In stored order.
  package var objects: [SchemaObject]

  package init(objects: [SchemaObject] = []) {
    self.objects = objects
  }

  /// Reads the main database's schema.
  ///
  /// - Parameter known: the schema from an earlier read. Unchanged objects are reused, which is
  ///   faster than creating them again.
  package init(
    of connection: Connection, knowing known: Schema = Schema()
  ) throws(DatabaseError) {
    objects = try SchemaRows(of: connection, knowing: known).objects
  }

  /// Reads one table or view of the main database, with its indexes and triggers.
  package init(of connection: Connection, table: String) throws(DatabaseError) {
    objects = try SchemaRows(
      of: connection, where: "tbl_name = ?1 COLLATE NOCASE", [.text(table)]
    ).objects
  }

  /// The schema without objects of SQLite, and without those whose own or table's name is foreign.
  package func ours(except isForeign: (String) -> Bool = { _ in false }) -> Schema {
    Schema(
      objects: objects.filter { object in
        !object.isInternal && !isForeign(object.name) && !isForeign(object.table)
      })
  }

  package func object(_ kind: SchemaObject.Kind, _ name: Identifier) -> SchemaObject? {
    let key = SchemaDelta.Key(kind, name)
    return objects.first { $0.key == key }
  }

  package func object(_ kind: SchemaObject.Kind, _ name: String) -> SchemaObject? {
    object(kind, name.identifier)
  }

  package func table(_ name: Identifier) -> SchemaObject? { object(.table, name) }

  package func table(_ name: String) -> SchemaObject? { object(.table, name) }

  package func objects(_ kind: SchemaObject.Kind, on table: String) -> [SchemaObject] {
    let table = table.identifier
    return objects.filter { $0.kind == kind && $0.holder == table }
  }

  package var tables: [SchemaObject] { objects.filter { $0.kind == .table } }
}

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

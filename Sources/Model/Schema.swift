import SchemaSQLText
import SchemaSQLite

/// One row of `sqlite_schema`. A class, because schemas are copied whole at each step of a history, and
/// share nearly all of their objects.
package final class SchemaObject: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case table, index, view, trigger
  }

  package let kind: Kind
  package let name: String
  /// The table that an index or a trigger belongs to; for tables and views their own name.
  package let table: String
  /// Nil for the indexes that SQLite makes for UNIQUE and PRIMARY KEY.
  package let sql: String?
  /// The b-tree's first page: stays the same when a table is renamed. 0 for views, triggers and
  /// virtual tables.
  package let rootPage: Int64
  /// What names the object among all of a schema; made once, because it is asked for often.
  package let key: SchemaDelta.Key

  package init(kind: Kind, name: String, table: String, sql: String?, rootPage: Int64 = 0) {
    self.kind = kind
    self.name = name
    self.table = table
    self.sql = sql
    self.rootPage = rootPage
    key = SchemaDelta.Key(kind, name.identifier)
    isOfLedger = name.identifier == Self.ledger || table.identifier == Self.ledger
  }

  /// Where schemactl keeps what a database has run.
  package static let ledger: Identifier = "schemactl_migrations"

  /// The ledger itself, and what belongs to it: no part of what a history promises.
  package let isOfLedger: Bool

  package static func == (a: SchemaObject, b: SchemaObject) -> Bool {
    a === b
      || a.rootPage == b.rootPage && a.key == b.key && a.name == b.name && a.table == b.table
        && a.sql == b.sql
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// SQLite's own objects: `sqlite_sequence`, `sqlite_stat1`, automatic indexes.
  package var isInternal: Bool { key.name.isInternal }
}

/// The whole schema of a database, as `sqlite_schema` holds it.
package struct Schema: Sendable, Hashable {
  /// In the order in which they stand there.
  package var objects: [SchemaObject]

  package init(objects: [SchemaObject] = []) {
    self.objects = objects
  }

  /// Reads the main database's schema.
  ///
  /// - Parameter known: the schema as it was read before. Most of its objects are still the same,
  ///   and to see that costs less than to make them anew.
  package init(
    of connection: Connection, knowing known: Schema = Schema()
  ) throws(DatabaseError) {
    objects = try SchemaRows(of: connection, knowing: known).objects
  }

  /// Without the objects of SQLite and those whose table's or own name `isForeign` says is not ours.
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
    return objects.filter { $0.kind == kind && $0.table.identifier == table }
  }

  package var tables: [SchemaObject] { objects.filter { $0.kind == .table } }
}

import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
    key = SchemaDelta.Key(kind, name)
    isOfLedger = name.isSameName(as: Self.ledger) || table.isSameName(as: Self.ledger)
  }

  /// Where schemactl keeps what a database has run.
  package static let ledger = "schemactl_migrations"

  /// The ledger itself, and what belongs to it: no part of what a history promises.
  package let isOfLedger: Bool

  package static func == (a: SchemaObject, b: SchemaObject) -> Bool {
    a === b
      || a.rootPage == b.rootPage && a.key == b.key && a.name == b.name && a.table == b.table
        && a.sql == b.sql
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// SQLite's own objects: `sqlite_sequence`, `sqlite_stat1`, automatic indexes.
  package var isInternal: Bool { key.isInternal }
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

  /// Names in SQLite are equal when they differ in the case of ASCII letters only.
  package func object(_ kind: SchemaObject.Kind, _ name: String) -> SchemaObject? {
    let key = SchemaDelta.Key(kind, name)
    return objects.first { $0.key == key }
  }

  package func table(_ name: String) -> SchemaObject? { object(.table, name) }

  package func objects(_ kind: SchemaObject.Kind, on table: String) -> [SchemaObject] {
    objects.filter { $0.kind == kind && $0.table.isSameName(as: table) }
  }

  package var tables: [SchemaObject] { objects.filter { $0.kind == .table } }
}

extension String {
  /// As SQLite folds names: ASCII letters only.
  package var asciiLowercased: String {
    String(
      decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }

  /// Whether SQLite takes both for one name.
  func isSameName(as other: String) -> Bool {
    asciiLowercased.isSameText(as: other.asciiLowercased)
  }

  /// Byte by byte. `==` takes two spellings of one character for equal, and SQLite does not.
  package func isSameText(as other: String) -> Bool {
    let isSame = utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { theirs in
        guard mine.count == theirs.count, let a = mine.baseAddress, let b = theirs.baseAddress
        else { return mine.count == theirs.count }
        return memcmp(a, b, mine.count) == 0
      }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}

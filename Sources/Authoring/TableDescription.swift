import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A table as SQLite sees it, for programs that generate code from a schema.
package struct TableDescription: Sendable {
  package let name: String
  package let isView: Bool
  package let isStrict: Bool
  private let hasRowid: Bool
  package let columns: [StoredTable.Column]
  package let foreignKeys: [StoredTable.ForeignKey]
  /// The columns of each UNIQUE constraint, and of each unique index that has neither a condition nor an
  /// expression.
  package let unique: [[String]]

  package var primaryKey: [String] { columns.primaryKey.map(\.name) }

  package func isNullable(_ column: StoredTable.Column) -> Bool {
    // NULL in the rowid's column becomes the next rowid. In any other key column NULL stays NULL.
    let isRowid =
      hasRowid && primaryKey == [column.name] && column.type.identifier == "integer"
    return !column.isNotNull && !isRowid && (hasRowid || !column.isInKey)
  }

  fileprivate init(
    _ object: SchemaObject, isStrict: Bool, on connection: Connection
  ) throws(DatabaseError) {
    name = object.name
    isView = object.kind == .view
    self.isStrict = isStrict
    hasRowid =
      !isView
      && (try? connection.prepare("SELECT rowid FROM main.\(Quoting.quoted(name))")) != nil
    do throws(DatabaseError) {
      let stored = try StoredTable(name, on: connection)
      columns = stored.columns
      foreignKeys = stored.foreignKeys
      unique = stored.indexes.compactMap { index in
        let names = index.columns.compactMap(\.self)
        let isWhole = index.isUnique && !index.isPartial && names.count == index.columns.count
        return isWhole && !index.isOfPrimaryKey ? names : nil
      }
    } catch  where !error.isFault {
      (columns, foreignKeys, unique) = ([], [], [])
    }
  }
}

extension Schema {
  /// The tables and views of the schema, without internal tables of SQLite and shadow tables of virtual
  /// tables.
  package func described(
    _ application: Application
  ) throws(DatabaseError) -> [TableDescription] {
    let connection = try scratch(application)
    // An untrusted schema would prevent some views from being compiled, and a view that cannot be compiled
    // has no columns.
    connection.set(.trustedSchema, to: true)
    let strict = Set(
      try connection.rows("SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict")
        .compactMap { $0[0].text?.identifier })
    return try withoutShadowTables().objects
      .filter { !$0.isInternal && [.table, .view].contains($0.kind) }
      .map { (object) throws(DatabaseError) in
        try TableDescription(
          object, isStrict: strict.contains(object.name.identifier), on: connection)
      }
  }
}

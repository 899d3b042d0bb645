import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A table as SQLite sees it, for programs that are made from a schema.
package struct TableDescription: Sendable {
  package struct Column: Sendable {
    package let name: String
    /// As declared; empty without a type.
    package let type: String
    package let isNullable: Bool
    /// The SQL of its default.
    package let defaultSQL: String?
    package let isGenerated: Bool
    /// Its place in the primary key, from 1; 0 outside it.
    package let keyPlace: Int
  }

  package struct ForeignKey: Sendable {
    package let columns: [String]
    package let table: String
    /// Empty: the primary key of `table`.
    package let parentColumns: [String]
    package let onDelete: String
    package let onUpdate: String
  }

  package let name: String
  package let isView: Bool
  package let isStrict: Bool
  package let columns: [Column]
  package let foreignKeys: [ForeignKey]
  /// The columns of each UNIQUE constraint and each unique index without a condition or an expression.
  package let unique: [[String]]

  package var primaryKey: [String] {
    columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }.map(\.name)
  }
}

extension Schema {
  /// The tables and views of the schema, without those of SQLite and of virtual tables.
  package func described(
    _ application: Application
  ) throws(DatabaseError) -> [TableDescription] {
    let connection = try scratch(application)
    // A view that cannot be compiled has no columns.
    connection.set(.trustedSchema, to: true)
    let strict = Set(
      try connection.rows("SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict")
        .compactMap { $0[0].text?.identifier })
    return try withoutShadowTables().objects
      .filter { !$0.isInternal && [.table, .view].contains($0.kind) }
      .map { (object) throws(DatabaseError) in
        TableDescription(
          name: object.name, isView: object.kind == .view,
          isStrict: strict.contains(object.name.identifier),
          columns: try connection.columns(of: object),
          foreignKeys: try connection.foreignKeys(of: object.name),
          unique: try connection.uniqueColumns(of: object.name))
      }
  }
}

extension Connection {
  fileprivate func columns(
    of object: SchemaObject
  ) throws(DatabaseError) -> [TableDescription.Column] {
    let found: [[Value]]
    do {
      found = try rows(
        """
        SELECT name, type, "notnull", dflt_value, pk, hidden
        FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1 ORDER BY cid
        """, [.text(object.name)])
    } catch  where !error.isFault {
      return []
    }
    let isRowidTable =
      object.kind == .table
      && (try? prepare("SELECT rowid FROM main.\(Quoting.quoted(object.name))")) != nil
    let keys = found.filter { ($0[4].integer ?? 0) > 0 }.count
    return found.map { row in
      let type = row[1].text ?? ""
      let place = Int(row[4].integer ?? 0)
      // NULL in a rowid's column gives the next number; in any other key NULL stays NULL.
      let isRowid = isRowidTable && keys == 1 && place == 1 && type.identifier == "integer"
      return TableDescription.Column(
        name: row[0].text ?? "", type: type,
        isNullable: row[2].integer == 0 && !isRowid && (isRowidTable || place == 0),
        defaultSQL: row[3].text, isGenerated: (row[5].integer ?? 0) > 1, keyPlace: place)
    }
  }

  fileprivate func foreignKeys(
    of table: String
  ) throws(DatabaseError) -> [TableDescription.ForeignKey] {
    let rows = try rows(
      """
      SELECT id, "from", "table", "to", on_delete, on_update
      FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq
      """, [.text(table)])
    let keys = Dictionary(grouping: rows) { $0[0].integer ?? 0 }
    return keys.sorted { $0.key > $1.key }.map { _, rows in
      TableDescription.ForeignKey(
        columns: rows.map { $0[1].text ?? "" }, table: rows[0][2].text ?? "",
        parentColumns: rows.compactMap { $0[3].text },
        onDelete: rows[0][4].text ?? "", onUpdate: rows[0][5].text ?? "")
    }
  }

  fileprivate func uniqueColumns(of table: String) throws(DatabaseError) -> [[String]] {
    let indexes = try rows(
      """
      SELECT name FROM pragma_index_list(?1, 'main')
      WHERE "unique" AND NOT partial AND origin <> 'pk' ORDER BY seq DESC
      """, [.text(table)])
    var unique: [[String]] = []
    for index in indexes {
      let columns = try rows(
        "SELECT name FROM pragma_index_info(?1, 'main') ORDER BY seqno", [index[0]])
      let names = columns.compactMap { $0[0].text }
      // An expression has no name.
      if names.count == columns.count { unique.append(names) }
    }
    return unique
  }
}

import SchemaSQLText
import SchemaSQLite

/// A table, or the columns of a view, as SQLite's PRAGMAs describe them.
package struct StoredTable: Sendable, Hashable {
  package struct Column: Sendable, Hashable {
    package let name: String
    /// As declared; empty without a type.
    package let type: String
    package let isNotNull: Bool
    /// The SQL of its DEFAULT; nil if there is none.
    package let defaultText: String?
    /// The position in the primary key, counted from 1; 0 for other columns.
    package let keyPosition: Int
    package let isGenerated: Bool

    package var key: Identifier { name.identifier }
    package var isInKey: Bool { keyPosition > 0 }
  }

  package struct ForeignKey: Sendable, Hashable {
    package let columns: [String]
    package let table: String
    /// Empty if the foreign key refers to the primary key without naming columns.
    package let parentColumns: [String]
    package let onUpdate: String
    package let onDelete: String
  }

  package struct Index: Sendable, Hashable {
    package let name: String
    package let isUnique: Bool
    package let isPartial: Bool
    /// Whether SQLite created it for the primary key.
    package let isOfPrimaryKey: Bool
    /// Nil for an expression.
    package let columns: [String?]
    /// The collation by which each column or expression is compared.
    package let collations: [String]
    /// Nil for the index of a PRIMARY KEY or UNIQUE constraint.
    package let sql: String?
  }

  package let name: String
  package let isView: Bool
  package let isStrict: Bool
  private let hasRowid: Bool
  /// Without the hidden columns of a virtual table. Empty for a view that does not compile.
  package let columns: [Column]
  /// In the order of the definition.
  package let foreignKeys: [ForeignKey]
  /// In the order of their creation.
  package let indexes: [Index]

  package init(_ name: String, on connection: Connection) throws(DatabaseError) {
    self.name = name
    let options = try connection.rows(
      "SELECT type, strict, wr FROM pragma_table_list(?1) WHERE schema = 'main'", [.text(name)]
    ).first
    isView = options?[0] == "view"
    isStrict = options?[1] == 1
    hasRowid = !isView && options?[2] == 0
    columns = try connection.columns(of: name)
    foreignKeys = try connection.foreignKeys(of: name)
    indexes = try connection.indexes(of: name)
  }

  /// The names of the primary key's columns, in its order.
  package var primaryKey: [String] { columns.primaryKey.map(\.name) }

  /// The columns of each UNIQUE constraint, and of each unique index that has neither a condition nor an
  /// expression.
  package var unique: [[String]] {
    indexes.compactMap { index in
      let names = index.columns.compactMap(\.self)
      let isWhole = index.isUnique && !index.isPartial && names.count == index.columns.count
      return isWhole && !index.isOfPrimaryKey ? names : nil
    }
  }

  /// Whether a row can hold NULL in the column.
  package func isNullable(_ column: Column) -> Bool {
    // NULL in the rowid's column becomes the next rowid. In any other key column NULL stays NULL.
    let isRowid =
      hasRowid && primaryKey == [column.name] && column.type.identifier == "integer"
    return !column.isNotNull && !isRowid && (hasRowid || !column.isInKey)
  }
}

extension [StoredTable.Column] {
  /// The columns of the primary key, in its order.
  package var primaryKey: [StoredTable.Column] {
    filter(\.isInKey).sorted { $0.keyPosition < $1.keyPosition }
  }
}

extension Connection {
  fileprivate func columns(
    of table: String
  ) throws(DatabaseError) -> [StoredTable.Column] {
    let query = """
      SELECT name, type, "notnull", dflt_value, pk, hidden
      FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1 ORDER BY cid
      """
    do {
      return try rows(query, [.text(table)]).map { row in
        StoredTable.Column(
          name: row[0].text ?? "", type: row[1].text ?? "", isNotNull: row[2].integer != 0,
          defaultText: row[3].text, keyPosition: Int(row[4].integer ?? 0),
          isGenerated: row[5].integer != 0)
      }
    } catch  where !error.isFault {
      return []
    }
  }

  fileprivate func foreignKeys(
    of table: String
  ) throws(DatabaseError) -> [StoredTable.ForeignKey] {
    var rest = try rows(
      """
      SELECT id, "table", "from", "to", on_update, on_delete
      FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq
      """, [.text(table)])[...]
    var keys: [StoredTable.ForeignKey] = []
    while let first = rest.first {
      let own = rest.prefix { $0[0] == first[0] }
      rest = rest.dropFirst(own.count)
      keys.append(
        StoredTable.ForeignKey(
          columns: own.map { $0[2].text ?? "" }, table: first[1].text ?? "",
          parentColumns: own.compactMap(\.[3].text), onUpdate: first[4].text ?? "",
          onDelete: first[5].text ?? ""))
    }
    return keys
  }

  fileprivate func indexes(of table: String) throws(DatabaseError) -> [StoredTable.Index] {
    try rows(
      """
      SELECT l.name, l."unique", l.partial, l.origin, s.sql
      FROM pragma_index_list(?1, 'main') AS l
      LEFT JOIN main.sqlite_schema AS s ON s.type = 'index' AND s.name = l.name
      ORDER BY l.seq DESC
      """, [.text(table)]
    ).map { (index) throws(DatabaseError) in
      let columns = try rows(
        "SELECT name, coll FROM pragma_index_xinfo(?1, 'main') WHERE key ORDER BY seqno", [index[0]]
      )
      return StoredTable.Index(
        name: index[0].text ?? "", isUnique: index[1].integer != 0,
        isPartial: index[2].integer != 0, isOfPrimaryKey: index[3].text == "pk",
        columns: columns.map(\.[0].text), collations: columns.map { $0[1].text ?? "BINARY" },
        sql: index[4].text)
    }
  }
}

import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

extension Connection {
  /// The outline of a table: its columns, keys, indexes and foreign keys as PRAGMAs report them.
  /// Only constraints and options, which no PRAGMA reports, come from the stored SQL.
  ///
  /// - Parameter owned: the schema's indexes and triggers of that table.
  package func outline(
    of table: SchemaObject, owning owned: [SchemaObject]
  ) throws(DatabaseError) -> TableOutline {
    let text = StoredText(table)
    // Without the arguments of a virtual table's module.
    let columns = try rows(
      """
      SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?1, 'main')
      WHERE hidden <> 1
      """, [.text(table.name)])
    return TableOutline(
      name: table.name,
      columns: columns.map { row in
        let name = row[0].text ?? ""
        return ColumnOutline(
          name: name, type: row[1].text ?? "", isNotNull: row[2].integer != 0,
          keyPosition: Int(row[3].integer ?? 0), isGenerated: row[4].integer != 0,
          constraints: text.constraints(of: name))
      }, foreignKeys: try foreignKeys(of: table.name),
      indexes: try indexes(of: table.name, owned),
      triggers: owned.filter { $0.kind == .trigger }, constraints: text.constraints,
      options: text.options, sql: table.sql ?? "")
  }

  private func foreignKeys(of table: String) throws(DatabaseError) -> [ForeignKeyOutline] {
    var rest = try rows(
      """
      SELECT id, "table", "from", "to", on_update, on_delete
      FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq
      """, [.text(table)])[...]
    var keys: [ForeignKeyOutline] = []
    while let first = rest.first {
      let own = rest.prefix { $0[0] == first[0] }
      rest = rest.dropFirst(own.count)
      keys.append(
        ForeignKeyOutline(
          columns: own.map { $0[2].text ?? "" }, table: first[1].text ?? "",
          parentColumns: own.compactMap(\.[3].text), onUpdate: first[4].text ?? "",
          onDelete: first[5].text ?? ""))
    }
    return keys
  }

  private func indexes(
    of table: String, _ owned: [SchemaObject]
  ) throws(DatabaseError) -> [IndexOutline] {
    try rows(
      "SELECT name, \"unique\", partial FROM pragma_index_list(?1, 'main') ORDER BY seq DESC",
      [.text(table)]
    ).map { (index) throws(DatabaseError) in
      let columns = try rows(
        "SELECT name FROM pragma_index_xinfo(?1, 'main') WHERE key ORDER BY seqno", [index[0]])
      let name = index[0].text ?? ""
      return IndexOutline(
        name: name, isUnique: index[1].integer != 0, isPartial: index[2].integer != 0,
        columns: columns.map(\.[0].text),
        sql: owned.first { $0.kind == .index && $0.name == name }?.sql)
    }
  }
}

/// The parts of a table's definition that no PRAGMA reports.
private struct StoredText {
  private(set) var constraints: [String] = []
  private(set) var options: [String] = []
  private var columns: [Identifier: [String]] = [:]

  init(_ table: SchemaObject) {
    let tokens = TokenizedSQL(table.sql ?? "")
    switch try? parseCreate(tokens) {
    case .createTable(let parsed):
      for column in parsed.columns {
        columns[column.name.text] = column.constraints.filter { !$0.isOfForeignKey }.map {
          tokens.oneLine(in: $0.range)
        }
      }
      constraints = parsed.constraints.filter { !$0.isForeignKey }.map {
        tokens.oneLine(in: $0.range)
      }
      options =
        (parsed.isStrict ? ["STRICT"] : []) + (parsed.isWithoutRowid ? ["WITHOUT ROWID"] : [])
    case .createVirtualTable(let parsed): options = ["virtual table of \(parsed.module.text)"]
    default: break
    }
  }

  func constraints(of column: String) -> [String] { columns[column] ?? [] }
}

extension CreateTable.ColumnConstraint {
  fileprivate var isOfForeignKey: Bool {
    switch kind {
    case .references, .deferral: true
    default: false
    }
  }
}

extension CreateTable.Constraint {
  fileprivate var isForeignKey: Bool { if case .foreignKey = kind { true } else { false } }
}

extension Schema {
  /// The tables except for shadow tables of virtual tables.
  package var drawnTables: [SchemaObject] {
    ours().withoutShadowTables().tables
  }

  /// Builds the schema on a scratch database and reads the outlines of its tables, in order.
  package func outline(_ application: Application) throws(DatabaseError) -> [TableOutline] {
    let connection = try scratch(application)
    let owned = Dictionary(
      grouping: objects.filter { $0.kind == .index || $0.kind == .trigger }, by: \.holder)
    return try drawnTables.map { (table) throws(DatabaseError) in
      try connection.outline(of: table, owning: owned[table.holder] ?? [])
    }
  }
}

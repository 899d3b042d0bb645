import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// Reads the columns, keys, indexes and foreign keys of tables from SQLite's PRAGMAs. Only
/// constraints and options, which no PRAGMA reports, come from the stored SQL.
package final class OutlineReader {
  private let columns: Statement
  private let foreignKeys: Statement
  private let indexes: Statement
  private let indexColumns: Statement

  package init(_ connection: Connection) throws(DatabaseError) {
    columns = try connection.prepare(
      "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1, 'main')")
    foreignKeys = try connection.prepare(
      """
      SELECT id, "table", "from", "to", on_update, on_delete
      FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq
      """)
    indexes = try connection.prepare(
      "SELECT name, \"unique\", partial FROM pragma_index_list(?1, 'main') ORDER BY seq DESC")
    indexColumns = try connection.prepare(
      "SELECT name FROM pragma_index_xinfo(?1, 'main') WHERE key ORDER BY seqno")
  }

  /// The outline of a table of the connection.
  ///
  /// - Parameter owned: the schema's indexes and triggers of that table.
  package func outline(
    of table: SchemaObject, owning owned: [SchemaObject]
  ) throws(DatabaseError) -> TableOutline {
    let text = StoredText(table)
    return TableOutline(
      name: table.name, columns: try readColumns(table.name, text),
      foreignKeys: try readForeignKeys(table.name), indexes: try readIndexes(table.name, owned),
      triggers: owned.filter { $0.kind == .trigger }.map {
        TriggerOutline(name: $0.name, sql: $0.sql ?? "")
      },
      constraints: text.constraints, options: text.options, sql: table.sql ?? "")
  }

  private func readColumns(
    _ table: String, _ text: StoredText
  ) throws(DatabaseError) -> [ColumnOutline] {
    var found: [ColumnOutline] = []
    try columns.bind([.text(table)])
    while try columns.step() {
      let hidden = columns.integer(4)
      // The arguments of a virtual table's module.
      if hidden == 1 { continue }
      let name = try columns.text(0) ?? ""
      found.append(
        ColumnOutline(
          name: name, type: try columns.text(1) ?? "", isNotNull: columns.integer(2) != 0,
          keyPosition: Int(columns.integer(3)), isGenerated: hidden != 0,
          constraints: text.constraints(of: name)))
    }
    return found
  }

  private func readForeignKeys(_ table: String) throws(DatabaseError) -> [ForeignKeyOutline] {
    var pairs: [(id: Int64, from: String, to: String?, key: ForeignKeyOutline)] = []
    try foreignKeys.bind([.text(table)])
    while try foreignKeys.step() {
      let key = ForeignKeyOutline(
        columns: [], table: try foreignKeys.text(1) ?? "", parentColumns: [],
        onUpdate: try foreignKeys.text(4) ?? "", onDelete: try foreignKeys.text(5) ?? "")
      pairs.append(
        (foreignKeys.integer(0), try foreignKeys.text(2) ?? "", try foreignKeys.text(3), key))
    }
    var keys: [ForeignKeyOutline] = []
    while let first = pairs.first {
      let own = pairs.prefix { $0.id == first.id }
      pairs.removeFirst(own.count)
      keys.append(
        ForeignKeyOutline(
          columns: own.map(\.from), table: first.key.table, parentColumns: own.compactMap(\.to),
          onUpdate: first.key.onUpdate, onDelete: first.key.onDelete))
    }
    return keys
  }

  private func readIndexes(
    _ table: String, _ owned: [SchemaObject]
  ) throws(DatabaseError) -> [IndexOutline] {
    var found: [(name: String, isUnique: Bool, isPartial: Bool)] = []
    try indexes.bind([.text(table)])
    while try indexes.step() {
      found.append(
        (try indexes.text(0) ?? "", indexes.integer(1) != 0, indexes.integer(2) != 0))
    }
    return try found.map { (index) throws(DatabaseError) in
      var names: [String?] = []
      try indexColumns.bind([.text(index.name)])
      while try indexColumns.step() { names.append(try indexColumns.text(0)) }
      let object = owned.first { $0.kind == .index && $0.name == index.name }
      return IndexOutline(
        name: index.name, isUnique: index.isUnique, isPartial: index.isPartial, columns: names,
        sql: object?.sql)
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

  /// Builds the schema on a scratch database and reads its outline.
  package func outline(_ application: Application) throws(DatabaseError) -> SchemaOutline {
    let connection = try scratch(application)
    let reader = try OutlineReader(connection)
    let owned = objectsByTable
    return SchemaOutline(
      tables: try drawnTables.map { (table) throws(DatabaseError) in
        try reader.outline(of: table, owning: owned[table.name] ?? [])
      })
  }

  /// The indexes and triggers of each table.
  package var objectsByTable: [Identifier: [SchemaObject]] {
    var found: [Identifier: [SchemaObject]] = [:]
    for object in objects where object.kind == .index || object.kind == .trigger {
      found[object.table, default: []].append(object)
    }
    return found
  }
}

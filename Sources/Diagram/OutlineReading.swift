import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

extension Connection {
  /// Reads the outline of a table. Only the constraints and options come from the stored SQL, because no
  /// PRAGMA reports them.
  ///
  /// - Parameter triggers: the triggers on the table.
  package func outline(
    of table: SchemaObject, _ triggers: [SchemaObject]
  ) throws(DatabaseError) -> TableOutline {
    let text = StoredText(table)
    let stored = try StoredTable(table.name, on: self)
    return TableOutline(
      name: table.name,
      columns: stored.columns.map { column in
        ColumnOutline(
          name: column.name, type: column.type, isNotNull: column.isNotNull,
          keyPosition: column.keyPosition, constraints: text.constraints(of: column.name))
      }, foreignKeys: stored.foreignKeys, indexes: stored.indexes, triggers: triggers,
      constraints: text.constraints, options: text.options, sql: table.sql ?? "")
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
  /// The tables, without shadow tables of virtual tables.
  package var drawnTables: [SchemaObject] {
    ours().withoutShadowTables().tables
  }

  /// Builds the schema on a scratch database and reads the outlines of its tables, in order.
  package func outline(_ application: Application) throws(DatabaseError) -> [TableOutline] {
    let connection = try scratch(application)
    return try drawnTables.map { (table) throws(DatabaseError) in
      try connection.outline(of: table, self.objects(.trigger, on: table.name))
    }
  }
}

import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A private database with the schema before a step and with marked rows. It is stored as bytes, so
/// that every run starts from the same state.
struct FilledDatabase {
  struct Row {
    let kind: RowKind
    /// The condition that selects the row: `rowid IS 3`, or the values of the primary key.
    let address: String
    /// Empty while the database is being filled.
    var cells: [Value] = []
  }

  struct Table {
    let shape: DeviceTable
    /// The rowid or the columns of the primary key, quoted; empty if nothing identifies a row.
    let key: [String]
    /// The values in the CHECKs of each column.
    var hints: [Identifier: [Value]] = [:]
    var rows: [Row] = []

    func index(of column: Identifier) -> Int? {
      shape.columns.firstIndex { $0.key == column }
    }

    /// The condition for the row with these values of the key.
    func address(_ values: some Sequence<Value>) -> String {
      zip(key, values).map { "\($0) IS \($1.sql)" }.joined(separator: " AND ")
    }
  }

  let bytes: [UInt8]
  private(set) var tables: [Identifier: Table] = [:]
  /// Columns that hold keys of a table, by table.
  let references: [Identifier: [DeviceTable.Reference]]

  init(
    _ filler: RowFiller, on connection: Connection
  ) throws(DatabaseError) {
    bytes = try connection.serialized()
    references = filler.references
    for (name, var table) in filler.filled where !table.shape.columns.isEmpty {
      let rows = try table.shape.rows(on: connection, after: table.key)
      let cells = Dictionary(
        rows.map { (table.address($0).exact, Array($0[table.key.count...])) },
        uniquingKeysWith: { first, _ in first })
      // A trigger may have deleted the row.
      table.rows = table.rows.compactMap { row in
        cells[row.address].map { Row(kind: row.kind, address: row.address, cells: $0) }
      }
      tables[name] = table
    }
  }

  func hasRows(_ table: Identifier) -> Bool { tables[table]?.rows.isEmpty == false }
}

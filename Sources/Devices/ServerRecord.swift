import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTrials

/// A row as the server stores it for all devices: the columns that any device has set.
struct ServerRecord: Sendable, Hashable {
  let table: Identifier
  /// The values by column. Columns that were NULL in the new row are absent.
  var values: [Identifier: Value]

  init(table: Identifier, row: [Identifier: Value]) {
    self.table = table
    values = row.filter { $0.value != .null }
  }
}

/// Writes a server's record to a device's table as a sync engine does.
struct Delivery: Sendable {
  /// Whether a column that the record lacks is inserted as NULL; otherwise it gets its default.
  let insertsNull: Bool
  /// Values for columns that the sender does not have. The harm of their absence is already
  /// reported.
  var assumed: [Identifier: Value] = [:]

  /// The statement that the device runs. On a key conflict it updates only columns that the record
  /// has.
  ///
  /// - Parameter pending: columns with a local change that the device has not sent yet.
  func statement(
    _ record: ServerRecord, into table: DeviceTable, pending: Set<Identifier> = []
  ) -> String {
    var insertion = Insertion(table.name)
    for column in table.columns {
      let value = record.values[column.key] ?? assumed[column.key]
      guard value != nil || insertsNull else { continue }
      insertion[column.key] = value ?? .null
    }
    let key = table.primaryKey
    guard !key.isEmpty else { return insertion.sql }
    let updates = table.columns.filter { column in
      !column.isInKey && record.values[column.key] != nil && !pending.contains(column.key)
    }.map { "\(Quoting.identifier($0.name)) = excluded.\(Quoting.identifier($0.name))" }
    let names = key.map { Quoting.identifier($0.name) }.joined(separator: ", ")
    return insertion.sql + " ON CONFLICT (\(names)) DO "
      + (updates.isEmpty ? "NOTHING" : "UPDATE SET \(updates.joined(separator: ", "))")
  }
}

import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// A row as a server holds it for all devices: the columns that some device has set.
struct ServerRecord: Sendable, Hashable {
  let table: Identifier
  /// By column. A column that is NULL where the row was made is absent.
  private(set) var values: [Identifier: Value]

  init(table: Identifier, row: [Identifier: Value]) {
    self.table = table
    values = row.filter { $0.value != .null }
  }

  /// A sender sets the columns that it changed; the others keep what the server has.
  mutating func set(_ column: Identifier, to value: Value) {
    values[column] = value
  }
}

/// How an engine brings a server's record into a device's table.
struct Delivery: Sendable {
  /// A column that the record does not have is inserted as NULL; otherwise it gets its default.
  let insertsNull: Bool
  /// Values for columns that the record cannot have, where their being absent is known already.
  var assumed: [Identifier: Value] = [:]

  /// What the device runs. On a conflict of keys only columns that the record has are updated.
  ///
  /// - Parameter pending: columns that the device has changed itself and not yet sent.
  func statement(
    _ record: ServerRecord, into table: DeviceTable, pending: Set<Identifier> = []
  ) -> String {
    var insertion = Insertion(table.name)
    for column in table.columns {
      let value = record.values[column.key] ?? assumed[column.key]
      guard value != nil || insertsNull else { continue }
      insertion[column.name] = value ?? .null
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

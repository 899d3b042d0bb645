import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// An in-memory database with the schema of one version of the app. Every tested statement is
/// rolled back.
final class Device {
  let version: AppVersion
  let schema: Schema
  let connection: Connection
  let enforcesForeignKeys: Bool
  /// The names of the functions that the app provides, for which schemactl registers substitutes.
  let functions: Set<Identifier>
  /// The tables, except virtual tables and their shadow tables.
  let tables: [Identifier: DeviceTable]
  /// The definitions of each table, its indexes and its triggers.
  let definitions: [Identifier: [[ExactText]]]
  /// Values near the limits of every version of a table.
  let hints: [Identifier: ValueHints]
  private var candidates: [Identifier: Candidates] = [:]

  init(
    _ version: AppVersion, _ schema: Schema, _ application: Application,
    _ hints: [Identifier: ValueHints], enforcesForeignKeys: Bool
  ) throws(DatabaseError) {
    self.version = version
    self.hints = hints
    let missing = Set(application.missingFunctions.map(\.name.identifier))
    let portable = schema.portable(without: missing)
    self.schema = portable.withoutShadowTables()
    self.enforcesForeignKeys = enforcesForeignKeys
    functions = Set(
      ["uuid"] + application.declaredFunctions.map(\.name.identifier)
        + application.functions.map(\.name.identifier))
    connection = try portable.scratch(application)
    // Otherwise no trigger may write to a full-text table.
    connection.set(.trustedSchema, to: true)
    try connection.fixClockAndChance(ChanceCounter(from: 1, step: 0))
    connection.set(.foreignKeys, to: enforcesForeignKeys)
    var tables: [Identifier: DeviceTable] = [:]
    for table in self.schema.tables where !table.isInternal && !table.isVirtualTable {
      tables[table.name.identifier] = try DeviceTable(table.name, on: connection)
    }
    self.tables = tables
    var definitions: [Identifier: [[ExactText]]] = [:]
    for object in self.schema.objects {
      guard let sql = object.sql, IndexShape(object)?.acceptsEveryRow != true else { continue }
      definitions[object.table.identifier, default: []]
        .append([object.kind.rawValue.exact, object.name.exact, sql.exact])
    }
    self.definitions = definitions.mapValues { $0.sorted { $0.lexicographicallyPrecedes($1) } }
  }

  /// Values to try for a column. SQLite decides whether the column accepts them.
  func values(
    for column: DeviceTable.Column, of table: DeviceTable
  ) throws(DatabaseError) -> [Value] {
    if let known = candidates[table.key] { return known.values(for: column) }
    let new = try Candidates(table, hints: hints[table.key] ?? ValueHints([]), connection)
    candidates[table.key] = new
    return new.values(for: column)
  }

  /// The tables and the tables that their foreign keys refer to, directly or indirectly.
  func withParents(_ names: Set<Identifier>) -> Set<Identifier> {
    reached(from: names) { tables[$0]?.foreignKeys.map(\.parent) ?? [] }
  }

  /// All definitions that determine which rows of the table the device accepts.
  func definition(of table: Identifier) -> [[ExactText]] {
    withParents([table]).sorted().flatMap { definitions[$0] ?? [] }
  }

  /// The error that COMMIT would report for a deferred foreign key, or for an invalid parent table.
  func violation(in table: DeviceTable) throws(DatabaseError) -> String? {
    guard enforcesForeignKeys, !table.foreignKeys.isEmpty else { return nil }
    do {
      let rows = try connection.rows(
        "PRAGMA foreign_key_check(\(Quoting.quoted(table.name)))")
      return rows.isEmpty ? nil : "FOREIGN KEY constraint failed"
    } catch  where !error.isFault {
      return error.message
    }
  }

  enum Inserted {
    case rows([RowIdentity])
    /// SQLite's message.
    case refused(String)
  }

  /// Inserts the rows in order.
  func insert(_ insertions: [Insertion]) throws(DatabaseError) -> Inserted {
    var rows: [RowIdentity] = []
    for insertion in insertions {
      if let refusal = try connection.refusal(of: insertion.sql) { return .refused(refusal) }
      guard let table = tables[insertion.table.identifier] else { continue }
      // Without a value of its primary key, the row is identified by its rowid.
      rows.append(
        table.identity { insertion[$0] }
          ?? RowIdentity(table: table.key, condition: "rowid = \(connection.lastInsertRowid)"))
    }
    for key in Set(rows.map(\.table)).sorted() {
      if let table = tables[key], let refusal = try violation(in: table) {
        return .refused(refusal)
      }
    }
    return .rows(rows)
  }

  /// The inserted row as stored now; nil if it no longer exists.
  func stored(_ row: RowIdentity) throws(DatabaseError) -> [Identifier: Value]? {
    try tables[row.table]?.row(on: connection, where: row.condition)
  }
}

extension IndexShape {
  /// Whether the index never refuses a row. An expression or a condition may fail on a row.
  var acceptsEveryRow: Bool {
    !isUnique && condition == nil && !columns.contains(nil)
  }
}

struct RowIdentity: Sendable, Hashable {
  let table: Identifier
  let condition: String
}

extension DeviceTable {
  /// - Parameter value: returns the row's value of a column.
  /// - Returns: nil if the row lacks a value of the primary key.
  func identity(_ value: (Identifier) -> Value?) -> RowIdentity? {
    let conditions = primaryKey.compactMap { column in
      value(column.key).map { "\(Quoting.quoted(column.name)) = \($0.sql)" }
    }
    guard !conditions.isEmpty, conditions.count == primaryKey.count else { return nil }
    return RowIdentity(table: key, condition: conditions.joined(separator: " AND "))
  }
}

import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A table for which rows are generated.
package struct DeviceTable: Sendable {
  package typealias Column = StoredTable.Column

  /// Columns that hold keys of a table, by a foreign key or a join in the step.
  package struct Reference: Sendable {
    package let columns: [Identifier]
    package let parent: Identifier
    /// The columns to which the key refers; empty for the parent's primary key.
    package var parentColumns: [Identifier]
    /// Whether the parent may be missing: only a join of the step connects the tables.
    var isOptional = false
  }

  package let name: String
  package let key: Identifier
  /// The columns that can be written.
  package let columns: [Column]
  package let foreignKeys: [Reference]
  /// The columns of each UNIQUE constraint, unique index and primary key, sorted by the names of the
  /// indexes; nil for an expression.
  package let uniques: [[Identifier?]]

  /// The columns of the primary key in the order of the key.
  package var primaryKey: [Column] { columns.primaryKey }

  package func column(_ name: Identifier) -> Column? { columns.first { $0.key == name } }

  package func column(_ name: String) -> Column? { column(name.identifier) }

  /// The first text column outside of keys, which identifies a row to readers.
  package var label: Column? {
    columns.first { column in
      column.affinity == .text && !column.isInKey && !refers(by: column)
    }
  }

  /// Whether a foreign key contains the column.
  package func refers(by column: Column) -> Bool {
    foreignKeys.contains { $0.columns.contains(column.key) }
  }

  package init(_ name: String, on connection: Connection) throws(DatabaseError) {
    let stored = try StoredTable(name, on: connection)
    self.name = name
    key = name.identifier
    columns = stored.columns.filter { !$0.isGenerated }
    foreignKeys = stored.foreignKeys.map { key in
      Reference(
        columns: key.columns.map(\.identifier), parent: key.table.identifier,
        parentColumns: key.parentColumns.map(\.identifier))
    }
    uniques = stored.indexes.filter(\.isUnique).sorted { $0.name.exact < $1.name.exact }
      .map { index in index.columns.map { $0?.identifier } }
  }
}

extension DeviceTable {
  /// The values of the columns in the rows that the condition selects.
  ///
  /// - Parameter first: expressions whose values precede those of the columns.
  func rows(
    on connection: Connection, after first: [String] = [], where condition: String = "1",
    limit: Int = -1
  ) throws(DatabaseError) -> [[Value]] {
    guard !columns.isEmpty else { return [] }
    let names = first + columns.map { Quoting.quoted($0.name) }
    return try connection.rows(
      "SELECT \(names.joined(separator: ", ")) FROM main.\(Quoting.quoted(name)) "
        + "WHERE \(condition) LIMIT \(limit)")
  }

  /// The values of the first row that the condition selects; nil if it selects none.
  package func row(
    on connection: Connection, where condition: String
  ) throws(DatabaseError) -> [Identifier: Value]? {
    try rows(on: connection, where: condition, limit: 1).first.map { values in
      Dictionary(zip(columns.map(\.key), values), uniquingKeysWith: { first, _ in first })
    }
  }
}

extension StoredTable.Column {
  /// The affinity of the values that apps store. Apps store texts in a STRING, whose affinity is NUMERIC
  /// (Datatypes In SQLite, section 3.1).
  package var affinity: Affinity {
    convertsDigits && type.lowercased().contains("string") ? .text : Affinity(ofType: type)
  }

  /// Whether apps store dates or times in the column, mostly as texts, although its affinity is NUMERIC.
  var holdsTimes: Bool {
    let type = type.lowercased()
    return affinity == .numeric && (type.contains("date") || type.contains("time"))
  }

  /// Whether apps store fractions in the column, as in DECIMAL(10, 2).
  var holdsFractions: Bool {
    let type = type.lowercased()
    guard affinity == .numeric, type.hasPrefix("dec") || type.hasPrefix("num") else { return false }
    let scale = type.split(separator: ",").dropFirst().first?.filter(\.isNumber)
    return type.contains("(") ? (scale.flatMap { Int($0) } ?? 0) > 0 : true
  }

  /// Whether apps probably store only 0 and 1 in the column.
  var isFlag: Bool {
    isBoolean || ["0", "1", "false", "true"].contains(defaultText?.identifier)
  }

  var isBoolean: Bool { type.identifier.hasPrefix("bool") }

  /// Whether SQLite stores a text of digits as a number.
  var convertsDigits: Bool { [.integer, .numeric, .real].contains(Affinity(ofType: type)) }

  /// Whether an INSERT must set the column.
  package var isRequired: Bool { isInKey || isNotNull && defaultText == nil }
}

extension DeviceTable {
  /// Whether one of these columns, in which rows must differ, is a text column outside the primary
  /// key.
  func hasUniqueText(_ distinct: Set<Identifier>) -> Bool {
    columns.contains { distinct.contains($0.key) && !$0.isInKey && $0.affinity == .text }
  }

  /// Whether the column alone identifies a row.
  func isKey(_ column: Identifier) -> Bool {
    primaryKey.map(\.key) == [column] || uniques.contains([column])
  }

  /// Whether two columns accept NULL, or one that is unique.
  var acceptsNulls: Bool {
    let nullable = columns.filter { !$0.isNotNull && !$0.isInKey }
    return nullable.count > 1 || nullable.contains { distinctKeys.contains($0.key) }
  }

  /// For each key and each UNIQUE constraint, the last column that is not part of a foreign key.
  /// A different value in it makes a row distinct.
  var distinctKeys: Set<Identifier> {
    let references = Set(foreignKeys.flatMap(\.columns))
    return Set(keys.compactMap { key in key.last { !references.contains($0) } })
  }

  /// The first or the last column of each key; empty if no key has several columns.
  func columnsOfKeys(isFirst: Bool) -> Set<Identifier> {
    keys.contains { $0.count > 1 } ? Set(keys.compactMap { isFirst ? $0.first : $0.last }) : []
  }

  private var keys: [[Identifier]] {
    uniques.map { $0.compactMap(\.self) } + [primaryKey.map(\.key)]
  }

  /// A name that denotes the rowid, because no other column has it.
  var rowidName: String? {
    ["rowid", "_rowid_", "oid"].first { column($0) == nil || column($0)?.isRowid ?? false }
  }
}

extension DeviceTable.Column {
  var isRowid: Bool { isInKey && type.isSameName(as: "integer") }

  var takesNumbers: Bool {
    switch affinity {
    case .integer, .numeric, .real: !holdsTimes
    case .text, .blob: false
    }
  }
}

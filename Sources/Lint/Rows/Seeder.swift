import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// Fills tables of a private database with a handful of rows that they take: with values that their
/// CHECKs name, NULL where that is allowed, and values that repeat where nothing forbids it. The same
/// schema gives the same rows. A table for which no row is found stays empty.
final class Seeder {
  private let connection: Connection
  private(set) var memory: Memory

  /// What it knows of what it has done.
  struct Memory {
    /// The tables that were filled, by folded name.
    var known: [Identifier: Filling] = [:]
    /// Makes values that are like no other one. Migrations write small numbers.
    var serial: Int64 = 7000
  }

  struct Filling {
    /// What the table read then.
    let sql: String?
    /// Its columns, folded.
    let columns: Set<Identifier>
    /// No row could be made.
    let isImpossible: Bool
  }

  /// How many rows are tried each time, and how many a table has at most.
  private static let rows = 6
  private static let most: Int64 = 18

  init(_ connection: Connection, _ memory: Memory = Memory()) {
    self.connection = connection
    self.memory = memory
  }

  /// - Parameters:
  ///   - tables: folded names. Their parents are filled, too.
  ///   - definitions: what the schema says of a table and its indexes, and what it is to say next:
  ///     values near the limits of both are worth a try. Empty for what is no table to fill.
  func fill(
    _ tables: [Identifier], _ definitions: (Identifier) -> [SchemaObject]
  ) throws(DatabaseError) {
    connection.set(.foreignKeys, to: true)
    defer { connection.set(.foreignKeys, to: false) }
    try connection.execute("BEGIN")
    for table in tables { try fill(table, definitions, within: []) }
    // A trigger may have ended the transaction, and a foreign key may be checked only now.
    guard connection.isInTransaction, try connection.refusal(of: "COMMIT") != nil else { return }
    if connection.isInTransaction { try connection.execute("ROLLBACK") }
    memory.known = [:]
  }

  private func fill(
    _ name: Identifier, _ definitions: (Identifier) -> [SchemaObject], within path: [Identifier]
  ) throws(DatabaseError) {
    let objects = definitions(name)
    guard !objects.isEmpty, !path.contains(name) else { return }
    let count = try rowCount(of: name)
    let sql = objects.first { $0.kind == .table }?.sql
    let isNews = memory.known[name]?.sql != sql
    let isImpossible = memory.known[name]?.isImpossible ?? false
    guard count == 0 ? isNews || !isImpossible : isNews && count < Self.most else { return }
    let table = try DeviceTable(name.text, on: connection)
    for key in table.foreignKeys where key.parent != name {
      try fill(key.parent, definitions, within: path + [name])
    }
    // Where a parent is missing, the app cannot have foreign keys enforced.
    let isEnforced = table.foreignKeys.allSatisfy { !definitions($0.parent).isEmpty }
    connection.set(.foreignKeys, to: isEnforced)
    let candidates = try Candidates(table, hints: ValueHints(objects), connection)
    try fill(table, candidates, like: count == 0 ? [] : patterns(of: table))
    memory.known[name] = Filling(
      sql: sql, columns: Set(table.columns.map(\.key)), isImpossible: try rowCount(of: name) == 0)
  }

  private func rowCount(of name: Identifier) throws(DatabaseError) -> Int64 {
    try connection.value(
      "SELECT count(*) FROM (SELECT 1 FROM main.\(Quoting.quoted(name)) LIMIT \(Self.most))")?
      .integer ?? 0
  }

  // MARK: One table

  /// What the rows that are there hold in the columns that are no news: what earlier migrations have
  /// made of them stays true of rows that are added.
  private func patterns(of table: DeviceTable) throws(DatabaseError) -> [[Identifier: Value]] {
    let columns = table.columns.filter { memory.known[table.key]?.columns.contains($0.key) ?? true }
    guard !columns.isEmpty else { return [] }
    let names = columns.map { Quoting.quoted($0.name) }.joined(separator: ", ")
    return try connection.rows(
      "SELECT \(names) FROM main.\(Quoting.quoted(table.name)) LIMIT \(Self.rows)"
    ).map { row in
      Dictionary(zip(columns.map(\.key), row), uniquingKeysWith: { first, _ in first })
    }
  }

  private func fill(
    _ table: DeviceTable, _ candidates: Candidates, like patterns: [[Identifier: Value]]
  ) throws(DatabaseError) {
    let distinct = table.distinctColumns
    // A table that was emptied is filled without NULL: an earlier migration may have replaced it.
    for number in (patterns.isEmpty && memory.known[table.key] != nil ? 1 : 0)..<Self.rows {
      memory.serial += 1
      var references: [Identifier: Value] = [:]
      for (place, key) in table.foreignKeys.enumerated() {
        let parents = try parents(by: key, of: table)
        guard !parents.isEmpty else { continue }
        // Two foreign keys of one row do not always go in step.
        let parent = parents[(number + place * (number / parents.count)) % parents.count]
        for (column, value) in zip(key.columns, parent) { references[column] = value }
      }
      var row = Insertion(table.name)
      for column in table.columns {
        let isNull = number == 0 && !column.isNotNull && !column.isInKey
        let pattern = patterns.isEmpty ? nil : patterns[number % patterns.count][column.key]
        if let pattern, !distinct.contains(column.key) {
          row[column.name] = pattern
          continue
        }
        row[column.name] =
          isNull
          ? .null
          : references[column.key]
            ?? (distinct.contains(column.key)
              ? distinctValue(of: column)
              : table.refers(by: column)
                ? .null : candidates.value(number, for: column, in: table))
      }
      // The first row shows whether there can be one.
      guard try insert(row, into: table, candidates, tries: number < 2 ? 200 : 30) || number > 0
      else { return }
    }
  }

  private func insert(
    _ row: Insertion, into table: DeviceTable, _ candidates: Candidates, tries: Int
  ) throws(DatabaseError) -> Bool {
    // What a CHECK looks at comes first, and a key that is like no other one last.
    let distinct = table.distinctColumns
    let columns = table.columns.filter { !table.refers(by: $0) }
    func rank(_ column: DeviceTable.Column) -> Int {
      candidates.hints.values[column.key] != nil ? 0 : distinct.contains(column.key) ? 2 : 1
    }
    let ordered = (0...2).flatMap { number in columns.filter { rank($0) == number } }
    let search = RowSearch(columns: ordered, limit: tries) { (column) throws(DatabaseError) in
      let values = candidates.values(for: column)
      // Of a number as key there may be no other values.
      if column.isInKey, column.affinity == .integer { return values.filter { $0.integer != nil } }
      return candidates.patterns(of: column, number: self.memory.serial) + values
        + (column.isNotNull ? [] : [.null])
    } refusal: { (row) throws(DatabaseError) in
      try self.connection.refusal(of: row.sql)
    }
    guard case .row = try search.settle(row) else { return false }
    return true
  }

  /// Rows of the parent that a foreign key can refer to.
  private func parents(
    by key: DeviceTable.ForeignKey, of table: DeviceTable
  ) throws(DatabaseError) -> [[Value]] {
    do {
      let columns =
        try key.parentColumns.isEmpty
        ? DeviceTable(key.parent.text, on: connection).primaryKey.map(\.key) : key.parentColumns
      guard columns.count == key.columns.count else { return [] }
      let names = columns.map { Quoting.quoted($0) }
      return try connection.rows(
        """
        SELECT \(names.joined(separator: ", ")) FROM main.\(Quoting.quoted(key.parent))
        WHERE \(names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) LIMIT 8
        """)
    } catch  where !error.isOfMachine {
      return []
    }
  }

  private func distinctValue(of column: DeviceTable.Column) -> Value {
    switch column.affinity {
    case .integer, .numeric, .real: .integer(memory.serial)
    case .text where column.isInKey: .text("00000000-0000-4000-8000-00000000\(memory.serial)")
    case .text: .text("Milk \(memory.serial)")
    case .blob: .blob([UInt8](repeating: 0, count: 12) + Array("\(memory.serial)".utf8))
    }
  }
}

extension DeviceTable {
  fileprivate func refers(by column: Column) -> Bool {
    foreignKeys.contains { $0.columns.contains(column.key) }
  }

  /// Of each key and each UNIQUE the last column that refers to nothing: with another value in each
  /// row, none of them stands in the way.
  fileprivate var distinctColumns: Set<Identifier> {
    let keys = uniques.map { $0.columns.compactMap(\.self) } + [primaryKey.map(\.key)]
    return Set(
      keys.compactMap { key in
        key.last { name in column(name).map { !refers(by: $0) } ?? false }
      })
  }
}

extension Candidates {
  /// Texts that a pattern in a CHECK, of LIKE or GLOB, would let through.
  fileprivate func patterns(of column: DeviceTable.Column, number: Int64) -> [Value] {
    (hints.values[column.key] ?? []).compactMap { hint in
      guard let text = hint.text, text.contains(where: "%*".contains) else { return nil }
      let filled = text.map { character in
        switch character {
        case "%", "*": "\(number)"
        case "_", "?": "a"
        default: String(character)
        }
      }
      return .text(filled.joined())
    }
  }

  /// The value of a row's column: the same one in two rows, then each of the others.
  fileprivate func value(
    _ number: Int, for column: DeviceTable.Column, in table: DeviceTable
  ) -> Value {
    // What a CHECK names is allowed, most often.
    let hinted = (hints.values[column.key] ?? []).filter { $0.suits(column.affinity) }
    let all = hinted + values(for: column).filter { !hinted.contains($0) }
    return all.isEmpty ? .null : all[max(0, number - 2) % all.count]
  }
}

extension Value {
  /// Whether a column stores it as it is.
  fileprivate func suits(_ affinity: Affinity) -> Bool {
    switch (self, affinity) {
    case (.text, .text), (.text, .blob), (.blob, .blob): true
    case (.integer, .integer), (.integer, .numeric), (.integer, .real): true
    case (.real, .real), (.real, .numeric): true
    default: false
    }
  }
}

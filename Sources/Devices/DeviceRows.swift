import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// Generates rows that a schema accepts. Values come from defaults, CHECKs and types; SQLite tests
/// each row. Equal schemas get equal rows.
extension Device {
  // MARK: Required values

  /// A row with values for the required columns, and with a value that identifies it.
  ///
  /// - Parameter path: the tables whose rows require this one.
  func leastRow(
    of table: DeviceTable, within path: [Identifier] = []
  ) throws(DatabaseError) -> FoundRow<Scenario> {
    var plan = Scenario(parents: [], row: Insertion(table.name))
    for column in table.columns where column.isRequired {
      plan.row[column.key] = try values(for: column, of: table).first ?? 1
    }
    for key in table.foreignKeys where key.columns.contains(where: { plan.row[$0] != nil }) {
      if let problem = try refer(by: key, of: table, in: &plan, within: path) {
        return .impossible(problem)
      }
    }
    let made = try settle(plan, of: table)
    guard case .row(let least) = made, let label = table.label, least.row[label.key] == nil else {
      return made
    }
    return .row(try adding(label, to: least, of: table) ?? least)
  }

  /// Changes values until SQLite accepts the row.
  private func settle(_ start: Scenario, of table: DeviceTable) throws(DatabaseError) -> FoundRow<
    Scenario
  > {
    let referring = Set(table.foreignKeys.flatMap(\.columns))
    func planned(_ row: Insertion) -> Scenario { Scenario(parents: start.parents, row: row) }
    let found = try foundRow(
      near: start.row, changing: table.columns.filter { !referring.contains($0.key) }, limit: 400
    ) { (column) throws(DatabaseError) in
      try self.values(for: column, of: table)
    } refusal: { (row) throws(DatabaseError) in
      try self.refusal(of: planned(row))
    }
    return switch found {
    case .row(let row): .row(planned(row))
    case .impossible(let problem): .impossible(problem)
    }
  }

  private func refusal(of plan: Scenario) throws(DatabaseError) -> String? {
    try connection.rollingBack { () throws(DatabaseError) in
      if case .refused(let message) = try insert(plan.insertions) { message } else { nil }
    }
  }

  // MARK: Optional values

  /// A row with a value in every column that accepts one; nil if no row is possible.
  func fullRow(of table: DeviceTable) throws(DatabaseError) -> Scenario? {
    guard var plan = try leastRow(of: table).row else { return nil }
    for column in table.columns where plan.row[column.key] == nil {
      if let more = try adding(column, to: plan, of: table) { plan = more }
    }
    return plan
  }

  /// The row with a value in one more column; nil if SQLite accepts none.
  func adding(
    _ column: DeviceTable.Column, to plan: Scenario, of table: DeviceTable
  ) throws(DatabaseError) -> Scenario? {
    if let key = table.foreignKeys.first(where: { $0.columns.contains(column.key) }) {
      var next = plan
      guard try refer(by: key, of: table, in: &next, within: []) == nil,
        try refusal(of: next) == nil
      else { return nil }
      return next
    }
    for value in try values(for: column, of: table) {
      var next = plan
      next.row[column.key] = value
      if try refusal(of: next) == nil { return next }
    }
    return nil
  }

  // MARK: Parents

  /// Inserts the parent of a foreign key unless it exists, and sets the key.
  ///
  /// - Returns: the error message; nil on success.
  private func refer(
    by key: DeviceTable.Reference, of table: DeviceTable, in plan: inout Scenario,
    within path: [Identifier]
  ) throws(DatabaseError) -> String? {
    guard let parent = tables[key.parent] else {
      return "table `\(key.parent)` does not exist"
    }
    let columns =
      key.parentColumns.isEmpty ? parent.primaryKey.map(\.key) : key.parentColumns
    guard columns.count == key.columns.count else { return "foreign key mismatch" }
    let row: [Identifier: Value]
    if key.parent == table.key {
      // A row may be its own parent.
      row = Dictionary(
        zip(plan.row.columns.map(\.identifier), plan.row.values),
        uniquingKeysWith: { first, _ in first })
    } else {
      guard !path.contains(key.parent) else {
        return "rows of `\(table.name)` and `\(parent.name)` require each other"
      }
      if !plan.parents.contains(where: { $0.table.identifier == key.parent }) {
        switch try leastRow(of: parent, within: path + [table.key]) {
        case .row(let made):
          plan.parents += made.insertions.filter { !plan.parents.contains($0) }
        case .impossible(let problem): return problem
        }
      }
      row = try stored(parent.key, in: plan)
    }
    for (child, column) in zip(key.columns, columns) {
      guard let value = row[column], let child = table.column(child) else {
        return "a row of `\(parent.name)` has no `\(column)` to refer to"
      }
      plan.row[child.key] = value
    }
    return nil
  }

  /// The values of the parent as stored. A foreign key may refer to a column other than the primary
  /// key.
  private func stored(
    _ parent: Identifier, in plan: Scenario
  ) throws(DatabaseError) -> [Identifier: Value] {
    try connection.rollingBack { () throws(DatabaseError) in
      guard case .rows(let rows) = try insert(plan.parents),
        let row = rows.last(where: { $0.table == parent })
      else { return [:] }
      return try stored(row) ?? [:]
    }
  }
}

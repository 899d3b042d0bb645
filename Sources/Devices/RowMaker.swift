import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// Rows to insert in order, parents before the row itself.
struct RowPlan: Sendable, Hashable {
  var parents: [Insertion]
  var row: Insertion

  var insertions: [Insertion] { parents + [row] }
}

enum MadeRow: Sendable {
  case plan(RowPlan)
  /// SQLite's message for the last row.
  case impossible(String)

  var plan: RowPlan? { if case .plan(let plan) = self { plan } else { nil } }
}

/// Generates rows that a schema accepts. Values come from defaults, CHECKs and types; SQLite tests
/// each row. Equal schemas get equal rows.
final class RowMaker {
  private let device: Device
  /// By folded table.
  private let hints: (Identifier) -> ValueHints
  private var minimal: [Identifier: MadeRow] = [:]
  private var full: [Identifier: MadeRow] = [:]
  private var candidates: [Identifier: Candidates] = [:]

  init(_ device: Device, hints: @escaping (Identifier) -> ValueHints) {
    self.device = device
    self.hints = hints
  }

  func values(
    for column: DeviceTable.Column, of table: DeviceTable
  ) throws(DatabaseError) -> [Value] {
    if let known = candidates[table.key] { return known.values(for: column) }
    let new = try Candidates(table, hints: hints(table.key), device.connection)
    candidates[table.key] = new
    return new.values(for: column)
  }

  /// Whether a CHECK or the condition of an index restricts the column, in any version of the
  /// table.
  func isChecked(_ column: DeviceTable.Column, of table: DeviceTable) -> Bool {
    hints(table.key).values[column.key] != nil
  }

  /// A row with values for the required columns, and with a value that identifies it.
  func minimalRow(of table: DeviceTable) throws(DatabaseError) -> MadeRow {
    if let known = minimal[table.key] { return known }
    let made = try makeMinimal(table, within: [])
    minimal[table.key] = made
    return made
  }

  /// A row with a value in every column that accepts one.
  func fullRow(of table: DeviceTable) throws(DatabaseError) -> MadeRow {
    if let known = full[table.key] { return known }
    let made = try makeFull(table)
    full[table.key] = made
    return made
  }

  // MARK: Required values

  private func makeMinimal(
    _ table: DeviceTable, within path: [Identifier]
  ) throws(DatabaseError) -> MadeRow {
    var plan = RowPlan(parents: [], row: Insertion(table.name))
    for column in table.columns where column.isRequired {
      plan.row[column.name] = try values(for: column, of: table).first ?? 1
    }
    for key in table.foreignKeys where key.columns.contains(where: { plan.row[$0] != nil }) {
      if let problem = try refer(by: key, of: table, in: &plan, within: path) {
        return .impossible(problem)
      }
    }
    let made = try settle(plan, of: table)
    guard case .plan(let least) = made, let label = table.label, least.row[label.name] == nil else {
      return made
    }
    return .plan(try adding(label, to: least, of: table) ?? least)
  }

  /// Changes values until SQLite accepts the row.
  private func settle(_ start: RowPlan, of table: DeviceTable) throws(DatabaseError) -> MadeRow {
    let referring = Set(table.foreignKeys.flatMap(\.columns))
    func planned(_ row: Insertion) -> RowPlan { RowPlan(parents: start.parents, row: row) }
    let search = RowSearch(
      columns: table.columns.filter { !referring.contains($0.key) }, limit: 400
    ) { (column) throws(DatabaseError) in
      try self.values(for: column, of: table)
    } refusal: { (row) throws(DatabaseError) in
      try self.refusal(of: planned(row))
    }
    switch try search.settle(start.row) {
    case .row(let row): return .plan(planned(row))
    case .impossible(let problem): return .impossible(problem)
    }
  }

  private func refusal(of plan: RowPlan) throws(DatabaseError) -> String? {
    try device.trying { () throws(DatabaseError) in try device.refusal(of: plan.insertions) }
  }

  // MARK: Optional values

  private func makeFull(_ table: DeviceTable) throws(DatabaseError) -> MadeRow {
    guard case .plan(var plan) = try minimalRow(of: table) else {
      return try minimalRow(of: table)
    }
    for column in table.columns where plan.row[column.name] == nil {
      if let more = try adding(column, to: plan, of: table) { plan = more }
    }
    return .plan(plan)
  }

  /// The row with a value in one more column; nil if SQLite accepts none.
  func adding(
    _ column: DeviceTable.Column, to plan: RowPlan, of table: DeviceTable
  ) throws(DatabaseError) -> RowPlan? {
    if let key = table.foreignKeys.first(where: { $0.columns.contains(column.key) }) {
      var next = plan
      guard try refer(by: key, of: table, in: &next, within: []) == nil,
        try refusal(of: next) == nil
      else { return nil }
      return next
    }
    for value in try values(for: column, of: table) {
      var next = plan
      next.row[column.name] = value
      if try refusal(of: next) == nil { return next }
    }
    return nil
  }

  // MARK: Parents

  /// Inserts the parent of a foreign key unless it exists, and sets the key.
  ///
  /// - Returns: the error message; nil on success.
  private func refer(
    by key: DeviceTable.ForeignKey, of table: DeviceTable, in plan: inout RowPlan,
    within path: [Identifier]
  ) throws(DatabaseError) -> String? {
    guard let parent = try device.table(key.parent) else {
      return "table \(key.parent) does not exist"
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
        return "rows of \(table.name) and \(parent.name) require each other"
      }
      if !plan.parents.contains(where: { $0.table.identifier == key.parent }) {
        switch try makeMinimal(parent, within: path + [table.key]) {
        case .plan(let made):
          plan.parents += made.insertions.filter { !plan.parents.contains($0) }
        case .impossible(let problem): return problem
        }
      }
      row = try stored(parent.key, in: plan)
    }
    for (child, column) in zip(key.columns, columns) {
      guard let value = row[column], let name = table.column(child)?.name else {
        return "a row of \(parent.name) has no \(column) to refer to"
      }
      plan.row[name] = value
    }
    return nil
  }

  /// The stored parent, since a foreign key may refer to a column other than the primary key.
  private func stored(
    _ parent: Identifier, in plan: RowPlan
  ) throws(DatabaseError) -> [Identifier: Value] {
    guard let insertion = plan.parents.last(where: { $0.table.identifier == parent }) else {
      return [:]
    }
    return try device.trying { () throws(DatabaseError) in
      guard try device.refusal(of: plan.parents) == nil,
        let row = try device.identity(of: insertion)
      else { return [:] }
      return try device.stored(row) ?? [:]
    }
  }
}

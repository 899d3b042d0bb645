import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Determines the effect of a step on the rows of a filled database. First it looks for marks. If a
/// mark is missing, it runs the step with another value.
struct LossJudge {
  /// A cell of the filled database.
  struct Cell: Hashable {
    let table: Identifier
    let row: Int
    let column: Int
  }

  enum Verdict {
    case kept(Destination)
    case lost([Cell], isAll: Bool)
    case narrowed(Cell, Value, Value)
    /// The values are in other rows of the table.
    case moved([Cell])
    /// The column accepts no other value, or every run with another value fails.
    case untried
    /// Too many statements have run.
    case skipped
    /// The effect is unknown.
    case unknown
  }

  let experiment: Experiment
  let base: Experiment.Outcome
  let text: StepText
  /// Whether the step may store values in another place.
  let mayCopy: Bool
  let schemaAfter: Schema
  var database: FilledDatabase { experiment.database }
  /// The marks of each table's rows and columns before the step and after it.
  private let marks: [Identifier: [[[Int64]]]]
  let marksAfter: [Identifier: [[[Int64]]]]
  /// The cells with each mark before the step and after it.
  let origins: [Int64: [Cell]]
  private let found: [Int64: [Cell]]

  init(
    _ experiment: Experiment, _ base: Experiment.Outcome, _ text: StepText,
    schemaAfter: Schema, mayCopy: Bool
  ) {
    self.mayCopy = mayCopy
    self.schemaAfter = schemaAfter
    self.experiment = experiment
    self.base = base
    self.text = text
    marks = experiment.database.tables.mapValues { table in
      table.rows.map { $0.cells.map(MarkMaker.numbers) }
    }
    marksAfter = base.contents.tables.mapValues { $0.rows.map { $0.map(MarkMaker.numbers) } }
    origins = Self.cells(marks)
    found = Self.cells(marksAfter)
  }

  /// The cells with each mark.
  private static func cells(_ marks: [Identifier: [[[Int64]]]]) -> [Int64: [Cell]] {
    var found: [Int64: [Cell]] = [:]
    for (name, rows) in marks {
      for (row, cells) in rows.enumerated() {
        for (column, marks) in cells.enumerated() {
          for mark in marks {
            found[mark, default: []].append(Cell(table: name, row: row, column: column))
          }
        }
      }
    }
    return found
  }

  func oldValue(_ cell: Cell) -> Value {
    database.tables[cell.table]?.rows[cell.row].cells[cell.column] ?? .null
  }

  /// A different value of the column, in another row.
  func otherValue(_ cell: Cell) -> Value? {
    let old = oldValue(cell)
    return database.tables[cell.table]?.rows.lazy.map { $0.cells[cell.column] }.first {
      $0 != old && $0 != .null
    }
  }

  private func valueAfter(_ cell: Cell) -> Value {
    base.contents.tables[cell.table]?.rows[cell.row][cell.column] ?? .null
  }

  func marks(of cell: Cell) -> [Int64] {
    marks[cell.table]?[cell.row][cell.column] ?? []
  }

  /// The marks of a cell that no other cell holds. Columns that refer to the cell do not count.
  func ownMarks(_ cell: Cell) -> [Int64] {
    marks(of: cell).filter { mark in
      let holders = origins[mark] ?? []
      return holders.count == 1
        || !isReference(cell) && holders.allSatisfy { $0 == cell || isReference($0) }
    }
  }

  private func isReference(_ cell: Cell) -> Bool {
    guard let column = database.tables[cell.table]?.shape.columns[cell.column].key else {
      return false
    }
    return database.references.contain(column, of: cell.table)
  }

  /// The cells that hold the mark after the step. If several cells held it before, columns that
  /// refer to another table are excluded.
  func places(of mark: Int64) -> [Cell] {
    let places = found[mark] ?? []
    guard origins[mark]?.count != 1 else { return places }
    return places.filter { place in
      let column = base.contents.tables[place.table]?.columns[place.column]
      return column.map { !database.references.contain($0, of: place.table) } ?? true
    }
  }

  /// The definition of a table after the step.
  func shapeAfter(_ name: Identifier) -> TableShape? {
    schemaAfter.table(name).flatMap(TableShape.init)
  }

  // MARK: Columns

  /// - Parameters:
  ///   - lost: the lost rows.
  ///   - name: the names of the table and the column after the step.
  func verdict(
    on column: DeviceTable.Column, of table: Identifier, without lost: [Int],
    after name: Identifier?, as newName: Identifier
  ) throws(Failure) -> Verdict {
    guard let filled = database.tables[table], let index = filled.index(of: column.key) else {
      return .unknown
    }
    let cells = filled.rows.indices.filter {
      !lost.contains($0) && filled.rows[$0].kind != .otherTypes
    }.map {
      Cell(table: table, row: $0, column: index)
    }.filter { oldValue($0) != .null }
    guard !cells.isEmpty else { return .unknown }
    let (gone, place) = missing(cells, after: name, as: newName)
    // With lost rows, or with a single value, the rows may have been merged.
    if lost.isEmpty, !column.isInKey {
      let moved = cells.filter { isInOtherRow($0, in: name, as: newName) }
      if moved.count > 1 { return .moved(moved) }
    }
    guard !gone.isEmpty else { return .kept(place ?? .elsewhere) }
    if let other = exchange(cells, in: filled, after: name, than: newName) { return .kept(other) }
    return try Influence(
      judge: self, column: column, table: filled, name: name, newName: newName,
      losesRows: !lost.isEmpty
    ).verdict(on: gone, of: cells)
  }

  /// The cells whose values do not exist unchanged, and the column that contains the values of all
  /// other cells; nil if they are in several columns.
  private func missing(
    _ cells: [Cell], after name: Identifier?, as newName: Identifier
  ) -> (gone: [Cell], Destination?) {
    struct Target: Hashable {
      let table: Identifier
      let column: Int
    }
    var matched: [Target: Set<Cell>] = [:]
    var exact: Set<Cell> = []
    for cell in cells {
      let value = oldValue(cell)
      for mark in ownMarks(cell) {
        for place in places(of: mark) where valueAfter(place).isSame(as: value) {
          exact.insert(cell)
          matched[Target(table: place.table, column: place.column), default: []].insert(cell)
        }
      }
    }
    let known = matched
    for cell in cells where !exact.contains(cell) {
      let value = oldValue(cell)
      for place in descendants(of: cell, in: name) {
        guard let after = base.contents.tables[place.table] else { continue }
        for (column, now) in after.rows[place.row].enumerated() where now.isSame(as: value) {
          let isSame = place.table == name && after.columns[column] == newName
          let target = Target(table: place.table, column: column)
          let isNew =
            known[target] != nil
            || database.tables[place.table]?.index(of: after.columns[column]) == nil
            || place.table != cell.table && isAdded(place)
          guard isSame || isNew else { continue }
          matched[target, default: []].insert(cell)
        }
      }
    }
    func isOwn(_ target: Target) -> Bool {
      target.table == name
        && base.contents.tables[target.table]?.columns[target.column] == newName
    }
    let best = matched.max { a, b in
      let (left, right) = (a.value.count, b.value.count)
      guard left == right, isOwn(a.key) == isOwn(b.key) else {
        return left == right ? isOwn(b.key) : left < right
      }
      return (b.key.table, b.key.column) < (a.key.table, a.key.column)
    }
    let values = best.map { Set($0.value.map(oldValue)) } ?? []
    let alike = values.count > 1 ? best?.value ?? [] : []
    let gone = cells.filter { !exact.contains($0) && !alike.contains($0) }
    let place = best.flatMap { target, cells -> Destination? in
      guard cells.count == exact.union(alike).count,
        let table = base.contents.tables[target.table],
        table.columns.indices.contains(target.column)
      else { return nil }
      return .column(table: table.name, column: table.columns[target.column].text)
    }
    return (gone, place)
  }

  /// Another column of the table that now contains these values instead of its own. A column of few
  /// values has no marks, so that `missing` does not find values that changed places.
  private func exchange(
    _ cells: [Cell], in filled: FilledDatabase.Table, after name: Identifier?, than own: Identifier
  ) -> Destination? {
    guard let name, let after = base.contents.tables[name], Set(cells.map(oldValue)).count > 1
    else {
      return nil
    }
    func remain(_ cells: [Cell], at column: Int) -> Bool {
      cells.allSatisfy { cell in
        descendants(of: cell, in: name).contains {
          $0.table == name && after.rows[$0.row][column].isSame(as: oldValue(cell))
        }
      }
    }
    for (index, column) in filled.shape.columns.enumerated() where column.key != own {
      guard let target = after.index(of: column.key), remain(cells, at: target) else { continue }
      let others = cells.map { Cell(table: $0.table, row: $0.row, column: index) }
      if !remain(others, at: target) {
        return .column(table: after.name, column: after.columns[target].text)
      }
    }
    return nil
  }

  /// Whether a row after the step has a key that its table did not contain before.
  private func isAdded(_ place: Cell) -> Bool {
    guard let filled = database.tables[place.table],
      let after = base.contents.tables[place.table], let key = keyColumns(of: filled, in: after)
    else { return false }
    let now = after.rows[place.row]
    return !filled.rows.contains { row in
      key.allSatisfy { now[$1].isSame(as: row.cells[$0]) }
    }
  }

  /// The rows after the step that come from the cell's row, as cells of their first column. They
  /// hold a mark of another column of the row.
  private func descendants(of cell: Cell, in name: Identifier?) -> [Cell] {
    let count = database.tables[cell.table]?.rows[cell.row].cells.count ?? 0
    var places: Set<Cell> = []
    for column in 0..<count where column != cell.column {
      for mark in ownMarks(Cell(table: cell.table, row: cell.row, column: column)) {
        for place in self.places(of: mark) {
          places.insert(Cell(table: place.table, row: place.row, column: 0))
        }
      }
    }
    if places.isEmpty, let name, isFound(cell.table, cell.row, in: name),
      let after = base.contents.tables[name], let filled = database.tables[cell.table]
    {
      // The row has no mark of its own: it consists only of keys of other tables.
      let columns = filled.shape.columns.map { after.index(of: $0.key) }
      let cells = filled.rows[cell.row].cells
      for (row, now) in after.rows.enumerated()
      where zip(columns, cells).allSatisfy({ column, value in
        column.map { now[$0].isSame(as: value) } ?? false
      }) {
        places.insert(Cell(table: name, row: row, column: 0))
      }
    }
    return Array(places)
  }

  /// The rows after the step with the primary key of the cell's row, as cells of their first column.
  private func rows(withKeyOf cell: Cell, in name: Identifier?) -> [Cell] {
    guard let name, let after = base.contents.tables[name],
      let filled = database.tables[cell.table], let key = keyColumns(of: filled, in: after),
      key.allSatisfy({ $0.after != after.numberedKey })
    else { return [] }
    let cells = filled.rows[cell.row].cells
    return after.rows.indices.filter { row in
      key.allSatisfy { after.rows[row][$1].isSame(as: cells[$0]) }
    }.map { Cell(table: name, row: $0, column: 0) }
  }

  /// Whether the table has the column after the step.
  func exists(_ column: Identifier, in name: Identifier?) -> Bool {
    name.flatMap { base.contents.tables[$0]?.index(of: column) } != nil
  }

  /// Whether the cell contains a key of another table, and its row has NULL in the column after the
  /// step and the key in no other column.
  /// A key without a parent does not count if the column gets a foreign key, which would refuse the key.
  func isCleared(_ cell: Cell, in name: Identifier?, as newName: Identifier) -> Bool {
    let value = oldValue(cell)
    guard let keys = keys(for: cell), isNull(cell, in: name, as: newName),
      keys.contains(value)
        || name.flatMap(shapeAfter)?.foreignKeys.contains(where: { $0.columns == [newName] })
          != true
    else { return false }
    return !descendants(of: cell, in: name).contains { place in
      base.contents.tables[place.table]?.rows[place.row].contains { $0.isSame(as: value) } ?? false
    }
  }

  /// Whether the cell's row has NULL in the column after the step.
  func isNull(_ cell: Cell, in name: Identifier?, as newName: Identifier) -> Bool {
    let values = valuesAfter(cell, in: name, as: newName)
    return !values.isEmpty && values.allSatisfy { $0 == .null }
  }

  /// The values of the column after the step in the rows that come from the cell's row.
  func valuesAfter(_ cell: Cell, in name: Identifier?, as newName: Identifier) -> [Value] {
    guard let name, let after = base.contents.tables[name], let column = after.index(of: newName)
    else { return [] }
    return descendants(of: cell, in: name).filter { $0.table == name }.map {
      after.rows[$0.row][column]
    }
  }

  // MARK: Runs with other values

  func setting(_ cell: Cell, to value: Value) -> Experiment.Change? {
    guard let table = database.tables[cell.table] else { return nil }
    return .set(
      table: table.shape.name, address: table.rows[cell.row].address,
      column: table.shape.columns[cell.column].name, value: value)
  }

  /// Whether other rows refer to the cell.
  func isShared(_ cell: Cell) -> Bool {
    marks(of: cell).contains { mark in
      (origins[mark] ?? []).contains { $0 != cell && isReference($0) }
    }
  }

  /// The keys that the column may refer to; nil if it does not refer to a table. A key that is only joined with
  /// another table may also have other values.
  func keys(for cell: Cell) -> [Value]? {
    guard let table = database.tables[cell.table] else { return nil }
    let column = table.shape.columns[cell.column]
    for reference in database.references[cell.table] ?? []
    where !(reference.isOptional && column.isInKey) {
      guard let place = reference.columns.firstIndex(of: column.key),
        let parent = database.tables[reference.parent],
        let index = parent.index(of: reference.parentColumns[place])
      else { continue }
      return parent.rows.map { $0.cells[index] }.filter { $0 != .null }
    }
    return nil
  }

  enum Effect {
    case none, values, rows, unknown
  }

  /// The effect of a run with another value.
  func effect(of outcome: Experiment.Outcome?) -> Effect {
    guard let outcome else { return .unknown }
    if outcome.contents.digest == base.contents.digest { return .none }
    return outcome.contents.rowCount == base.contents.rowCount ? .values : .rows
  }

  /// The cells whose rows differ after a run with other values in `cells`. Nil if the number of rows
  /// differs, if another row differs, or if two cells share a row.
  func changed(_ cells: [Cell], of name: Identifier?, in contents: Contents) -> Set<Cell>? {
    guard contents.rowCount == base.contents.rowCount else { return nil }
    let places = base.contents.rows(notIn: contents)
    var (changed, known): (Set<Cell>, Set<Cell>) = ([], [])
    for cell in cells {
      var own = descendants(of: cell, in: name)
      if own.isEmpty { own = rows(withKeyOf: cell, in: name) }
      own.removeAll { !places.contains($0) }
      guard known.isDisjoint(with: own) else { return nil }
      if !own.isEmpty { changed.insert(cell) }
      known.formUnion(own)
    }
    return known == places ? changed : nil
  }
}

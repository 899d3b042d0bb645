import SchemaHistory
import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The outcome of a step for the rows and columns of one table.
struct TableOutcome {
  let judge: LossJudge
  let table: FilledDatabase.Table
  /// The table's name after the step; nil if the step drops it.
  let name: Identifier?
  /// The lost rows, and the rows that disappeared but influenced others.
  let lost: [Int]
  let traces: [Int]
  /// Whether the step loses every row. False if its text joins tables, because generated rows may lack the
  /// partners that a join requires.
  var losesAll: Bool

  init(
    _ judge: LossJudge, _ table: FilledDatabase.Table, after name: Identifier?
  ) throws(Failure) {
    self.judge = judge
    self.table = table
    self.name = name
    // `drop-table` reports that all rows are lost if nothing can copy them.
    let isLost = name == nil && !judge.mayCopy
    (lost, traces) = try isLost ? ([], []) : judge.lostRows(of: table.shape.key, after: name)
    losesAll = lost.count == table.rows.count && !judge.text.joinsTables
  }

  /// The condition under which the rows are lost: a join finds no partner for them.
  var unmatched: Loss.Condition? {
    for reference in judge.database.references[table.shape.key] ?? []
    where reference.isOptional && reference.parent != table.shape.key {
      guard let index = table.index(of: reference.columns[0]),
        let parent = judge.database.tables[reference.parent]
      else { continue }
      let cells = lost.map { LossJudge.Cell(table: table.shape.key, row: $0, column: index) }
      if cells.contains(where: { judge.oldValue($0) != .null }),
        cells.allSatisfy({ judge.keys(for: $0)?.contains(judge.oldValue($0)) == false })
      {
        return .unmatched(column: table.shape.columns[index].name, in: parent.shape.name)
      }
    }
    return nil
  }

  func verdict(
    on column: DeviceTable.Column, as newName: Identifier
  ) throws(Failure) -> LossJudge.Verdict {
    let verdict = try judge.verdict(
      on: column, of: table.shape.key, without: lost + traces, after: name, as: newName)
    // The sum in another table does not hold the values of a column that still exists.
    if case .kept(.elsewhere) = verdict, lost.isEmpty, traces.isEmpty,
      judge.exists(newName, in: name), !judge.experiment.hasSpentBudget,
      try judge.keepsOnlySum(of: column, in: table)
    {
      return .lost(marked(column.key), isAll: true)
    }
    return verdict
  }

  func destination(
    of column: DeviceTable.Column, as newName: Identifier
  ) throws(Failure) -> Destination? {
    switch try verdict(on: column, as: newName) {
    case .kept(let destination): destination
    // The column is dropped, so that its narrowed values are in another column.
    case .narrowed(_, let a, let b) where !judge.exists(newName, in: name):
      .narrowed(a.literal(besides: b), b.literal(besides: a))
    case .narrowed, .lost, .moved, .unknown, .untried, .skipped: nil
    }
  }

  /// Those of the columns whose values are in other tables, if the result is the same after two rows
  /// exchange them.
  func detached(of columns: [DeviceTable.Column]) throws(Failure) -> [DeviceTable.Column] {
    guard name != nil else { return [] }
    let indexes = columns.compactMap { table.index(of: $0.key) }
    let rows = table.rows.indices.filter { row in
      !lost.contains(row) && !traces.contains(row)
        && indexes.allSatisfy {
          !judge.ownMarks(.init(table: table.shape.key, row: row, column: $0)).isEmpty
        }
    }.prefix(2)
    guard let first = rows.first, let second = rows.last, first != second else { return [] }
    var moved: [DeviceTable.Column] = []
    var changes: [Experiment.Change?] = []
    for column in columns {
      let cells = [first, second].compactMap { row in
        table.index(of: column.key).map {
          LossJudge.Cell(table: table.shape.key, row: row, column: $0)
        }
      }
      let isElsewhere = cells.allSatisfy { cell in
        let places = judge.ownMarks(cell).flatMap(judge.places)
        return !places.isEmpty && places.allSatisfy { $0.table != name }
      }
      guard isElsewhere, let a = cells.first, let b = cells.last else { continue }
      let (old, new) = (judge.oldValue(a), judge.oldValue(b))
      if table.shape.uniques.contains(where: { $0.contains(column.key) }) {
        changes.append(judge.setting(a, to: old.different))
      }
      changes += [judge.setting(b, to: old), judge.setting(a, to: new)]
      moved.append(column)
    }
    let outcome = try moved.isEmpty ? nil : judge.experiment.run(changes.compactMap(\.self))
    return judge.effect(of: outcome) == .none ? moved : []
  }

  /// The other column of the table that now contains the values. It existed before the step and had
  /// values of its own.
  func otherColumn(_ destination: Destination, than column: Identifier) -> String? {
    guard case .column(let place, let other) = destination, place.identifier == name,
      other.identifier != column, table.shape.column(other) != nil
    else { return nil }
    return other
  }

  /// The marked cells of a column in rows that exist after the step.
  func marked(_ column: Identifier) -> [LossJudge.Cell] {
    guard let index = table.index(of: column) else { return [] }
    return table.rows.indices.filter { !lost.contains($0) && !traces.contains($0) }
      .map { LossJudge.Cell(table: table.shape.key, row: $0, column: index) }
      .filter { !MarkMaker.numbers(in: judge.oldValue($0)).isEmpty }
  }

  func loss(
    _ kind: Loss.Kind, of column: DeviceTable.Column? = nil, at place: StatementPlace
  ) -> Loss {
    Loss(kind, at: place, of: table.shape.name, column: column?.name)
  }
}

extension TableOutcome {
  /// Whether the step changes, adds or removes values in the columns that keep their types.
  fileprivate func rewritesRows(_ change: TableChange) -> Bool {
    guard let after = name.flatMap({ judge.base.contents.tables[$0] }) else { return false }
    let kept = change.keptColumns.filter { $0.old.affinity == $0.new.affinity }.compactMap {
      column in
      table.index(of: column.old.key).flatMap { old in
        after.index(of: column.new.key).map { (old: old, new: $0) }
      }
    }
    func counts(_ rows: [[Value]]) -> [[Value]: Int] {
      Dictionary(rows.map { ($0, 1) }, uniquingKeysWith: +)
    }
    return counts(table.rows.map { row in kept.map { row.cells[$0.old] } })
      != counts(after.rows.map { row in kept.map { row[$0.new] } })
  }
}

extension LossEvidence {
  /// Records the values that a changed table refuses or converts, and whether a rebuild changes rows.
  mutating func note(_ change: TableChange, _ outcome: TableOutcome) throws(Failure) {
    let (judge, table) = (outcome.judge, outcome.table)
    let key = Key(migration: change.migration, table: table.shape.key)
    for column in table.shape.primaryKey where try judge.failsOnNull(in: column, of: table) {
      refusesNull.insert(.init(migration: key.migration, table: key.table, column: column.key))
    }
    if change.becomesStrict, try judge.convertsTypes(in: table) { converted.insert(key) }
    if change.isRebuilt, outcome.rewritesRows(change) { rewritten.insert(key) }
  }
}

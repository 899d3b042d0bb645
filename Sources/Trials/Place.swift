import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Finds the statement that loses a value.
struct Place {
  let timeline: Timeline
  let migration: Int
  let outcome: TableOutcome
  private var judge: LossJudge { outcome.judge }
  /// The table's names before, during and after the step.
  let names: Set<Identifier>

  init(timeline: Timeline, migration: Int, outcome: TableOutcome) {
    (self.timeline, self.migration, self.outcome) = (timeline, migration, outcome)
    let names = [outcome.table.shape.key, outcome.name].compactMap { $0 }
    let renamed = timeline.changes.filter(\.isRenamed)
    self.names = reached(from: names) { name in
      renamed.filter { $0.before?.key == name }.compactMap(\.after?.key)
    }
  }

  /// The statement that loses the rows. Nil if the manifest deletes rows of the table explicitly,
  /// or if the operation states that rows may be lost.
  func ofRows() throws(Failure) -> StatementPlace? {
    let (rows, table) = (outcome.lost, outcome.table.shape.key)
    let marks = judge.marks(of: rows, in: table)
    let (columns, all) = (outcome.table.shape.primaryKey, outcome.table.rows)
    let key = columns.count == 1 ? outcome.table.index(of: columns[0].key) : nil
    let keys = Set(key.map { key in rows.map { all[$0].cells[key] } } ?? [])
    let step = try last([], [judge.removing(rows, of: table)]) { column, value in
      // A copy of another row has no other mark of its own than its key.
      !marks.isDisjoint(with: MarkMaker.numbers(in: value))
        || column == columns.first?.key && keys.contains(value)
    }
    guard let step else { return fallback }
    // An UPDATE without a conflict clause changes rows, and another statement deletes them.
    let isExplicit = writesTable(step) && (deletes(step) || !replaces(step))
    guard !isExplicit, !consents(step), try deletedRows() < rows.count else { return nil }
    return place(of: step)
  }

  /// The statement that loses the values. Nil if the manifest overwrites the column, or explicitly deletes the
  /// rows with their keys.
  ///
  /// - Parameters:
  ///   - column: the name of the cells' column in the statements.
  ///   - equal: two values that become equal; nil if the step loses the cells' own values.
  func ofCells(
    _ cells: [LossJudge.Cell], _ column: Identifier, equal: (Value, Value)? = nil
  ) throws(Failure) -> StatementPlace? {
    let values = cells.map(judge.oldValue)
    let one = cells.compactMap { judge.setting($0, to: equal?.0 ?? judge.oldValue($0)) }
    let two =
      if let equal {
        [cells.compactMap { judge.setting($0, to: equal.1) }]
      } else {
        // A CHECK may accept only values of other rows.
        [
          cells.compactMap { judge.setting($0, to: judge.oldValue($0).different) },
          cells.compactMap { cell in judge.otherValue(cell).flatMap { judge.setting(cell, to: $0) }
          },
        ]
      }
    guard !cells.isEmpty,
      let step = try last(one, two, orHolding: { $0 == column && values.contains($1) })
    else { return overwrites(column) ? nil : fallback }
    let deletesKeys =
      writesTable(step) && deletes(step) && outcome.table.shape.column(column)?.isInKey ?? false
    return updates(step, column, of: cells) || deletesKeys || keepsOnlyKeys(step, of: cells)
      ? nil : place(of: step)
  }

  /// The statement after which two runs no longer differ. If no statement has this effect, the
  /// statement after the last one that leaves a cell for which `fits` is true.
  ///
  /// - Parameter others: the changes of the second run; the first ones that the database accepts.
  private func last(
    _ changes: [Experiment.Change], _ others: [[Experiment.Change]],
    orHolding fits: (Identifier, Value) -> Bool
  ) throws(Failure) -> Experiment.Step? {
    if let one = try judge.experiment.run(changes, tracing: true) {
      for other in others {
        guard let two = try judge.experiment.run(other, tracing: true),
          one.steps.count == two.steps.count
        else { continue }
        let index =
          one.steps.indices.last { one.steps[$0].contents.digest != two.steps[$0].contents.digest }
          ?? -1
        if one.steps.indices.contains(index + 1) { return one.steps[index + 1] }
        break
      }
    }
    let steps = try judge.experiment.run(tracing: true)?.steps ?? []
    let last = steps.lastIndex { step in
      names.contains { name in
        guard let table = step.contents.tables[name] else { return false }
        return table.rows.contains { zip(table.columns, $0).contains(where: fits) }
      }
    }
    return steps.dropFirst(last.map { $0 + 1 } ?? 0).first
  }

  private var fallback: StatementPlace? {
    timeline.statements(in: migration).last?.place
  }

  func place(of step: Experiment.Step) -> StatementPlace? {
    let statements = timeline.statements(in: step.migration).filter {
      $0.place.operation == step.statement.operation
    }
    return
      (statements.first {
        $0.place.position == step.statement.position && $0.sql == step.statement.sql
      } ?? statements.last { $0.place.position == step.statement.position } ?? statements.last)?
      .place ?? fallback
  }

  // MARK: Explicit changes of a step

  private func operation(_ step: Experiment.Step) -> Operation? {
    timeline.migrations.operation(step.statement.operation, of: step.migration)
  }

  private func isWritten(_ operation: Operation?) -> Bool {
    switch operation?.kind {
    case .sql?, .update?, .delete?, .insert?: true
    default: false
    }
  }

  /// Whether an operation states that rows may be lost.
  private func consents(_ step: Experiment.Step) -> Bool {
    guard case .rebuildTable(let rebuild)? = operation(step)?.kind else { return false }
    return rebuild.rowsMayBeLost
  }

  /// Whether SQL of the manifest, or an `insert`, `update` or `delete`, writes to the table. Writes
  /// by foreign key actions follow the statement's own events.
  private func writesTable(_ step: Experiment.Step) -> Bool {
    // If the statement writes to a view, the view's trigger writes to the table.
    let first = step.statement.events.first { event in
      [.insert, .update, .delete].contains(event.action) && event.database == "main"
        && event.first.map { step.contents.tables[$0.identifier] != nil } ?? false
    }
    return isWritten(operation(step)) && names.contains(first?.first?.identifier ?? "")
      && !step.statement.events.contains { $0.action == .dropTable }
  }

  /// The number of rows that statements of the manifest delete from the table.
  private func deletedRows() throws(Failure) -> Int {
    var (count, deleted) = (outcome.table.rows.count, 0)
    for step in try judge.experiment.run(tracing: true)?.steps ?? [] {
      guard let now = step.contents.tables[outcome.table.shape.key]?.rows.count else { continue }
      if writesTable(step), deletes(step) { deleted += count - now }
      count = now
    }
    return deleted
  }

  /// Whether the manifest deletes the rows of the cells explicitly, and only their keys remain in other tables,
  /// for example in a log.
  private func keepsOnlyKeys(_ step: Experiment.Step, of cells: [LossJudge.Cell]) -> Bool {
    guard writesTable(step), deletes(step) else { return false }
    return cells.allSatisfy { cell in
      let places = outcome.table.shape.columns.enumerated().flatMap { index, column in
        judge.ownMarks(.init(table: cell.table, row: cell.row, column: index))
          .flatMap(judge.places).map { (table: $0.table, isOfKey: column.isInKey) }
      }
      return !places.isEmpty && places.allSatisfy { $0.isOfKey && $0.table != outcome.name }
    }
  }

  /// Whether the statement deletes rows of the table.
  private func deletes(_ step: Experiment.Step) -> Bool {
    step.statement.events.contains { event in
      event.action == .delete && names.contains(event.first?.identifier ?? "")
    }
  }

  /// Whether a conflict clause of the statement or of the table can delete rows.
  private func replaces(_ step: Experiment.Step) -> Bool {
    let sql = TokenizedSQL(step.statement.sql)
    let replacesByTable = names.contains { name in
      judge.schemaAfter.table(name)?.tokens.mentions("replace") ?? false
    }
    return replacesByTable || WritingStatement(sql)?.replaces(sql) ?? false
  }

  /// Whether the manifest overwrites the column explicitly.
  private func overwrites(_ column: Identifier) -> Bool {
    timeline.statements(in: migration).contains { statement in
      isWritten(timeline.operation(statement.place))
        && names.contains(statement.target?.name.identifier ?? "")
        && statement.target?.updates.contains(column) ?? false
    }
  }

  /// The trigger that writes the column when the statement runs.
  func trigger(of statement: StatementPlace, writing column: Identifier) -> String? {
    timeline.statement(at: statement)?.events.first { event in
      event.action == .update && event.trigger != nil && event.second?.identifier == column
        && names.contains(event.first?.identifier ?? "")
    }?.trigger
  }

  /// Whether the statement writes the column, or a trigger that it fires writes another value than NULL and the
  /// time. Such a trigger maintains, for example, the number of rows of another table.
  func updates(
    _ step: Experiment.Step, _ column: Identifier, of cells: [LossJudge.Cell]
  ) -> Bool {
    let isMaintained = cells.contains { cell in
      judge.valuesAfter(cell, in: outcome.name, as: column).contains {
        $0 != .null && !$0.isOfFixedClock
      }
    }
    let isWritten = isWritten(operation(step))
    let writesTable = writesTable(step)
    return step.statement.events.contains { event in
      guard names.contains(event.first?.identifier ?? "") else { return false }
      return event.action == .update && event.second?.identifier == column
        && (event.trigger == nil ? writesTable : isMaintained && isWritten)
        || event.trigger == nil && event.action == .insert && writesTable
          && TokenizedSQL(step.statement.sql).insertsColumn(column)
    }
  }
}

extension TokenizedSQL {
  /// Whether an INSERT sets the column: its list names it, or it has no list.
  fileprivate func insertsColumn(_ column: Identifier) -> Bool {
    guard let statement = WritingStatement(self), statement.kind == .insert else { return false }
    return statement.columns.isEmpty || statement.columns.contains { $0.text.identifier == column }
  }
}

extension Value {
  /// A different value of the same type.
  var different: Value {
    switch self {
    case .null: .null
    case .integer: 8_300_001
    case .real: .real(8_300_001.5)
    case .text: "Zebra 8300001"
    case .blob: .blob([8, 3])
    }
  }
}

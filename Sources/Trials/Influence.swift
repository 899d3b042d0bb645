import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Determines how a column's values influence the database after a step, by running the step with
/// other values.
struct Influence {
  let judge: LossJudge
  let column: DeviceTable.Column
  let table: FilledDatabase.Table
  /// The names of the table and the column after the step.
  let name: Identifier?
  let newName: Identifier
  /// Whether the step loses rows, which explains that keys become equal.
  let losesRows: Bool

  /// - Parameter gone: the column's cells whose values no longer exist unchanged.
  func verdict(
    on gone: [LossJudge.Cell], of cells: [LossJudge.Cell]
  ) throws(Failure) -> LossJudge.Verdict {
    // Exclude keys that other rows refer to: a change would affect those rows, too. The step has to convert
    // values that a new CHECK forbids.
    var free: [LossJudge.Cell] = []
    for cell in gone where !isKeyOfOthers(cell) {
      let isForbidden = try judge.experiment.forbids(
        judge.oldValue(cell), in: column.name, of: table.shape.name,
        at: table.rows[cell.row].address)
      if !isForbidden { free.append(cell) }
    }
    guard !free.isEmpty else {
      return gone.allSatisfy(isKeyOfOthers) ? .unknown : .kept(.elsewhere)
    }
    if isNewRandomKey(cells) { return .kept(.elsewhere) }
    // The step clears these keys: it deletes their parents (ON DELETE SET NULL), or a LEFT JOIN finds no
    // parent.
    let cleared = free.filter { judge.isCleared($0, in: name, as: newName) }
    if !cleared.isEmpty { return .lost(cleared, isAll: cleared.count == cells.count) }
    if !judge.exists(newName, in: name), !judge.mayCopy {
      return .lost(free, isAll: free.count == cells.count)
    }
    guard !judge.experiment.hasSpentBudget else { return .skipped }
    guard let (mapped, unchanged) = try effects(of: free) else {
      return free.count < gone.count ? .kept(.elsewhere) : .untried
    }
    if try isPosition(free) { return .kept(.elsewhere) }
    if let narrowed = try narrowing(mapped, unchanged, isExact: gone.count < cells.count) {
      return narrowed
    }
    // A function that expects JSON ignores the other marks, so that their loss proves nothing.
    if mapped.contains(where: { isObject(table.rows[$0.row].kind) }) { return .kept(.elsewhere) }
    if let narrowed = try clearing(mapped) { return narrowed }
    // A row of a dropped table that contains only keys stores no data of its own.
    let lost = unchanged.filter { name != nil || mapped.isEmpty || !isReferenceOfEmptyRow($0) }
    guard !lost.isEmpty else { return .kept(.elsewhere) }
    if let narrowed = try range(lost) { return narrowed }
    if try isListOfValues(lost) { return try unnamed(lost[0]) ?? .kept(.elsewhere) }
    if mapped.allSatisfy(isDate), let verdict = try form(lost) { return verdict }
    return .lost(lost, isAll: lost.count == cells.count)
  }

  private func isKeyOfOthers(_ cell: LossJudge.Cell) -> Bool {
    judge.keys(for: cell) == nil && column.isInKey && judge.isShared(cell)
  }

  private func isReferenceOfEmptyRow(_ cell: LossJudge.Cell) -> Bool {
    judge.keys(for: cell) != nil
      && zip(table.shape.columns, table.rows[cell.row].cells).allSatisfy { other, value in
        other.key == column.key || other.isInKey || value == .null
      }
  }

  /// Whether the step gives the rows random keys of another type and, if a foreign key refers to the table,
  /// also updates the rows that refer to them. New keys are a finding of `primary-key-change`.
  private func isNewRandomKey(_ cells: [LossJudge.Cell]) -> Bool {
    guard column.isInKey, let name, let new = judge.shapeAfter(name)?.column(newName),
      new.isInteger != (column.affinity == .integer)
    else { return false }
    let keys = cells.flatMap { judge.valuesAfter($0, in: name, as: newName) }
    let isReferredTo = judge.schemaAfter.tables.compactMap(TableShape.init).contains { table in
      table.foreignKeys.contains { $0.parent.identifier == name }
    }
    return keys.contains { isReferredTo ? $0.isNameOfSharedRandom : $0.isNameOfRandom }
  }

  /// Whether the step numbers the rows again in the order of the column: the numbers of other rows change, too.
  /// Only the name distinguishes a position, whose numbers have no other meaning, from a price.
  private func isPosition(_ cells: [LossJudge.Cell]) throws(Failure) -> Bool {
    guard isNumeric, !column.isInKey, let name, let after = judge.base.contents.tables[name],
      let index = after.index(of: newName), newName.isNameOfPosition
    else { return false }
    let numbers = after.rows.map { $0[index].whole ?? -1 }
    // Apps leave gaps between positions, as in `1024 * row_number()`.
    let gap = max(1, numbers.filter { $0 > 0 }.min() ?? 1)
    let isSpaced = numbers.allSatisfy { $0 >= 0 && $0 % gap == 0 && $0 / gap <= numbers.count }
    guard isSpaced else { return false }
    for cell in cells.prefix(6) {
      guard let first = try outcome(-1, cell)?.tables[name]?.rows,
        let last = try outcome(1_099_519_827_777, cell)?.tables[name]?.rows
      else { continue }
      if Set(first).subtracting(last).count > 1 { return true }
    }
    return false
  }

  // MARK: Other values

  /// The cells whose values influence the result, and the cells whose values do not. A cell whose
  /// value only selects the row is in neither list: this does not show whether the value itself
  /// survives. Nil if a column outside the key accepts no other value, or if every run fails.
  private func effects(
    of cells: [LossJudge.Cell]
  ) throws(Failure) -> (mapped: [LossJudge.Cell], lost: [LossJudge.Cell])? {
    if let all = try others(in: cells) {
      if all.digest == judge.base.contents.digest { return ([], cells) }
      if let mapped = judge.changed(cells, of: name, in: all) {
        // Each value influences only its own rows if every second value does.
        let half = cells.indices.filter { $0 % 2 == 0 }.map { cells[$0] }
        let rest = cells.filter { !mapped.contains($0) }
        if let contents = try others(in: half),
          judge.changed(cells, of: name, in: contents) == mapped.intersection(half),
          try others(in: rest)?.digest == judge.base.contents.digest
        {
          return (cells.filter(mapped.contains), rest)
        }
      }
    }
    var (mapped, lost): ([LossJudge.Cell], [LossJudge.Cell]) = ([], [])
    var isTried = false
    for cell in cells {
      let effect = judge.effect(of: try varied(cell))
      if effect == .none { lost.append(cell) }
      if effect == .values { mapped.append(cell) }
      if effect != .unknown { isTried = true }
    }
    return isTried || column.isInKey ? (mapped, lost) : nil
  }

  /// The contents after a run with other values in all the cells.
  private func others(in cells: [LossJudge.Cell]) throws(Failure) -> Contents? {
    try judge.experiment.run(cells.compactMap { judge.setting($0, to: other(than: $0)) })?.contents
  }

  /// The outcome with another value; nil if the column accepts none of the tested values.
  private func varied(_ cell: LossJudge.Cell) throws(Failure) -> Experiment.Outcome? {
    let first = other(than: cell)
    for value in [first] + others(than: cell).filter({ $0 != first }).prefix(8) {
      guard let change = judge.setting(cell, to: value) else { return nil }
      if let outcome = try judge.experiment.run([change]) { return outcome }
    }
    return nil
  }

  private func other(than cell: LossJudge.Cell) -> Value {
    others(than: cell).first ?? .null
  }

  private func others(than cell: LossJudge.Cell) -> [Value] {
    let old = judge.oldValue(cell)
    if let keys = judge.keys(for: cell) {
      let start = cell.row
      return keys.indices.map { keys[($0 + start) % keys.count] }.filter { $0 != old }
    }
    // Values of other rows satisfy the same CHECKs.
    let known = table.rows.map { $0.cells[cell.column] }.filter { $0 != old && $0 != .null }
    let number = 8_100_000 + Int64(cell.row)
    let isFree = !MarkMaker.numbers(in: old).isEmpty
    let new: Value =
      switch old {
      case .integer: .integer(number)
      case .real: .real(Double(number) + 0.625)
      case .text(let text):
        .text(text.utf8.allSatisfy { (48...57).contains($0) } ? "00\(number)" : "Zebra \(number)")
      case .blob: .blob(Array("\u{4}\(number)".utf8))
      case .null: .null
      }
    let isUnique = table.shape.uniques.contains { $0.contains(column.key) }
    // In a unique column, a CHECK may refuse the new value.
    let similar = isUnique ? old.text.map { [Value.text($0 + "?b")] } ?? [] : []
    return isFree || column.isInKey || isUnique ? [new] + similar + known : known + [new]
  }

  // MARK: Lists of values

  /// Whether the step distinguishes between the values that it names, as a CASE does. In a numeric
  /// column, 0 and 1 count as named.
  private func isListOfValues(_ lost: [LossJudge.Cell]) throws(Failure) -> Bool {
    var values = judge.text.literals(of: [column.key])
    if isNumeric { values += [0, 1] }
    guard let cell = lost.first, values.count > 1 else { return false }
    let isReduced = isReduced(cell)
    var outcomes: Set = isReduced ? [judge.base.contents.digest] : []
    for value in values {
      if let outcome = try outcome(value, cell) { outcomes.insert(outcome.digest) }
    }
    return outcomes.count > (isReduced ? 2 : 1)
  }

  /// A verdict if two values of the column's CHECK that the list does not name become equal.
  private func unnamed(_ cell: LossJudge.Cell) throws(Failure) -> LossJudge.Verdict? {
    let values = (table.hints[column.key] ?? []).filter { isOfKind($0) && !judge.text.names($0) }
    return try compared(Array(values.prefix(4)), in: cell).equal.map { .narrowed(cell, $0, $1) }
  }

  /// Whether the column keeps its name and its kind of values, and is not a flag. Then two
  /// different results, as of `n <> 0`, are not enough for a list of values.
  private func isReduced(_ cell: LossJudge.Cell) -> Bool {
    let isSame =
      name == table.shape.key && newName == column.key
      && judge.shapeAfter(table.shape.key)?.column(newName)?.affinity == column.affinity
    return !column.isFlag && isSame && table.rows[cell.row].kind.isMarked
      && judge.valuesAfter(cell, in: name, as: newName).allSatisfy(isOfKind)
  }

  /// Whether the value is NULL or of the column's kind: a number or not.
  private func isOfKind(_ value: Value) -> Bool {
    value == .null || (value.text == nil) == isNumeric
  }

  /// A verdict if the step parses dates, JSON or similar formats, which marks do not have.
  private func form(_ lost: [LossJudge.Cell]) throws(Failure) -> LossJudge.Verdict? {
    guard let cell = lost.first, [.text, .blob, .numeric].contains(column.affinity) else {
      return nil
    }
    // One run with different values in many rows mostly shows that none of them has an effect.
    let all = Value.formats.flatMap { $0 }
    let changes = zip(lost, all).compactMap { judge.setting($0, to: $1) }
    if changes.count == all.count, judge.effect(of: try judge.experiment.run(changes)) == .none {
      return nil
    }
    for values in Value.formats {
      let (equal, outcomes) = try compared(values, in: cell)
      if outcomes > 1 { return equal.map { .narrowed(cell, $0, $1) } ?? .kept(.elsewhere) }
    }
    return nil
  }

  /// A verdict if small or short values that the step does not name remain distinct while marks
  /// become equal: `min(n, 100)`.
  private func range(_ lost: [LossJudge.Cell]) throws(Failure) -> LossJudge.Verdict? {
    guard let cell = lost.first, judge.keys(for: cell) == nil, !column.isInKey,
      table.rows[cell.row].kind.isMarked
    else { return nil }
    let small: [Value] = isNumeric ? [-3, 2, 3, 5, 6, 11, 14] : ["Fig", "Oak", "Elm", "Ash"]
    var outcomes: Set<[Identifier: Int]> = []
    for value in small.filter({ !judge.text.names($0) }).prefix(3) {
      guard let outcome = try outcome(value, cell) else { continue }
      if outcome.rowCount == judge.base.contents.rowCount { outcomes.insert(outcome.digest) }
    }
    return outcomes.count > 1 ? .narrowed(cell, judge.oldValue(cell), other(than: cell)) : nil
  }

  private var isNumeric: Bool { column.takesNumbers }

  // MARK: Narrowing

  /// A verdict if values with a small difference become equal while others do not.
  ///
  /// - Parameters:
  ///   - mapped: the cells whose values influence the result.
  ///   - lost: the cells whose values do not.
  ///   - isExact: whether some cells keep their values.
  private func narrowing(
    _ mapped: [LossJudge.Cell], _ lost: [LossJudge.Cell], isExact: Bool
  ) throws(Failure) -> LossJudge.Verdict? {
    // Marks are multiples of 13 above 7,000,000.
    let objects =
      judge.text.readsJSON(in: column.key)
      ? [(7_500_006, 1), (7_500_006, 2), (7_500_786, 1)].map { mark, rest in
        judge.text.form(of: .integer(mark), for: column.key, rest: rest)
      } : []
    if let cell = (mapped + lost).first(where: { isObject(table.rows[$0.row].kind) }) {
      return try narrowed(objects, in: cell)
    }
    let literals = judge.text.literals(of: [column.key])
    let named = literals.compactMap(\.text)
    let hints = table.hints[column.key]
    guard
      let cell = mapped.first(where: { table.rows[$0.row].kind.isMarked })
        ?? mapped.first(where: { !judge.marks(of: $0).isEmpty })
        ?? mapped.first(where: { cell in
          let old = judge.oldValue(cell)
          return hints != nil || old.text != nil && literals.contains(where: old.isSame)
        }),
      judge.keys(for: cell) == nil, canNarrow
    else { return nil }
    if isDate(cell) || column.holdsTimes { return try narrowed(Value.formats[0], in: cell) }
    // If text keys become equal, the step fails, or it loses rows. Only a key that is too long shows a loss.
    if column.isInKey, column.affinity == .text, !judge.text.ignoresRows, !judge.text.replacesRows {
      return try narrowed([], judge.oldValue(cell).longGroups, in: cell)
    }
    // Two listed values become equal although the step does not name them, as with ELSE.
    if let equal = try unnamed(cell) { return equal }
    var values = judge.oldValue(cell).similar
    // A function of time reads a number as a Julian day, and cuts off fractions of a second.
    if judge.text.readsTimes(in: column.key), case .real = judge.oldValue(cell) {
      values = [7.25, 42.5, -7.5].map(Value.real)
    }
    if judge.text.readsTimes(in: column.key) || column.convertsDigits {
      values.removeAll { $0.text.flatMap { Int($0) } != nil }
    }
    if column.affinity == .text {
      // T and Z are parts of a time.
      for text in named.prefix(2)
      where !["", "T", "Z"].contains(text) && text.utf8.count < 20 {
        values += [.text("Ze\(text)bra"), .text("Zebra\(text)")]
      }
      values += objects
    }
    // Arithmetic rounds large numbers. The new type is the cause only if smaller numbers remain
    // exact.
    if isExact, column.affinity == .integer, case .integer = judge.oldValue(cell) {
      values += [
        9_007_199_254_740_993, 9_007_199_254_740_992, -9_007_199_254_740_993,
        -9_007_199_254_740_992,
      ]
    }
    // A conversion to an integer may change the unit.
    if let after = judge.valuesAfter(cell, in: name, as: newName).first, after.integer == nil,
      column.affinity == .real, !judge.text.readsTimes(in: column.key),
      case .real(let number) = judge.oldValue(cell)
    {
      let start = hints == nil ? 7 : number.rounded(.down)
      values += [0.123_456_6, 0.123_457_4, 0.123456].map { .real(start + $0) }
    }
    if hints != nil { values += judge.oldValue(cell).variants }
    return try narrowed(values, judge.oldValue(cell).longGroups, in: cell)
  }

  /// Whether the values may become equal: a number that is a key only identifies the row.
  private var canNarrow: Bool {
    !column.isInKey || !losesRows && (!column.isRowid || table.shape.primaryKey.count > 1)
  }

  private func isDate(_ cell: LossJudge.Cell) -> Bool {
    if case .dates = table.rows[cell.row].kind { true } else { false }
  }

  private func isObject(_ kind: RowKind) -> Bool {
    if case .members = kind { judge.text.readsJSON(in: column.key) } else { false }
  }

  /// A verdict if a value that the step names becomes NULL in a column that accepted NULL before:
  /// `NULLIF(n, 0)`. The empty text does not count, because it often means NULL already.
  private func clearing(_ mapped: [LossJudge.Cell]) throws(Failure) -> LossJudge.Verdict? {
    let named = judge.text.literals[column.key]?.all ?? []
    for cell in mapped where named.contains(judge.oldValue(cell)) && !column.isInKey {
      guard judge.oldValue(cell) != "", judge.isNull(cell, in: name, as: newName),
        let change = judge.setting(cell, to: .null),
        judge.effect(of: try judge.experiment.run([change])) == .none
      else { continue }
      return .narrowed(cell, judge.oldValue(cell), .null)
    }
    return nil
  }

  private func narrowed(
    _ values: [Value], _ longGroups: [[Value]] = [], in cell: LossJudge.Cell
  ) throws(Failure) -> LossJudge.Verdict? {
    let (equal, outcomes) = try compared(values, longGroups, in: cell)
    guard let equal, outcomes > 1 else { return nil }
    return .narrowed(cell, equal.0, equal.1)
  }

  /// The first two values with the same outcome and an unchanged number of rows, and the number of
  /// different outcomes. Stops when it has found such values and a second outcome.
  ///
  /// - Parameter longGroups: groups of further values; those after the first group that the column accepts are not needed.
  private func compared(
    _ values: [Value], _ longGroups: [[Value]] = [], in cell: LossJudge.Cell
  ) throws(Failure) -> (equal: (Value, Value)?, outcomes: Int) {
    var known: [[Identifier: Int]: Value] = [:]
    var equal: (Value, Value)?
    /// Returns whether the column accepts all the values.
    func compare(_ values: [Value]) throws(Failure) -> Bool {
      var accepted = 0
      for value in values where equal == nil || known.count < 2 {
        guard let outcome = try outcome(value, cell) else { continue }
        accepted += 1
        if let other = known[outcome.digest], other != value,
          outcome.rowCount == judge.base.contents.rowCount
        {
          equal = equal ?? (other, value)
        }
        known[outcome.digest] = known[outcome.digest] ?? value
      }
      return accepted == values.count
    }
    _ = try compare(values)
    for group in longGroups where try compare(group) { break }
    return (equal, known.count)
  }

  private func outcome(_ value: Value, _ cell: LossJudge.Cell) throws(Failure) -> Contents? {
    guard let change = judge.setting(cell, to: value) else { return nil }
    return try judge.experiment.run([change])?.contents
  }
}

import SchemaHistory
import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension LossJudge {
  /// The lost rows of a table, and the rows that disappeared but influenced others. In a dropped table, counts
  /// only rows with values of their own, and pairs of keys.
  func lostRows(
    of table: Identifier, after name: Identifier?
  ) throws(Failure) -> (lost: [Int], traces: [Int]) {
    guard let filled = database.tables[table] else { return ([], []) }
    let missing = filled.rows.indices.filter { row in
      (name != nil || !marks(of: [row], in: table).isEmpty || isPair(row, of: filled))
        && !isMarked(table, row) && !isFound(table, row, in: name)
        && !isReplaced(table, row, in: name)
    }
    guard !missing.isEmpty else { return ([], []) }
    let count = name.flatMap { base.contents.tables[$0]?.rows.count } ?? 0
    // The table has no unrecognised row that a missing row could have become.
    let hasTwin = missing.contains { isTwin($0, in: filled) || isMoved($0, of: filled) }
    if name != nil, !hasTwin, count <= filled.rows.count - missing.count { return (missing, []) }
    if effect(of: try experiment.run(removing(missing, of: table))) == .none {
      return (missing, [])
    }
    var (lost, traces): ([Int], [Int]) = ([], [])
    for row in missing.prefix(Self.mostRows) {
      // Of two equal rows, only one is lost.
      let outcome = try experiment.run(removing(lost + [row], of: table))
      if effect(of: outcome) == .none {
        lost.append(row)
      } else if name.flatMap({ outcome?.contents.tables[$0]?.rows.count }) == count {
        traces.append(row)
      }
    }
    if let twin = try merged(traces, of: table) {
      lost.append(twin)
      traces.removeAll { $0 == twin }
    }
    return (lost, traces)
  }

  /// Whether the row consists of several keys, as in a table that connects two others.
  private func isPair(_ row: Int, of filled: FilledDatabase.Table) -> Bool {
    let cells = filled.rows[row].cells
    return cells.count > 1 && !isTwin(row, in: filled)
      && cells.indices.allSatisfy { column in
        cells[column] != .null
          && keys(for: Cell(table: filled.shape.key, row: row, column: column)) != nil
      }
  }

  /// Whether an earlier row has the same values, so that the step may count both in one row.
  private func isTwin(_ row: Int, in table: FilledDatabase.Table) -> Bool {
    table.rows[..<row].contains { $0.cells == table.rows[row].cells }
  }

  /// The twin of the first row, if the step returns only the sum of their numbers.
  private func merged(_ traces: [Int], of table: Identifier) throws(Failure) -> Int? {
    guard traces.contains(0), let filled = database.tables[table],
      let twin = traces.first(where: { filled.rows[$0].kind == .twin })
    else { return nil }
    for column in filled.shape.columns where try keepsOnlySum(of: column, in: filled) {
      return twin
    }
    return nil
  }

  /// Whether the database after the step depends only on the sum of the column's numbers in two rows.
  func keepsOnlySum(
    of column: DeviceTable.Column, in table: FilledDatabase.Table
  ) throws(Failure) -> Bool {
    guard column.takesNumbers, !column.isInKey, let index = table.index(of: column.key),
      let twin = table.rows.firstIndex(where: { $0.kind == .twin })
    else { return false }
    func contents(_ first: Int64, _ second: Int64) throws(Failure) -> [Identifier: Int]? {
      let changes = [(0, first), (twin, second)].compactMap { row, number in
        setting(Cell(table: table.shape.key, row: row, column: index), to: .integer(number))
      }
      return try experiment.run(changes)?.contents.digest
    }
    guard let sum = try contents(8_200_001, 8_200_004),
      try contents(8_200_002, 8_200_003) == sum
    else { return false }
    return try contents(8_200_001, 8_200_001) != sum
  }

  /// The maximum number of rows that are removed one by one.
  private static let mostRows = 20

  func removing(_ rows: [Int], of table: Identifier) -> [Experiment.Change] {
    guard let filled = database.tables[table] else { return [] }
    return rows.map {
      .remove(table: filled.shape.name, address: filled.rows[$0].address)
    }
  }

  /// The marks of these rows that no other cell holds.
  func marks(of rows: [Int], in table: Identifier) -> Set<Int64> {
    let count = database.tables[table]?.shape.columns.count ?? 0
    return Set(
      rows.flatMap { row in
        (0..<count).flatMap { marks(of: Cell(table: table, row: row, column: $0)) }
      }.filter { origins[$0]?.count == 1 })
  }

  /// Whether a mark of the row exists after the step.
  private func isMarked(_ table: Identifier, _ row: Int) -> Bool {
    let count = database.tables[table]?.rows[row].cells.count ?? 0
    return (0..<count).contains { column in
      ownMarks(Cell(table: table, row: row, column: column)).contains { !places(of: $0).isEmpty }
    }
  }

  /// Whether the table has a row with the same values after the step, even without a mark. If
  /// earlier rows have the same values and the table accepts duplicates, it must have one more row
  /// than those.
  func isFound(_ table: Identifier, _ row: Int, in name: Identifier?) -> Bool {
    guard let filled = database.tables[table],
      let after = name.flatMap({ base.contents.tables[$0] })
    else { return false }
    let columns = filled.shape.columns.enumerated().compactMap { offset, column in
      after.index(of: column.key).map { (offset, $0) }
    }
    guard columns.count == filled.shape.columns.count else { return false }
    let cells = filled.rows[row].cells
    let count = after.rows.count { now in
      columns.allSatisfy { now[$0.1].isSame(as: cells[$0.0]) }
    }
    return count
      > (acceptsTwins(name, of: filled) ? filled.rows[..<row].count { $0.cells == cells } : 0)
  }

  /// Whether another table got a row with the same marks, possibly under another key. It finds rows without
  /// marks of their own.
  private func isMoved(_ row: Int, of filled: FilledDatabase.Table) -> Bool {
    let marked = zip(filled.shape.columns, filled.rows[row].cells).filter {
      !MarkMaker.numbers(in: $0.1).isEmpty
    }
    let others = marked.filter { !$0.0.isInKey }
    let cells = (others.isEmpty ? marked : others).map(\.1)
    func hold(_ rows: [[Value]]) -> Bool {
      rows.contains { now in cells.allSatisfy { cell in now.contains { $0.isSame(as: cell) } } }
    }
    return !cells.isEmpty
      && base.contents.tables.contains { name, table in
        hold(table.rows) && !hold(database.tables[name]?.rows.map(\.cells) ?? [])
      }
  }

  /// Whether REPLACE replaced the row by another row with the same key: the primary key, or in a table without
  /// one a unique key.
  private func isReplaced(_ table: Identifier, _ row: Int, in name: Identifier?) -> Bool {
    guard text.replacesRows, let filled = database.tables[table],
      let after = name.flatMap({ base.contents.tables[$0] })
    else { return false }
    let shape = filled.shape
    let uniques = shape.primaryKey.isEmpty ? shape.uniques.map { $0.compactMap(\.self) } : []
    let keys =
      [keyColumns(of: filled, in: after)]
      + uniques.map { positions(of: $0, in: filled, after) }
    let cells = filled.rows[row].cells
    return keys.contains { key in
      guard let key else { return false }
      return after.rows.contains { now in key.allSatisfy { now[$1].isSame(as: cells[$0]) } }
    }
  }

  /// The positions of the primary key's columns before and after the step; nil without a key.
  func keyColumns(
    of filled: FilledDatabase.Table, in after: Contents.Table
  ) -> [(before: Int, after: Int)]? {
    positions(of: filled.shape.primaryKey.map(\.key), in: filled, after)
  }

  private func positions(
    of columns: [Identifier], in filled: FilledDatabase.Table, _ after: Contents.Table
  ) -> [(before: Int, after: Int)]? {
    let key = columns.compactMap { column in
      after.index(of: column).flatMap { now in
        filled.index(of: column).map { (before: $0, after: now) }
      }
    }
    return key.isEmpty || key.count < columns.count ? nil : key
  }

  /// Whether the table accepts rows with equal values in the old columns after the step, because it has no
  /// key of such columns and no unique index.
  private func acceptsTwins(_ name: Identifier?, of filled: FilledDatabase.Table) -> Bool {
    guard let name, let shape = shapeAfter(name) else { return false }
    let isNewKey = shape.primaryKey?.columns.contains { filled.index(of: $0) == nil } ?? true
    return isNewKey && shape.uniques.isEmpty
      && !schemaAfter.objects(.index, on: name.text).contains { IndexShape($0)?.isUnique ?? false }
  }
}

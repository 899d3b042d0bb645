import SchemaHistory
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// What the values of a column have to do with what a step leaves behind, told from runs with other
/// values.
struct Influence {
  let judge: LossJudge
  let column: DeviceTable.Column
  let table: FilledDatabase.Table

  /// - Parameter gone: those of the column's cells whose values are not there as they were.
  func verdict(
    on gone: [LossJudge.Cell], of cells: [LossJudge.Cell]
  ) throws(Failure) -> LossJudge.Verdict {
    // A key that other rows hold is theirs, too.
    let free = gone.filter { !isKeyOfOthers($0) }
    guard !free.isEmpty else { return .unknown }
    var lost: [LossJudge.Cell] = []
    var mapped: [LossJudge.Cell] = []
    let changes = free.compactMap { judge.setting($0, to: other(than: $0)) }
    if let outcome = try judge.experiment.run(changes),
      outcome.contents.digest == judge.base.contents.digest
    {
      lost = free
    } else {
      for cell in free {
        switch judge.effect(of: try varied(cell)) {
        case .none: lost.append(cell)
        case .values: mapped.append(cell)
        // It decides whether the row comes along; that says nothing of the value.
        case .rows, .unknown: break
        }
      }
    }
    guard !lost.isEmpty else { return try narrowing(mapped) }
    if try isListOfValues(lost, mapped) { return .kept(.elsewhere) }
    if mapped.isEmpty, try hasForm(lost) { return .kept(.elsewhere) }
    return .lost(lost, isAll: lost.count == cells.count)
  }

  private func isKeyOfOthers(_ cell: LossJudge.Cell) -> Bool {
    judge.keys(for: cell) == nil && column.isInKey && judge.isShared(cell)
  }

  // MARK: Other values

  /// The outcome with another value that the column takes.
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
    // Values of other rows pass the same CHECKs.
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
    return isFree ? [new] + known : known + [new]
  }

  // MARK: Lists of values

  /// Whether the step tells some values from others, as a CASE does: those that it names, 0 and 1.
  private func isListOfValues(
    _ lost: [LossJudge.Cell], _ mapped: [LossJudge.Cell]
  ) throws(Failure) -> Bool {
    var values = judge.text.literals(of: [column.key])
    if [.integer, .numeric, .real].contains(column.affinity) { values += [0, 1] }
    guard let cell = lost.first, values.count > 1 else { return false }
    return try tells(values, in: cell)
  }

  /// Whether it reads dates, JSON or the like, which the marks are not.
  private func hasForm(_ lost: [LossJudge.Cell]) throws(Failure) -> Bool {
    guard let cell = lost.first, [.text, .blob, .numeric].contains(column.affinity) else {
      return false
    }
    let pairs: [[Value]] = [
      ["2026-01-02 03:04:05", "2027-06-07 08:09:10"], ["{\"a\": 1}", "[2]"],
      ["2026-01-02T03:04:05Z", "2027-06-07T08:09:10Z"],
    ]
    for pair in pairs where try tells(pair, in: cell) { return true }
    return false
  }

  /// Whether the values lead to different ends.
  private func tells(_ values: [Value], in cell: LossJudge.Cell) throws(Failure) -> Bool {
    var first: [Identifier: Int]?
    for value in values {
      guard let change = judge.setting(cell, to: value),
        let outcome = try judge.experiment.run([change])
      else { continue }
      let digest = outcome.contents.digest
      if let first, first != digest { return true }
      first = digest
    }
    return false
  }

  // MARK: Narrowing

  /// Whether values that differ in little become the same, while others do not.
  private func narrowing(_ mapped: [LossJudge.Cell]) throws(Failure) -> LossJudge.Verdict {
    guard let cell = mapped.first(where: { table.rows[$0.row].kind.isMarked }),
      judge.keys(for: cell) == nil, !column.isInKey
    else { return .kept(.elsewhere) }
    for (a, b, third) in pairs(for: judge.oldValue(cell)) {
      guard let one = try outcome(a, cell), let two = try outcome(b, cell), one == two,
        let three = try outcome(third, cell), three != one
      else { continue }
      return .narrowed(cell, a, b)
    }
    return .kept(.elsewhere)
  }

  private func outcome(
    _ value: Value, _ cell: LossJudge.Cell
  ) throws(Failure) -> [Identifier: Int]? {
    guard let change = judge.setting(cell, to: value) else { return nil }
    return try judge.experiment.run([change])?.contents.digest
  }

  private func pairs(for value: Value) -> [(Value, Value, Value)] {
    switch value {
    case .integer:
      [(8_200_001, 8_200_002, 9_300_000), (8_200_001, 9_200_001, 8_200_777)]
    case .real: [(.real(7.1), .real(7.35), .real(9_300_000.5))]
    case .text:
      [
        ("007", "7", "9300000"), ("Zebra abc", "ZEBRA ABC", "Yak"),
        ("Zebra ", "Zebra", "Yak"), (" Zebra", "Zebra", "Yak"),
        (
          .text(String(repeating: "Zebra", count: 60) + "a"),
          .text(String(repeating: "Zebra", count: 60) + "b"), "Yak"
        ),
      ]
    case .blob:
      [
        (
          .blob([UInt8](repeating: 8, count: 300) + [1]),
          .blob([UInt8](repeating: 8, count: 300) + [2]), .blob([9])
        )
      ]
    case .null: []
    }
  }
}

extension RowKind {
  var isMarked: Bool { if case .marked = self { true } else { false } }
}

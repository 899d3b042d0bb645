import SchemaHistory
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension LossJudge {
  /// Whether the cell's value exists only in the same column of another row: the row has marks of one row of
  /// the table before the step, which is not the cell's row.
  func isInOtherRow(_ cell: Cell, in name: Identifier?, as newName: Identifier) -> Bool {
    guard let name, let after = base.contents.tables[name], let index = after.index(of: newName)
    else { return false }
    let places = ownMarks(cell).flatMap(places)
    return !places.isEmpty
      && places.allSatisfy { place in
        guard place.table == name, place.column == index else { return false }
        let rows = Set(
          (marksAfter[name]?[place.row].besides(index) ?? []).flatMap { origins[$0] ?? [] }
            .filter { $0.table == cell.table }.map(\.row))
        return rows.count == 1 && !rows.contains(cell.row)
      }
  }
}

extension Place {
  /// The statement that leaves the cells' values only in other rows. Nil if the manifest overwrites the column
  /// explicitly.
  func ofMoved(
    _ cells: [LossJudge.Cell], _ column: Identifier
  ) throws(Failure) -> StatementPlace? {
    let judge = outcome.judge
    let rows = cells.map { cell in
      (judge.oldValue(cell), judge.marks(of: [cell.row], in: cell.table))
    }
    let steps = try judge.experiment.run(tracing: true)?.steps ?? []
    let last = steps.lastIndex { step in
      names.compactMap { step.contents.tables[$0] }.contains { table in
        guard let index = table.index(of: column) else { return false }
        return table.rows.contains { row in
          let others = row.map(MarkMaker.numbers).besides(index)
          return rows.contains { $0 == row[index] && !$1.isDisjoint(with: others) }
        }
      }
    }
    guard let step = steps.dropFirst(last.map { $0 + 1 } ?? 0).first,
      !updates(step, column, of: cells)
    else { return nil }
    return place(of: step)
  }
}

extension [[Int64]] {
  /// The marks of a row, except those of one column.
  fileprivate func besides(_ column: Int) -> [Int64] {
    enumerated().filter { $0.offset != column }.flatMap(\.element)
  }
}

extension Value {
  /// The number, if it has no fraction.
  var whole: Int64? { if case .real(let number) = self { Int64(exactly: number) } else { integer } }
}

extension Identifier {
  /// Whether the name of a column means a position among rows, such as `sort_order`, `listPosition` or `idx`.
  var isNameOfPosition: Bool {
    let words = text.reduce(into: [""]) { words, letter in
      if !letter.isLetter || letter.isUppercase { words.append("") }
      if letter.isLetter { words[words.count - 1] += letter.lowercased() }
    }
    let parts = ["position", "order", "sort", "rank", "index", "sequence", "priority"]
    return words.contains { Self.positions.contains($0) }
      || parts.contains { text.lowercased().contains($0) }
  }

  private static let positions = [
    "pos", "ord", "idx", "seq", "num", "number", "place", "prio", "row", "line", "step", "slot",
    "level",
  ]
}

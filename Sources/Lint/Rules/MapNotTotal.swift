import SchemaManifest
import SchemaPlanning
import SchemaSQLText

extension Rule {
  static let mapNotTotal = Rule(
    id: "map-not-total",
    section: .losesData,
    severities: .alwaysError,
    why: """
      A value that `map` does not name has no value to become: move_column stops there, and a user \
      whose database holds one cannot update. What a column may hold is in its definition: NULL, \
      unless it is NOT NULL, and each value that its CHECK lists.
      """,
    fix: "Name the missing values in `map` (`null` is a key), or say `using` with an expression.",
    bad: Rule.Example(
      .local, checkedManifest,
      """
      operations:
        - move_column:
            table: tasks
            from: status
            to: { name: state, type: TEXT }
            map: { null: null, 0: open, 1: done }
            keep_source: true
      """),
    good: Rule.Example(
      .local, checkedManifest,
      """
      operations:
        - move_column:
            table: tasks
            from: status
            to: { name: state, type: TEXT }
            map: { null: null, 0: open, 1: done, 2: dropped }
            keep_source: true
      """),
    check: { timeline, _ in
      timeline.moves.compactMap { place, move, table -> Draft? in
        guard case .map(let values) = move.mapping else { return nil }
        let missing = table.missingValues(of: move.from, in: values.map(\.from))
        guard !missing.isEmpty else { return timeline.unnamedValue(place, move, table) }
        return timeline.draft(
          "the map of \(table.name).\(move.from) does not name \(missing.joined(separator: ", ")), "
            + "which the column may hold: the migration stops where a row has it",
          at: place, keys: ["map", "from"], object: "\(table.name).\(move.from)", table: table.name)
      }
    })
}

extension Timeline {
  /// A value that the column took, and that the map does not name.
  fileprivate func unnamedValue(
    _ place: StatementPlace, _ move: MoveColumn, _ table: TableShape
  ) -> Draft? {
    let failure = rows.failures.first { failure in
      failure.isOfMap && failure.place.migration == place.migration
        && failure.place.operation == place.operation
    }
    guard let failure else { return nil }
    return draft(
      "the map of \(table.name).\(move.from) does not name every value that the column takes: "
        + "\(failure.message)",
      at: place, keys: ["map", "from"], object: "\(table.name).\(move.from)", table: table.name)
  }
}

extension TableShape {
  /// Values that the column's definition allows, as SQL.
  fileprivate func missingValues(of name: String, in named: [Literal]) -> [String] {
    guard let column = column(name) else { return [] }
    var missing: [String] = []
    let isNullable = column.notNull == nil && !isInPrimaryKey(column) && !column.isGenerated
    if isNullable, !named.contains(.null), !refusesNull(column) { missing.append("NULL") }
    let known = Set(named.map(\.sql.exact))
    return missing + listedValues(of: column).filter { !known.contains($0) }
  }

  /// `CHECK (status IS NOT NULL)` and its like.
  private func refusesNull(_ column: Column) -> Bool {
    checks.contains {
      $0.columns == [column.key] && $0.tokens.contains { $0.elementsEqual("null".utf8) }
    }
  }

  /// What `CHECK (status IN (0, 1, 2))` lists.
  private func listedValues(of column: Column) -> [String] {
    for check in checks where check.columns == [column.key] {
      let words = check.tokens.map { String(decoding: $0, as: UTF8.self) }
      guard words.count > 4, words[0].identifier == column.key, words[1] == "in", words[2] == "(",
        words.last == ")"
      else { continue }
      let values = words[3..<(words.count - 1)].split(separator: ",")
      guard values.allSatisfy({ $0.count == 1 }) else { continue }
      return values.map { $0.joined() }
    }
    return []
  }
}

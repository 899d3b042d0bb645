import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let dropConstraint = Rule(
    id: "drop-constraint",
    section: .removes,
    severities: Severities(.warning, .warning, .warning),
    why: """
      Without the CHECK, the UNIQUE or the foreign key, the table accepts rows that it refused \
      before. Code that relies on the constraint, including an older version of the app that \
      shares the rows, then reads values that it does not expect. An upsert by columns that are no \
      longer unique fails. Rows may refer to parents that do not exist, and ON DELETE stops \
      deleting children. Once such rows exist, you cannot add the constraint again. A unique index \
      counts as a constraint. A constraint that a hand-written rebuild omits is a finding of \
      `rebuild-loses-object`.
      """,
    fix: """
      Widen the constraint instead of dropping it, or suppress the finding and name the code \
      that checks the values from now on.
      """,
    examples: Example(after: [checkedManifest]),
    wrong: "- alter_column: { table: tasks, column: status, check: null }",
    right: """
      - alter_column:
          { table: tasks, column: status, check: "status IN (0, 1, 2, 3)" }
      """,
    check: .history { timeline, _ in
      droppedUniqueIndexes(timeline)
        + timeline.tables.flatMap { change, after in
          let uniques = droppedUniques(change, after, timeline)
          guard !change.omitsConstraints(timeline) else { return uniques }
          return uniques + droppedChecks(change, after, timeline)
            + droppedForeignKeys(change, after, timeline)
        }
    })
}

private func droppedChecks(
  _ change: TableChange, _ after: TableShape, _ timeline: Timeline
) -> [Draft] {
  change.lostChecks.map { check in
    let columns = after.names(of: check.columns.sorted())
    return timeline.draft(
      "this drops `CHECK (\(check.text))` of `\(after.name)`, which then accepts values that it "
        + "refused",
      at: change.place(ofConstraintOver: check.columns),
      keys: ["check", "columns", "column", "table"],
      object: "\(after.name).\(columns.joined(separator: ","))", table: after.name)
  }
}

private func droppedForeignKeys(
  _ change: TableChange, _ after: TableShape, _ timeline: Timeline
) -> [Draft] {
  change.lostForeignKeys.map { key, isKept in
    let columns = change.renamed(key.columns) ?? []
    let names = after.list(of: columns)
    let action = "ON DELETE \(key.onDelete.rawValue)"
    return timeline.draft(
      "this drops \(isKept ? "\(action) of " : "")the foreign key `\(after.name) (\(names))` to `"
        + "\(timeline.spelling(of: key.parent.identifier, in: change.migration))`: "
        + (isKept
          ? "SQLite then refuses to delete a parent that has children"
          : "rows may point at parents that do not exist, and \(action) no longer acts"),
      at: change.place(ofConstraintOver: columns),
      keys: ["references", "foreign_keys", "columns", "column", "table"],
      object: "\(after.name).\(names)", table: after.name)
  }
}

private func droppedUniques(
  _ change: TableChange, _ after: TableShape, _ timeline: Timeline
) -> [Draft] {
  change.lostUniques(timeline).map { columns in
    let names = after.list(of: columns)
    return droppedUnique(
      timeline, "`UNIQUE (\(names))` of `\(after.name)`",
      at: change.place(ofConstraintOver: columns),
      object: "\(after.name).\(names)", table: after.name)
  }
}

private func droppedUniqueIndexes(_ timeline: Timeline) -> [Draft] {
  timeline.removed.compactMap { removed -> Draft? in
    guard let index = timeline.droppedIndex(removed), index.isUnique,
      !removed.replacements.contains(where: {
        IndexShape($0)?.isAtLeastAsStrict(as: index) ?? false
      }),
      timeline.shape(of: index.table, in: removed.place.migration)?
        .hasKey(within: index.columns.compactMap { $0 }) != true
    else { return nil }
    return droppedUnique(
      timeline, "the unique index `\(index.name)`", at: removed.place, object: index.name,
      table: index.table)
  }
}

private func droppedUnique(
  _ timeline: Timeline, _ constraint: String, at place: StatementPlace, object: String,
  table: String
) -> Draft {
  timeline.draft(
    "this drops \(constraint): two rows may then hold the same values, and an upsert by these "
      + "columns fails", at: place, keys: ["unique", "name", "column", "table"], object: object,
    table: table)
}

extension TableChange {
  fileprivate func lostUniques(_ timeline: Timeline) -> [[Identifier]] {
    guard let before, let after else { return [] }
    let indexes = timeline.indexes.lazy.filter {
      $0.place.migration == migration && !$0.isPartial && $0.table.identifier == after.key
    }.map { Set($0.columns.compactMap { $0 }) }
    let kept = after.keys.map { Set($0) } + indexes
    var lost: Set<[Identifier]> = []
    return before.uniques.compactMap(renamed).filter { columns in
      !kept.contains { !$0.isEmpty && $0.isSubset(of: columns) } && lost.insert(columns).inserted
    }
  }
}

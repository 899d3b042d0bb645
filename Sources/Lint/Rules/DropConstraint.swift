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
      counts as a constraint. A rebuilt table drops each constraint that its new definition omits.
      """,
    fix: """
      Keep or widen the constraint, also in the new table of a rebuild, or suppress the finding \
      and name the code that checks the values from now on.
      """,
    examples: Example(after: [checkedManifest]),
    wrong: "- alter_column: { table: tasks, column: status, check: null }",
    right: """
      - alter_column:
          { table: tasks, column: status, check: "status IN (0, 1, 2, 3)" }
      """,
    check: .history { timeline, _ in
      droppedUniqueIndexes(timeline)
        + timeline.tables.flatMap { change, after -> [Draft] in
          func draft(_ lost: String, over columns: [Identifier], _ keys: String...) -> Draft {
            timeline.draft(
              "this drops \(lost)", at: timeline.place(of: keys[0], over: columns, change),
              keys: keys + ["column", "table"],
              object: "\(after.name).\(after.list(of: columns))", table: after.name)
          }
          let uniques = change.lostUniques(timeline).map { columns in
            draft(
              "`UNIQUE (\(after.list(of: columns)))` of `\(after.name)`\(effectOfDuplicates)",
              over: columns, "unique", "name")
          }
          let checks = change.lostChecks.map { check in
            draft(
              "`CHECK (\(check.text))` of `\(after.name)`, which then accepts values that it refused",
              over: check.columns.sorted(), "check", "columns")
          }
          let foreignKeys = change.lostForeignKeys.map { key, remains in
            let columns = change.renamed(key.columns) ?? []
            let parent = timeline.spelling(of: key.parent.identifier, in: change.migration)
            let action = "ON DELETE \(key.onDelete.rawValue)"
            let missingParents = "rows may point at parents that do not exist"
            return draft(
              (remains ? "\(action) of " : "")
                + "the foreign key `\(after.name) (\(after.list(of: columns)))` to `\(parent)`: "
                + (remains
                  ? "SQLite then refuses to delete a parent that has children"
                  : key.acts ? "\(missingParents), and \(action) no longer acts" : missingParents),
              over: columns, "references", "foreign_keys", "columns")
          }
          return uniques + checks + foreignKeys
        }
    })
}

private let effectOfDuplicates =
  ": two rows may then hold the same values, and an upsert by these columns fails"

private func droppedUniqueIndexes(_ timeline: Timeline) -> [Draft] {
  timeline.removed.compactMap { removed -> Draft? in
    guard let index = timeline.droppedIndex(removed), index.isUnique,
      !removed.replacements.contains(where: {
        IndexShape($0)?.isAtLeastAsStrict(as: index) ?? false
      }),
      timeline.shape(of: index.table, in: removed.place.migration)?
        .hasKey(within: index.columns.compactMap { $0 }) != true
    else { return nil }
    return timeline.draft(
      "this drops the unique index `\(index.name)`\(effectOfDuplicates)", at: removed.place,
      keys: ["unique", "name", "column", "table"], object: index.name, table: index.table)
  }
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

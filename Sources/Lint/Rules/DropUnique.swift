import SchemaSQLText

extension Rule {
  static let dropUnique = Rule(
    id: "drop-unique",
    section: .removes,
    severities: Severities(.warning, .warning, .warning),
    why: """
      From now on two rows may hold what only one could. Whatever counted on it (a look-up that takes \
      the first row, an upsert by that column, which fails without the constraint) is wrong in \
      silence, and once there are such rows the constraint cannot come back. It makes no difference \
      whether a UNIQUE constraint goes or a unique index.
      """,
    fix: "Look for every upsert and look-up by these columns first; then say why in a waiver.",
    bad: Rule.Example(
      .local,
      """
      operations:
        - sql: |
            CREATE TABLE tags (
              id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), title TEXT
            ) STRICT;
            CREATE UNIQUE INDEX tags_title ON tags (title);
      """,
      """
      operations:
        - drop_index: { name: tags_title }
      """),
    good: Rule.Example(
      .local,
      """
      operations:
        - sql: |
            CREATE TABLE tags (
              id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), title TEXT
            ) STRICT;
            CREATE UNIQUE INDEX tags_title ON tags (title);
      """,
      """
      operations:
        - drop_index: { name: tags_title }
        - sql: CREATE UNIQUE INDEX tags_by_title ON tags (title)
      """),
    check: { timeline, _ in
      let indexes = timeline.gone.compactMap { gone -> Draft? in
        guard gone.hasTable, !gone.isImplicit, let index = timeline.index(gone), index.isUnique,
          !timeline.losesColumn(of: index, in: gone.place.migration),
          !gone.heirs.contains(where: { IndexShape($0)?.isAsUnique(as: index) ?? false }),
          !timeline.isKey(index.columns, of: index.table, in: gone.place.migration)
        else { return nil }
        return draft(
          timeline, "the unique index \(index.name)", at: gone.place, object: index.name,
          table: index.table)
      }
      let constraints = timeline.changes.flatMap { change -> [Draft] in
        guard let after = change.after else { return [] }
        return change.lostUniques(timeline).map { columns in
          let names = columns.map { after.column($0)?.name ?? $0.text }.joined(separator: ", ")
          return draft(
            timeline, "UNIQUE (\(names)) of \(after.name)",
            at: change.newest(of: columns.map(change.place(of:)) + [change.shaped]),
            object: "\(after.name).\(names)", table: after.name)
        }
      }
      return indexes + constraints
    })
}

private func draft(
  _ timeline: Timeline, _ what: String, at place: StatementPlace, object: String, table: String
) -> Draft {
  timeline.draft(
    "dropping \(what): two rows may hold now what only one could, and an upsert by these columns "
      + "fails", at: place, keys: ["unique", "name", "column", "table"], object: object,
    table: table)
}

extension TableChange {
  fileprivate func lostUniques(_ timeline: Timeline) -> [[Identifier]] {
    guard let before, let after else { return [] }
    let indexes = timeline.indexes.lazy.filter {
      $0.place.migration == migration && !$0.isPartial && $0.table.identifier == after.key
    }.map { Set($0.columns.compactMap { $0 }) }
    let kept =
      after.uniques.map { Set($0) } + indexes + [after.primaryKey.map { Set($0.columns) } ?? []]
    return before.uniques.compactMap(renamed).filter { columns in
      !kept.contains { !$0.isEmpty && $0.isSubset(of: columns) }
    }
  }
}

extension Timeline {
  /// Whether a key or a UNIQUE constraint that the migration gave the table says the same.
  fileprivate func isKey(_ columns: [Identifier?], of table: String, in migration: Int) -> Bool {
    guard let after = change(of: table, in: migration)?.after else { return false }
    let columns = Set(columns.compactMap { $0 })
    return (after.uniques + [after.primaryKey?.columns ?? []]).contains {
      !$0.isEmpty && columns.isSuperset(of: $0)
    }
  }
}

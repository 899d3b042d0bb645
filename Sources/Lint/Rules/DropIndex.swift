import SchemaSQLText

extension Rule {
  static let dropIndex = Rule(
    id: "drop-index",
    section: .removes,
    severities: Severities(.note, .warning, .warning),
    why: """
      A query that used the index reads the whole table from now on, and so does every older version \
      of the app that shares the database. An index whose columns another one begins with is not \
      missed, nor one whose column goes with it. What a unique index refused is the subject of \
      drop-unique.
      """,
    fix: "Leave the index until nothing asks for it, or make the one that replaces it first.",
    bad: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - sql: CREATE INDEX reminders_title ON reminders (title)
      """,
      """
      operations:
        - drop_index: { name: reminders_title }
      """),
    good: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - sql: CREATE INDEX reminders_title ON reminders (title)
      """,
      """
      operations:
        - create_index:
            name: reminders_title_isCompleted
            table: reminders
            columns: [title, isCompleted]
        - drop_index: { name: reminders_title }
      """),
    check: { timeline, _ in
      timeline.gone.compactMap { gone in
        guard gone.hasTable, !gone.isImplicit, let index = timeline.index(gone),
          !index.isUnique, !timeline.losesColumn(of: index, in: gone.place.migration),
          !gone.heirs.contains(where: { IndexShape($0).map(index.isCovered) ?? false })
        else { return nil }
        return timeline.draft(
          "dropping the index \(index.name): what looks for rows of \(index.table) by it reads the "
            + "whole table from now on",
          at: gone.place, keys: ["name"], object: index.name, table: index.table)
      }
    })
}

extension Timeline {
  /// Whether a column of the index goes in the same migration, and the index with it.
  func losesColumn(of index: IndexShape, in migration: Int) -> Bool {
    let lost = change(of: index.table, in: migration)?.droppedColumns ?? []
    return index.columns.contains { $0.map(lost.contains) ?? false }
  }
}

import SchemaHistory
import SchemaSQLText

extension Rule {
  static let queryColumnsChanged = Rule(
    id: "query-columns-changed",
    section: .breaksQueries,
    severities: Severities(.warning, .warning, .warning),
    why: """
      A query still compiles, but its result has other columns than at a release that still runs \
      (all of them, unless `sync.oldest_release` says which is the oldest): another number, other \
      names, or columns of another declared type. Code that reads the result by its place, or into a \
      type that was made for the old columns, gets the wrong value. `SELECT *` does that with every new \
      column. Where the migration that did it has shipped itself, it is only a note.
      """,
    fix: "Name the columns that the application reads, in the order in which it reads them.",
    bad: Rule.Example(
      .local, releases: ["1.0": 1], queries: "SELECT * FROM reminders WHERE id = ?1",
      remindersManifest, addNotesManifest),
    good: Rule.Example(
      .local, releases: ["1.0": 1],
      queries: "SELECT id, title, isCompleted FROM reminders WHERE id = ?1",
      remindersManifest, addNotesManifest),
    check: { timeline, _ in
      timeline.queries.compactMap { verdict in
        guard case .columnsChanged(let old, let new, let release, let isReleased) = verdict.kind
        else { return nil }
        let id = timeline.migrations[verdict.migration].id
        var draft = timeline.draft(
          "the query's result changed with \(id): \(difference(old, new)) since release \(release)",
          verdict)
        draft.isNote = isReleased
        return draft
      }
    })
}

/// Names what is new, gone or of another type, or both lists where the order is what changed.
private func difference(
  _ old: [CompiledQuery.Column], _ new: [CompiledQuery.Column]
) -> String {
  func list(_ columns: [CompiledQuery.Column]) -> String {
    columns.map(\.description).joined(separator: ", ")
  }
  let (added, gone) = (
    new.filter { !old.contains($0) }, old.filter { !new.contains($0) }
  )
  switch (added.isEmpty, gone.isEmpty) {
  case (false, true): return "\(list(added)) came"
  case (true, false): return "\(list(gone)) went"
  case (false, false): return "\(list(gone)) became \(list(added))"
  case (true, true): return "\(list(old)) became \(list(new))"
  }
}

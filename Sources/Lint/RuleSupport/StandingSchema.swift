import SchemaSQLText

extension Timeline {
  /// The schema that the history ends with as if it had been made at once, each part where it was made;
  /// nil when the history could not be replayed to its end.
  fileprivate var standing: Timeline? {
    guard let end else { return nil }
    var standing = Timeline(migrations: migrations)
    standing.changes = end.tables.sorted { $0.created.number < $1.created.number }.map { table in
      TableChange(
        migration: table.created.migration, before: nil, after: table.shape,
        columnPlaces: table.columnPlaces, shaped: table.created)
    }
    standing.made = end.objects.map { MadeObject(object: $0.object, place: $0.place) }
    let made = Set(standing.made.map(\.place))
    standing.indexes = indexes.filter { made.contains($0.place) }
    return standing
  }
}

extension Linter {
  /// Where something has synced only since a migration: what tables were made with before, and still
  /// have, harms from then on. It is judged as they are today, and stands where it came to be.
  func withStanding(
    _ found: [(rule: Rule, draft: Draft)], _ timeline: Timeline
  ) -> [(rule: Rule, draft: Draft)] {
    guard let synced = scope.syncingFromTheFirst, let standing = timeline.standing else {
      return found
    }
    let kept = found.filter { rule, draft in
      !rule.concernsSyncedSchema || !scope.isBeforeSyncing(draft.migration)
        || draft.table.map { scope.isLocal($0.identifier) } ?? false
    }
    let known = Set(kept.map { [$0.rule.id.exact, ($0.draft.object ?? "").exact] })
    return kept
      + Rule.all.filter(\.concernsSyncedSchema).flatMap { rule in
        rule.check(standing, synced).filter {
          !known.contains([rule.id.exact, ($0.object ?? "").exact])
        }
        .map { (rule, $0.standing) }
      }
  }
}

extension Draft {
  fileprivate var standing: Draft {
    var draft = self
    draft.isStanding = true
    draft.message += " (older than `sync.since`, and it syncs now: a new migration must mend it)"
    return draft
  }
}

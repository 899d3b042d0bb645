import SchemaSQLText
import SchemaTimeline

extension Linter {
  /// Adds findings about older tables if something syncs only since a later migration. From then
  /// on, unsuitable properties of existing tables do harm. Lint checks the current tables and
  /// reports the findings at the statements that created them.
  func withStanding(
    _ found: [FoundDraft], _ timeline: Timeline
  ) -> [FoundDraft] {
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
        rule.drafts(Evidence(timeline: standing), synced).filter {
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
    draft.message += " (older than `sync.since`, and it syncs now: a new migration must repair it)"
    return draft
  }
}

import SchemaHistory
import SchemaManifest
import SchemaSQLText
import SchemaTimeline

/// Removes failures on rows that another rule has already explained; the other rule's finding
/// remains.
func withoutRepeatedFailures(
  _ found: [FoundDraft], _ timeline: Timeline
) -> [FoundDraft] {
  var found = found
  for index in found.indices.reversed() where found[index].draft.failedTables != nil {
    let failure = found[index].draft
    guard
      let known = found.firstIndex(where: { rule, draft in
        rule.foreseesFailures && draft.failedTables == nil
          && (draft.isSameHarm(as: failure, timeline.migrations)
            || draft.isOfTable(copiedBy: failure, timeline))
      })
    else { continue }
    if failure.isCertain { found[known].draft = found[known].draft.confirmed(by: failure) }
    found.remove(at: index)
  }
  return found
}

extension Draft {
  fileprivate func isSameHarm(as failure: Draft, _ migrations: [Migration]) -> Bool {
    guard migration == failure.migration, let table = table?.identifier,
      failure.failedTables?.contains(table) ?? false
    else { return false }
    // A hand-written rebuild may extend over several operations.
    return operation == failure.operation
      || [self, failure].allSatisfy { $0.isOfSQL(migrations) }
  }

  /// Whether the table was renamed into place with rows that an earlier migration failed to copy.
  fileprivate func isOfTable(copiedBy failure: Draft, _ timeline: Timeline) -> Bool {
    guard let table, failure.migration < migration else { return false }
    let copies = timeline.change(of: table, in: migration)?.copies ?? []
    return copies.contains { copy in
      copy.migration == failure.migration && copy.position == failure.position
    }
  }

  private func isOfSQL(_ migrations: [Migration]) -> Bool {
    if case .sql? = migrations.operation(operation, of: migration)?.kind { true } else { false }
  }

  fileprivate func confirmed(by failure: Draft) -> Draft {
    var draft = self
    draft.message += ". \(failure.message.prefix(1).uppercased() + failure.message.dropFirst())"
    (draft.isCertain, draft.severity, draft.correction) = (true, nil, nil)
    return draft
  }
}

import SchemaModel
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let dropObject = Rule(
    id: "drop-object",
    section: .removes,
    severities: Severities(.note, .warning, .warning),
    why: """
      Without an index, queries that used it read the whole table. Without a view, an older \
      version of the app that reads it fails. Without a trigger, the values that it maintained (a \
      modification time, a search index, a count) become stale without an error. Where rows sync, \
      devices with and without the trigger write different rows for the same edit. An index is not \
      a finding if another index or a key serves the same lookups. An object that the same \
      migration replaces is not a finding either. A dropped unique index is a finding of \
      `drop-constraint`.
      """,
    fix: "Keep the object until no version of the app uses it, or create its replacement first.",
    examples: Example(.additive, after: [titlesManifest]),
    wrong: "- drop_view: { name: titles }",
    right: """
      - drop_view: { name: titles }
      - create_view:
          name: titles
          sql: CREATE VIEW titles AS SELECT id, title, 1 AS n FROM reminders
      """,
    check: .history { timeline, _ in
      timeline.removed.compactMap { removed in
        let object = removed.object
        guard let outcome = timeline.outcome(of: removed) else { return nil }
        return timeline.draft(
          "this drops the \(object.kind.rawValue) `\(object.name)`: \(outcome)", at: removed.place,
          keys: ["name"], object: object.name, table: object.kind == .view ? nil : object.table)
      }
    })
}

private let titlesManifest =
  remindersManifest + """

      - create_view:
          name: titles
          sql: CREATE VIEW titles AS SELECT id, title FROM reminders
    """

extension Timeline {
  /// Describes the harm that the removal does; nil if it does none.
  fileprivate func outcome(of removed: RemovedObject) -> String? {
    switch removed.object.kind {
    case .view:
      removed.replacements.isEmpty ? "a version of the app that reads it fails" : nil
    case .index:
      isMissed(index: removed) ? "lookups by it read all of `\(removed.object.table)`" : nil
    case .trigger:
      removed.hasTable && !removed.isImplicit && !isReplaced(removed)
        && !mentionsLostColumn(removed)
        ? "writes to `\(spelling(of: removed.object.table.identifier, in: removed.place.migration))` "
          + "no longer update the values that it maintained" : nil
    case .table: nil
    }
  }

  private func isMissed(index removed: RemovedObject) -> Bool {
    guard let index = droppedIndex(removed), !index.isUnique,
      !removed.replacements.contains(where: { IndexShape($0).map(index.isCovered) ?? false })
    else { return false }
    let table = shape(of: index.table, in: removed.place.migration)
    return table.flatMap(index.key) == nil
  }

  /// Whether the same migration creates another trigger for the same event.
  private func isReplaced(_ removed: RemovedObject) -> Bool {
    let event = removed.object.createTrigger?.event
    return removed.replacements.contains { replacement in
      replacement.createTrigger?.event == event
        && made.contains {
          $0.place.migration == removed.place.migration && $0.object.key == replacement.key
        }
    }
  }
}

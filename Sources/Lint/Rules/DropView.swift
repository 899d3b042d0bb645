import SchemaModel
import SchemaSQLText

extension Rule {
  static let dropView = Rule(
    id: "drop-view",
    section: .removes,
    severities: Severities(.warning, .warning, .warning),
    why: """
      An older version of the app that reads the view fails from now on. A view that is made again \
      under its name in the same migration, or replaced by a table of that name, is not dropped.
      """,
    fix: "Leave the view until no version of the app reads it.",
    bad: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - create_view:
            name: titles
            sql: CREATE VIEW titles AS SELECT id, title FROM reminders
      """,
      """
      operations:
        - drop_view: { name: titles }
      """),
    good: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - create_view:
            name: titles
            sql: CREATE VIEW titles AS SELECT id, title FROM reminders
      """,
      """
      operations:
        - drop_view: { name: titles }
        - create_view:
            name: titles
            sql: CREATE VIEW titles AS SELECT id, title, 1 AS n FROM reminders
      """),
    check: { timeline, _ in
      timeline.gone.compactMap { gone in
        guard gone.object.kind == .view, gone.heirs.isEmpty else { return nil }
        return timeline.draft(
          "dropping the view \(gone.object.name): a version of the app that reads it fails",
          at: gone.place, keys: ["name"], object: gone.object.name, table: nil)
      }
    })
}

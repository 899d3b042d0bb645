import SchemaSQLText

extension Rule {
  static let dropForeignKey = Rule(
    id: "drop-foreign-key",
    section: .removes,
    severities: Severities(.warning, .warning, .warning),
    why: """
      From now on rows may point at parents that are not there, and what ON DELETE did when a parent \
      went (delete the children, set them NULL) is done no longer: the children stay behind. A \
      foreign key that a rebuild for another purpose leaves out is the subject of \
      rebuild-loses-object.
      """,
    fix: "Keep the foreign key, or say in a waiver who deletes the children now.",
    bad: Rule.Example(
      .local, referringManifest,
      """
      operations:
        - alter_column: { table: reminders, column: listID, references: null }
      """),
    good: Rule.Example(
      .local, referringManifest,
      """
      operations:
        - alter_column:
            table: reminders
            column: listID
            references: { table: lists, on_delete: set_null }
      """),
    check: { timeline, _ in
      timeline.changes.flatMap { change -> [Draft] in
        guard let after = change.after, !change.forgets(timeline) else { return [] }
        return change.lostForeignKeys.map { key in
          let columns = (change.renamed(key.columns) ?? []).map {
            after.column($0)?.name ?? $0.text
          }
          let names = columns.joined(separator: ", ")
          return timeline.draft(
            "dropping the foreign key \(after.name) (\(names)) to \(key.parent): rows may point at "
              + "what is not there, and ON DELETE \(key.onDelete.rawValue) holds no longer",
            at: change.newest(of: columns.map(change.place(of:)) + [change.shaped]),
            keys: ["references", "foreign_keys", "columns", "column", "table"],
            object: "\(after.name).\(names)", table: after.name)
        }
      }
    })
}

/// Reminders, each in a list, with the index that its foreign key needs.
let referringManifest = """
  operations:
    - sql: |
        CREATE TABLE lists (
          id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid())
        ) STRICT;
        CREATE TABLE reminders (
          id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), title TEXT,
          listID TEXT REFERENCES lists (id) ON DELETE CASCADE
        ) STRICT;
        CREATE INDEX reminders_listID ON reminders (listID);
  """

extension Rule {
  static let renameOldFirst = Rule(
    id: "rename-old-first",
    section: .losesData,
    severities: .alwaysError,
    why: """
      When a rebuild begins by renaming the old table, SQLite writes the new name into every foreign \
      key, view and trigger that mentioned the table. They then mean the old table for good: once it \
      is dropped, every INSERT into a child fails with `no such table`, and the views cannot be read. \
      The other order (make the new table, copy, drop the old one, rename the new one) drags nothing \
      along.
      """,
    fix:
      "Make the new table under another name, copy, drop the old one, then rename; or rebuild_table.",
    bad: Rule.Example(
      .local, referringManifest,
      """
      operations:
        - sql: |
            ALTER TABLE lists RENAME TO lists_old;
            CREATE TABLE lists (
              id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), title TEXT
            ) STRICT;
            INSERT INTO lists (id) SELECT id FROM lists_old;
            DROP TABLE lists_old;
      """),
    good: Rule.Example(
      .local, referringManifest,
      """
      operations:
        - sql: |
            CREATE TABLE lists_new (
              id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), title TEXT
            ) STRICT;
            INSERT INTO lists_new (id) SELECT id FROM lists;
            DROP TABLE lists;
            ALTER TABLE lists_new RENAME TO lists;
      """),
    check: { timeline, _ in
      timeline.changes.compactMap { change in
        guard let (place, names) = change.dragged, let table = change.before?.name else {
          return nil
        }
        return timeline.draft(
          "renaming \(table) before it is made anew takes \(names.joined(separator: ", ")) along: what "
            + "mentioned \(table) means the old table from now on",
          at: place, keys: ["table", "to"], object: table, table: table)
      }
    })
}

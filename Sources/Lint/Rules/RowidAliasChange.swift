import SchemaSQLText

extension Rule {
  static let rowidAliasChange = Rule(
    id: "rowid-alias-change",
    section: .breaksDevices,
    severities: .alwaysError,
    why: """
      Only a column that is declared INTEGER PRIMARY KEY, in these words, is the row's own number: \
      INT PRIMARY KEY looks alike and is not. Without it a row that is inserted without a key gets \
      NULL instead of the next number, last_insert_rowid() is no key any more, and VACUUM may number \
      the rows anew. The other way round a column that held anything takes integers only, from then on.
      """,
    fix: "Declare the key as it was: `type: INTEGER`, `primary_key: true`.",
    bad: Rule.Example(
      .local, configuration: localPlayers, playersManifest, rebuiltPlayers(key: "INT")),
    good: Rule.Example(
      .local, configuration: localPlayers, playersManifest, rebuiltPlayers(key: "INTEGER")),
    check: { timeline, _ in
      timeline.changes.compactMap { change in
        guard let before = change.before, let after = change.after, !change.changesKey,
          (before.rowidAlias == nil) != (after.rowidAlias == nil)
        else { return nil }
        let key = after.primaryKey?.columns.first ?? before.primaryKey?.columns.first ?? "rowid"
        let name = after.column(key)?.name ?? key.text
        return timeline.draft(
          after.rowidAlias == nil
            ? "\(after.name).\(name) is the row's own number no longer: a row that is inserted without "
              + "it gets NULL"
            : "\(after.name).\(name) becomes the row's own number: it takes nothing but integers",
          at: change.newest(of: [change.place(of: key), change.shaped]),
          keys: ["type", "primary_key", "column", "table"], object: "\(after.name).\(name)",
          table: after.name)
      }
    })
}

private let localPlayers = "sync: { engine: none, local_tables: [players] }"

private let playersManifest = """
  operations:
    - sql: CREATE TABLE players (id INTEGER PRIMARY KEY, name TEXT) STRICT
  """

private func rebuiltPlayers(key type: String) -> String {
  """
  operations:
    - sql: |
        CREATE TABLE new_players (id \(type) PRIMARY KEY, name TEXT) STRICT;
        INSERT INTO new_players (id, name) SELECT id, name FROM players;
        DROP TABLE players;
        ALTER TABLE new_players RENAME TO players;
  """
}

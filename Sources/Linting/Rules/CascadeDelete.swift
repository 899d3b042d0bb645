extension Rule {
  static let cascadeDelete = Rule(
    id: "cascade-delete",
    section: .losesData,
    severities: .alwaysError,
    why: """
      With foreign keys enforced, DROP TABLE first deletes every row of the table, and each delete \
      acts on the children: ON DELETE CASCADE empties them, SET NULL cuts them loose. No check finds \
      it afterwards, because nothing dangles. The drop of a rebuild does the same, and the copy that \
      takes the parent's place finds its children gone. SQLite says beforehand which tables a \
      statement reaches.
      """,
    fix: """
      Leave out `foreign_keys: enforced`: then foreign keys do not act while the migration runs, and \
      are checked at its end. What is to go in other tables is deleted by a statement of its own.
      """,
    bad: Rule.Example(
      .local, referringManifest,
      """
      foreign_keys: enforced
      operations:
        - delete: { table: lists, where: "id = 'inbox'" }
      """),
    good: Rule.Example(
      .local, referringManifest,
      """
      operations:
        - delete: { table: reminders, where: "listID = 'inbox'" }
        - delete: { table: lists, where: "id = 'inbox'" }
      """),
    check: { timeline, _ in
      timeline.statements.compactMap { statement in
        guard let target = statement.target, !statement.reached.isEmpty else { return nil }
        return timeline.draft(
          "deleting rows of \(target.name) reaches into \(statement.reached.joined(separator: ", ")): "
            + "the foreign keys delete or change rows there, too",
          at: statement.place, keys: ["table", "name"], object: target.name, table: target.name)
      }
    })
}

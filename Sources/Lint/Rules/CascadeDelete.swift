import SchemaSQLText

extension Rule {
  static let cascadeDelete = Rule(
    id: "cascade-delete",
    section: .losesData,
    severities: .alwaysError,
    why: """
      With foreign keys enforced, DROP TABLE first deletes every row of the table, and each delete \
      acts on the children: ON DELETE CASCADE empties them, SET NULL cuts them loose. No check finds \
      it afterwards, because nothing dangles. The drop of a rebuild does the same, and the copy that \
      takes the parent's place finds its children gone. So does a trigger that deletes rows of another \
      table. SQLite says beforehand which tables a statement reaches, and tables that lint has filled \
      show which of them have fewer rows afterwards.
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
        guard let written = statement.target?.name ?? statement.written?.text else { return nil }
        if statement.reached.isEmpty, let lost = timeline.rows.losses[statement.place.number] {
          let names = lost.map { timeline.spelling(of: $0.table, in: statement.place.migration) }
          return timeline.draft(
            "this statement writes \(written), and rows of \(names.joined(separator: ", ")) go with "
              + "it: a trigger or a foreign key deletes them",
            at: statement.place, keys: ["table", "name"], object: written, table: written)
        }
        guard !statement.reached.isEmpty else { return nil }
        return timeline.draft(
          "deleting rows of \(written) reaches into \(statement.reached.joined(separator: ", ")): "
            + "the foreign keys delete or change rows there, too",
          at: statement.place, keys: ["table", "name"], object: written, table: written)
      }
    })
}

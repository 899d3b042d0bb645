import SchemaReplay

extension Rule {
  static let vacuum = Rule(
    id: "vacuum",
    section: .misplaced,
    severities: .alwaysError,
    why: """
      VACUUM cannot run inside a transaction, and a migration is one. It also rewrites the whole file \
      and needs twice its size on the disk, which is nothing to do to a user without asking. \
      `migrate` refuses it.
      """,
    fix:
      "Let the app run VACUUM when it has the time, or `PRAGMA auto_vacuum` when the file is made.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: VACUUM
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: ANALYZE
      """),
    check: { timeline, _ in
      timeline.statements.filter(\.warnings.isVacuum).map { statement in
        timeline.draft(
          "VACUUM does not belong in a migration, and `migrate` refuses it: it cannot run in a "
            + "transaction", at: statement.place, object: "VACUUM", table: nil)
      }
    })
}

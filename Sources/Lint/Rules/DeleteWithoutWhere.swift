extension Rule {
  static let deleteWithoutWhere = Rule(
    id: "delete-without-where",
    section: .hurtsLater,
    severities: Severities(.warning, .warning, .warning),
    why: """
      Every row of the table goes, on every device, and nothing brings it back. A forgotten WHERE looks \
      just like that.
      """,
    fix: "Say which rows go. Where all of them are meant, the operation delete has `all: true`.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: DELETE FROM reminders
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: DELETE FROM reminders WHERE title IS NULL
      """),
    check: { timeline, _ in
      timeline.statements.compactMap { statement in
        guard let target = statement.target, target.isOld, target.deletes,
          timeline.isWritten(statement.place), statement.isUnconditional("DELETE"),
          !timeline.isVirtual(target.name)
        else { return nil }
        return timeline.draft(
          "DELETE without WHERE removes every row of \(target.name)", at: statement.place,
          object: target.name, table: target.name)
      }
    })
}

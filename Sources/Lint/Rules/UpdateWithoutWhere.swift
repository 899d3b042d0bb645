import SchemaSQLText

extension Rule {
  static let updateWithoutWhere = Rule(
    id: "update-without-where",
    section: .hurtsLater,
    severities: Severities(.warning, .warning, .warning),
    why: """
      Every row of the table is written, with its triggers, on every device: a forgotten WHERE cannot \
      be taken back, and one that is meant costs each user the time to rewrite rows that would stay \
      as they are. Filling a column that the same migration adds is no finding.
      """,
    fix:
      "Say which rows change: `WHERE title <> trim(title)`. The operation update has `all: true`.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: UPDATE reminders SET title = trim(title)
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: UPDATE reminders SET title = trim(title) WHERE title <> trim(title)
      """),
    check: { timeline, _ in
      timeline.statements.compactMap { statement in
        guard let target = statement.target, target.isOld, !target.updates.isEmpty,
          timeline.isWritten(statement.place), statement.isUnconditional("UPDATE"),
          !timeline.isVirtual(target.name),
          !timeline.fillsNewColumns(target, in: statement.place.migration)
        else { return nil }
        return timeline.draft(
          "UPDATE without WHERE writes every row of \(target.name)", at: statement.place,
          object: target.name, table: target.name)
      }
    })
}

extension Timeline {
  fileprivate func fillsNewColumns(
    _ target: StatementEffect.WrittenTable, in migration: Int
  ) -> Bool {
    guard let change = change(of: target.name, in: migration), let before = change.before else {
      return false
    }
    return target.updates.allSatisfy { before.column($0) == nil }
  }
}

extension StatementEffect {
  /// Whether the statement is an UPDATE or a DELETE that picks no rows.
  func isUnconditional(_ verb: String) -> Bool {
    let sql = TokenizedSQL(self.sql)
    let tokens = sql.significant[...]
    guard let start = sql.firstWord(of: ["UPDATE", "DELETE", "INSERT", "REPLACE"], in: tokens),
      sql.isWord(tokens[start], verb)
    else { return false }
    return sql.firstWord(of: ["WHERE", "LIMIT"], in: tokens[start...]) == nil
  }
}

import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let withoutWhere = Rule(
    id: "without-where",
    section: .hurtsLater,
    severities: Severities(.warning, .warning, .warning),
    why: """
      An UPDATE or a DELETE without WHERE changes every row on every device, with all triggers. \
      The author may have forgotten the WHERE. An UPDATE that fills a column that the same \
      migration adds is not a finding.
      """,
    fix: """
      Select the rows with WHERE, or use the operation `update` or `delete` with `all: true`.
      """,
    wrong: "- sql: UPDATE reminders SET title = trim(title)",
    right: "- sql: UPDATE reminders SET title = trim(title) WHERE title <> trim(title)",
    check: .history { timeline, _ in
      timeline.statements.compactMap { statement in
        guard let target = statement.target, target.isOld, timeline.isWritten(statement.place),
          !timeline.isVirtual(target.name)
        else { return nil }
        let message: String
        if target.deletes, statement.isUnconditional(.delete) {
          message = "DELETE without WHERE removes every row of `\(target.name)`"
        } else if !target.updates.isEmpty, statement.isUnconditional(.update),
          !timeline.fillsNewColumns(target, in: statement.place.migration)
        {
          message = "UPDATE without WHERE writes every row of `\(target.name)`"
        } else {
          return nil
        }
        return timeline.draft(message, at: statement.place, object: target.name, table: target.name)
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

import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let dataWriteOnSyncedTable = Rule(
    id: "data-write-on-synced-table",
    section: .breaksDevices,
    severities: Severities(.off, .off, .warning, crSQLite: .off),
    why: """
      sqlite-data notices what the app writes while it runs, and a migration runs before that: what it \
      writes to a synced table is not uploaded. Each device that updates does it for itself, and one \
      that is set up later gets the rows from the server as they were. Tables that the same migration \
      makes are uploaded whole when the engine first sees them. cr-sqlite sends what a migration \
      writes.
      """,
    fix: "Write the rows from the app, once the engine runs, or give a new column a default.",
    bad: Rule.Example(
      .sqliteData, remindersManifest,
      """
      operations:
        - update: { table: reminders, set: { title: "''" }, where: title IS NULL }
      """),
    good: Rule.Example(
      .sqliteData, remindersManifest,
      """
      operations:
        - add_column:
            table: reminders
            column:
              name: status
              type: INTEGER
              not_null: { on_conflict: replace }
              default: 0
      """),
    check: .history { timeline, scope in
      var reported: Set<Identifier> = []
      return timeline.statements.compactMap { statement in
        guard let target = statement.target, statement.reached.isEmpty,
          timeline.movesValues(statement, in: target)
            || target.isOld && !(target.isCopy && !target.deletes && target.updates.isEmpty),
          case let name = timeline.movedTable(statement) ?? target.name,
          scope.syncs(name, in: statement.place.migration),
          !timeline.rewritesTable(statement), !timeline.isVirtual(target.name)
        else { return nil }
        // An operation may become many statements.
        if !timeline.isWritten(statement.place) {
          let key = "\(statement.place.migration) \(statement.place.operation) \(name)"
          guard reported.insert(key) else { return nil }
        }
        return timeline.draft(
          "what a migration writes to \(name) is not uploaded: a device that is set up later "
            + "gets the rows as they were", at: statement.place, keys: ["table"],
          object: name, table: name)
      }
    })
}

extension Timeline {
  /// The table whose column the statement's operation moves: a rewrite writes another one in its place.
  fileprivate func movedTable(_ statement: StatementEffect) -> String? {
    if case .moveColumn(let move)? = operation(statement.place)?.kind { move.table } else { nil }
  }

  /// Whether the statement is part of an operation that gives rows other values, be it in a table that is
  /// made anew.
  fileprivate func movesValues(
    _ statement: StatementEffect, in target: StatementEffect.WrittenTable
  ) -> Bool {
    guard case .moveColumn? = operation(statement.place)?.kind else { return false }
    return !isNew(target.name, in: statement.place.migration)
  }

  /// Whether the statement is part of an operation that makes the table anew and keeps its values.
  fileprivate func rewritesTable(_ statement: StatementEffect) -> Bool {
    switch operation(statement.place)?.kind {
    case .alterColumn?, .rebuildTable?, .convertPrimaryKey?: true
    default: false
    }
  }
}

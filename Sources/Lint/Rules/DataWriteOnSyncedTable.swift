import SchemaManifest
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let dataWriteOnSyncedTable = Rule(
    id: "data-write-on-synced-table",
    section: .breaksDevices,
    severities: Severities(.off, .off, .warning, crSQLite: .off),
    why: """
      sqlite-data uploads writes of the app while the engine runs. A migration runs before that, \
      so the engine does not upload its writes to a synced table. Each device that updates repeats \
      them, and a new device receives the old rows from the server. The engine uploads all rows of \
      a table that the same migration creates. A move with `mirror: true` is not a finding: its \
      triggers also fill the new column of rows that the server sends. cr-sqlite sends the writes \
      of a migration.
      """,
    fix: """
      Write the rows from the app after the engine has started. Give a new column a default, or \
      move its values with `mirror: true`.
      """,
    examples: Example(.sqliteData),
    wrong: """
      - update: { table: reminders, set: { title: "''" }, where: title IS NULL }
      """,
    right: """
      - add_column:
          table: reminders
          column:
            name: status
            type: INTEGER
            not_null: { on_conflict: replace }
            default: 0
      """,
    check: .history { timeline, scope in
      var reported: Set<Identifier> = []
      return timeline.statements.compactMap { statement in
        guard let target = statement.target, !statement.dropsTable,
          timeline.movesValues(statement, in: target)
            || target.isOld && !(target.isCopy && !target.deletes && target.updates.isEmpty),
          // A rewrite writes to a new table instead of the table of the moved column.
          case let name = timeline.move(at: statement.place)?.table ?? target.name,
          scope.syncs(name, in: statement.place.migration),
          !timeline.rewritesTable(statement), !timeline.mirrors(statement.place),
          !timeline.isVirtual(target.name)
        else { return nil }
        // One operation may become many statements.
        if !timeline.isWritten(statement.place) {
          let key = "\(statement.place.migration) \(statement.place.operation) \(name)"
          guard reported.insert(key) else { return nil }
        }
        return timeline.draft(
          "the engine does not upload the migration's writes to `\(name)`: a new device receives "
            + "the old rows", at: statement.place, keys: ["table"],
          object: name, table: name)
      }
    })
}

extension StatementEffect {
  /// Whether the statement is a DROP TABLE. With enforced foreign keys, it also deletes rows.
  fileprivate var dropsTable: Bool { events.contains { $0.action == .dropTable } }
}

extension Timeline {
  /// Whether the statement belongs to an operation that changes values of rows, including in a
  /// rebuilt table.
  fileprivate func movesValues(
    _ statement: StatementEffect, in target: StatementEffect.WrittenTable
  ) -> Bool {
    move(at: statement.place) != nil && !isNew(target.name, in: statement.place.migration)
  }

  /// Whether the statement belongs to an operation that rebuilds the table and keeps its values.
  fileprivate func rewritesTable(_ statement: StatementEffect) -> Bool {
    switch operation(statement.place)?.kind {
    case .alterColumn?, .rebuildTable?, .convertPrimaryKey?: true
    default: false
    }
  }
}

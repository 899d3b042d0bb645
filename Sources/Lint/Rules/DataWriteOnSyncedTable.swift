import SchemaManifest
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let dataWriteOnSyncedTable = Rule(
    id: "data-write-on-synced-table",
    section: .breaksDevices,
    severities: Severities(.off, .off, .warning, crSQLite: .off),
    isFoundByRows: true,
    why: """
      sqlite-data uploads writes of the app while the engine runs. A migration runs before that, \
      so the engine does not upload its writes to a synced table. Each device that updates repeats \
      them, and a new device receives the old rows from the server. The same applies to a rebuild \
      that changes values, and to writes by triggers and foreign key actions. The engine uploads \
      all rows of a table that the same migration creates. A move with `mirror: true` is not a \
      finding: its triggers also fill the new column of rows that the server sends. cr-sqlite \
      sends the writes of a migration.
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
      return timeline.statements.compactMap { statement -> Draft? in
        let place = statement.place
        let rewritten = timeline.table(rewrittenBy: statement)
        guard !statement.dropsTable, !timeline.mirrors(place),
          let name = (rewritten.map { [$0] } ?? timeline.tables(writtenBy: statement))
            .first(where: { scope.syncs($0, in: place.migration) && !timeline.isVirtual($0) })
        else { return nil }
        // One operation, and one rebuild, may become many statements.
        if rewritten != nil || !timeline.isWritten(place) {
          let key = "\(place.migration) \(place.operation) \(name)"
          guard reported.insert(key) else { return nil }
        }
        return timeline.draft(
          "the engine does not upload the migration's writes to `\(name)`: a new device receives "
            + "the old rows", at: place, keys: ["table"], object: name, table: name)
      }
    })
}

extension StatementEffect {
  /// Whether the statement is a DROP TABLE. With enforced foreign keys, it also deletes rows.
  fileprivate var dropsTable: Bool { events.contains { $0.action == .dropTable } }
}

extension Timeline {
  /// The table whose rows a rebuild changes, if the statement copies them and no other statement writes to it.
  fileprivate func table(rewrittenBy statement: StatementEffect) -> String? {
    let migration = statement.place.migration
    guard !convertsKey(statement.place), move(at: statement.place) == nil,
      let change = changes(in: migration).first(where: { $0.copies.contains(statement.place) }),
      let before = change.before,
      losses.rewritten.contains(.init(migration: migration, table: before.key)),
      !statements(in: migration).contains(where: { $0.target?.name.identifier == before.key })
    else { return nil }
    return change.after?.name
  }

  /// The older tables to which the statement writes: its own first, then those to which triggers and actions
  /// of foreign keys write.
  fileprivate func tables(writtenBy statement: StatementEffect) -> [String] {
    guard !rewritesTable(statement) else { return [] }
    var names: [String] = []
    if let target = statement.target,
      movesValues(statement, in: target)
        || target.isOld && !(target.isCopy && !target.deletes && target.updates.isEmpty)
    {
      // A rewrite writes to a new table instead of the table of the moved column.
      names.append(move(at: statement.place)?.table ?? target.name)
    }
    let migration = statement.place.migration
    let reached = statement.events.filter { event in
      [.insert, .update, .delete].contains(event.action) && event.database == "main"
    }.compactMap(\.first).filter { name in
      !name.identifier.isInternal && !(statement.target?.name.isSameName(as: name) ?? false)
        && !isNew(name, in: migration)
        && shape(of: name, in: migration) != nil
    }
    return names + reached
  }

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

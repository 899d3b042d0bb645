import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Timeline {
  /// Whether a migration cannot copy values of the table, because its statements that concern the
  /// table write no rows. Such a table needs no experiments.
  func copiesNothing(of table: Identifier, in migration: Int, _ objects: ReachedObjects) -> Bool {
    statements(in: migration).allSatisfy { statement in
      let concerns =
        statement.events.mainTables.contains(table)
        // SQLite reports no column when it copies a table entry by entry.
        || objects.names(in: statement.sql).contains(table)
        || statement.events.contains { $0.action == .insert && $0.trigger != nil }
      return !concerns || statement.writesNothing(besides: table)
    }
  }
}

extension StatementEffect {
  /// Whether the statement creates, changes or drops objects, and writes no rows.
  ///
  /// - Parameter table: the table whose rows DROP TABLE may delete.
  fileprivate func writesNothing(besides table: Identifier) -> Bool {
    let isDrop = events.contains { $0.action == .dropTable }
    let creates = events.contains { [.createTable, .createTemporaryTable].contains($0.action) }
    let reads = events.contains { event in
      event.action == .read && event.first.map { !$0.identifier.isInternal } ?? false
    }
    // A copy of the table under its new name does not name the table.
    if creates && reads || TokenizedSQL(sql).mentions("rename") { return false }
    return events.allSatisfy { event in
      switch event.action {
      case .insert, .update: event.first?.identifier.isInternal ?? true
      case .delete:
        event.first.map { $0.identifier.isInternal || isDrop && $0.identifier == table } ?? true
      default: true
      }
    }
  }
}

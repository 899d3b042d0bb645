import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Timeline {
  /// The tables whose rows affect the result of a migration; empty if rows make no difference.
  ///
  /// - Parameters:
  ///   - isOld: whether a table existed before the migration.
  ///   - children: the tables whose foreign keys refer to one of these.
  func tablesAtRisk(
    in migration: Int, isOld: (Identifier) -> Bool, children: (Set<Identifier>) -> [String]
  ) -> Set<Identifier> {
    var risky: Set<Identifier> = []
    var shrunk: Set<Identifier> = []
    for statement in statements(in: migration) {
      let tables = statement.events.mainTables.filter(isOld)
      guard !tables.isEmpty, statement.dependsOnRows(of: tables) else { continue }
      risky.formUnion(tables)
      shrunk.formUnion(tables.intersection(statement.tables(of: .delete)))
    }
    for change in changes(in: migration) where change.judgesRows {
      if let name = change.before?.name.identifier, isOld(name) { risky.insert(name) }
    }
    for index in indexes.reversed() {
      guard index.place.migration == migration else { break }
      if isOld(index.table.identifier) { risky.insert(index.table.identifier) }
    }
    return risky.union(shrunk.isEmpty ? [] : children(shrunk).map(\.identifier).filter(isOld))
  }
}

extension StatementEffect {
  /// - Parameter tables: the tables that the statement reads, writes or changes and that existed
  ///   before it.
  fileprivate func dependsOnRows(of tables: Set<Identifier>) -> Bool {
    if !tables.isDisjoint(with: self.tables(of: .update).union(self.tables(of: .delete))) {
      return true
    }
    // The run on empty tables already tested values that the manifest spells out and that no
    // trigger or query reads from elsewhere.
    guard !self.tables(of: .read).isDisjoint(with: tables) else { return false }
    return !self.tables(of: .insert).isEmpty || events.contains { $0.action == .createTable }
  }

  /// The tables of the schema on which the statement or its triggers perform the action.
  func tables(of action: AuthorizerAction) -> Set<Identifier> {
    Set(
      events.lazy.filter { $0.action == action && $0.database == "main" }
        .compactMap { $0.first?.identifier }.filter { !$0.isInternal })
  }
}

extension TableChange {
  /// Whether SQLite or the operation checks the rows for this event.
  fileprivate var judgesRows: Bool {
    guard let before, let after else { return false }
    if isRebuilt || !newChecks.isEmpty || !nonConstantDefaults.isEmpty { return true }
    let isSameTable =
      before.isStrict == after.isStrict && before.primaryKey == after.primaryKey
      && before.uniques == after.uniques && before.isWithoutRowid == after.isWithoutRowid
    guard isSameTable else { return true }
    let hasNewRule = after.columns.contains { column in
      addedInPlace.contains(column.key)
        && (column.isStored || column.notNull != nil && column.defaultText == nil)
    }
    return hasNewRule || after.foreignKeys.count > before.foreignKeys.count
      || keptColumns.contains { old, new in
        old.notNull != new.notNull || old.type?.identifier != new.type?.identifier
          || old.collation != new.collation || old.isGenerated != new.isGenerated
      }
  }
}

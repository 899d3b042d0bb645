import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Sequence<StatementEffect> {
  /// Whether the statements cannot copy values of the table, because those that concern it write no
  /// rows. Such a table needs no experiments.
  func copyNothing(of table: Identifier, _ objects: ReachedObjects) -> Bool {
    concerning(table, objects).allSatisfy { $0.writesNothing(besides: table) }
  }

  /// Whether a statement may copy values of a column of the table, give the column another name, or
  /// generate another column from it.
  func mayCopy(
    _ column: Identifier, of table: Identifier, _ objects: ReachedObjects
  ) -> Bool {
    concerning(table, objects).contains { $0.mayCopy(column) }
  }

  /// The statements that concern the table under any name, or a table with copies of its rows.
  fileprivate func concerning(
    _ table: Identifier, _ objects: ReachedObjects
  ) -> [StatementEffect] {
    var holders: Set = [table]
    return filter { statement in
      guard statement.concerns(holders, objects) else { return false }
      holders.formUnion(statement.receivers)
      return true
    }
  }
}

extension Timeline {
  /// Whether a migration cannot have stored values of a column in one of another name or table: only
  /// the copy of a rebuild reads it, and uses it for the column of the same name.
  func keepsInPlace(
    _ column: Identifier, of table: Identifier, in migration: Int, _ objects: ReachedObjects
  ) -> Bool {
    // A rebuild may also leave the old table as it is.
    let drops = statements(in: migration).contains { statement in
      statement.events.contains { $0.action == .dropTable }
    }
    let copies = changes(in: migration).filter { change in
      drops && change.isRebuilt && change.before?.column(column) != nil
        && change.after?.column(column) != nil
    }.flatMap(\.copies)
    return statements(in: migration).concerning(table, objects).allSatisfy { statement in
      guard statement.mayCopy(column) else { return true }
      return copies.contains(statement.place) && TokenizedSQL(statement.sql).copiesByName(column)
        && !statement.events.contains { $0.trigger != nil }
    }
  }
}

extension TokenizedSQL {
  /// Whether an asterisk may stand for columns; SQLite reports none of them when it copies a table entry by entry.
  fileprivate var hasAsterisk: Bool { significant.contains { text($0) == "*" } }

  /// Whether this is an `INSERT … SELECT` that uses a column only for the column of the same name.
  fileprivate func copiesByName(_ column: Identifier) -> Bool {
    guard let statement = WritingStatement(self), let source = statement.source else {
      return false
    }
    let copied = statement.copied(self)
    func uses(_ tokens: some Sequence<Token>) -> Int { tokens.count { name($0) == column } }
    let own = copied.first { $0.column == column }
    return own != nil && uses(significant(in: source)) == own.map { uses($0.value) }
      && !hasAsterisk
  }
}

extension WritingStatement {
  /// The columns of an `INSERT … SELECT` with the expressions for them; empty for other statements.
  func copied(_ sql: TokenizedSQL) -> [(column: Identifier, value: ArraySlice<Token>)] {
    let tokens = (source.map(sql.significant(in:)) ?? [])[...]
    guard sql.isWord(tokens.first, "SELECT"), let from = sql.firstWord(of: ["FROM"], in: tokens)
    else { return [] }
    let values = sql.split(tokens[(tokens.startIndex + 1)..<from], atCommas: ())
    return zip(columns, values).map { ($0.text.identifier, $1) }
  }
}

extension StatementEffect {
  /// Whether the statement may copy values of a column of this name, give the column another name,
  /// or generate another column from it.
  fileprivate func mayCopy(_ column: Identifier) -> Bool {
    let sql = TokenizedSQL(self.sql)
    if ["rename", "as"].contains(where: sql.mentions), sql.names(column.text) { return true }
    // An index or a CHECK reads the column, too.
    guard !writesNothing(besides: nil) else { return false }
    return events.contains { $0.action == .read && $0.second?.identifier == column }
      || insertsByTrigger || sql.hasAsterisk
  }

  /// The tables that may hold rows of others after the statement, or have a new name.
  fileprivate var receivers: Set<Identifier> {
    if events.contains(where: { $0.action == .alterTable }) {
      let sql = TokenizedSQL(self.sql)
      let name = sql.significant.drop { !sql.isWord($0, "RENAME") }.dropFirst()
      guard sql.isWord(name.first, "TO") else { return [] }
      return Set(name.dropFirst().prefix(1).compactMap(sql.name))
    }
    guard !writesNothing(besides: nil) else { return [] }
    return Set(
      events.filter { event in
        [.insert, .update, .createTable, .createTemporaryTable].contains(event.action)
      }.compactMap(\.first?.identifier).filter { !$0.isInternal })
  }

  /// Whether a trigger inserts rows. SQLite reports no column when it copies a table entry by entry.
  private var insertsByTrigger: Bool {
    events.contains { $0.action == .insert && $0.trigger != nil }
  }

  /// Whether the statement may read rows of the tables: by name, or in a view or a trigger.
  fileprivate func concerns(_ tables: Set<Identifier>, _ objects: ReachedObjects) -> Bool {
    // SQLite reports no column when it copies a table entry by entry.
    !objects.names(in: sql).isDisjoint(with: tables) || insertsByTrigger
      || events.contains { event in
        event.action == .read && event.first.map { tables.contains($0.identifier) } ?? false
      }
  }

  /// Whether the statement creates, changes or drops objects, and writes no rows.
  ///
  /// - Parameter table: the table whose rows DROP TABLE may delete.
  fileprivate func writesNothing(besides table: Identifier?) -> Bool {
    let isDrop = events.contains { $0.action == .dropTable }
    let created = events.first { [.createTable, .createTemporaryTable].contains($0.action) }
    // A CHECK of the new table reads its columns.
    let reads = events.contains { event in
      event.action == .read && event.first != created?.first
        && event.first.map { !$0.identifier.isInternal } ?? false
    }
    if created != nil && reads { return false }
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

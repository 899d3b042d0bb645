import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Sequence<StatementEffect> {
  /// Whether the statements cannot copy values of the table, because those that concern it write no
  /// rows. Such a table needs no experiments.
  func copyNothing(of table: Identifier, _ objects: ReachedObjects) -> Bool {
    // A copy of the table under its new name does not name the table.
    let renames = contains { objects.names(in: $0.sql).contains("rename") }
    return allSatisfy { statement in
      !(renames || statement.concerns(table, objects)) || statement.writesNothing(besides: table)
    }
  }
}

extension Timeline {
  /// Whether a migration cannot have stored values of a column in one of another name or table: only the copy
  /// of a rebuild reads it, and uses it for the column of the same name.
  func keepsInPlace(_ column: Identifier, in migration: Int) -> Bool {
    // A rebuild may also leave the old table as it is.
    let drops = statements(in: migration).contains { statement in
      statement.events.contains { $0.action == .dropTable }
    }
    let copies = changes(in: migration).filter { change in
      drops && change.isRebuilt && change.before?.column(column) != nil
        && change.after?.column(column) != nil
    }.flatMap(\.copies)
    return statements(in: migration).allSatisfy { statement in
      guard statement.mayRead(column) else { return true }
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
  /// Whether the statement may read a column of this name, give it another one, or generate another
  /// column from it.
  func mayRead(_ column: Identifier) -> Bool {
    let sql = TokenizedSQL(self.sql)
    return events.contains { $0.action == .read && $0.second?.identifier == column }
      || insertsByTrigger || sql.hasAsterisk
      || ["rename", "as"].contains(where: sql.mentions) && sql.names(column.text)
  }

  /// Whether a trigger inserts rows. SQLite reports no column when it copies a table entry by entry.
  private var insertsByTrigger: Bool {
    events.contains { $0.action == .insert && $0.trigger != nil }
  }

  /// Whether the statement may read rows of the table: by its name, or in a view or a trigger.
  fileprivate func concerns(_ table: Identifier, _ objects: ReachedObjects) -> Bool {
    // SQLite reports no column when it copies a table entry by entry.
    objects.names(in: sql).contains(table) || insertsByTrigger
      || events.contains { $0.action == .read && $0.first?.identifier == table }
  }

  /// Whether the statement creates, changes or drops objects, and writes no rows.
  ///
  /// - Parameter table: the table whose rows DROP TABLE may delete.
  fileprivate func writesNothing(besides table: Identifier) -> Bool {
    let isDrop = events.contains { $0.action == .dropTable }
    let creates = events.contains { [.createTable, .createTemporaryTable].contains($0.action) }
    let reads = events.contains { event in
      event.action == .read && event.first.map { !$0.identifier.isInternal } ?? false
    }
    if creates && reads { return false }
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

import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// One statement that has run, and what it did.
package struct ReplayedStatement: Sendable {
  /// The operation's index in its manifest, from 0.
  package let operation: Int
  package let sql: String
  /// The position of the statement in the manifest.
  package let position: Position
  package var events: [AuthorizerEvent]
  package internal(set) var returnsRows = false
  /// How long it ran.
  package internal(set) var nanoseconds: Int64 = 0
  package internal(set) var warnings = StatementWarnings()
  package let enforcesForeignKeys: Bool
  /// Empty where schemas are not compared after each statement.
  package internal(set) var change = SchemaDelta()
}

/// Suspicious parts of a statement that SQLite itself does not report.
package struct StatementWarnings: Sendable {
  /// Undeclared functions and collations.
  package internal(set) var missing: [MissingName] = []
  /// A name in double quotes that no object has, and that SQLite reads as a string.
  package internal(set) var doubleQuotedString: QuotedString?

  package struct QuotedString: Sendable {
    /// With its quotes, as it is written.
    package let text: String
    package let position: Position
  }

  /// It is an UPDATE that reads, row by row, values of its own table that it writes.
  package internal(set) var readsItself = false
}

extension Connection {
  /// Whether an UPDATE reads, row by row, values of its own table that it may have changed already.
  ///
  /// SQLite is asked on a scratch database, with a table of its own in the place of the one that is
  /// written: then each mention of the real one is a subquery's or a view's.
  ///
  /// - Parameter events: of the statement.
  func readsItself(
    _ tokens: TokenizedSQL, _ events: [AuthorizerEvent], _ application: Application
  ) throws(DatabaseError) -> Bool {
    let own = events.filter { $0.trigger == nil && $0.database == "main" && $0.action == .update }
    // Without one of these words it cannot read more than the row that it is at.
    guard let table = own.first?.first,
      tokens.significant.contains(where: { tokens.isWord($0, "SELECT") || tokens.isWord($0, "IN") }
      ),
      let substituted = substituting("schemactl_row", in: tokens)
    else { return false }
    let written = Set(own.compactMap(\.second?.identifier))
    let schema = try Schema(of: self)
    guard schema.table(table) != nil else { return false }
    let scratch = try schema.scratch(application)
    do {
      try scratch.execute(
        "CREATE TABLE main.schemactl_row AS SELECT * FROM main.\(Quoting.quoted(table)) WHERE 0")
      var readsWritten = false
      scratch.setAuthorizer { event in
        if event.action == .read, event.first?.identifier == table.identifier,
          written.contains(event.second?.identifier ?? "")
        {
          readsWritten = true
        }
        return .allow
      }
      // A subquery that is not correlated is answered once, before the first row is written.
      let plan = try scratch.rows("EXPLAIN QUERY PLAN " + substituted)
      return readsWritten
        && plan.contains { $0.last?.text?.contains("CORRELATED") ?? false }
    } catch {
      if error.isFault { throw error }
      // A temporary table, for one, is not known there.
      return false
    }
  }
}

/// The UPDATE with another table in the place of the one that it writes; nil for another statement, and
/// for UPDATE … FROM, which reads all rows before it writes one (UPDATE, section 2.3).
private func substituting(_ other: String, in tokens: TokenizedSQL) -> String? {
  guard let statement = WritingStatement(tokens), statement.kind == .update,
    !statement.otherClauses.contains("FROM")
  else { return nil }
  let isRenamed = statement.target != statement.nameRange
  let alias = isRenamed ? "" : " AS \(tokens.text(statement.table.name.range))"
  return tokens.replacing([(statement.nameRange, "main.\(other)\(alias)")])
}

extension Connection {
  /// The problem of a column that a statement has added. ADD COLUMN accepts a default of any type for a
  /// STRICT table (SQLite 3.40.1), and `integrity_check` then reports the existing rows. So the default is
  /// tried on a scratch table, and `integrity_check` decides.
  ///
  /// - Parameter events: of the statement.
  /// - Returns: nil where the default has the column's type, and for every other statement.
  func mistypedDefault(
    addedBy events: [AuthorizerEvent], _ application: Application
  ) throws(DatabaseError) -> String? {
    let isRenaming = events.contains { event in
      event.action == .function && event.second?.hasPrefix("sqlite_rename_") == true
    }
    // The event has a third name when a column is dropped.
    let altered = events.first {
      $0.action == .alterTable && $0.first == "main" && $0.database == nil
    }
    guard !isRenaming, let name = altered?.second else { return nil }
    let tokens = TokenizedSQL(try sql(ofTable: name) ?? "")
    guard case .createTable(let table)? = try? parseCreate(tokens), table.isStrict,
      let column = table.columns.last, let type = column.type,
      let value = column.defaultExpression.map({ tokens.text($0.outerRange) })
    else { return nil }
    let definition = "\(tokens.text(type.range)) DEFAULT \(value)"
    guard try !isOfItsType(definition, application) else { return nil }
    return
      "the default \(value) of `\(name).\(column.name.text)` is not of the type \(type.text), "
      + "which the STRICT table `\(name)` requires: existing rows would hold an invalid value. "
      + "Write a default of that type"
  }

  private func isOfItsType(
    _ definition: String, _ application: Application
  ) throws(DatabaseError) -> Bool {
    let scratch = try Connection(path: nil)
    try application.registerStubs(on: scratch)
    try scratch.execute("CREATE TABLE one (a INTEGER) STRICT; INSERT INTO one VALUES (1)")
    do {
      try scratch.execute("ALTER TABLE one ADD COLUMN b \(definition)")
    } catch {
      // No table with rows can have such a default.
      if error.isFault { throw error }
      return true
    }
    return try scratch.value("PRAGMA integrity_check") == "ok"
  }
}

import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A statement that has run, and its effects.
package struct ReplayedStatement: Sendable {
  /// The operation's index in its manifest, from 0.
  package let operation: Int
  package let sql: String
  /// The position of the statement in the manifest.
  package let position: Position
  package var events: [AuthorizerEvent]
  package internal(set) var returnsRows = false
  /// The time that the statement took.
  package internal(set) var nanoseconds: Int64 = 0
  package internal(set) var warnings = StatementWarnings()
  /// Empty if schemas are not compared after each statement.
  package internal(set) var change = SchemaDelta()
}

/// Suspicious parts of a statement that SQLite does not report.
package struct StatementWarnings: Sendable {
  /// Undeclared functions and collations.
  package internal(set) var missing: [MissingName] = []
  /// A name in double quotes that is not the name of an object, so that SQLite reads it as a string.
  package internal(set) var doubleQuotedString: QuotedString?

  package struct QuotedString: Sendable {
    /// The name as it is written, with its quotes.
    package let text: String
    package let position: Position
  }

  /// Whether the statement is an UPDATE that reads, row by row, values of its own table that it also writes.
  package internal(set) var readsItself = false
}

extension Connection {
  /// Whether an UPDATE reads, row by row, values of its own table that it may have changed already.
  ///
  /// The statement is compiled on a scratch database, in which it writes a substitute for the table. All
  /// accesses to the real table are then those of a subquery or a view.
  ///
  /// - Parameter events: the authorizer events of the statement.
  func readsItself(
    _ tokens: TokenizedSQL, _ events: [AuthorizerEvent], _ application: Application
  ) throws(DatabaseError) -> Bool {
    let own = events.filter { $0.trigger == nil && $0.database == "main" && $0.action == .update }
    // Without SELECT and IN, an UPDATE reads only the current row.
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
      func readsRowByRow(_ query: String) throws(DatabaseError) -> Bool {
        readsWritten = false
        // SQLite evaluates an uncorrelated subquery once, before it writes the first row.
        let plan = try scratch.rows("EXPLAIN QUERY PLAN " + query)
        let isCorrelated = plan.contains { $0.last?.text?.contains("CORRELATED") ?? false }
        return readsWritten && isCorrelated
      }
      guard try readsRowByRow(substituted) else { return false }
      do {
        for query in TokenizedSQL(substituted).withSingleSubqueries {
          if try readsRowByRow(query) { return true }
        }
        return false
      } catch  where !error.isFault {
        // A subquery returns several columns, which one NULL cannot replace.
        return true
      }
    } catch {
      if error.isFault { throw error }
      // The scratch database lacks objects that the statement may name, such as a temporary table.
      return false
    }
  }
}

extension TokenizedSQL {
  /// The UPDATE with each of its outermost subqueries alone: `(SELECT NULL)` replaces the others.
  fileprivate var withSingleSubqueries: [String] {
    let all = significant
    var subqueries: [Range<Int>] = []
    var index = all.firstIndex { isWord($0, "SET") } ?? all.endIndex
    while index < all.endIndex {
      let end = closing(all[index...])
      if index < end, end < all.endIndex,
        isWord(all[index + 1], "SELECT") || isWord(all[index + 1], "WITH")
      {
        subqueries.append(all[index].range.lowerBound..<all[end].range.upperBound)
        index = end
      }
      index += 1
    }
    guard subqueries.count > 1 else { return [text(0..<bytes.count)] }
    return subqueries.map { kept in
      replacing(subqueries.filter { $0 != kept }.map { ($0, "(SELECT NULL)") })
    }
  }
}

/// The UPDATE with another target table. Nil for other statements, and for UPDATE … FROM, which reads all
/// rows before it writes the first one (UPDATE, section 2.3).
private func substituting(_ other: String, in tokens: TokenizedSQL) -> String? {
  guard let statement = WritingStatement(tokens), statement.kind == .update,
    !statement.otherClauses.contains("FROM")
  else { return nil }
  let isRenamed = statement.target != statement.nameRange
  let alias = isRenamed ? "" : " AS \(tokens.text(statement.table.name.range))"
  return tokens.replacing([(statement.nameRange, "main.\(other)\(alias)")])
}

extension Connection {
  /// An error message if the statement has added a column to a STRICT table that does not have its type: its
  /// default has another type, or it is generated and existing rows give it values of another type. ADD COLUMN
  /// accepts both (SQLite 3.40.1), and `integrity_check` then reports the rows.
  ///
  /// - Parameter events: the authorizer events of the statement.
  /// - Returns: nil if the column has its type, and for every other statement.
  func mistypedColumn(
    addedBy events: [AuthorizerEvent], _ application: Application
  ) throws(DatabaseError) -> (status: ExitStatus, message: String)? {
    let isRenaming = events.contains { event in
      event.action == .function && event.second?.hasPrefix("sqlite_rename_") == true
    }
    // For DROP COLUMN, the event has a third name.
    let altered = events.first {
      $0.action == .alterTable && $0.first == "main" && $0.database == nil
    }
    guard !isRenaming, let name = altered?.second else { return nil }
    let tokens = TokenizedSQL(try sql(ofTable: name) ?? "")
    guard case .createTable(let table)? = try? parseCreate(tokens), table.isStrict,
      let column = table.columns.last, let type = column.type
    else { return nil }
    if column.generated != nil {
      return try mistypedRows(of: name, in: column).map { (.migrationFailed, $0) }
    }
    guard let value = column.defaultExpression.map({ tokens.text($0.outerRange) }),
      try !isOfItsType("\(tokens.text(type.range)) DEFAULT \(value)", application)
    else { return nil }
    return (
      .invalidInput,
      "the default \(value) of `\(name).\(column.name.text)` is not of the type \(type.text), "
        + "which the STRICT table `\(name)` requires: existing rows would hold an invalid value. "
        + "Write a default of that type"
    )
  }

  /// The generated columns of a STRICT table in which rows have values of another type, with an error message
  /// for each. SQLite (3.40.1) checks them only in `integrity_check`.
  func mistypedRows(of table: String) throws(DatabaseError) -> [Identifier: String] {
    guard
      case .createTable(let parsed)? = try? parseCreate(TokenizedSQL(sql(ofTable: table) ?? "")),
      parsed.isStrict
    else { return [:] }
    var problems: [Identifier: String] = [:]
    for column in parsed.columns where column.generated != nil {
      problems[column.name.text.identifier] = try mistypedRows(of: table, in: column)
    }
    return problems
  }

  private func mistypedRows(
    of table: String, in column: CreateTable.Column
  ) throws(DatabaseError) -> String? {
    guard let type = column.type?.text, type.identifier != "any" else { return nil }
    let name = column.name.text
    let rows =
      try value(
        "SELECT count(*) FROM main.\(Quoting.quoted(table)) "
          + "WHERE typeof(\(Quoting.quoted(name))) NOT IN ('null', lower(?1))",
        [.text(type.identifier == "int" ? "integer" : type)])?.integer ?? 0
    guard rows > 0 else { return nil }
    return "the generated column `\(table).\(name)` is not of the type \(type) in "
      + "\(counted(rows, "row")), but the STRICT table `\(table)` requires that. Convert the value "
      + "in the expression, for example with CAST"
  }

  /// Tries a default on a scratch table, with `integrity_check`.
  private func isOfItsType(
    _ definition: String, _ application: Application
  ) throws(DatabaseError) -> Bool {
    let scratch = try Connection(path: nil)
    try application.registerStubs(on: scratch)
    try scratch.execute("CREATE TABLE one (a INTEGER) STRICT; INSERT INTO one VALUES (1)")
    do {
      try scratch.execute("ALTER TABLE one ADD COLUMN b \(definition)")
    } catch {
      // SQLite refuses such a default if the table has rows.
      if error.isFault { throw error }
      return true
    }
    return try scratch.value("PRAGMA integrity_check") == "ok"
  }
}

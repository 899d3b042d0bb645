import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// What is asked of the rows, and stops a migration by its answer.
extension Runner {
  func answer(_ question: Question, _ context: Context) throws {
    let object = question.tables.first ?? context.operation.name
    let isYes = try reporting(.check, object) { () throws(DatabaseError) in
      try connection.value("SELECT \(question.condition)") == 1
    }
    guard isYes else { return }
    throw try context.failure(question, on: connection, redacted: redactsValues)
  }

  func check(_ assertions: [Assertion], of migration: Migration) throws(Failure) {
    for assertion in assertions {
      try check(assertion, Context(migration: migration, assertion: assertion))
    }
  }

  /// The tables that a query reads; nil where the schema does not have all that it names yet.
  package func tablesRead(by query: String) -> Set<Identifier>? {
    connection.set(.doubleQuotedStringsInDML, to: false)
    defer { connection.set(.doubleQuotedStringsInDML, to: true) }
    statementGuard.startStatement()
    var script = Script(query)
    let statement = try? statementGuard.watching { () throws(DatabaseError) in
      try script.next(on: connection)
    }
    guard statement != nil else { return nil }
    return Set(
      statementGuard.events.compactMap { $0.action == .read ? $0.first?.identifier : nil })
  }

  package func check(_ assertion: Assertion, _ context: Context) throws(Failure) {
    statementGuard.startStatement()
    do {
      var script = Script(assertion.query.text)
      let statement = try statementGuard.watching { () throws(DatabaseError) in
        try script.next(on: connection)
      }
      let rest = try statementGuard.watching { () throws(DatabaseError) in
        try script.next(on: connection)
      }
      guard let statement, rest == nil, statement.isReadOnly, statement.columnCount == 1 else {
        throw context.failure(
          .invalidInput, "an assertion's query must be one SELECT of one column",
          position: assertion.query.position)
      }
      guard target == .database else { return }
      let rows = try statementGuard.watching { () throws(DatabaseError) -> [Value] in
        var values: [Value] = []
        while values.count < 2, try statement.step() { values.append(try statement.value(0)) }
        return values
      }
      let expected = try statementGuard.watching { () throws(DatabaseError) in
        try connection.value("SELECT \(assertion.equals.sql)") ?? .null
      }
      guard rows != [expected] else { return }
      throw context.failure(
        .migrationFailed,
        assertion.broken(by: rows, expected: expected, redacted: redactsValues),
        position: assertion.position, statement: assertion.query.text)
    } catch {
      let refused = error as? DatabaseError
      if refused != nil, let refusal = statementGuard.refusal {
        throw context.failure(.invalidInput, refusal, position: assertion.query.position)
      }
      throw context.failure(
        error, position: assertion.query.position(ofByte: refused?.offset ?? 0),
        statement: assertion.query.text)
    }
  }
}

extension Assertion {
  /// What a query gave instead of the expected value.
  package func broken(by rows: [Value], expected: Value, redacted: Bool) -> String {
    let found = rows.isEmpty ? "no row" : rows.count > 1 ? "several rows" : rows[0].shown
    return (message ?? "the assertion failed") + ": expected \(expected.shown), found "
      + (redacted && rows.count == 1 ? "another \(rows[0].storageClass)" : found)
  }
}

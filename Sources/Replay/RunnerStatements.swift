import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// Compiles, checks and runs statements, one at a time.
extension Runner {
  /// Runs a generated statement. It may contain expressions of the manifest, which must not end it.
  func runOne(
    _ sql: String, _ source: SQLSource?, _ context: Context, copying rows: CopiedRows? = nil,
    record: inout Record
  ) throws(Failure) {
    var script = Script(sql)
    let place = source?.position ?? context.operation.position
    try runNext(
      of: &script, sql, context, copying: rows, isGenerated: true, record: &record
    ) { _ in place }
    let rest = TokenizedSQL(String(decoding: sql.utf8.dropFirst(script.offset), as: UTF8.self))
    guard rest.significant.isEmpty else {
      throw context.failure(
        .invalidInput,
        "an expression ends its statement: \(rest.text(rest.significant[0]))",
        position: place)
    }
  }

  func runScript(
    _ source: SQLSource, _ context: Context, record: inout Record
  ) throws(Failure) {
    let tokens = TokenizedSQL(source.text)
    if tokens.significant.contains(where: { tokens.text($0).identifier == "writable_schema" }) {
      connection.set(.defensive, to: false)
    }
    var script = Script(source.text)
    while try runNext(
      of: &script, source.text, context, record: &record, position: source.position(ofByte:))
    {
      try stopIfInterrupted(context)
    }
  }

  /// Stops the migration if the answer to the question is yes.
  func answer(
    _ question: Question, _ context: Context, record: inout Record
  ) throws {
    let query = "SELECT \(question.condition)"
    // On a new database the question itself runs, so that `stopIfCalled` notices a call.
    if target == .scratch {
      record.missingCall =
        try record.missingCall ?? missingCall(in: query, at: context.operation.position)
    }
    calls?.clear()
    let isYes = try reporting(.check, question.table) { () throws(DatabaseError) in
      try connection.value(query) == 1
    }
    try stopIfCalled(context, query)
    guard isYes else { return }
    throw try context.failure(question, on: connection, redacted: redactsValues)
  }

  /// Compiles and runs the script's next statement. Returns false at the end of the script.
  @discardableResult
  private func runNext(
    of script: inout Script, _ text: String, _ context: Context, copying rows: CopiedRows? = nil,
    isGenerated: Bool = false, record: inout Record, position: (Int) -> Position
  ) throws(Failure) -> Bool {
    calls?.clear()
    do {
      var warnings = StatementWarnings()
      guard let statement = try compileNext(of: &script, &warnings) else { return false }
      let range = script.range
      let sql = statement.sql
      let tokens = TokenizedSQL(sql)
      let start = position(
        range.lowerBound + (tokens.significant.first?.range.lowerBound ?? 0))
      if isVacuum(tokens) {
        throw context.failure(
          .invalidInput, "VACUUM does not belong in a migration: it cannot run in a transaction",
          position: start, statement: sql)
      }
      guard statement.parameterCount == 0 else {
        throw context.failure(
          .invalidInput, "the statement has a parameter without a value",
          position: start, statement: sql)
      }
      if target.isPrivate {
        try refuseLedger(tokens, start, context)
        record.missingCall = try record.missingCall ?? missingCall(in: sql, at: start)
        if target == .newDatabase, let call = record.missingCall {
          throw call.refusal(of: context.migration)
        }
      }
      if isGenerated, !isReleased { try refuseQuotedString(tokens, context) }
      // Only an observer reads warnings.
      if isForLint, onStatement != nil {
        if let (text, offset) = try doubleQuotedString(in: tokens) {
          warnings.doubleQuotedString = StatementWarnings.QuotedString(
            text: text, position: position(range.lowerBound + offset))
        }
        warnings.readsItself = try connection.readsItself(
          tokens, statementGuard.events, application)
      }
      reach.note(tokens)
      let compiled = statementGuard.events
      let time = Stopwatch()
      try statementGuard.watching { () throws(DatabaseError) in
        try run(statement, compiled, copying: rows)
      }
      let nanoseconds = time.nanoseconds
      try stopIfCalled(context, sql)
      for event in statementGuard.events { record.writeSet.note(event, of: context.index) }
      record.writeSet.namesRollback = record.writeSet.namesRollback || tokens.namesRollback
      let events = statementGuard.events
      if let (status, problem) = try connection.mistypedColumn(addedBy: events, application) {
        throw context.failure(status, problem, position: start, statement: sql)
      }
      record.renames.note(sql, events)
      try onStatement?(
        ReplayedStatement(
          operation: context.index, sql: sql, position: start, events: events,
          returnsRows: statement.columnCount > 0, nanoseconds: nanoseconds, warnings: warnings))
      return true
    } catch {
      throw failure(error, script, text, context, position: position)
    }
  }

  /// Refuses a name in double quotes that SQLite would read as a string, so that a misspelt name is not
  /// written or compared as text.
  private func refuseQuotedString(_ tokens: TokenizedSQL, _ context: Context) throws {
    let sources = context.operation.expressions.filter { $0.text.utf8.contains(UInt8(ascii: "\"")) }
    guard !sources.isEmpty, let first = tokens.significant.first,
      ["insert", "update", "delete", "select"].contains(tokens.text(first).identifier),
      let quoted = try doubleQuotedString(in: tokens)?.text, quoted.hasPrefix("\"")
    else { return }
    for source in sources {
      let tokens = TokenizedSQL(source.text)
      guard let token = tokens.tokens.first(where: { tokens.text($0) == quoted }) else { continue }
      throw context.failure(
        .invalidInput, "no object here has the name `\(quoted)`: SQLite would read it as a string",
        position: source.position(ofByte: token.range.lowerBound),
        remedy: "Correct the name, or write a string in single quotes")
    }
  }

  private func failure(
    _ error: any Error, _ script: Script, _ text: String, _ context: Context,
    position: (Int) -> Position
  ) -> Failure {
    guard let error = error as? DatabaseError else { return context.failure(error) }
    let bytes = Array(text.utf8)
    let range = script.range.clamped(to: 0..<bytes.count)
    let (start, sql) = statement(in: bytes, at: range.lowerBound)
    let place = position(error.offset.map { range.lowerBound + $0 } ?? start)
    if let refusal = statementGuard.refusal {
      return context.failure(.invalidInput, refusal, position: position(start), statement: sql)
    }
    // SQLite may report an index as damaged that the stand-in for a collation orders differently.
    do { try stopIfCalled(context, sql) } catch { return error }
    let ledger = application.ledger
    let clash = "there is already another table or index with this name: \(ledger.table)"
    if error.message.isSameName(as: clash) {
      return context.failure(
        .invalidInput, ledger.refusal, position: position(start), statement: sql)
    }
    let schema = error.code == .error ? try? Schema(of: connection) : nil
    let named =
      schema.flatMap { context.operation.missingName(in: $0) }.map {
        context.failure(.migrationFailed, $0.message, key: $0.key, statement: sql)
      } ?? schema.flatMap { context.columnFailure(error, in: $0, statement: sql) }
    if var named {
      named.cause = error
      return named
    }
    var failure = context.failure(
      error, position: place, statement: sql, onScratch: target.isPrivate)
    failure.rows = rows(for: error, of: sql)
    return failure
  }

  private func rows(for error: DatabaseError, of sql: String) -> RowQuery? {
    guard target == .database, error.code == .constraint,
      let schema = try? Schema(of: connection)
    else { return nil }
    return RowQuery(for: error, of: sql, in: schema) { table in
      (try? connection.value("SELECT 1 FROM main.\(Quoting.quoted(table)) LIMIT 1")) == .some(nil)
    }
  }

  /// The statement that begins at `offset`, for a message. SQLite stops at the token that caused the error,
  /// so the end is searched for here.
  private func statement(in bytes: [UInt8], at offset: Int) -> (start: Int, text: String) {
    let tokens = TokenizedSQL(bytes: Array(bytes[offset...]))
    var rest = tokens.significant[...]
    let statement = tokens.popStatement(&rest)
    guard let first = statement.first,
      let last = statement.last(where: { tokens.text($0) != ";" })
    else { return (offset, "") }
    let start = first.range.lowerBound
    return (offset + start, tokens.text(start..<last.range.upperBound))
  }

  /// Compiles the script's next statement. For lint, a stub replaces an undeclared function or collation, so
  /// that the rest of the statement is checked, too.
  private func compileNext(
    of script: inout Script, _ warnings: inout StatementWarnings
  ) throws(DatabaseError) -> Statement? {
    while true {
      statementGuard.startStatement()
      do {
        return try statementGuard.watching { () throws(DatabaseError) in
          try script.next(on: connection)
        }
      } catch {
        guard isForLint, let missing = MissingName(message: error.message),
          !warnings.missing.contains(missing)
        else { throw error }
        warnings.missing.append(missing)
        try connection.registerStub(of: missing, calls)
      }
    }
  }

  /// A name in double quotes that SQLite reads as a string, because no object has that name, and its
  /// position. Nil if there is none. Must be called before the statement runs.
  private func doubleQuotedString(
    in tokens: TokenizedSQL
  ) throws(DatabaseError) -> (text: String, offset: Int)? {
    guard tokens.bytes.contains(UInt8(ascii: "\"")) else { return nil }
    connection.set(.doubleQuotedStringsInDML, to: false)
    connection.set(.doubleQuotedStringsInDDL, to: false)
    defer {
      connection.set(.doubleQuotedStringsInDML, to: true)
      connection.set(.doubleQuotedStringsInDDL, to: true)
    }
    var script = Script(tokens.text(0..<tokens.bytes.count))
    do {
      _ = try script.next(on: connection)
      return nil
    } catch  where !error.isFault {
      let offset = error.offset ?? tokens.significant.first?.range.lowerBound ?? 0
      let token = tokens.tokens.first { $0.range.contains(offset) }
      return (token.map(tokens.text) ?? "", offset)
    }
  }

  /// Whether the statement is a VACUUM. SQLite calls the authorizer for VACUUM only when it runs, and in a
  /// transaction it cannot run.
  private func isVacuum(_ tokens: TokenizedSQL) -> Bool {
    let first = tokens.significant.first { tokens.text($0) != ";" }
    return first.map { tokens.text($0).identifier == "VACUUM" } ?? false
  }

  /// Refuses a statement that mentions the ledger in a place for which SQLite does not call the authorizer:
  /// the body of a trigger or view, the arguments of a virtual table, or the target of a foreign key.
  private func refuseLedger(
    _ tokens: TokenizedSQL, _ position: Position, _ context: Context
  ) throws(Failure) {
    let ledger = application.ledger.table
    let isMentioned =
      switch try? parseCreate(tokens) {
      case .createTable(let table)?:
        table.foreignKeys.contains { $0.reference.table.text.identifier == ledger }
      case .createView?, .createTrigger?, .createVirtualTable?:
        tokens.names(ledger.text, includingStrings: true)
      default: false
      }
    guard isMentioned else { return }
    throw context.failure(
      .invalidInput, application.ledger.refusal, position: position,
      statement: tokens.text(0..<tokens.bytes.count))
  }

  /// The first call of a missing function in the compiled program (EXPLAIN, The SQLite Bytecode Engine). The
  /// authorizer is not called for functions in a DEFAULT, a CHECK or an index.
  private func missingCall(
    in sql: String, at position: Position
  ) throws(DatabaseError) -> Record.Call? {
    let missing = application.missingFunctions
    guard !missing.isEmpty else { return nil }
    do {
      for row in try connection.rows("EXPLAIN " + sql) where row.count > 5 {
        guard ["Function", "PureFunc"].contains(row[1].text),
          let called = row[5].text?.split(separator: "(").first.map({ Identifier($0) }),
          let function = missing.first(where: { $0.name.identifier == called })
        else { continue }
        return Record.Call(function: function.name, position: position)
      }
    } catch  where !error.isFault {}
    return nil
  }
}

import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The result of compiling a query on a schema.
package enum CompiledQuery: Sendable {
  case compiles([Column])
  /// The query compiles only because SQLite reads an unknown name in double quotes as a string.
  case readsNameAsString([Column], message: String, offset: Int?)
  case refused(message: String, offset: Int?)

  package struct Column: Sendable, Hashable, CustomStringConvertible {
    package let name: String
    /// The declared type; nil for an expression.
    package let type: String?

    package var description: String { type.map { "\(name) \($0)" } ?? name }
  }

  /// The result columns; nil if the query does not compile.
  package var columns: [Column]? {
    switch self {
    case .compiles(let columns), .readsNameAsString(let columns, _, _): columns
    case .refused: nil
    }
  }

  package var isSound: Bool {
    if case .compiles = self { true } else { false }
  }
}

extension ApplicationQuery {
  /// Whether the statement is a PRAGMA, which lint does not compile. Some PRAGMAs take effect
  /// during compilation, and the others cannot break.
  var isPragma: Bool {
    let sql = TokenizedSQL(sql)
    let explain: Set<Identifier> = ["EXPLAIN", "QUERY", "PLAN"]
    return sql.isWord(sql.significant.first { !explain.contains(sql.name($0)) }, "PRAGMA")
  }
}

extension Connection {
  /// Compiles a query as on the application's connection, without running it. First rejects strings
  /// in double quotes, to find names that SQLite would read as strings.
  package func compile(_ query: ApplicationQuery) throws(DatabaseError) -> CompiledQuery {
    set(.doubleQuotedStringsInDML, to: false)
    set(.doubleQuotedStringsInDDL, to: false)
    defer {
      set(.doubleQuotedStringsInDML, to: true)
      set(.doubleQuotedStringsInDDL, to: true)
    }
    let strict = try attempt(query)
    guard case .refused(let message, let offset) = strict else { return strict }
    set(.doubleQuotedStringsInDML, to: true)
    set(.doubleQuotedStringsInDDL, to: true)
    guard case .compiles(let columns) = try attempt(query) else { return strict }
    return .readsNameAsString(columns, message: message, offset: offset)
  }

  private func attempt(_ query: ApplicationQuery) throws(DatabaseError) -> CompiledQuery {
    do {
      if let preparation = query.preparation {
        return try attempt(query.sql, preparedBy: preparation)
      }
      let statement = try prepare(query.sql)
      let columns = zip(statement.columnNames, statement.declaredTypes)
        .map { CompiledQuery.Column(name: $0, type: $1) }
      return .compiles(columns)
    } catch {
      if error.isFault { throw error }
      return .refused(
        message: error.message, offset: error.offset ?? query.offset(ofNameIn: error.message))
    }
  }

  /// Compiles a statement of `connection.sql` after creating the temporary objects of the earlier
  /// statements. If it creates a temporary object, runs it and compiles a use of the object,
  /// because SQLite compiles the body of a view or a trigger only when it is used. Rolls back all
  /// changes.
  private func attempt(
    _ sql: String, preparedBy preparation: [String]
  ) throws(DatabaseError) -> CompiledQuery {
    try rollingBack { () throws(DatabaseError) in
      for statement in preparation where temporaryObject(statement) != nil {
        do throws(DatabaseError) { try execute(statement) } catch  where !error.isFault {}
      }
      guard let object = temporaryObject(sql) else {
        _ = try prepare(sql)
        return .compiles([])
      }
      // If the statement that fires the trigger already fails before, another finding reports the
      // error.
      let use =
        if let trigger = object.trigger {
          try statement(
            firing: trigger.event, on: trigger.table.name.text, of: trigger.table.schema?.text)
        } else {
          "SELECT * FROM temp.\(Quoting.quoted(object.name))"
        }
      let worksBefore = object.trigger == nil || (try? prepare(use)) != nil
      try execute(sql)
      if worksBefore { _ = try prepare(use) }
      return .compiles([])
    }
  }

  /// The name of the temporary object that a statement creates, and its trigger, if it creates one.
  private func temporaryObject(_ sql: String) -> (name: String, trigger: CreateTrigger?)? {
    guard let parsed = try? parseCreate(TokenizedSQL(sql)),
      parsed.isTemporary || parsed.schema?.isSame(as: "temp") == true
    else { return nil }
    return switch parsed {
    case .createTrigger(let trigger): (parsed.name.text, trigger)
    case .createView, .createTable: (parsed.name.text, nil)
    case .createIndex, .createVirtualTable: nil
    }
  }
}

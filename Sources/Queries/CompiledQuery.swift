import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// What SQLite makes of a query on a schema.
package enum CompiledQuery: Sendable {
  case compiles([Column])
  /// Only because a name in double quotes that nothing has is a text to SQLite.
  case takesNameForText([Column], message: String, offset: Int?)
  case refused(message: String, offset: Int?)

  package struct Column: Sendable, Hashable, CustomStringConvertible {
    package let name: String
    /// Nil for an expression.
    package let type: String?

    package var description: String { type.map { "\(name) \($0)" } ?? name }
  }

  /// Nil when it does not compile.
  package var columns: [Column]? {
    switch self {
    case .compiles(let columns), .takesNameForText(let columns, _, _): columns
    case .refused: nil
    }
  }

  package var isSound: Bool {
    if case .compiles = self { true } else { false }
  }
}

extension [ApplicationQuery] {
  /// Without PRAGMAs: some of them act while they are compiled, and of the others there is nothing to
  /// know.
  package func harmless() throws(DatabaseError) -> [ApplicationQuery] {
    guard !isEmpty else { return [] }
    let connection = try Connection(path: nil)
    connection.setAuthorizer { $0.action == .pragma ? .deny : .allow }
    var queries: [ApplicationQuery] = []
    for query in self {
      do {
        _ = try connection.prepare(query.sql)
      } catch {
        if error.isFault { throw error }
        if error.code == .authorization { continue }
      }
      queries.append(query)
    }
    return queries
  }
}

extension Connection {
  /// Compiles a query as the application's connection would; nothing runs.
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
    return .takesNameForText(columns, message: message, offset: offset)
  }

  private func attempt(_ query: ApplicationQuery) throws(DatabaseError) -> CompiledQuery {
    do {
      let statement = try withAllParameters { () throws(DatabaseError) in
        try prepare(query.sql)
      }
      let columns = zip(statement.columnNames, statement.declaredTypes)
        .map { CompiledQuery.Column(name: $0, type: $1) }
      return .compiles(columns)
    } catch {
      if error.isFault { throw error }
      return .refused(
        message: error.message, offset: error.offset ?? query.offset(ofNameIn: error.message))
    }
  }
}

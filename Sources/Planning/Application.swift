import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// What the application registers on its connections and the schema may call, and how its databases are run.
package struct Application: Sendable {
  package struct Collation: Sendable {
    package let name: String
    package let compare: @Sendable (String, String) -> Int

    package init(name: String, compare: @escaping @Sendable (String, String) -> Int) {
      self.name = name
      self.compare = compare
    }
  }

  /// What `schemactl.yaml` declares: known by name only.
  package var declaredFunctions: [DeclaredFunction]
  package var declaredCollations: [String]
  /// What an app that embeds the library brings itself.
  package var functions: [FunctionDefinition]
  package var collations: [Collation]
  /// Lint follows statements: each operation is planned alone, and a rewrite ends with the old table's
  /// drop, which the authorizer reports.
  package var plansForLint = false
  /// Whether `drop_column` may leave a trigger that never fires again. Devices have run released
  /// migrations that did.
  package var plansForReleased = false
  /// Where its databases record what they have run.
  package var ledger = Ledger.usual
  /// What a scratch database may cost.
  package var limit = WorkLimit()

  package init(
    declaredFunctions: [DeclaredFunction] = [], declaredCollations: [String] = [],
    functions: [FunctionDefinition] = [], collations: [Collation] = []
  ) {
    self.declaredFunctions = declaredFunctions
    self.declaredCollations = declaredCollations
    self.functions = functions
    self.collations = collations
  }

  /// Declares further functions, unless they are known.
  package mutating func declare(_ functions: [DeclaredFunction]) {
    let known = Set(declaredFunctions.map(\.name.identifier))
    declaredFunctions += functions.filter { !known.contains($0.name.identifier) }
  }

  /// Declared functions without an implementation; `uuid()` is built in.
  package var missingFunctions: [DeclaredFunction] {
    let known = Set(([.uuid] + functions).map { $0.name.identifier })
    return declaredFunctions.filter { !known.contains($0.name.identifier) }
  }

  package var missingCollations: [String] {
    let known = Set(collations.map { $0.name.identifier })
    return declaredCollations.filter { !known.contains($0.identifier) }
  }

  /// Registers everything on a private database: missing functions do nothing, so that any schema
  /// can be built. Never on a user's database, whose rows and indexes it would corrupt.
  package func registerStubs(on connection: Connection) throws(DatabaseError) {
    try registerBrought(on: connection)
    try registerMissing(on: connection, nil)
  }

  /// Registers everything on a user's database: what is missing can be named there by DDL, and
  /// fails the statement that would call it.
  ///
  /// - Returns: `calls`.
  @discardableResult
  package func register(
    on connection: Connection, noting calls: CallRecord = CallRecord()
  ) throws(DatabaseError) -> CallRecord {
    try registerBrought(on: connection)
    try registerMissing(on: connection, calls)
    return calls
  }

  private func registerMissing(
    on connection: Connection, _ calls: CallRecord?
  ) throws(DatabaseError) {
    for function in missingFunctions {
      try connection.registerStub(
        of: .function(function.name), arguments: function.arguments, calls)
    }
    for name in missingCollations { try connection.registerStub(of: .collation(name), calls) }
  }

  /// Does not replace a function of the same name on a borrowed connection.
  package func registerBrought(on connection: Connection) throws(DatabaseError) {
    let isShared = connection.isBorrowed
    for function in isShared ? [.uuid] + functions : functions {
      if isShared, try connection.hasFunction(function.name, arguments: function.arguments) {
        continue
      }
      try connection.register(function)
    }
    for collation in collations {
      if isShared, try connection.hasCollation(collation.name) { continue }
      try connection.registerCollation(collation.name, compare: collation.compare)
    }
  }
}

/// Which of the application's missing functions and collations SQLite has called.
package final class CallRecord: Sendable {
  private let names = Locked<[String]>([])

  package init() {}

  package func note(_ name: String) {
    names.withLock { if $0.count < 10, !$0.contains(name) { $0.append(name) } }
  }

  package var called: [String] { names.withLock { $0 } }

  package func clear() {
    names.withLock { $0 = [] }
  }
}

/// A function or a collation that a connection lacks.
package enum MissingName: Sendable, Equatable {
  case function(String)
  case collation(String)

  /// Reads the name from SQLite's message about a statement, a view or a trigger; nil for other messages.
  package init?(message: String) {
    for (prefix, make) in [
      ("no such function: ", MissingName.function),
      ("no such collation sequence: ", MissingName.collation),
    ] where message.hasPrefix(prefix) {
      self = make(String(message.dropFirst(prefix.count)))
      return
    }
    return nil
  }
}

extension Connection {
  /// Registers a stand-in.
  ///
  /// - Parameters:
  ///   - arguments: of a function; -1 is any number.
  ///   - calls: notes each call; a function fails then. Without it a function gives NULL.
  package func registerStub(
    of name: MissingName, arguments: Int = -1, _ calls: CallRecord?
  ) throws(DatabaseError) {
    switch name {
    case .function(let name):
      try register(
        FunctionDefinition(
          name: name, arguments: arguments, isDeterministic: true,
          body: { _ in
            guard let calls else { return .null }
            calls.note(name)
            throw FunctionError(
              "`\(name)()` is a function of the application and not available here")
          }))
    case .collation(let name):
      // A collation cannot fail: the caller of the statement reads the record afterwards.
      try registerCollation(name) { a, b in
        calls?.note(name)
        return a == b ? 0 : a < b ? -1 : 1
      }
    }
  }
}

extension Schema {
  /// A private database in memory with this schema and no rows, to ask SQLite what a change does.
  ///
  /// Omits objects that cannot be recreated, such as a view that names a dropped table.
  package func scratch(_ application: Application) throws(DatabaseError) -> Connection {
    let connection = try application.scratch()
    try application.registerStubs(on: connection)
    if table("sqlite_stat1") != nil {
      // The only way to have SQLite's own tables of statistics.
      try connection.execute("ANALYZE")
    }
    for kind in [SchemaObject.Kind.table, .index, .view, .trigger] {
      for object in objects where object.kind == kind && !object.isInternal {
        guard let sql = object.sql else { continue }
        // A virtual table brings its shadow tables itself: making them again fails, rightly.
        do {
          try connection.execute(sql)
        } catch  where !error.isFault {}
      }
    }
    return connection
  }
}

extension Application {
  /// A private database in memory that holds nothing, with the limits of one.
  package func scratch() throws(DatabaseError) -> Connection {
    let connection = try Connection(path: nil)
    try connection.limitWork(to: limit)
    return connection
  }
}

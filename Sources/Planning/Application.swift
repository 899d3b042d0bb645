import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// The functions and collations of the application that the schema may call, and settings for its databases.
package struct Application: Sendable {
  package struct Collation: Sendable {
    package let name: String
    package let compare: @Sendable (String, String) -> Int

    package init(name: String, compare: @escaping @Sendable (String, String) -> Int) {
      self.name = name
      self.compare = compare
    }
  }

  /// Functions and collations that `schemactl.yaml` declares. Only their names and argument counts are known.
  package var declaredFunctions: [DeclaredFunction]
  package var declaredCollations: [String]
  /// Functions and collations that an app passes to the library.
  package var functions: [FunctionDefinition]
  package var collations: [Collation]
  /// Whether each operation is planned alone, and a rewrite ends with DROP TABLE of the old table, which the
  /// authorizer reports. Lint needs that, because it follows statements.
  package var plansOperationsAlone = false
  /// Whether `drop_column` may leave a trigger whose UPDATE OF names the dropped column, and which never
  /// fires again. Released migrations have done so on devices.
  package var allowsSilentTriggers = false
  /// The table in which a database records the migrations that it has run.
  package var ledger = Ledger.usual
  /// The limits of time and memory of a scratch database.
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

  /// Adds declared functions, except those whose names are declared already.
  package mutating func declare(_ functions: [DeclaredFunction]) {
    let known = Set(declaredFunctions.map(\.name.identifier))
    declaredFunctions += functions.filter { !known.contains($0.name.identifier) }
  }

  /// The declared functions without an implementation. `uuid()` is built in.
  package var missingFunctions: [DeclaredFunction] {
    let known = Set(([.uuid] + functions).map { $0.name.identifier })
    return declaredFunctions.filter { !known.contains($0.name.identifier) }
  }

  package var missingCollations: [String] {
    let known = Set(collations.map { $0.name.identifier })
    return declaredCollations.filter { !known.contains($0.identifier) }
  }

  /// Registers all functions and collations on a private database. Missing functions return NULL, so that any
  /// schema can be created.
  ///
  /// Not for a user's database: NULL as the result of a function would corrupt its rows and indexes.
  package func registerStubs(on connection: Connection) throws(DatabaseError) {
    try registerProvided(on: connection)
    try registerMissing(on: connection, nil)
  }

  /// Registers all functions and collations on a user's database. DDL can name the missing ones there; a
  /// statement that calls a missing function fails.
  ///
  /// - Returns: `calls`.
  @discardableResult
  package func register(
    on connection: Connection, noting calls: CallRecord = CallRecord()
  ) throws(DatabaseError) -> CallRecord {
    try registerProvided(on: connection)
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

  /// Registers the functions and collations that the app passes to the library. On a borrowed connection, a
  /// function or collation that exists under the same name is not replaced.
  package func registerProvided(on connection: Connection) throws(DatabaseError) {
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

/// The names of the application's missing functions and collations that SQLite has called; at most ten.
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
  /// Registers a stand-in for a missing function or collation.
  ///
  /// - Parameters:
  ///   - arguments: the number of arguments of a function; -1 accepts any number.
  ///   - calls: records each call. A function that is called then fails. If this is nil, the function returns
  ///     NULL.
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
      // A collation cannot fail, so the caller of the statement reads the record afterwards.
      try registerCollation(name) { a, b in
        calls?.note(name)
        return a == b ? 0 : a < b ? -1 : 1
      }
    }
  }
}

extension Schema {
  /// Creates a scratch database with this schema and without rows, to ask SQLite for the effect of a change.
  ///
  /// Omits objects that cannot be recreated, such as a view that names a dropped table.
  package func scratch(_ application: Application) throws(DatabaseError) -> Connection {
    let connection = try application.scratch()
    try application.registerStubs(on: connection)
    if table("sqlite_stat1") != nil {
      // Only ANALYZE can create SQLite's statistics tables.
      try connection.execute("ANALYZE")
    }
    for kind in [SchemaObject.Kind.table, .index, .view, .trigger] {
      for object in objects where object.kind == kind && !object.isInternal {
        guard let sql = object.sql else { continue }
        // CREATE VIRTUAL TABLE also creates the shadow tables. Their own CREATE TABLE then fails, which is
        // harmless.
        do {
          try connection.execute(sql)
        } catch  where !error.isFault {}
      }
    }
    return connection
  }
}

extension Application {
  /// Creates an empty scratch database with the limits `limit`.
  package func scratch() throws(DatabaseError) -> Connection {
    let connection = try Connection(path: nil)
    try connection.limitWork(to: limit)
    return connection
  }

  /// SQLite's message if it refuses to add columns to a table; nil if it accepts them (ALTER TABLE, section 5).
  ///
  /// SQLite 3.40.1 rejects a column with a CHECK in a WITHOUT ROWID table with rows if the key columns are not
  /// the first columns, because it misreads the other columns. So the tried table has the same key.
  ///
  /// - Parameter columns: the definitions of the columns, as SQL.
  package func refusal(
    toAdd columns: [String], to table: CreateTable, hasRows: Bool = true
  ) throws(DatabaseError) -> String? {
    let scratch = try scratch()
    try registerStubs(on: scratch)
    let names = table.columns.map(\.name.text)
    let key = table.isWithoutRowid ? table.keyColumns : Array(names.prefix(1))
    let ones = key.map { _ in "1" }.joined(separator: ", ")
    let end = table.isWithoutRowid ? ", PRIMARY KEY (\(quotedList(key)))) WITHOUT ROWID" : ")"
    try scratch.execute("CREATE TABLE probe (\(quotedList(names))\(end)")
    if hasRows { try scratch.execute("INSERT INTO probe (\(quotedList(key))) VALUES (\(ones))") }
    do {
      for column in columns { try scratch.execute("ALTER TABLE probe ADD COLUMN \(column)") }
      return nil
    } catch  where !error.isFault {
      return error.message
    }
  }
}

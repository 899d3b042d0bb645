import SchemaManifest
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// What the application registers on its connections and the schema may call.
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

  /// Declared functions that nobody has brought; `uuid()` is built in.
  package var missingFunctions: [DeclaredFunction] {
    let known = Set(([.uuid] + functions).map { $0.name.identifier })
    return declaredFunctions.filter { !known.contains($0.name.identifier) }
  }

  package var missingCollations: [String] {
    let known = Set(collations.map { $0.name.identifier })
    return declaredCollations.filter { !known.contains($0.identifier) }
  }

  /// Registers everything on a private database: what is missing does nothing, so that any schema
  /// can be built. Never on a user's database, whose rows and indexes it would corrupt.
  package func registerStubs(on connection: Connection) throws(DatabaseError) {
    try registerBrought(on: connection)
    for function in missingFunctions {
      try connection.register(
        FunctionDefinition(
          name: function.name, arguments: function.arguments, isDeterministic: true,
          body: { _ in .null }))
    }
    for name in missingCollations {
      try connection.registerCollation(name) { a, b in a == b ? 0 : a < b ? -1 : 1 }
    }
  }

  /// Registers everything on a user's database: what is missing can be named there by DDL, and
  /// fails the statement that would call it.
  package func register(on connection: Connection) throws(DatabaseError) -> CallRecord {
    let calls = CallRecord()
    try registerBrought(on: connection)
    for function in missingFunctions {
      let name = function.name
      try connection.register(
        FunctionDefinition(
          name: name, arguments: function.arguments, isDeterministic: true,
          body: { _ in
            calls.note(name)
            throw FunctionError("\(name)() is a function of the application and not available here")
          }))
    }
    for name in missingCollations {
      // A collation cannot raise: whoever ran the statement looks at the record afterwards.
      try connection.registerCollation(name) { a, b in
        calls.note(name)
        return a == b ? 0 : a < b ? -1 : 1
      }
    }
    return calls
  }

  /// On somebody else's connection a function of the same name stays what it is.
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

import SchemaCSQLite
import SchemaPlatform

/// The reason why a connection of the caller cannot be used.
package enum BorrowRefusal: Error, Equatable, Sendable {
  case openTransaction
  case runningStatement(String)
  case readOnly
  /// `PRAGMA query_only` is on.
  case queryOnly
}

extension Connection {
  /// Runs `body` with a connection that the caller has opened, and restores its state afterwards.
  ///
  /// It installs no authorizer, hook, busy handler or progress handler, and changes no limit. It restores
  /// PRAGMAs and switches that can be read.
  ///
  /// - Throws: ``BorrowRefusal`` before any change, or the error of `body`.
  package static func borrowing<Result>(
    _ handle: OpaquePointer, _ body: (Connection) throws -> Result
  ) throws -> Result {
    let connection = Connection(borrowing: handle)
    try connection.requireIdle()
    let settings = Setting.ofMigrations.map { ($0, connection.isOn($0)) }
    let pragmas = try savedPragmas.map { name in
      (name, try connection.value("PRAGMA \(name)")?.integer ?? 0)
    }
    defer {
      connection.interruptHandle.forget()
      connection.rollBack()
      for (setting, isOn) in settings { connection.set(setting, to: isOn) }
      for (name, value) in pragmas { try? connection.execute("PRAGMA \(name) = \(value)") }
    }
    connection.set(.triggers, to: true)
    connection.set(.writableSchema, to: false)
    connection.set(.legacyAlterTable, to: false)
    // The same setting as on the scratch database, which has compiled every statement before.
    connection.set(.doubleQuotedStringsInDML, to: true)
    connection.set(.doubleQuotedStringsInDDL, to: true)
    connection.set(.defensive, to: true)
    connection.set(.foreignKeys, to: false)
    for name in savedPragmas { try connection.execute("PRAGMA \(name) = OFF") }
    return try body(connection)
  }

  /// PRAGMAs that change the effect of statements on rows.
  private static let savedPragmas = [
    "ignore_check_constraints", "recursive_triggers", "reverse_unordered_selects",
  ]

  private func requireIdle() throws {
    guard !isInTransaction else { throw BorrowRefusal.openTransaction }
    var statement = sqlite3_next_stmt(handle, nil)
    while let running = statement {
      if sqlite3_stmt_busy(running) != 0 {
        throw BorrowRefusal.runningStatement(sqlite3_sql(running).map { String(cString: $0) } ?? "")
      }
      statement = sqlite3_next_stmt(handle, running)
    }
    guard !isReadOnly else { throw BorrowRefusal.readOnly }
    guard try value("PRAGMA query_only")?.integer == 0 else { throw BorrowRefusal.queryOnly }
  }

  /// The names and the SQL of the temporary tables, indexes, views and triggers.
  package func temporaryObjects() throws(DatabaseError) -> [(name: String, sql: String)] {
    try rows("SELECT name, sql FROM temp.sqlite_schema WHERE sql IS NOT NULL").map {
      ($0[0].text ?? "", $0[1].text ?? "")
    }
  }

  /// Whether SQL on this connection can call a function with this number of arguments.
  package func hasFunction(_ name: String, arguments: Int) throws(DatabaseError) -> Bool {
    try value(
      "SELECT 1 FROM pragma_function_list WHERE name = ?1 COLLATE NOCASE AND narg IN (?2, -1)",
      [.text(name), .integer(Int64(arguments))]) != nil
  }

  package func hasCollation(_ name: String) throws(DatabaseError) -> Bool {
    try value(
      "SELECT 1 FROM pragma_collation_list WHERE name = ?1 COLLATE NOCASE", [.text(name)]) != nil
  }
}

extension Connection.Setting {
  fileprivate static let ofMigrations: [Connection.Setting] = [
    .foreignKeys, .triggers, .defensive, .trustedSchema, .writableSchema, .legacyAlterTable,
    .doubleQuotedStringsInDML, .doubleQuotedStringsInDDL,
  ]
}

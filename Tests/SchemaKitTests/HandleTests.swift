import Foundation
import SchemaCSQLite
import SchemaKitYAML
import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// A connection as an app opens it.
final class AppConnection {
  let handle: OpaquePointer

  init(_ path: String = ":memory:", flags: Int32 = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    throws
  {
    var handle: OpaquePointer?
    guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
      throw CocoaError(.fileReadUnknown)
    }
    self.handle = handle
  }

  deinit { sqlite3_close_v2(handle) }

  @discardableResult
  func run(_ sql: String) throws -> String? {
    var statement: OpaquePointer?
    var text: String?
    var rest: UnsafePointer<CChar>?
    try sql.withCString { start in
      rest = start
      while let next = rest, next.pointee != 0 {
        guard sqlite3_prepare_v2(handle, next, -1, &statement, &rest) == SQLITE_OK else {
          throw Message(String(cString: sqlite3_errmsg(handle)))
        }
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_step(statement)
        if code == SQLITE_ROW {
          text = sqlite3_column_text(statement, 0).map { String(cString: $0) }
        }
        while code == SQLITE_ROW { code = sqlite3_step(statement) }
        guard code == SQLITE_DONE else { throw Message(String(cString: sqlite3_errmsg(handle))) }
      }
    }
    return text
  }

  struct Message: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
}

@Suite("An open connection")
struct HandleTests {
  private static let settings = [
    "foreign_keys", "recursive_triggers", "ignore_check_constraints", "reverse_unordered_selects",
    "synchronous", "cache_size", "cell_size_check", "busy_timeout", "trusted_schema",
    "legacy_alter_table", "writable_schema", "journal_mode", "query_only", "temp_store",
  ]

  @Test(
    "an in-memory database and a file are migrated, and every setting is restored",
    arguments: [true, false])
  func migrates(inMemory: Bool) throws {
    let sandbox = try Sandbox.ofNotes()
    try sandbox.add(
      "0004_status",
      """
      operations:
      - sql: INSERT INTO notes (text) VALUES ('a'), ('b')
      - alter_column: { table: notes, column: text, type: BLOB }
      - drop_column: { table: notes, column: color }
      """)
    let app = try AppConnection(inMemory ? ":memory:" : sandbox.database)
    try app.run(
      "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA synchronous = NORMAL; "
        + "PRAGMA cache_size = 77; PRAGMA busy_timeout = 1234")
    let before = try Self.settings.map { try app.run("PRAGMA \($0)") }
    let migrator = try sandbox.migrator()
    #expect(try migrator.migrate(handle: app.handle).applied.count == 4)
    #expect(try migrator.migrate(handle: app.handle).applied.isEmpty)
    #expect(try Self.settings.map { try app.run("PRAGMA \($0)") } == before)
    #expect(
      try app.run("SELECT count(*) FROM notes WHERE typeof(text) = 'blob' OR text IN ('a', 'b')")
        == "2")
    #expect(try app.run("SELECT uuid() IS NOT NULL") == "1")
  }

  @Test("a failing migration restores the connection and keeps earlier migrations")
  func fails() throws {
    let sandbox = try Sandbox.ofNotes()
    let app = try AppConnection()
    try sandbox.migrator().migrate(handle: app.handle)
    try app.run("INSERT INTO tags VALUES ('a'), ('a')")
    try sandbox.addSQL("0004_other", "CREATE TABLE other (a)")
    try sandbox.addSQL("0005_unique", "CREATE UNIQUE INDEX t ON tags (name)")
    let error = #expect(throws: SchemaError.self) {
      try sandbox.migrator().migrate(handle: app.handle)
    }
    #expect(error?.migration == "0005_unique")
    #expect(error?.report?.applied.map(\.id) == ["0004_other"])
    #expect(error?.sqliteCode == 2067)
    #expect(try app.run("SELECT count(*) FROM other") == "0")
    #expect(sqlite3_get_autocommit(app.handle) == 1)
  }

  /// `PRAGMA writable_schema = RESET` inside the transaction reads the schema again. SQLite forgets that
  /// schema in a rollback only if it is told to.
  @Test(
    "after a rollback no table of the failed migration remains in the connection's schema",
    arguments: 1...6)
  func rolledBack(changes: Int) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_parents",
      "CREATE TABLE parents (id INTEGER PRIMARY KEY); CREATE TABLE children (id REFERENCES parents)"
    )
    let app = try AppConnection(sandbox.database)
    try sandbox.migrator().migrate(handle: app.handle)
    try app.run("INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1)")
    try sandbox.addSQL(
      "0002_fails",
      """
      CREATE TABLE n (a);
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE TABLE n (a TEXT)' WHERE name = 'n';
      INSERT INTO children SELECT id + 1 FROM children
      """)
    let error = #expect(throws: SchemaError.self) {
      try sandbox.migrator().migrate(handle: app.handle)
    }
    #expect(error?.migration == "0002_fails")
    let other = try AppConnection(sandbox.database)
    for index in 0..<changes { try other.run("CREATE TABLE z\(index) (a)") }
    let refusal = #expect(throws: AppConnection.Message.self) {
      try app.run("INSERT INTO n VALUES ('lost')")
    }
    #expect(refusal?.description == "no such table: n")
    for index in 0..<changes { #expect(try other.run("SELECT count(*) FROM z\(index)") == "0") }
  }

  @Test("a connection that is in use or read-only is refused without changes")
  func refuses() throws {
    let sandbox = try Sandbox.ofNotes()
    let migrator = try sandbox.migrator()
    func refusal(_ app: AppConnection) -> SchemaError.Code? {
      #expect(throws: SchemaError.self) { try migrator.migrate(handle: app.handle) }?.code
    }
    let app = try AppConnection(sandbox.database)
    try app.run("CREATE TABLE mine (a); INSERT INTO mine VALUES (1), (2)")
    try app.run("BEGIN")
    #expect(refusal(app) == .usage)
    #expect(sqlite3_get_autocommit(app.handle) == 0)
    try app.run("ROLLBACK; PRAGMA query_only = ON")
    #expect(refusal(app) == .permission)
    try app.run("PRAGMA query_only = OFF")
    var statement: OpaquePointer?
    sqlite3_prepare_v2(app.handle, "SELECT a FROM mine", -1, &statement, nil)
    sqlite3_step(statement)
    #expect(refusal(app) == .usage)
    #expect(sqlite3_step(statement) == SQLITE_ROW)
    sqlite3_finalize(statement)
    #expect(
      refusal(try AppConnection(sandbox.database, flags: SQLITE_OPEN_READONLY)) == .permission)
    #expect(refusal(app) == .drift)
  }

  @Test(
    "only a temporary object on a table that a migration changes is refused",
    arguments: [
      "CREATE TEMP TRIGGER t AFTER INSERT ON notes BEGIN SELECT 1; END",
      "CREATE TEMP VIEW v AS SELECT text FROM \"notes\"", "CREATE TEMP TABLE Notes (a)",
    ])
  func temporaries(_ sql: String) throws {
    let sandbox = try Sandbox.ofNotes()
    let app = try AppConnection()
    try sandbox.migrator().migrate(handle: app.handle, through: "2")
    try app.run(
      "CREATE TABLE beside (a); CREATE TEMP TABLE log (a);"
        + "CREATE TEMP TRIGGER b AFTER INSERT ON beside BEGIN INSERT INTO log VALUES (1); END")
    try sandbox.migrator().migrate(handle: app.handle)
    try sandbox.add(
      "0004_type", "operations:\n- alter_column: { table: notes, column: text, type: BLOB }\n")
    try app.run(sql)
    let error = #expect(throws: SchemaError.self) {
      try sandbox.migrator().migrate(handle: app.handle)
    }
    #expect(error?.code == .usage)
    try app.run("DROP \(sql.split(separator: " ")[2]) temp.\(sql.split(separator: " ")[3])")
    try sandbox.migrator().migrate(handle: app.handle)
    try app.run("INSERT INTO beside VALUES (1)")
    #expect(try app.run("SELECT count(*) FROM log") == "1")
  }

  @Test("the app's own hooks remain, and receive the actions of a migration")
  func hooks() throws {
    let sandbox = try Sandbox.ofNotes()
    let app = try AppConnection()
    var commits = 0
    sqlite3_commit_hook(
      app.handle,
      {
        $0?.assumingMemoryBound(to: Int.self).pointee += 1; return 0
      }, &commits)
    var asked = 0
    sqlite3_set_authorizer(
      app.handle,
      { context, _, _, _, _, _ in
        context?.assumingMemoryBound(to: Int.self).pointee += 1; return 0
      },
      &asked)
    try sandbox.migrator().migrate(handle: app.handle)
    #expect(commits > 0)
    let before = asked
    try app.run("SELECT 1")
    #expect(asked > before)
  }

  @Test("functions of the app run in a migration, and those of the connection remain")
  func functions() throws {
    let sandbox = try Sandbox()
    sandbox.application.declaredFunctions = [DeclaredFunction(name: "shout", arguments: 1)]
    try sandbox.addSQL(
      "0001_notes", "CREATE TABLE notes (text); INSERT INTO notes VALUES (shout('a'))")
    let app = try AppConnection()
    let shout = AppFunction("shout", arguments: 1) { _ in .text("A!") }
    try sandbox.migrator(functions: [shout]).migrate(handle: app.handle)
    #expect(try app.run("SELECT text FROM notes") == "A!")
    let other = try AppConnection()
    sqlite3_create_function_v2(
      other.handle, "SHOUT", 1, SQLITE_UTF8, nil,
      { context, _, _ in sqlite3_result_int(context, 7) },
      nil, nil, nil)
    try sandbox.migrator(functions: [shout]).migrate(handle: other.handle)
    #expect(try other.run("SELECT text FROM notes") == "7")
  }

  @Test("status, verify and adopt work on an open connection, also in memory")
  func inspection() throws {
    let sandbox = try Sandbox.ofNotes()
    let migrator = try sandbox.migrator()
    let app = try AppConnection()
    #expect(try migrator.status(handle: app.handle).pending.count == 3)
    try app.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    #expect(throws: SchemaError.self) { try migrator.status(handle: app.handle) }
    #expect(throws: SchemaError.self) { try migrator.adopt(handle: app.handle, at: "2") }
    #expect(try migrator.adopt(handle: app.handle) == ["0001_notes"])
    try migrator.migrate(handle: app.handle)
    try app.run("BEGIN; CREATE TABLE strange (a)")
    let report = try migrator.verify(handle: app.handle)
    #expect(!report.isIntact && report.drift.map(\.object) == ["strange"])
    #expect(throws: SchemaError.self) { try migrator.adopt(handle: app.handle) }
    try app.run("ROLLBACK")
    #expect(try migrator.verify(handle: app.handle).isIntact)
    #expect(try migrator.status(handle: app.handle).pending.isEmpty)
  }
}

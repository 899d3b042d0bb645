import Foundation
import SchemaCSQLite
import SchemaKitYAML
import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Connection SQL and functions")
struct PreparationTests {
  private func sandbox(_ connectionSQL: String) throws -> Sandbox {
    let sandbox = try Sandbox.ofNotes()
    try connectionSQL.write(
      toFile: sandbox.folder + "/migrations/connection.sql", atomically: true, encoding: .utf8)
    return sandbox
  }

  @Test("a connection gets its PRAGMAs and temporary triggers, from a bundle and from a folder")
  func prepares() throws {
    let sandbox = try sandbox(
      """
      PRAGMA foreign_keys = ON;
      CREATE TEMP TABLE log (text);
      -- Whatever is written is logged.
      CREATE TEMP TRIGGER notes_log AFTER INSERT ON notes
      BEGIN
        INSERT INTO log VALUES (shout(NEW.text));
      END;
      """)
    let shout = AppFunction("shout", arguments: 1) { arguments in
      guard case .text(let text) = arguments[0] else { return .null }
      return .text(text.uppercased())
    }
    for migrator in [
      try sandbox.migrator(functions: [shout]),
      try SchemaMigrator(migrations: sandbox.folder + "/migrations", functions: [shout]),
    ] {
      let app = try AppConnection()
      try migrator.migrate(handle: app.handle)
      try migrator.prepare(handle: app.handle)
      try app.run("INSERT INTO notes (text) VALUES ('hello')")
      #expect(try app.run("SELECT text FROM log") == "HELLO")
      #expect(try app.run("PRAGMA foreign_keys") == "1")
    }
  }

  @Test("an error in connection.sql has its position")
  func place() throws {
    let sandbox = try sandbox("PRAGMA foreign_keys = ON;\n\nSELECT a FROM\n  nowhere;\n")
    let app = try AppConnection()
    let migrator = try sandbox.migrator()
    try migrator.migrate(handle: app.handle)
    let error = #expect(throws: SchemaError.self) { try migrator.prepare(handle: app.handle) }
    #expect(error?.line == 3)
    #expect(error?.file?.hasSuffix("migrations/connection.sql") == true)
    #expect(error?.message == "no such table: nowhere")
  }

  @Test("a function that throws fails the statement, and the app receives its message")
  func throwing() throws {
    struct Refusal: Error, CustomStringConvertible { let description = "not on Sundays" }
    let sandbox = try Sandbox.ofNotes()
    sandbox.application.declaredFunctions = [DeclaredFunction(name: "check_day", arguments: 0)]
    try sandbox.addSQL("0004_call", "INSERT INTO tags SELECT check_day()")
    let function = AppFunction("check_day", arguments: 0) { _ in throw Refusal() }
    let error = #expect(throws: SchemaError.self) {
      try sandbox.migrator(functions: [function]).migrate(databaseAt: sandbox.database)
    }
    #expect(error?.sqliteMessage == "not on Sundays")
    #expect(error?.errorDescription?.contains("not on Sundays") == true)
  }
}

import Foundation
import SchemaKitYAML
import SchemaSQLText
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Errors of SchemaKit")
struct ErrorTests {
  /// Problems on a device, with their causes.
  private static let causes: [(String, @Sendable (Sandbox) throws -> Void)] = [
    ("tables without a ledger", { try $0.run("CREATE TABLE mine (a)") }),
    ("not a database", { try $0.write("not a database, and longer than a header of one".padded) }),
    (
      "ahead",
      {
        try $0.migrate()
        try $0.run(
          "UPDATE schemactl_migrations SET id = '0009_later', position = 9 WHERE id = '0003_tags'")
      }
    ),
    (
      "another form",
      {
        try $0.migrate(to: "2")
        try $0.run(
          "UPDATE schemactl_migrations SET canonical_digest = raw_digest, raw_digest = fingerprint")
      }
    ),
    (
      "a missing row",
      {
        try $0.migrate()
        try $0.run("DELETE FROM schemactl_migrations WHERE id = '0001_notes'")
      }
    ),
    (
      "drift in the way",
      {
        try $0.migrate(to: "2")
        try $0.run("CREATE TABLE tags (other)")
      }
    ),
    ("another ledger", { try $0.run("CREATE TABLE schemactl_migrations (a)") }),
  ]

  @Test("an error states the problem without naming a command", arguments: causes.indices)
  func noCommands(_ index: Int) throws {
    let sandbox = try Sandbox.ofNotes()
    try Self.causes[index].1(sandbox)
    let migrator = try sandbox.migrator()
    let error = #expect(throws: SchemaError.self, "\(Self.causes[index].0)") {
      try migrator.migrate(databaseAt: sandbox.database)
    }
    let message = try #require(error?.message)
    #expect(!message.isEmpty)
    #expect(!message.contains("`schemactl ") && !message.contains(" --"), "\(message)")
    #expect(error?.localizedDescription == message)
  }

  @Test("an edited released migration is named, without a command that accepts the edit")
  func edited() throws {
    let sandbox = try Sandbox.ofNotes()
    try sandbox.addSQL("0001_notes", "CREATE TABLE notes (other)")
    let migrator = try SchemaMigrator(migrations: sandbox.folder + "/migrations")
    let error = #expect(throws: SchemaError.self) {
      try migrator.migrate(databaseAt: sandbox.database)
    }
    #expect(error?.code == .brokenHistory)
    #expect(error?.message.contains("`0001_notes` is edited") == true)
    #expect(error?.message.contains("schemactl") == false)
  }

  @Test("a locked database is busy, without mention of a command's option")
  func busy() throws {
    let sandbox = try Sandbox.ofNotes()
    let other = try sandbox.open()
    try other.execute("CREATE TABLE a (b); DROP TABLE a; BEGIN IMMEDIATE")
    let migrator = try SchemaMigrator(bundle: sandbox.bundle(), drafts: .allowed, timeout: 0.1)
    let error = #expect(throws: SchemaError.self) {
      try migrator.migrate(databaseAt: sandbox.database)
    }
    #expect(error?.code == .busy)
    #expect(error?.sqliteCode == 5)
    #expect(error?.message.contains("--") == false)
  }
}

extension Sandbox {
  fileprivate func write(_ text: String) throws {
    try text.write(toFile: database, atomically: true, encoding: .utf8)
  }
}

extension String {
  fileprivate var padded: String { self + String(repeating: ".", count: 1000) }
}

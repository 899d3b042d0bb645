import Foundation
import SchemaAuthoring
import SchemaHistory
import SchemaKitYAML
import SchemaSQLText
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Bundles")
struct BundleTests {
  @Test("an app migrates from a bundle at once or by release, with the same result")
  func migrates() throws {
    let sandbox = try Sandbox.ofNotes()
    let old = try sandbox.migrator()
    #expect(
      try old.migrate(databaseAt: sandbox.database).applied.map(\.id)
        == ["0001_notes", "0002_color", "0003_tags"])
    try sandbox.addSQL("0004_more", "ALTER TABLE tags ADD COLUMN color TEXT DEFAULT 'red'")
    try sandbox.freeze(release: "1.1")
    try sandbox.addSQL("0005_view", "CREATE VIEW colors AS SELECT color FROM tags")
    let new = try sandbox.migrator()
    #expect(
      try new.migrate(databaseAt: sandbox.database).applied.map(\.id) == ["0004_more", "0005_view"])
    #expect(try new.migrate(databaseAt: sandbox.database).applied.isEmpty)
    let fresh = sandbox.folder + "/fresh.sqlite"
    try new.migrate(databaseAt: fresh)
    #expect(try new.verify(databaseAt: sandbox.database).isIntact)
    let rows = "SELECT type, name, sql FROM sqlite_schema ORDER BY name"
    #expect(try Connection(path: fresh).rows(rows) == sandbox.rows(rows))
    let ledger =
      "SELECT id, position, raw_digest, canonical_digest, fingerprint FROM schemactl_migrations"
    #expect(try Connection(path: fresh).rows(ledger) == sandbox.rows(ledger))
  }

  @Test("a migration that needs rows of released ones runs, too")
  func needsRows() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_lists", "CREATE TABLE lists (id INTEGER PRIMARY KEY); INSERT INTO lists VALUES (1)")
    try sandbox.freeze()
    try sandbox.migrator().migrate(databaseAt: sandbox.database)
    try sandbox.addSQL(
      "0002_notes",
      "CREATE TABLE notes (list INTEGER NOT NULL); INSERT INTO notes SELECT max(id) FROM lists")
    let report = try sandbox.migrator().migrate(databaseAt: sandbox.database)
    #expect(report.applied.map(\.id) == ["0002_notes"])
  }

  @Test("a truncated or edited bundle is refused")
  func damage() throws {
    let sandbox = try Sandbox.ofNotes()
    let bytes = try sandbox.bundle()
    for count in stride(from: 0, to: bytes.count, by: 7) {
      #expect(throws: SchemaError.self) {
        try SchemaMigrator(bundle: Array(bytes[..<count]), drafts: .allowed)
      }
    }
    for place in stride(from: 0, to: bytes.count, by: 3) {
      var edited = bytes
      edited[place] ^= 0x20
      let error = #expect(throws: SchemaError.self, "\(place)") {
        _ = try SchemaMigrator(bundle: edited, drafts: .allowed)
          .migrate(databaseAt: sandbox.folder + "/new.sqlite")
        _ = try HistoryBundle(edited, name: "b").newestSchema(["0001_notes", "0002_color"])
        _ = try HistoryBundle(edited, name: "b").connectionSQL()
      }
      #expect(error == nil || error?.code == .invalidInput)
      try? FileManager.default.removeItem(atPath: sandbox.folder + "/new.sqlite")
    }
  }

  @Test("a bundle of another format is reported")
  func newerFormat() throws {
    let error = #expect(throws: SchemaError.self) {
      try SchemaMigrator(bundle: Array("schemactl bundle 9\nwhatever".utf8))
    }
    #expect(error?.message.contains("schemactl bundle 9") == true)
    #expect(throws: SchemaError.self) { try SchemaMigrator(bundle: "/nowhere/b") }
  }

  @Test(
    "drafts are refused by default, and omitted if only frozen migrations are requested"
  )
  func drafts() throws {
    let sandbox = try Sandbox.ofNotes()
    let error = #expect(throws: SchemaError.self) { try sandbox.migrator(drafts: .refused) }
    #expect(error?.message.contains("0003_tags") == true)
    let frozen = try SchemaMigrator(bundle: sandbox.bundle(frozenOnly: true), drafts: .refused)
    #expect(try frozen.migrate(databaseAt: sandbox.database).applied.count == 2)
  }

  @Test("an invalid or failing history makes no bundle")
  func brokenHistory() throws {
    let sandbox = try Sandbox.ofNotes()
    try sandbox.addSQL("0004_wrong", "ALTER TABLE nowhere ADD COLUMN a")
    #expect(throws: Failure.self) { try sandbox.bundle() }
    try sandbox.addSQL("0004_wrong", "SELECT 1")
    try sandbox.addSQL("0002_color", "ALTER TABLE notes ADD COLUMN colour TEXT")
    #expect(throws: Failure.self) { try sandbox.bundle() }
  }

  @Test("an error in a migration has its line in the manifest")
  func places() throws {
    let sandbox = try Sandbox.ofNotes()
    let migrator = try sandbox.migrator()
    try sandbox.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); DROP TABLE notes")
    try migrator.migrate(databaseAt: sandbox.database, through: "2")
    try sandbox.run(
      "CREATE TRIGGER t BEFORE INSERT ON notes BEGIN SELECT RAISE(ABORT, 'no notes today'); END")
    try sandbox.add(
      "0003_tags",
      "operations:\n- sql:\n  - CREATE TABLE tags (a)\n  - \"INSERT INTO\\x20notes (text) VALUES ('a')\"\n"
    )
    let error = #expect(throws: SchemaError.self) {
      try sandbox.migrator().migrate(databaseAt: sandbox.database)
    }
    #expect(error?.line == 4)
    #expect(error?.migration == "0003_tags")
    #expect(error?.sqliteMessage == "no notes today")
    #expect(error?.sqliteCode == 1811)
  }
}

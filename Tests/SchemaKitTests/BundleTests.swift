import Foundation
import SchemaAuthoring
import SchemaHistory
import SchemaKitYAML
import SchemaApply
import SchemaModel
import SchemaPlanning
import SchemaReplay
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
      let error = #expect(throws: (any Error).self, "\(place)") {
        // A part that no new database needs is found by the one that reads it.
        _ = try SchemaMigrator(bundle: edited, drafts: .allowed)
          .migrate(databaseAt: sandbox.folder + "/new.sqlite")
        _ = try HistoryBundle(edited, subject: "b").newestSchema(["0001_notes", "0002_color"])
        _ = try HistoryBundle(edited, subject: "b").connectionSQL()
      }
      let isOfSchemaKit = (error as? SchemaError)?.code == .invalidInput
      #expect(isOfSchemaKit || (error as? Failure)?.status == .invalidInput, "\(place)")
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

  @Test(
    "two histories share a database, each with its ledger, from a bundle and from a folder",
    arguments: [true, false])
  func ledgerTable(isBundle: Bool) throws {
    let (notes, other) = (try Sandbox.ofNotes(), try Sandbox())
    notes.ignore = ["other*"]
    other.ignore = ["notes", "tags"]
    other.application.ledger = Ledger(table: "other 'ledger'")
    try other.addSQL("0001_other", "CREATE TABLE other (a)")
    let migrators =
      isBundle
      ? [try notes.migrator(), try other.migrator()]
      : [
        try SchemaMigrator(migrations: notes.folder + "/migrations", ignoring: notes.ignore),
        try SchemaMigrator(
          migrations: other.folder + "/migrations", ledgerTable: "other 'ledger'",
          ignoring: other.ignore),
      ]
    let app = try AppConnection()
    for migrator in migrators {
      #expect(try !migrator.migrate(databaseAt: notes.database).applied.isEmpty)
      #expect(try !migrator.migrate(handle: app.handle).applied.isEmpty)
    }
    for migrator in migrators {
      #expect(try migrator.migrate(databaseAt: notes.database).applied.isEmpty)
      #expect(try migrator.migrate(handle: app.handle).applied.isEmpty)
      #expect(try migrator.verify(databaseAt: notes.database).isIntact)
      #expect(try migrator.verify(handle: app.handle).isIntact)
      #expect(try migrator.status(handle: app.handle).pending.isEmpty)
    }
    #expect(try notes.rows("SELECT id FROM \"other 'ledger'\"") == [["0001_other"]])
    #expect(try app.run("SELECT count(*) FROM schemactl_migrations") == "3")
  }

  @Test("a ledger cannot have a name that SQLite keeps, or that another table has")
  func wrongLedgerTable() throws {
    let sandbox = try Sandbox.ofNotes()
    let folder = sandbox.folder + "/migrations"
    let error = #expect(throws: SchemaError.self) {
      try SchemaMigrator(migrations: folder, ledgerTable: "sqlite_ledger")
    }
    #expect(error?.code == .invalidInput)
    try sandbox.run("CREATE TABLE mine (id)")
    #expect(throws: SchemaError.self) {
      try SchemaMigrator(migrations: folder, ledgerTable: "mine", ignoring: ["mine"])
        .migrate(databaseAt: sandbox.database)
    }
    #expect(try sandbox.rows("SELECT count(*) FROM sqlite_schema") == [[1]])
  }

  /// Four migrations, of which the first two are release 1.0 and the third 2.0, squashed through the third.
  private func squashed() throws -> (sandbox: Sandbox, databases: [String]) {
    let sandbox = try Sandbox.ofNotes()
    var databases: [String] = []
    try sandbox.freeze(release: "2.0")
    for step in 1...3 {
      let path = sandbox.folder + "/\(step).sqlite"
      _ = try sandbox.project().migrate(sandbox.options(to: "\(step)") { $0.database = path })
      databases.append(path)
    }
    try sandbox.project().squashing(through: "3").write()
    try sandbox.addSQL("0004_more", "CREATE TABLE more (a)")
    return (sandbox, databases)
  }

  @Test("a device that has run a part of what a squash replaces continues from a bundle")
  func squash() throws {
    let (sandbox, databases) = try squashed()
    let bundle = try sandbox.project().bundled(oldestRelease: "1.0").bytes
    let migrator = try SchemaMigrator(bundle: bundle, drafts: .allowed)
    for (path, applied) in zip(
      databases,
      [["0002_color", "0003_tags", "0004_more"], ["0003_tags", "0004_more"], ["0004_more"]])
    {
      #expect(try migrator.migrate(databaseAt: path).applied.map(\.id) == applied)
      #expect(try migrator.migrate(databaseAt: path).applied.isEmpty)
      #expect(try HistoryBundle(bundle, subject: "b").isApplied(in: Connection(path: path)))
      #expect(try migrator.verify(databaseAt: path).isIntact)
    }
    let app = try AppConnection()
    let fresh = try migrator.migrate(handle: app.handle).applied.map(\.id)
    #expect(fresh == ["0003_squash_tags", "0004_more"])
  }

  @Test("an open connection that has run a part of what a squash replaces continues, too")
  func squashOnHandle() throws {
    let (sandbox, databases) = try squashed()
    let migrator = try SchemaMigrator(bundle: sandbox.bundle(), drafts: .allowed)
    let app = try AppConnection(databases[0])
    #expect(try migrator.status(handle: app.handle).pending.count == 3)
    #expect(try migrator.migrate(handle: app.handle).applied.count == 3)
    #expect(try migrator.verify(handle: app.handle).isIntact)
  }

  @Test("a bundle leaves out what every device has run")
  func squashOutOfReach() throws {
    let (sandbox, databases) = try squashed()
    let bundle = try sandbox.project().bundled(oldestRelease: "2.0").bytes
    #expect(try HistoryBundle(bundle, subject: "b").squashedMigrations() == nil)
    let migrator = try SchemaMigrator(bundle: bundle, drafts: .allowed)
    #expect(try migrator.migrate(databaseAt: databases[2]).applied.map(\.id) == ["0004_more"])
    let error = #expect(throws: SchemaError.self) {
      try migrator.migrate(databaseAt: databases[0])
    }
    #expect(error?.code == .notFound)
    #expect(error?.message.contains("release 2.0") == true, "\(error?.message ?? "")")
    #expect(throws: Failure.self) { try sandbox.project().bundled(oldestRelease: "3.0") }
  }
}

import Foundation
import SchemaKitYAML
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// SchemaKit as an app uses it.
@Suite("SchemaKit")
struct EmbeddingTests {
  private let shout = AppFunction("shout", arguments: 1) { arguments in
    guard case .text(let text) = arguments[0] else { return .null }
    return .text(text.uppercased())
  }

  private func history() throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes,
      "0002_shout": manifest("INSERT INTO notes (text) VALUES (shout('hello'))"),
    ])
    try folder.write("schemactl.yaml", "functions: [{ name: shout, arguments: 1 }]\n")
    return folder
  }

  @Test("the description of an error is one line, and its message keeps the original text")
  func description() throws {
    let path = "/nowhere/a\n::error::b\u{1B}[2J"
    let error = #expect(throws: SchemaError.self) { _ = try SchemaMigrator(migrations: path) }
    #expect(error?.code == .notFound)
    #expect(error?.message.contains(path) == true)
    #expect(error?.description.contains("/nowhere/a\\u{A}::error::b\\u{1B}[2J") == true)
  }

  @Test("functions of the app run in migrations")
  func appFunction() throws {
    let folder = try history()
    try folder.expect(65, "migrate", "--database", "app.sqlite")
    let migrator = try SchemaMigrator(migrations: folder.path("migrations"), functions: [shout])
    let report = try migrator.migrate(databaseAt: folder.path("app.sqlite"))
    #expect(report.applied.map(\.id) == ["0001_notes", "0002_shout"])
    #expect(try folder.rows("SELECT text FROM notes") == ["HELLO"])
    try folder.expect(0, "status", "--database", "app.sqlite", "--check")
    #expect(try migrator.migrate(databaseAt: folder.path("app.sqlite")).applied.isEmpty)
  }

  @Test("the code in the README compiles, and an error has its code and its message")
  func readme() throws {
    let folder = try history()
    do {
      let migrator = try SchemaMigrator(
        migrations: folder.path("migrations"),
        functions: [
          AppFunction("shout", arguments: 1) { arguments in
            guard case .text(let text) = arguments[0] else { return .null }
            return .text(text.uppercased())
          }
        ],
        collations: [AppCollation("LENGTH") { a, b in a.count - b.count }])
      try migrator.migrate(databaseAt: folder.path("nowhere/app.sqlite"), onlyFrozen: true)
      Issue.record("there is no such folder")
    } catch {
      #expect(error.code == .notFound)
      #expect(error.message.contains("app.sqlite"))
    }
  }

  @Test("an app that was released with GRDB continues on its users' devices")
  func shippedWithGRDB() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes
        + "replaces: [{ ledger: grdb_migrations, entries: [createNotes] }]\n",
      "0002_color": manifest("ALTER TABLE notes ADD COLUMN color TEXT"),
    ])
    let device = try folder.connection()
    try device.execute(
      "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY); "
        + "INSERT INTO grdb_migrations VALUES ('createNotes'); "
        + "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (7, 'kept')"
    )
    let migrator = try SchemaMigrator(migrations: folder.path("migrations"))
    let report = try migrator.migrate(databaseAt: folder.path("app.sqlite"))
    #expect(report.adopted == ["0001_notes"] && report.applied.map(\.id) == ["0002_color"])
    #expect(try folder.rows("SELECT text FROM notes WHERE id = 7") == ["kept"])
  }

  @Test("a backup is made if the app requests one and a migration is pending")
  func backup() throws {
    let folder = try history()
    let path = folder.path("app.sqlite")
    let migrator = try SchemaMigrator(migrations: folder.path("migrations"), functions: [shout])
    try migrator.migrate(databaseAt: path, through: "0001_notes")
    let report = try migrator.migrate(databaseAt: path, backup: SchemaBackup(keep: 1))
    let backup = try #require(report.backup)
    #expect(try Connection(path: backup).value("SELECT count(*) FROM notes") == 0)
    #expect(try migrator.migrate(databaseAt: path, backup: SchemaBackup()).backup == nil)
  }

  @Test("collations of the app sort in migrations")
  func appCollation() throws {
    let folder = try WorkingFolder.of([
      "0001_words": manifest("CREATE TABLE words (word TEXT COLLATE byLength UNIQUE)"),
      "0002_fill": manifest("INSERT INTO words VALUES ('aaa'), ('b'), ('cc')"),
    ])
    let byLength = AppCollation("byLength") { $0.utf8.count - $1.utf8.count }
    let migrator = try SchemaMigrator(
      migrations: folder.path("migrations"), collations: [byLength])
    try migrator.migrate(databaseAt: folder.path("app.sqlite"))
    try folder.write("migrations/0003_same.yaml", manifest("INSERT INTO words VALUES ('dd')"))
    let next = try SchemaMigrator(migrations: folder.path("migrations"), collations: [byLength])
    let error = #expect(throws: SchemaError.self) {
      try next.migrate(databaseAt: folder.path("app.sqlite"))
    }
    #expect(error?.code == .migrationFailed)
    #expect(error?.migration == "0003_same")
    #expect(error?.line == 3)
  }

  @Test("status and verify return the same results as the command")
  func inspection() throws {
    let folder = try history()
    let path = folder.path("app.sqlite")
    let migrator = try SchemaMigrator(migrations: folder.path("migrations"), functions: [shout])
    try migrator.migrate(databaseAt: path, through: "0001_notes")
    let status = try migrator.status(databaseAt: path)
    #expect(status.current == "0001_notes")
    #expect(status.applied == ["0001_notes"])
    #expect(status.pending == ["0002_shout"])
    #expect(try migrator.verify(databaseAt: path).isIntact)
    try folder.connection().execute("CREATE INDEX extra ON notes (text)")
    let report = try migrator.verify(databaseAt: path)
    #expect(!report.isIntact)
    #expect(report.drift.map(\.object) == ["extra"])
  }

  @Test("errors have a code and a place")
  func errors() throws {
    let folder = try history()
    func code(_ body: () throws -> Void) -> SchemaError? {
      #expect(throws: SchemaError.self) { try body() }
    }
    #expect(code { _ = try SchemaMigrator(migrations: folder.path("no")) }?.code == .notFound)
    let migrator = try SchemaMigrator(migrations: folder.path("migrations"), functions: [shout])
    #expect(
      code { _ = try migrator.status(databaseAt: folder.path("no.sqlite")) }?.code == .notFound)
    #expect(
      code { try migrator.migrate(databaseAt: folder.path("a"), through: "99") }?.code == .usage)
    try migrator.migrate(databaseAt: folder.path("app.sqlite"))
    try folder.remove("migrations/0002_shout.yaml")
    let old = try SchemaMigrator(migrations: folder.path("migrations"))
    for body in [
      { try old.migrate(databaseAt: folder.path("app.sqlite")) } as () throws -> Void,
      { _ = try old.status(databaseAt: folder.path("app.sqlite")) },
    ] {
      #expect(code(body)?.code == .databaseAhead)
    }
    try folder.write("migrations/0003_wrong.yaml", "operations: 1\n")
    let wrong = code { _ = try SchemaMigrator(migrations: folder.path("migrations")) }
    #expect(wrong?.code == .invalidInput)
    #expect(wrong?.file == folder.path("migrations/0003_wrong.yaml"))
    #expect(wrong?.line == 1)
    #expect(wrong?.description.contains("0003_wrong.yaml:1:13: ") == true)
  }
}

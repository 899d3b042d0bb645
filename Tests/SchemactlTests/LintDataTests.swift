import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

private let tables = """
  operations:
    - sql: |
        CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT) STRICT;
        CREATE TABLE items (
          id INTEGER PRIMARY KEY, list INTEGER REFERENCES lists (id) ON DELETE CASCADE
        ) STRICT;
        CREATE INDEX items_list ON items (list);

  """

@Suite("lint --on-copy")
struct LintDataTests {
  /// A database that has run the first migration and contains rows, with a longer history.
  private func folder(_ steps: KeyValuePairs<String, String>) throws -> WorkingFolder {
    let folder = try WorkingFolder.of(["0001_tables": tables])
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute(
      """
      INSERT INTO lists VALUES (1, 'Inbox'), (2, 'Inbox'), (3, NULL);
      INSERT INTO items VALUES (1, 1), (2, 1), (3, 2), (4, NULL);
      """)
    for (id, text) in steps { try folder.write("migrations/\(id).yaml", text) }
    return folder
  }

  private func bytes(_ folder: WorkingFolder) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: folder.path("app.sqlite")))
  }

  @Test("pending migrations run on a copy, rows are counted, and the database is unchanged")
  func counts() throws {
    let folder = try folder([
      "0002_tags": "operations:\n- sql: CREATE TABLE tags (name TEXT) STRICT\n",
      "0003_less": "operations:\n- delete: { table: items, where: list = 2 }\n",
      "0004_gone": "operations:\n- drop_table: { table: tags }\n",
      "0005_notes": "operations:\n- sql: CREATE TABLE notes AS SELECT name FROM lists\n",
    ])
    let before = try bytes(folder)
    let run = try folder.expect(0, "lint", "--on-copy", "--database", "app.sqlite")
    #expect(
      run.output.contains(
        """
        Applied 4 migrations to a copy of `app.sqlite`:
          items: 4 rows before, 3 after
          lists: 3 rows
          notes: created with 3 rows

        """))
    #expect(try bytes(folder) == before)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(left == ["app.sqlite", "migrations", "schemactl.yaml"])
  }

  @Test("the write-ahead log of a killed app is read and remains unchanged")
  func leftoverLog() throws {
    let folder = try folder([
      "0002_notes": "operations:\n- sql: CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)\n"
    ])
    do {
      let connection = try folder.connection()
      try connection.execute("PRAGMA journal_mode = WAL; DELETE FROM items")
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: folder.path("app.sqlite" + suffix), toPath: folder.path("left.sqlite" + suffix))
      }
    }
    func left() throws -> [Data] {
      try ["", "-wal"].map {
        try Data(contentsOf: URL(fileURLWithPath: folder.path("left.sqlite" + $0)))
      }
    }
    let before = try left()
    let run = try folder.expect(0, "lint", "--on-copy", "--database", "left.sqlite")
    #expect(run.output.contains("notes"))
    #expect(try left() == before)
    try folder.expect(0, "plan", "--on-copy", "--database", "left.sqlite")
    #expect(try left() == before)
  }

  @Test("JSON contains the row counts, with null for missing tables")
  func json() throws {
    let folder = try folder([
      "0002_gone": "operations:\n- drop_table: { table: items }\n",
      "0003_notes": "operations:\n- sql: CREATE TABLE notes AS SELECT name FROM lists\n",
    ])
    let json = try folder.expect(
      0, "lint", "--on-copy", "--database", "app.sqlite", "--format", "json"
    ).json()
    let data = try #require(json["data"] as? [String: Any])
    #expect(data["database"] as? String == "app.sqlite")
    #expect(data["applied"] as? [String] == ["0002_gone", "0003_notes"])
    let tables = try #require(data["tables"] as? [[String: Any]])
    #expect(tables.map { $0["table"] as? String } == ["items", "lists", "notes"])
    #expect(tables.map { $0["before"] as? Int } == [4, 3, nil])
    #expect(tables.map { $0["after"] as? Int } == [nil, 3, 3])
    #expect(json["failed"] is NSNull)
    let without = try folder.expect(0, "lint", "--format", "json").json()
    #expect(without["data"] is NSNull)
  }

  @Test("a migration that fails on rows is one finding at its statement, and exits with 3")
  func fails() throws {
    let folder = try folder([
      "0002_notes": """
      operations:
      - sql: |
          CREATE TABLE notes (name TEXT NOT NULL) STRICT;
          INSERT INTO notes SELECT name FROM lists;

      """,
      "0003_more": "operations:\n- sql: CREATE TABLE more (a TEXT) STRICT\n",
    ])
    let before = try bytes(folder)
    let run = try folder.expect(3, "lint", "--on-copy", "--database", "app.sqlite")
    let line =
      "migrations/0002_notes.yaml:4:5: error: the migration fails on a copy of `app.sqlite`: "
      + "NOT NULL constraint failed: notes.name [fails-on-data]"
    let failing = run.output.split(separator: "\n").map(String.init)
    #expect(failing.filter { $0.contains("NOT NULL") } == [line])
    #expect(run.output.contains("  `0002_notes` failed; later migrations did not run.\n"))
    #expect(run.output.contains("Found 1 error"))
    #expect(run.errors.isEmpty)
    #expect(try bytes(folder) == before)
    let json = try folder.expect(
      3, "lint", "--on-copy", "--database", "app.sqlite", "--format", "json"
    ).json()
    #expect((json["failed"] as? [String: Any])?["id"] as? String == "0002_notes")
  }

  @Test("a finding that the rows confirm becomes an error, without a second finding")
  func confirms() throws {
    let folder = try folder([
      "0002_unique": "operations:\n- sql: CREATE UNIQUE INDEX names ON lists (name)\n"
    ])
    let foreseen = try folder.expect(0, "lint")
    #expect(
      foreseen.output.contains(" warning: the migration fails on rows that the schema allows"))
    let run = try folder.expect(3, "lint", "--on-copy", "--database", "app.sqlite")
    let found = run.output.split(separator: "\n").filter { $0.hasPrefix("migrations/") }
    #expect(found.count == 1)
    #expect(
      found.first?.contains(
        " error: the migration fails on a copy of `app.sqlite`: UNIQUE constraint failed") ?? false)
  }

  @Test("rows of the real database replace generated ones")
  func noneMadeUp() throws {
    let folder = try folder([
      "0002_notes": """
      operations:
      - sql: |
          DELETE FROM lists WHERE name IS NULL;
          CREATE TABLE notes (name TEXT PRIMARY KEY NOT NULL, id INTEGER NOT NULL) STRICT;
          INSERT INTO notes SELECT name || id, id FROM lists;

      """
    ])
    #expect(
      try !folder.expect(0, "lint", "--on-copy", "--database", "app.sqlite").output.contains(
        "fails-on-data"))
  }

  @Test("assertions are evaluated on the rows")
  func assertion() throws {
    let folder = try folder([
      "0002_sure": """
      operations:
      - assert: { query: SELECT count(*) FROM lists, equals: 4, message: four lists }

      """
    ])
    try folder.expect(0, "lint")
    let run = try folder.expect(3, "lint", "--on-copy", "--database", "app.sqlite")
    #expect(run.output.contains("four lists: expected 4, found 3 [fails-on-data]"))
  }

  @Test("deletions by a trigger and a foreign key are found on real rows")
  func cascade() throws {
    let folder = try folder([
      "0002_delete":
        "foreign_keys: enforced\noperations:\n- delete: { table: lists, where: id = 1 }\n"
    ])
    let run = try folder.expect(1, "lint", "--on-copy", "--database", "app.sqlite")
    #expect(run.output.split(separator: "\n").filter { $0.contains("[loses-rows]") }.count == 1)
    #expect(run.output.contains("  items: 4 rows before, 2 after\n"))
  }

  @Test("without pending migrations, the rows are counted")
  func upToDate() throws {
    let run = try folder([:]).expect(0, "lint", "--on-copy", "--database", "app.sqlite")
    #expect(
      run.output.contains(
        "Applied 0 migrations to a copy of `app.sqlite`:\n  items: 4 rows\n  lists: 3 rows\n"))
  }

  @Test("a database with a different ledger is an error with advice and its exit code")
  func disagrees() throws {
    let ahead = try folder([:])
    try ahead.connection().execute(
      """
      INSERT INTO schemactl_migrations SELECT '0009_new', 9, raw_digest, canonical_digest, fingerprint,
        started_at, 1, tool_version FROM schemactl_migrations;
      """)
    let unknown = try ahead.expect(4, "lint", "--on-copy", "--database", "app.sqlite")
    #expect(unknown.errors.contains("update the migrations"))
    let edited = try folder([:])
    try edited.write("migrations/0001_tables.yaml", tables + "  - sql: CREATE TABLE more (a)\n")
    let changed = try edited.expect(1, "lint", "--on-copy", "--database", "app.sqlite")
    #expect(changed.errors.contains("undo the edit"))
    let stranger = try folder([:])
    try stranger.connection().execute("DROP TABLE schemactl_migrations")
    let adopted = try stranger.expect(1, "lint", "--on-copy", "--database", "app.sqlite")
    #expect(adopted.errors.contains("schemactl adopt"))
  }

  @Test("a missing file is 66, another file is 74, and neither is created")
  func missing() throws {
    let folder = try folder([:])
    try folder.expect(66, "lint", "--on-copy", "--database", "none.sqlite")
    #expect(!folder.exists("none.sqlite"))
    try folder.expect(74, "lint", "--on-copy", "--database", "schemactl.yaml")
    try folder.expect(
      64, "lint", "--on-copy", "--database", "app.sqlite", "--explain", "drop-column")
    try folder.expect(64, "lint", "--on-copy", "--database", "app.sqlite", "--write-baseline")
  }

  @Test("a signal ends lint and deletes the copy")
  func interrupted() throws {
    let folder = try folder([
      "0002_slow": """
      operations:
      - sql: UPDATE lists SET name = (SELECT count(*) FROM items a, items b, items c) WHERE id = 1

      """
    ])
    try folder.connection().execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO items SELECT i, 1 FROM n;
      """)
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }
    let running = try folder.start(["lint", "--on-copy", "--database", "app.sqlite"])
    try waitUntil { try files().contains { $0.hasSuffix(".partial") } }
    running.send(SIGTERM)
    let run = try running.wait()
    #expect(run.status == 130)
    #expect(run.errors.contains("interrupted"))
    #expect(try files() == ["app.sqlite", "migrations", "schemactl.yaml"])
  }

  @Test("the replay stops at a function of the app and reports it")
  func function() throws {
    let folder = try folder([
      "0002_call":
        "operations:\n- update: { table: lists, set: { name: slug(name) }, where: id = 1 }\n"
    ])
    try folder.write(
      "schemactl.yaml", "sync: { engine: none }\nfunctions: [{ name: slug, arguments: 1 }]\n")
    let run = try folder.expect(65, "lint", "--on-copy", "--database", "app.sqlite")
    #expect((run.output + run.errors).contains("`slug()` belongs to the application"))
  }
}

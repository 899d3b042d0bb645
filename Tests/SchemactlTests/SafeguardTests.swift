import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("safeguards")
struct SafeguardTests {
  @Test("a database in WAL mode with a second name is refused")
  func hardLink() throws {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    try folder.write("migrations/0001_a.yaml", manifest("CREATE TABLE a (x)"))
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    _ = try folder.rows("PRAGMA journal_mode = WAL")
    try FileManager.default.linkItem(
      atPath: folder.path("app.sqlite"), toPath: folder.path("other.sqlite"))
    try folder.write("migrations/0002_b.yaml", manifest("CREATE TABLE b (x)"))
    let run = try folder.expect(65, "migrate", "--database", "other.sqlite")
    #expect(run.errors.contains("has a second name (a hard link)"), "\(run.errors)")
    try folder.remove("other.sqlite")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
  }

  @Test("freeze does not replace a lock that was deleted")
  func deletedLock() throws {
    let folder = try WorkingFolder.committed(["0001_a": manifest("CREATE TABLE a (x)")])
    #expect(folder.exists("migrations/history.lock"))
    try folder.remove("migrations/history.lock")
    try folder.write("migrations/0001_a.yaml", manifest("CREATE TABLE a (x, y)"))
    let run = try folder.expect(2, "freeze", "--release", "2.0")
    #expect(run.errors.contains("it is missing here"), "\(run.errors)")
    #expect(run.errors.contains("history.lock' > migrations/history.lock`)"), "\(run.errors)")
    #expect(!folder.exists("migrations/history.lock"))
  }

  @Test(
    "the script of plan --sql checks assertions as migrate does",
    arguments: [(3, Int32(0)), (4, 1)])
  func assertions(expected: Int, status: Int32) throws {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    try folder.write("migrations/0001_t.yaml", manifest("CREATE TABLE t (x)"))
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    _ = try folder.rows("INSERT INTO t VALUES (1), (2), (3)")
    try folder.write(
      "migrations/0002_z.yaml",
      """
      before: [{ query: SELECT count(*) FROM t;, equals: \(expected) }]
      operations: [{ sql: CREATE TABLE z (x) }]
      """)
    let script = try folder.expect(0, "plan", "--sql", "--database", "app.sqlite").output
    let shell = try SchemaTestPrograms.run(
      "/usr/bin/env", ["sqlite3", "-bail", folder.path("app.sqlite")], input: script)
    #expect(shell.code == status, "\(shell.errors)")
    let tables = try folder.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'z'")
    #expect(tables == [status == 0 ? "1" : "0"])
  }

  @Test("a table called sqlite can be rewritten")
  func reservedName() throws {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    try folder.write(
      "migrations/0001_t.yaml", manifest("CREATE TABLE sqlite (id INTEGER PRIMARY KEY, c INT)"))
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    _ = try folder.rows("INSERT INTO sqlite VALUES (1, 2)")
    try folder.write(
      "migrations/0002_t.yaml",
      "operations: [{ alter_column: { table: sqlite, column: c, type: TEXT } }]")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.rows("SELECT typeof(c) FROM sqlite") == ["text"])
  }

  @Test("a report over an edited history says so")
  func report() throws {
    let folder = try WorkingFolder.committed(["0001_a": manifest("CREATE TABLE a (x)")])
    try folder.expect(0, "report", "--output", "intact.html")
    #expect(try !folder.text("intact.html").contains("history is broken"))
    try folder.write("migrations/0001_a.yaml", manifest("CREATE TABLE a (x, y)"))
    try folder.expect(0, "report", "--output", "edited.html")
    #expect(
      try folder.text("edited.html").contains(
        "The frozen history is broken: <code>0001_a</code> is edited"))
  }

  @Test("verify misses a single manifest that a squash replaced")
  func squashedManifest() throws {
    let folder = try WorkingFolder.committed([
      "0001_a": manifest("CREATE TABLE a (x)"), "0002_b": manifest("CREATE TABLE b (x)"),
      "0003_c": manifest("CREATE TABLE c (x)"), "0004_d": manifest("CREATE TABLE d (x)"),
    ])
    try folder.expect(0, "squash", "--to", "3")
    try folder.expect(0, "verify")
    try folder.remove("migrations/squashed/0002_b.yaml")
    let run = try folder.expect(2, "verify")
    #expect(run.output.contains("0002_b.yaml` is missing"), "\(run.output)")
  }

  @Test("plan names the columns whose values a rebuild drops")
  func droppedByRebuild() throws {
    let folder = try WorkingFolder.of([
      "0001_items": manifest("CREATE TABLE items (id INTEGER PRIMARY KEY, name, old)"),
      "0002_new": """
      operations:
        - rebuild_table:
            table: items
            columns: [ { name: id, type: INTEGER, primary_key: true }, { name: new } ]
            copy: { new: lower(old) }

      """,
    ])
    #expect(
      try folder.expect(0, "plan").output.contains(
        "1 rebuilds table `items`, drops column `items.name` and its values: "))
  }

  @Test("check reports a missing schema file as missing")
  func missingSchemaFile() throws {
    let folder = try WorkingFolder.of(["0001_a": manifest("CREATE TABLE a (id TEXT PRIMARY KEY)")])
    try folder.write("schemactl.yaml", "schema: schema.sql\nsync: { engine: none }\n")
    let run = try folder.expect(1, "check")
    #expect(
      run.output.contains("schema.sql:1:1: error: `schema.sql` does not exist"),
      "\(run.output)\(run.errors)")
    #expect(run.output.contains("help: `schemactl inspect --write`"))
  }

  @Test("a file that is not a database has advice about its path")
  func wrongPath() throws {
    let folder = try WorkingFolder.of(["0001_a": manifest("CREATE TABLE a (x)")])
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    let run = try folder.expect(74, "migrate", "--database", "schemactl.yaml")
    #expect(run.errors.contains("help: Check the path"), "\(run.errors)")
  }

  @Test("status aligns the times, whatever the states are")
  func alignedStates() throws {
    let folder = try WorkingFolder.of([
      "0001_a": manifest("CREATE TABLE a (x)"), "0002_b": manifest("CREATE TABLE b (x)"),
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.write("migrations/0002_b.yaml", manifest("CREATE TABLE b (y)"))
    let lines = try folder.expect(1, "status", "--database", "app.sqlite").output
      .split(separator: "\n").filter { $0.hasPrefix("000") }
    let places = lines.map { $0.split(separator: "20", maxSplits: 1)[0].count }
    #expect(places.count == 2 && Set(places).count == 1, "\(lines)")
  }

  @Test("diagram completes the names of releases")
  func completedReleases() throws {
    let folder = try WorkingFolder.of(["0001_a": manifest("CREATE TABLE a (x)")])
    try folder.expect(0, "freeze", "--release", "2.0")
    for option in ["--release", "--changed-since"] {
      let run = try folder.expect(0, "completions", "words", "--", "diagram", option, "")
      #expect(run.output == "2.0\t\n")
    }
  }
}

import Foundation
import SchemaApply
import SchemaAuthoring
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTestSupport
import Testing

/// A history of five migrations. The third changes rows that the first one inserts.
private struct LongHistory {
  static let steps = [
    "CREATE TABLE lists (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL); "
      + "INSERT INTO lists (title) VALUES ('Inbox'), ('it''s'), ('gone');",
    "CREATE TABLE items (list_id REFERENCES lists (id), title TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP); "
      + "CREATE VIEW titles AS SELECT title FROM lists; INSERT INTO items (list_id, title) VALUES (1, 'x');",
    "DELETE FROM lists WHERE id = 3; ALTER TABLE lists ADD COLUMN color TEXT; "
      + "UPDATE lists SET color = 'gray';",
    "CREATE INDEX items_by_list ON items (list_id); CREATE TRIGGER counted AFTER INSERT ON items BEGIN "
      + "UPDATE lists SET title = title || '!' WHERE id = new.list_id; END;",
    "ALTER TABLE lists ADD COLUMN place INTEGER;",
  ]
  let sandbox: Sandbox

  init(frozenThrough frozen: Int = 4) throws {
    sandbox = try Sandbox()
    for (index, step) in Self.steps.enumerated() {
      try sandbox.addSQL("000\(index + 1)_step", step)
      if index + 1 == 2, frozen > 1 { try sandbox.freeze(release: "1.0") }
    }
    if frozen > 2 { try sandbox.freeze(release: "2.0", through: "\(frozen)") }
  }

  /// Creates a database that has run the history through a migration.
  func database(through step: Int) throws {
    try sandbox.migrate(to: "\(step)")
    try sandbox.run("INSERT INTO lists (title) VALUES ('mine')")
  }

  func squash(to step: Int) throws {
    try sandbox.project().squashing(through: "\(step)").write()
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: sandbox.folder + "/migrations/" + name)
  }

  func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: sandbox.folder + "/migrations/" + name)
  }
}

@Suite("Squashes")
struct SquashTests {
  @Test(
    "rows that cannot be recreated are refused",
    arguments: [
      (
        "CREATE TABLE p (id TEXT PRIMARY KEY DEFAULT (uuid()), parent TEXT); "
          + "INSERT INTO p DEFAULT VALUES; INSERT INTO p (parent) SELECT id FROM p",
        "`p` has 2 rows whose `id` depends on the clock or on random values"
      ),
      (
        "CREATE TABLE t (a TEXT, b); INSERT INTO t VALUES (uuid() || ':1', 1), ('x', 2)",
        "`t` has 1 row whose `a` depends on the clock or on random values"
      ),
      ("CREATE TABLE t (a TEXT); INSERT INTO t VALUES (CAST(x'ff41' AS TEXT))", "not UTF-8"),
      (
        "CREATE TABLE t (a TEXT); CREATE VIRTUAL TABLE search USING fts5(a, content = t); "
          + "INSERT INTO t VALUES ('one'); INSERT INTO search (search) VALUES ('rebuild'); "
          + "UPDATE t SET a = 'two'", "the same rows of `search`"
      ),
      (
        "CREATE TABLE t (a TEXT); CREATE VIRTUAL TABLE search USING fts4(a, content=t); "
          + "INSERT INTO t VALUES ('one'); INSERT INTO search (search) VALUES ('rebuild'); "
          + "UPDATE t SET a = 'two'", "the same rows of `search`"
      ),
      (
        "CREATE TABLE t (a, b DEFAULT (random() > 0)); INSERT INTO t (a) VALUES (1), (2)",
        "`0001_a` calls a random function"
      ),
      (
        "CREATE TABLE t (a, b DEFAULT (abs(random()) % 2)); INSERT INTO t (a) VALUES (1), (2), (3)",
        "`t` has 3 rows whose `b` depends on the clock or on random values"
      ),
    ])
  func refused(sql: String, problem: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", sql)
    try sandbox.addSQL("0002_b", "CREATE TABLE b (x)")
    let failure = #expect(throws: Failure.self) {
      _ = try sandbox.project().squashing(through: "2")
    }
    #expect(failure?.status == .finding)
    #expect(failure?.message.contains(problem) == true, "\(failure?.message ?? "")")
  }

  @Test("an external-content index is recreated")
  func index() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_a",
      "CREATE TABLE t (a TEXT); "
        + "CREATE VIRTUAL TABLE search USING fts5(a, content = t); "
        + "INSERT INTO t (a) VALUES ('one'), ('two'); INSERT INTO search (search) VALUES ('rebuild')"
    )
    try sandbox.addSQL("0002_b", "CREATE TABLE b (x)")
    try sandbox.project().squashing(through: "2").write()
    try sandbox.migrate()
    #expect(try sandbox.rows("SELECT rowid FROM search WHERE search MATCH 'two'") == [[2]])
  }

  @Test("a later migration that reads the number of earlier changes is refused")
  func earlierChanges() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_a",
      "CREATE TABLE a (x); INSERT INTO a VALUES (1); DELETE FROM a; INSERT INTO a VALUES (1)")
    try sandbox.addSQL("0002_b", "CREATE TABLE c (x)")
    try sandbox.addSQL("0003_c", "INSERT INTO c VALUES (total_changes())")
    let failure = #expect(throws: Failure.self) { try sandbox.project().squashing(through: "2") }
    #expect(failure?.message.contains("other rows in `c` than before") == true)
  }

  @Test("rowids behind a column named rowid are kept")
  func hiddenRowid() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_n",
      "CREATE TABLE n (rowid TEXT); INSERT INTO n VALUES ('q'), ('r'); DELETE FROM n WHERE oid = 1")
    try sandbox.addSQL("0002_b", "CREATE TABLE b (x)")
    try sandbox.project().squashing(through: "2").write()
    try sandbox.migrate()
    #expect(try sandbox.rows("SELECT oid, rowid FROM n") == [[2, "r"]])
  }

  @Test(
    "a squash creates the schema and the rows of the replaced migrations", arguments: [2, 3, 4, 5])
  func sameContent(_ step: Int) throws {
    let (long, short) = (try LongHistory(frozenThrough: 0), try LongHistory(frozenThrough: 0))
    try short.squash(to: step)
    #expect(short.exists("000\(step)_squash_step.yaml") && short.exists("squashed/0001_step.yaml"))
    try long.sandbox.migrate()
    try short.sandbox.migrate()
    let tables = ["lists", "sqlite_sequence", "titles"]
    for table in tables {
      #expect(
        try short.sandbox.rows("SELECT * FROM \(table)")
          == long.sandbox.rows("SELECT * FROM \(table)"))
    }
    let schemas =
      "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'schemactl%' ORDER BY 2"
    #expect(try short.sandbox.rows(schemas) == long.sandbox.rows(schemas))
    #expect(
      try short.sandbox.rows("SELECT abs(julianday('now') - julianday(at)) < 1 FROM items") == [[1]]
    )
    #expect(try short.sandbox.ledger.count == 5 - step + 1)
  }

  @Test(
    "databases at any point of the history continue and are verified", arguments: [1, 2, 3, 4, 5])
  func continues(at step: Int) throws {
    let history = try LongHistory()
    try history.database(through: step)
    try history.squash(to: 4)
    let sandbox = history.sandbox
    let status = try sandbox.project().status(database: sandbox.database, timeout: 1)
    #expect(status.status == .success)
    #expect(status.pending.count == 5 - step)
    let report = try sandbox.migrate()
    #expect(report.failure == nil && report.applied.count == 5 - step)
    #expect(try sandbox.rows("SELECT count(*) FROM lists WHERE title = 'mine'") == [[1]])
    #expect(try sandbox.migrate().applied.isEmpty)
    let verified = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(verified.status == .success, "\(verified)")
    try sandbox.addSQL("0006_more", "CREATE TABLE more (a);")
    #expect(try sandbox.migrate().failure == nil)
    #expect(
      try sandbox.project().verify(database: sandbox.database, timeout: 1).status == .success)
  }

  @Test("a run on a copy continues at any point of the history", arguments: [1, 2, 3, 4, 5])
  func rehearsed(at step: Int) throws {
    let history = try LongHistory()
    try history.database(through: step)
    try history.squash(to: 4)
    let sandbox = history.sandbox
    let project = try sandbox.project()
    let database = try ReadableDatabase(file: sandbox.database, timeout: 1)
    let options = MigrateOptions(database: sandbox.database)
    let planned = try project.plan(options, for: database).migrations.map(\.migration.id)
    let report = try project.rehearse(options, for: database)
    #expect(report.status == .success)
    #expect(report.run.applied.map(\.id) == planned)
  }

  @Test(
    "repair adds and removes a row, also where the squash replaces it",
    arguments: [
      (4, "0005_step", LedgerRepair.Action.applied), (4, "0004_step", .absent),
      (3, "0004_step", .applied),
    ])
  func repaired(at step: Int, _ id: String, _ action: LedgerRepair.Action) throws {
    let history = try LongHistory()
    try history.database(through: step)
    try history.squash(to: 4)
    let sandbox = history.sandbox
    let positions = "SELECT id, position FROM schemactl_migrations ORDER BY position"
    let before = try sandbox.rows(positions)
    func repair(_ action: LedgerRepair.Action) throws {
      let project = try sandbox.project()
      let plan = try project.plan(
        LedgerRepair(id: id, action: action, reason: "test"),
        database: sandbox.database, timeout: 1)
      try project.carryOut(plan, database: sandbox.database, timeout: 1)
    }
    try repair(action)
    let row: [[Value]] = [[.text(id), .integer(Int64(id.prefix(4)) ?? 0)]]
    #expect(try sandbox.rows(positions) == (action == .applied ? before + row : before.dropLast()))
    #expect(
      try sandbox.project().status(database: sandbox.database, timeout: 1).ledger
        .allSatisfy { !$0.state.stops })
    if action == .absent {
      try repair(.applied)
      #expect(try sandbox.rows(positions) == before)
    }
  }

  @Test("repair leaves unknown rows behind the migrations of the squash")
  func unknownRows() throws {
    let history = try LongHistory()
    try history.database(through: 5)
    let sandbox = history.sandbox
    try sandbox.run(
      """
      INSERT INTO schemactl_migrations SELECT n || '_unknown', n, raw_digest, canonical_digest, fingerprint,
        started_at, milliseconds, tool_version
      FROM schemactl_migrations, (SELECT 6 AS n UNION ALL SELECT 7) WHERE position = 1
      """)
    try history.squash(to: 4)
    let positions = "SELECT id, position FROM schemactl_migrations ORDER BY position"
    let before = try sandbox.rows(positions)
    let project = try sandbox.project()
    let plan = try project.plan(
      LedgerRepair(id: "7_unknown", action: .absent, reason: "test"),
      database: sandbox.database, timeout: 1)
    try project.carryOut(plan, database: sandbox.database, timeout: 1)
    #expect(try sandbox.rows(positions) == before.dropLast())
  }

  @Test("a backup from before the squash can be restored")
  func restored() throws {
    let history = try LongHistory()
    try history.database(through: 4)
    let sandbox = history.sandbox
    let report = try sandbox.migrate { $0.backup = BackupOptions() }
    try history.squash(to: 4)
    let backup = try #require(report.backup)
    _ = try Restore(sandbox.database, from: backup, .usual).run(sandbox.project())
    #expect(try sandbox.migrate().applied.map(\.id) == ["0005_step"])
  }

  @Test("it is a point to migrate to, wherever the database is", arguments: [1, 3, 4, 5])
  func target(at step: Int) throws {
    let history = try LongHistory()
    try history.database(through: step)
    try history.squash(to: 4)
    let report = try history.sandbox.migrate(to: "0004_squash_step")
    #expect(report.failure == nil && report.applied.count == max(0, 4 - step))
    #expect(report.beyond?.applied == (step == 5 ? ["0005_step"] : nil))
  }

  @Test("it counts as applied without the replaced manifests if all of them have run")
  func withoutFolder() throws {
    let history = try LongHistory()
    try history.database(through: 4)
    try history.squash(to: 4)
    try history.remove("squashed")
    #expect(try history.sandbox.migrate().applied.map(\.id) == ["0005_step"])
    #expect(
      try history.sandbox.project().verify(database: history.sandbox.database, timeout: 1).status
        == .success)
  }

  @Test("if only some have run, the error names the release to install first")
  func missingFolder() throws {
    let history = try LongHistory()
    try history.database(through: 3)
    try history.squash(to: 4)
    try history.remove("squashed")
    let before = try Dump(history.sandbox.open())
    let failure = try #require(history.sandbox.failure())
    #expect(failure.status == .notFound)
    #expect(failure.message.contains("Install release 2.0 first"), "\(failure.message)")
    #expect(try Dump(history.sandbox.open()) == before)
  }

  @Test("the lock keeps its lines, and an edit of a replaced manifest is noticed")
  func lock() throws {
    let history = try LongHistory()
    let before = try #require(try history.sandbox.project().lock)
    try history.squash(to: 4)
    let project = try history.sandbox.project()
    let lock = try #require(project.lock)
    for entry in before.entries { #expect(lock.anyEntry(entry.id) == entry) }
    #expect(lock.entries.map(\.id) == ["0004_squash_step"])
    #expect(lock.entries[0].release == "2.0")
    #expect(try project.verify(database: nil, timeout: 1).status == .success)
    try history.sandbox.addSQL("squashed/0002_step", "CREATE TABLE other (a);")
    let report = try history.sandbox.project().verify(database: nil, timeout: 1)
    #expect(report.status == .brokenHistory)
    #expect(report.history.contains { $0.id == "0002_step" && $0.state == .edited })
  }

  @Test("a squash of drafts may be frozen, and databases that have run some of them continue")
  func frozenLater() throws {
    let history = try LongHistory(frozenThrough: 0)
    try history.database(through: 2)
    try history.squash(to: 3)
    for _ in 0..<2 {
      try history.sandbox.freeze(release: "1.0")
      #expect(try history.sandbox.project().verify(database: nil, timeout: 1).status == .success)
    }
    let applied = try history.sandbox.migrate().applied.map(\.id)
    #expect(applied == ["0003_step", "0004_step", "0005_step"])
  }

  @Test("a later squash can replace it, and databases continue")
  func twice() throws {
    let history = try LongHistory(frozenThrough: 5)
    try history.squash(to: 3)
    try history.sandbox.migrate(to: "3")
    #expect(try history.sandbox.ledger == ["0003_squash_step"])
    #expect(
      try history.sandbox.project().squashing(through: "5").releases == ["1.0", "2.0"],
      "also those that only the first squash has replaced")
    try history.squash(to: 5)
    #expect(history.exists("squashed/0003_squash_step.yaml"))
    let report = try history.sandbox.migrate()
    #expect(report.applied.map(\.id) == ["0004_step", "0005_step"])
    #expect(
      try history.sandbox.project().verify(database: history.sandbox.database, timeout: 1).status
        == .success)
  }

  @Test("drafts before frozen migrations, and the first migration alone, are refused")
  func refusals() throws {
    let history = try LongHistory(frozenThrough: 4)
    for step in [1, 5] {
      let failure = #expect(throws: Failure.self) { try history.squash(to: step) }
      #expect(failure?.status == .finding)
    }
    #expect(!history.exists("squashed"))
  }

  @Test("later migrations may need random values that differ from each other")
  func laterRandomValues() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_a", "CREATE TABLE t (id INTEGER PRIMARY KEY, v DEFAULT (randomblob(8)))")
    try sandbox.addSQL("0002_b", "CREATE TABLE u (v UNIQUE)")
    try sandbox.addSQL(
      "0003_c",
      "INSERT INTO u VALUES (randomblob(8)), (randomblob(8)); INSERT INTO t (id) VALUES (1)")
    try sandbox.project().squashing(through: "2").write()
    try sandbox.migrate()
    #expect(try sandbox.rows("SELECT count(DISTINCT v) FROM u") == [[2]])
  }

  @Test("a value of the clock and of a random function together is refused")
  func clockAndChance() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (id TEXT PRIMARY KEY);")
    try sandbox.addSQL(
      "0002_b",
      "CREATE TABLE b (x); INSERT INTO b VALUES (random() % 7 + CAST(strftime('%s') AS INT));")
    let failure = #expect(throws: Failure.self) { try sandbox.project().squashing(through: "2") }
    #expect(failure?.status == .finding)
    #expect(failure?.message.contains("depends on the clock or on random values") == true)
  }
}

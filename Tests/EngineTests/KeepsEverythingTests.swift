import Foundation
import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPreview
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("A structural change keeps data")
struct KeepsEverythingTests {
  private func sandbox(_ create: String, rows: String, _ second: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", create)
    try sandbox.migrate()
    try sandbox.run(rows)
    try sandbox.add("0002_move", second)
    return sandbox
  }

  private func move(
    _ to: String, _ mapping: String, table: String = "p", from: String = "f", more: String = ""
  ) -> String {
    "operations: [{ move_column: { table: \(table), from: \(from), to: \(to), \(mapping)\(more) } }]"
  }

  @Test(
    "child rows remain if foreign keys are enforced",
    arguments: [
      "{ name: s, type: TEXT }", "{ name: s, type: INTEGER, not_null: true, default: 0 }",
    ])
  func enforced(to: String) throws {
    let sandbox = try sandbox(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY, f INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p (id) ON DELETE CASCADE ON UPDATE SET NULL);
      """, rows: "INSERT INTO p VALUES (1, 0), (2, 1); INSERT INTO c VALUES (1, 1), (2, 2)",
      "foreign_keys: enforced\n" + move(to, "map: { 0: 5, 1: 6 }"))
    let copy = try Sandbox()
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: copy.database)
    let script = try sandbox.project().plan(sandbox.options(), database: sandbox.database).script
    let shell = try run("/usr/bin/env", ["sqlite3", copy.database], input: script)
    #expect(shell.code == 0 && shell.output.isEmpty, "\(shell.output)")
    #expect(try sandbox.migrate().failure == nil)
    for database in [sandbox, copy] {
      #expect(try database.rows("SELECT id, p FROM c") == [[1, 1], [2, 2]])
    }
    #expect(try Dump(copy.open()) == Dump(sandbox.open()))
  }

  @Test("conflict clauses of the table never replace, ignore or default a value")
  func conflictClauses() throws {
    for (create, to, mapping) in [
      (
        "CREATE TABLE p (id INTEGER PRIMARY KEY, a TEXT, f INTEGER, UNIQUE (a, f) ON CONFLICT REPLACE);",
        "{ name: s, type: INTEGER }", "map: { 0: 0, 1: 0, 2: 5 }, dependents: rename"
      ),
      (
        "CREATE TABLE p (id INTEGER PRIMARY KEY, a, f INTEGER NOT NULL ON CONFLICT IGNORE);",
        "{ name: s, type: INTEGER, not_null: { on_conflict: ignore } }",
        "map: { 0: 0, 1: null, 2: 5 }"
      ),
      (
        "CREATE TABLE p (id INTEGER PRIMARY KEY, a, f INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 7);",
        "{ name: s, type: INTEGER, not_null: { on_conflict: replace }, default: 7 }",
        "using: \"nullif(f, 1)\""
      ),
      (
        "CREATE TABLE p (id INTEGER PRIMARY KEY, a, f INTEGER);",
        "{ name: s, type: INTEGER, not_null: { on_conflict: replace }, default: 7 }",
        "using: \"nullif(f, 1)\", keep_source: true"
      ),
    ] {
      let sandbox = try sandbox(
        create, rows: "INSERT INTO p (id, a, f) VALUES (1, 'x', 0), (2, 'x', 1), (3, 'y', 2)",
        move(to, mapping))
      let before = try Dump(sandbox.open())
      let report = try sandbox.migrate()
      #expect(report.status == .migrationFailed, "\(create)")
      #expect(try Dump(sandbox.open()) == before, "\(create)")
    }
  }

  @Test("the main database's table is changed if a temporary table has the same name")
  func temporaryTwin() throws {
    let sandbox = try sandbox(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY, f INTEGER);
      CREATE INDEX i1 ON p (id, id);
      CREATE TABLE log (a);
      CREATE TRIGGER tr AFTER DELETE ON p BEGIN INSERT INTO log VALUES (old.id); END;
      """, rows: "INSERT INTO p VALUES (1, 0), (2, 1)",
      """
      operations:
        - sql: CREATE TEMP TABLE p AS SELECT * FROM p WHERE 0
        - move_column: { table: p, from: f, to: { name: s, type: TEXT }, map: { 0: a, 1: b } }
        - create_index: { name: i2, table: p, columns: [s] }
      """)
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT s FROM p") == [["a"], ["b"]])
    #expect(
      try sandbox.schema().objects.map(\.name).filter { ["i1", "i2", "tr"].contains($0) }.count == 3
    )
    try sandbox.run("INSERT INTO p VALUES (3, 'c')")
    try sandbox.add(
      "0003_move",
      """
      operations:
        - sql: CREATE TEMP TABLE p AS SELECT * FROM p WHERE 0
        - move_column: { table: p, from: s, to: { name: t, type: INTEGER }, map: { a: 1, b: 2 }, dependents: rename }
      """)
    #expect(try sandbox.migrate().failure?.message.contains("'c' (text) in 1 row") == true)
  }

  @Test("equal-looking values keep their bytes")
  func unicode() throws {
    let sandbox = try sandbox(
      "CREATE TABLE p (f TEXT);", rows: "INSERT INTO p VALUES (cast(x'65CC81' AS TEXT))",
      move(
        "{ name: s, type: TEXT }", "map: { \"e\\u0301\": \"\\u00e9\", \"\\u00e9\": \"\\u00e9\" }"))
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT hex(s) FROM p") == [["C3A9"]])
  }

  @Test("statistics of the planner remain, with dependents and by the plan's script")
  func statistics() throws {
    let sandbox = try sandbox(
      "CREATE TABLE p (id INTEGER PRIMARY KEY, f INTEGER); CREATE INDEX i ON p (f);",
      rows: "INSERT INTO p VALUES (1, 0), (2, 1); ANALYZE",
      move("{ name: s, type: TEXT }", "map: { 0: a, 1: b }, dependents: rename"))
    let before = try sandbox.rows("SELECT * FROM sqlite_stat1 WHERE tbl = 'p'")
    #expect(!before.isEmpty)
    let copy = try Sandbox()
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: copy.database)
    let script = try sandbox.project().plan(sandbox.options(), database: sandbox.database).script
    let shell = try run("/usr/bin/env", ["sqlite3", copy.database], input: script)
    #expect(shell.code == 0 && shell.output.isEmpty, "\(shell.output)")
    try sandbox.migrate()
    for database in [sandbox, copy] {
      #expect(try database.rows("SELECT * FROM sqlite_stat1 WHERE tbl = 'p'") == before)
    }
  }

  @Test("a conversion that other columns' types would not store is refused")
  func storedOtherwise() throws {
    let sandbox = try sandbox(
      "CREATE TABLE p (a, f INTEGER);", rows: "INSERT INTO p VALUES ('08', 0)",
      move("{ name: s, type: TEXT }", "map: { 0: a }"))
    try sandbox.open().set(.defensive, to: false)
    _ = try run(
      "/usr/bin/env", ["sqlite3", sandbox.database],
      input: """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE TABLE p (a INTEGER, f INTEGER)' WHERE name = 'p';
        """)
    try sandbox.addSQL("0001_create", "CREATE TABLE p (a INTEGER, f INTEGER);")
    try sandbox.run(
      "UPDATE schemactl_migrations SET canonical_digest = '\(try sandbox.project().migrations[0].canonicalDigest)', raw_digest = '\(try sandbox.project().migrations[0].rawDigest)'"
    )
    let report = try sandbox.migrate()
    #expect(report.status == .inputOutput)
    #expect(report.failure?.message.contains("(TEXT value in p.a: ") == true)
    #expect(
      report.failure?.message.contains("unless somebody changed the type in the schema by hand")
        == true)
    #expect(try sandbox.rows("SELECT a, typeof(a) FROM p") == [["08", "text"]])
  }

  @Test("values of a unique column can be exchanged")
  func uniqueSwap() throws {
    let sandbox = try sandbox(
      "CREATE TABLE p (f INTEGER UNIQUE, z);", rows: "INSERT INTO p VALUES (0, 'a'), (1, 'b')",
      move("{ name: g, type: INTEGER, unique: true }", "map: { 0: 1, 1: 0 }"))
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT g, z FROM p ORDER BY z") == [[1, "a"], [0, "b"]])
  }

  @Test("a change is refused if SQLite cannot rewrite an object that mentions the column")
  func blockedRewrite() throws {
    let sandbox = try sandbox(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY, f INTEGER, n TEXT);
      CREATE TABLE log (m);
      CREATE TRIGGER tr AFTER UPDATE ON p BEGIN INSERT INTO log VALUES (new.f); END;
      CREATE VIEW stale AS SELECT a FROM gone;
      """, rows: "INSERT INTO p VALUES (1, 0, 'a')",
      move("{ name: s, type: INTEGER }", "map: { 0: 0 }, dependents: rename"))
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains("trigger `tr`") == true)
    #expect(failure?.message.contains("the broken view `stale`") == true)
  }

  @Test(
    "a column that a full-text table reads is not dropped",
    arguments: ["", ", dependents: rename"])
  func fullText(dependents: String) throws {
    let sandbox = try sandbox(
      "CREATE TABLE p (id INTEGER PRIMARY KEY, f TEXT); CREATE VIRTUAL TABLE ft USING fts5(f, content='p', content_rowid='id');",
      rows: "INSERT INTO p VALUES (1, 'a')",
      move("{ name: s, type: TEXT }", "map: { a: b }", more: dependents))
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains("virtual table `ft`") == true)
  }
}

@Suite("Forbidden effects of a migration")
struct LeftBehindTests {
  @Test(
    "a new foreign key violation is found next to an old one and without a rowid")
  func hiddenViolations() throws {
    for (create, rows, sql) in [
      (
        "CREATE TABLE c (id INTEGER PRIMARY KEY, a REFERENCES p (id), b REFERENCES p (id));",
        "INSERT INTO c VALUES (1, 99, 1)", "UPDATE c SET a = 1, b = 77;"
      ),
      (
        "CREATE TABLE c (k TEXT PRIMARY KEY, p REFERENCES p (id)) WITHOUT ROWID;",
        "INSERT INTO c VALUES ('old', 99), ('x', 1)",
        "UPDATE c SET p = 1 WHERE k = 'old'; UPDATE c SET p = 88 WHERE k = 'x';"
      ),
    ] {
      let sandbox = try Sandbox()
      try sandbox.addSQL("0001_create", "CREATE TABLE p (id INTEGER PRIMARY KEY); \(create)")
      try sandbox.migrate()
      try sandbox.run("INSERT INTO p VALUES (1); \(rows)")
      try sandbox.addSQL("0002_break", sql)
      let report = try sandbox.migrate()
      #expect(report.status == .migrationFailed, "\(create)")
      #expect(report.failure?.message.contains("to a missing row of `p`") == true)
    }
  }

  @Test(
    "a created object may not mention the ledger",
    arguments: [
      "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM schemactl_migrations; END",
      "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM 'schemactl_migrations'; END",
      "CREATE VIEW v AS SELECT * FROM \"SCHEMACTL_migrations\"",
      "CREATE TABLE b (x REFERENCES [schemactl_migrations])",
      "CREATE TABLE schemactl_notes (x)", "ALTER TABLE a RENAME TO schemactl_a",
    ])
  func ledger(sql: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE a (x);")
    try sandbox.addSQL("0002_sql", sql + ";")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .invalidInput)
    #expect(try DatabaseFile.exists(sandbox.database) == false)
  }

  @Test("temporary objects may not remain, whether the next migration runs now or later")
  func temporary() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      """
      CREATE TABLE a (x);
      CREATE TEMP TABLE helper (x);
      CREATE TEMP TRIGGER tr AFTER INSERT ON a BEGIN INSERT INTO helper VALUES (1); END;
      CREATE TEMP VIEW v AS SELECT 1;
      """)
    try sandbox.addSQL("0002_use", "INSERT INTO helper VALUES (1);")
    let report = try sandbox.migrate()
    #expect(report.applied.map(\.id) == ["0001_create"])
    #expect(report.failure?.message.contains("no such table: helper") == true)
  }

  @Test("a table of the history is never ignored as drift, whatever its name")
  func bookkeepingNames() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create", "CREATE TABLE schema_migrations (x); CREATE TABLE _cf_settings (x);")
    try sandbox.migrate()
    #expect(try sandbox.project().verify(database: sandbox.database, timeout: 1).status == .success)
    try sandbox.run("CREATE TRIGGER hook AFTER INSERT ON schemactl_migrations BEGIN SELECT 1; END")
    let report = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(report.drift?.map(\.object) == ["hook"])
  }

  @Test("an ignored index or trigger is dropped with its table")
  func ignoredParts() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
    try sandbox.migrate()
    try sandbox.run(
      "CREATE INDEX ext_i ON t (a); CREATE TRIGGER ext_t AFTER INSERT ON t BEGIN SELECT 1; END")
    sandbox.ignore = ["ext_*"]
    try sandbox.add("0002_drop", "operations: [{ drop_table: { table: t } }]")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.project().verify(database: sandbox.database, timeout: 1).status == .success)
  }

  @Test(
    "a migration does not create or drop what belongs to others",
    arguments: [
      "DROP TABLE IF EXISTS ext_a", "DROP INDEX IF EXISTS ext_i",
      "DROP TABLE IF EXISTS grdb_migrations", "CREATE TABLE IF NOT EXISTS ext_a (x)",
    ])
  func others(_ statement: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
    try sandbox.migrate()
    try sandbox.run(
      "CREATE TABLE ext_a (x); CREATE INDEX ext_i ON t (a); CREATE TABLE grdb_migrations (x)")
    sandbox.ignore = ["ext_*"]
    try sandbox.addSQL("0002_others", statement)
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .finding)
    #expect(failure.message.contains("which does not belong to the history"), "\(failure.message)")
    #expect(
      try sandbox.rows("SELECT count(*) FROM sqlite_schema WHERE name GLOB '[eg]*_[aim]*'") == [[3]]
    )
  }

  @Test(
    "a type or an expression may not contain additional SQL",
    arguments: [
      "delete: { table: t, where: \"0) OR (1\" }",
      "update: { table: t, set: { a: \"5), b=(6\" }, all: true }",
      "add_column: { table: t, column: { name: c, type: INT DEFAULT 5 NOT NULL } }",
      "add_column: { table: t, column: { name: c, type: INT -- x } }",
      "add_column: { table: t, column: { name: c, default: { sql: \"1) NOT NULL DEFAULT (2\" } } }",
      "create_table: { name: u, columns: [{ name: a, type: INT PRIMARY KEY }] }",
      "sql: \"INSERT INTO t VALUES (:a, 1)\"", "sql: \"SELECT 1; -- z\\n ;;VACUUM\"",
      "create_view: { name: v, sql: \"CREATE VIEW temp.v AS SELECT 1\" }",
      "assert: { query: \"SELECT 1; DROP TABLE t\", equals: 1 }",
    ])
  func smuggled(yaml: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a, b);")
    try sandbox.add("0002_x", "operations:\n  - \(yaml)\n")
    let failure = #expect(throws: (any Error).self) { try sandbox.migrate() }.map {
      Failure(of: $0)
    }
    #expect(failure?.status == .invalidInput, "\(failure?.message ?? "")")
  }

  @Test("SQLite says why a statement is not a CREATE VIEW, and where")
  func notCreate() throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_x",
      "operations:\n  - create_view: { name: v, sql: CREATE VIEW v AS SELEC 1 }\n")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(
      failure?.message == "`sql` is not a CREATE VIEW statement: near \"SELEC\": syntax error")
    #expect(failure?.place?.position == Position(line: 2, column: 51))
  }

  @Test("a temporary trigger may not fire during a rewrite, in this migration or the next")
  func temporaryTrigger() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create", "CREATE TABLE u (id INTEGER PRIMARY KEY, n INTEGER, s TEXT);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO u VALUES (1, 1, 'a')")
    let trigger =
      "CREATE TEMP TRIGGER tt AFTER UPDATE ON main.u BEGIN UPDATE u SET s = 'touched'; END"
    let move = "move_column: { table: u, from: n, to: { name: m, type: INTEGER }, map: { 1: 10 } }"
    try sandbox.add("0002_both", "operations:\n  - sql: \"\(trigger)\"\n  - \(move)\n")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .invalidInput)
    try sandbox.add("0002_both", "operations:\n  - sql: \"\(trigger)\"\n")
    try sandbox.add("0003_move", "operations:\n  - \(move)\n")
    let copy = try Sandbox()
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: copy.database)
    let script = try sandbox.project().plan(sandbox.options(), database: sandbox.database).script
    let shell = try run("/usr/bin/env", ["sqlite3", copy.database], input: script)
    #expect(shell.code == 0 && shell.output.isEmpty, "\(shell.output)")
    #expect(try sandbox.migrate().failure == nil)
    for database in [sandbox, copy] {
      #expect(try database.rows("SELECT m, s FROM u") == [[10, "a"]])
    }
  }

  @Test("unusual but valid types, expressions and names are accepted")
  func legal() throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_create",
      """
      operations:
        - create_table:
            name: t
            columns:
              - { name: a, type: "VARCHAR(10)" }
              - { name: b, type: DOUBLE PRECISION }
              - { name: c, type: "\\"my type\\"" }
              - { name: d, type: "[my type]" }
              - { name: e, type: "DECIMAL( 10 , 2 )" }
              - { name: f, check: "f <> ');' AND f <> '('  -- why not" }
              - { name: g, default: { sql: "('x;' || ')')" } }
        - sql: CREATE TABLE log (schemactl_migrations, note DEFAULT 'schemactl_migrations')
        - update: { table: t, set: { a: "(SELECT json_extract('{\\"a\\":1}', '$.a'))" }, all: true }
      """)
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(String(describing: report.failure))")
  }

  @Test("a misspelt column in an index, which SQLite reads as a string, is refused")
  func misspeltIndex() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (listID);")
    try sandbox.add(
      "0002_x", "operations: [{ create_index: { name: i, table: t, columns: [lisID] } }]")
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.message == "`t` has no column `lisID`; it has `listID`")
  }

  @Test("values that the migration itself has written are compared with the map, too")
  func seededByMigrations() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (kind INTEGER); INSERT INTO t VALUES (1);")
    try sandbox.add(
      "0002_move",
      "operations: [{ move_column: { table: t, from: kind, to: { name: k, type: TEXT, not_null: true }, map: { 0: open } } }]"
    )
    let report = try sandbox.migrate()
    #expect(report.failure?.message.contains("1 (integer) in 1 row") == true)
  }

  @Test("ANALYZE leaves only its statistics")
  func analyze() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE t (a); CREATE INDEX i ON t (a); INSERT INTO t VALUES (1); ANALYZE;")
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test(
    "a full disk creates no database, and at COMMIT it rolls back the whole transaction",
    .needsMount)
  func fullDisk() throws {
    let sandbox = try Sandbox()
    let disk = try SmallDisk(in: sandbox.folder, "400k")
    try sandbox.addSQL("0001_one", "CREATE TABLE one (a);")
    try sandbox.addSQL("0002_two", "CREATE TABLE two (a);")
    try sandbox.addSQL(
      "0003_three", "CREATE TABLE three (a); INSERT INTO three VALUES (randomblob(1500000));")
    var options = MigrateOptions(database: disk.path + "/live.sqlite")
    options.timeout = 1
    let failure = #expect(throws: Failure.self) { try sandbox.project().migrate(options) }
    #expect(failure?.status == .inputOutput)
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).isEmpty)
    // If the file existed before, only the transaction is rolled back.
    try Connection(path: options.database).execute("PRAGMA user_version = 1")
    let report = try sandbox.project().migrate(options)
    #expect(report.status == .inputOutput)
    #expect(report.applied.isEmpty)
    let message = try #require(report.failure?.message)
    #expect(message.contains("`0001_one`, `0002_two`"), "\(message)")
    #expect(message.contains("Run `schemactl migrate` again"), "\(message)")
  }
}

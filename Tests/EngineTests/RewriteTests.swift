import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// A table, its new definition, and a query whose result must not change.
struct RewrittenTable: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let create: String
  let rows: String
  let final: String
  /// A query with equal results before and after the rewrite.
  let question: String

  init(
    _ description: String, _ create: String, _ rows: String, to final: String,
    asking question: String = "SELECT id, a, b FROM t ORDER BY id"
  ) {
    testDescription = description
    self.create = create
    self.rows = rows
    self.final = final
    self.question = question
  }

  static let all = [
    RewrittenTable(
      "an index over another collation",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b); CREATE INDEX i ON t (a);",
      "INSERT INTO t VALUES (1, 'b', 1), (2, 'A', 2), (3, 'a', 3), (4, 'B', 4);",
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b)",
      asking: "SELECT id FROM t WHERE b > 0 ORDER BY id"),
    RewrittenTable(
      "a partial index whose condition compares another affinity",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b); CREATE INDEX i ON t (b) WHERE a = '1';",
      "INSERT INTO t VALUES (1, 1, 'x'), (2, 2, 'y');",
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB, b)"),
    RewrittenTable(
      "an index that reads a column through a generated one",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b AS (a || typeof(a))); CREATE INDEX i ON t (b);",
      "INSERT INTO t (id, a) VALUES (1, '1'), (2, '2');",
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b AS (a || typeof(a)))",
      asking: "SELECT id, a || '' FROM t ORDER BY id"),
    RewrittenTable(
      "columns that hide every name of the rowid",
      "CREATE TABLE t (id, rowid, oid, _rowid_, a, b); CREATE INDEX i ON t (id);",
      "INSERT INTO t VALUES (1, 7, 8, 9, 'x', 2), (2, 5, 5, 5, 'y', 3);",
      to: "CREATE TABLE t (id, rowid, oid, _rowid_, a TEXT, b)"),
    RewrittenTable(
      "another key of a table without rowid",
      "CREATE TABLE t (id PRIMARY KEY, a, b) WITHOUT ROWID; CREATE INDEX i ON t (b);",
      "INSERT INTO t VALUES (1, 'x', 2), (2, 'y', 1);",
      to: "CREATE TABLE t (id, a, b, PRIMARY KEY (a, id)) WITHOUT ROWID"),
    RewrittenTable(
      "UNIQUE constraints that come in another order",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b UNIQUE);",
      "INSERT INTO t VALUES (1, 'x', 2), (2, 'y', 1);",
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, UNIQUE (b), UNIQUE (a))"),
    RewrittenTable(
      "a CHECK that qualifies its columns",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b INT);",
      "INSERT INTO t VALUES (1, 'x', 2), (2, 'y', 1);",
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INT, CHECK (t.b > 0 AND \"T\".id < 9))"
    ),
    RewrittenTable(
      "conflict clauses that would drop rows or replace NULL",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE ON CONFLICT REPLACE, b NOT NULL ON CONFLICT IGNORE);",
      "INSERT INTO t VALUES (1, NULL, 2), (2, 'y', 1);",
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE ON CONFLICT REPLACE, "
        + "b NOT NULL ON CONFLICT REPLACE DEFAULT 4, c DEFAULT 3)"),
    RewrittenTable(
      "AUTOINCREMENT that stays, beyond its last row",
      "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE, b);",
      "INSERT INTO t VALUES (1, 'x', 2), (90, 'y', 1); DELETE FROM t WHERE id = 90;",
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a, b)",
      asking: "SELECT id, a, b, (SELECT seq FROM sqlite_sequence WHERE name = 't'), "
        + "(SELECT count(*) FROM sqlite_sequence) FROM t"),
    RewrittenTable(
      "references to itself, and children",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a REFERENCES t ON DELETE CASCADE, b);
      CREATE TABLE c (t REFERENCES t ON DELETE CASCADE);
      """,
      "INSERT INTO t VALUES (1, 1, 2), (2, 1, 1); INSERT INTO c VALUES (1), (2);",
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY, a REFERENCES t ON DELETE CASCADE, b UNIQUE)",
      asking: "SELECT id, a, b, (SELECT count(*) FROM c) FROM t ORDER BY id"),
    RewrittenTable(
      "views, triggers and statistics",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX i ON t (b);
      CREATE VIEW v AS SELECT t.a FROM t;
      CREATE TRIGGER r AFTER DELETE ON t BEGIN INSERT INTO t VALUES (old.id, 'back', 0); END;
      """,
      "INSERT INTO t VALUES (1, 'x', 2), (2, 'y', 1); ANALYZE;",
      to: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b UNIQUE)",
      asking: "SELECT id, a, b, (SELECT group_concat(tbl || idx || stat) FROM sqlite_stat1 "
        + "WHERE tbl = 't'), (SELECT group_concat(a) FROM v) FROM t ORDER BY id"),
  ]
}

@Suite("Rewritten tables")
struct RewriteTests {
  @Test(
    "a rewritten table keeps its rows, and its indexes match them",
    arguments: oneIn(2, of: RewrittenTable.all),
    ["", "PRAGMA auto_vacuum = FULL;", "PRAGMA journal_mode = WAL;"])
  func keeps(table: RewrittenTable, pragma: String) throws {
    let sandbox = try Sandbox()
    try sandbox.run("\(pragma) CREATE TABLE first (a); DROP TABLE first;")
    try sandbox.addSQL("0001_create", table.create)
    try sandbox.migrate()
    try sandbox.run(table.rows)
    let before = try sandbox.rows(table.question)
    try #require(!before.isEmpty)
    try sandbox.add(
      "0002_rewrite",
      "operations:\n- rebuild_table:\n    table: t\n    sql: \(yamlQuoted(table.final))\n")
    let failure = try sandbox.migrate { $0.isParanoid = true }.failure
    #expect(failure == nil, "\(failure?.message ?? "")")
    #expect(try sandbox.rows(table.question) == before)
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
    #expect(try sandbox.rows("PRAGMA foreign_key_check").isEmpty)
    #expect(try sandbox.schema().table("t")?.sql == table.final)
    #expect(
      try sandbox.rows("SELECT 1 FROM sqlite_schema WHERE name LIKE '%rewritten%'").isEmpty)
    #expect(try sandbox.project().verify(database: sandbox.database, timeout: 1).status == .success)
  }

  @Test("a table with a new or removed counter has the right row in sqlite_sequence")
  func counter() throws {
    let sandbox = try Sandbox()
    let plain = "CREATE TABLE t (id INTEGER PRIMARY KEY, a)"
    let counted = "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a)"
    try sandbox.addSQL("0001_create", plain)
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (4, 'x')")
    for (id, sql, expected) in [
      ("0002_counted", counted, [["t", 4]]), ("0003_plain", plain, []),
    ] as [(String, String, [[Value]])] {
      try sandbox.add(
        id, "operations: [{ rebuild_table: { table: t, sql: \(yamlQuoted(sql)) } }]")
      #expect(try sandbox.migrate().failure == nil)
      #expect(try sandbox.rows("SELECT name, seq FROM sqlite_sequence") == expected)
    }
  }

  /// SQLite's own ALTER TABLE counts characters from the end of `CREATE TABLE `.
  @Test(
    "texts are stored in the form that SQLite gives them",
    arguments: [
      "CREATE TABLE    t(a INTEGER PRIMARY KEY, b NOT NULL, c)",
      "create table t(a INTEGER PRIMARY KEY, b NOT NULL, c) ; -- end",
      "CREATE/**/TABLE T (a INTEGER PRIMARY KEY, b NOT NULL, c)",
      "/* first */ CREATE\tTABLE \"t\"(a INTEGER PRIMARY KEY, b NOT NULL, c)",
      "CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE NOT NULL, c)",
      "create  table [T](a INTEGER PRIMARY KEY, b UNIQUE NOT NULL, c)",
    ])
  func stored(text: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t (b, c) VALUES (1, 'c1'), (2, 'c2')")
    try sandbox.add(
      "0002_rewrite",
      "operations: [{ rebuild_table: { table: t, sql: \(yamlQuoted(text)) } }]")
    try sandbox.add(
      "0003_alter",
      """
      operations:
        - add_column: { table: t, column: { name: z, type: TEXT } }
        - rename_column: { table: t, from: c, to: d }
      """)
    #expect(try sandbox.migrate { $0.isParanoid = true }.failure == nil)
    let rows: [[Value]] = [[1, 1, "c1", .null], [2, 2, "c2", .null]]
    #expect(try sandbox.rows("SELECT a, b, d, z FROM t") == rows)
    let vacuum = try SchemaTestPrograms.run(
      "/usr/bin/env", ["sqlite3", sandbox.database, "VACUUM"])
    #expect(vacuum.code == 0, "\(vacuum.errors)")
    #expect(try sandbox.rows("SELECT a, b, d, z FROM t") == rows)
    #expect(try sandbox.schema().table("t")?.name == "t")
  }

  @Test(
    "a table keeps the spelling of its name, whatever the manifest's spelling",
    arguments: [
      "sql: \"CREATE TABLE items(a INTEGER PRIMARY KEY AUTOINCREMENT, b UNIQUE, c)\"",
      "sql: \"CREATE TABLE ITEMS(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c)\"",
      "columns: [{ name: a, type: INTEGER, primary_key: true, autoincrement: true }, { name: b }]",
    ])
  func spelling(definition: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create", "CREATE TABLE Items(a INTEGER PRIMARY KEY AUTOINCREMENT, b UNIQUE);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO Items (b) VALUES (1), (2), (3); DELETE FROM Items WHERE a = 3")
    let table = definition.contains("ITEMS") || definition.contains("columns") ? "ITEMS" : "items"
    try sandbox.add(
      "0002_rewrite", "operations: [{ rebuild_table: { table: \(table), \(definition) } }]")
    let failure = try sandbox.migrate().failure
    #expect(failure == nil, "\(failure?.message ?? "")")
    try sandbox.run("INSERT INTO items (b) VALUES (9)")
    #expect(try sandbox.rows("SELECT max(a) FROM items") == [[4]])
    #expect(try sandbox.rows("SELECT name, seq FROM sqlite_sequence") == [["Items", 4]])
    try sandbox.run("DROP TABLE items")
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  /// The new root pages must not remain in the schema cache: another connection may give the schema the same
  /// version (SQLITE_SCHEMA, and `PRAGMA schema_version`).
  @Test(
    "after a rollback every table keeps its rows, whatever changes later",
    arguments: [0, 1, 2, 3, 4, 5, 6], [true, false])
  func rolledBack(changes: Int, hasReader: Bool) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (1, 1), (2, 2)")
    try sandbox.add(
      "0002_fails",
      """
      operations:
        - alter_column: { table: t, column: n, type: TEXT }
        - sql: INSERT INTO t VALUES (1, 1)
      """)
    let migration = try #require(try sandbox.project().migrations.last)
    let connection = try sandbox.open()
    let calls = try Application().register(on: connection)
    let scratch = try ScratchDatabase(on: connection, Application(), calls, isCopy: true)
    let reader = try connection.prepare("SELECT * FROM t")
    if hasReader { #expect(try reader.step()) }
    #expect(throws: Failure.self) { try scratch.apply(migration) }
    reader.reset()
    let other = try sandbox.open()
    for index in 0..<changes { try other.execute("CREATE TABLE z\(index) (id, n)") }
    try connection.execute("INSERT INTO t VALUES (3, 3)")
    #expect(try other.rows("SELECT id FROM t ORDER BY id") == [[1], [2], [3]])
    for index in 0..<changes { #expect(try other.rows("SELECT * FROM z\(index)").isEmpty) }
    #expect(try other.rows("PRAGMA integrity_check") == [["ok"]])
  }
}

import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("SQL that migrations may not contain")
struct RefusalTests {
  @Test(
    "it is refused with its position before any change",
    arguments: [
      ("BEGIN", "transaction control (BEGIN)"), ("COMMIT", "transaction control (COMMIT)"),
      ("ROLLBACK", "transaction control (ROLLBACK)"), ("END", "transaction control (COMMIT)"),
      ("SAVEPOINT x", "transaction control (BEGIN)"),
      ("RELEASE x", "transaction control (RELEASE)"),
      ("ATTACH 'x.db' AS x", "ATTACH"), ("DETACH x", "DETACH"), ("VACUUM", "VACUUM"),
      ("/* hidden */ vacuum INTO 'copy.db'", "VACUUM"),
      ("SELECT load_extension('x')", "load_extension()"),
      ("SELECT * FROM schemactl_migrations", "ledger"),
      ("DROP TABLE \"SchemaCtl_Migrations\"", "ledger"),
      ("DELETE FROM [schemactl_migrations]", "ledger"),
      ("CREATE TRIGGER tr AFTER INSERT ON schemactl_migrations BEGIN SELECT 1; END", "ledger"),
      ("ALTER TABLE schemactl_migrations ADD COLUMN x", "ledger"),
      ("PRAGMA journal_mode = WAL", "PRAGMA journal_mode"),
      ("PRAGMA user_version = 3", "PRAGMA user_version"),
      ("PRAGMA synchronous = OFF", "PRAGMA synchronous"),
      ("PRAGMA optimize", "PRAGMA optimize"),
      ("PRAGMA wal_checkpoint", "PRAGMA wal_checkpoint"),
    ])
  func refused(sql: String, message: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
    try sandbox.addSQL("0002_sql", "CREATE TABLE u (a);\n  \(sql);")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    let column = sql.hasPrefix("/*") ? 22 : 9
    #expect(failure?.place?.position == Position(line: 4, column: column))
    #expect(try DatabaseFile.exists(sandbox.database) == false)
  }

  @Test(
    "names of an operation that the schema lacks are reported with the nearest name",
    arguments: [
      (
        "drop_table: { table: reminder }",
        "table `reminder` does not exist: did you mean `reminders`?"
      ),
      (
        "add_column: { table: reminder, column: { name: x } }",
        "table `reminder` does not exist: did you mean `reminders`?"
      ),
      ("delete: { table: unrelated, all: true }", "table `unrelated` does not exist"),
      (
        "alter_column: { table: reminder, column: title, not_null: true }",
        "table `reminder` does not exist: did you mean `reminders`?"
      ),
      (
        "move_column: { table: reminder, from: title, to: { name: x }, using: title }",
        "table `reminder` does not exist: did you mean `reminders`?"
      ),
      (
        "create_index: { name: i, table: reminder, columns: [title] }",
        "table `reminder` does not exist: did you mean `reminders`?"
      ),
      (
        "drop_column: { table: reminders, column: titel }",
        "`reminders` has no column `titel`: did you mean `title`?"
      ),
      (
        "rename_column: { table: reminders, from: titel, to: x }",
        "`reminders` has no column `titel`: did you mean `title`?"
      ),
      (
        "insert: { table: reminders, rows: [{ titel: x }] }",
        "`reminders` has no column `titel`: did you mean `title`?"
      ),
      (
        "update: { table: reminders, set: { titel: 1 }, all: true }",
        "`reminders` has no column `titel`: did you mean `title`?"
      ),
    ])
  func missing(_ operation: String, _ message: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE reminders (title TEXT); CREATE VIEW v AS SELECT title AS titel FROM reminders;")
    try sandbox.add("0002_x", "operations:\n  - \(operation)\n")
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.message == message)
    #expect(failure.status == .migrationFailed)
    #expect(failure.place?.position?.line == 2)
  }

  @Test(
    "columns that an expression misspells or a column repeats are reported at their position",
    arguments: [
      (
        "update: { table: notes, set: { body: lower(titel) }, all: true }",
        "`notes` has no column `titel`: did you mean `title`?", 48
      ),
      (
        "update: { table: notes, set: { body: done }, where: id = 1 }",
        "`notes` has no column `done`; it has `id`, `title`, `body`. If it is a text, write it in "
          + "single quotes: `\"'done'\"`", 42
      ),
      (
        "delete: { table: notes, where: id = 1 AND titel IS NULL }",
        "`notes` has no column `titel`: did you mean `title`?", 47
      ),
      (
        "add_column: { table: notes, column: { name: size, generated: { as: length(titel) } } }",
        "`notes` has no column `titel`: did you mean `title`?", 79
      ),
      (
        "add_column: { table: notes, column: { name: size, type: INT, check: sice > 0 } }",
        "`notes` has no column `sice`: did you mean `size`?", 73
      ),
      (
        "add_column: { table: notes, column: { name: title } }",
        "`notes` already has a column `title`", 33
      ),
      ("delete: { table: notes, where: (SELECT a FROM other) }", "no such table: other", nil),
    ])
  func misspeltColumn(_ operation: String, _ message: String, _ column: Int?) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE notes (id INTEGER, title TEXT, body TEXT);")
    try sandbox.add("0002_x", "operations:\n  - \(operation)\n")
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.message == message)
    #expect(failure.status == .migrationFailed)
    let position = try #require(failure.place?.position)
    #expect(position.line == 2)
    if let column { #expect(position.column == column) }
  }

  @Test("a rename to an existing column is refused without advice to drop the table")
  func existingName() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a, b);")
    try sandbox.add(
      "0002_x", "operations:\n  - rename_column: { table: t, from: a, to: b }\n")
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.message == "error in table t after rename: duplicate column name: b")
  }

  @Test("it is also refused inside triggers and expressions of updates")
  func smuggled() throws {
    for yaml in [
      "update: { table: t, set: { a: \"1\" }, where: \"1); COMMIT; SELECT (1\" }",
      "add_column: { table: t, column: { name: b, type: \"TEXT, c TEXT\" } }",
      "create_table: { name: u, columns: [{ name: a, check: \"1), b TEXT CHECK (1\" }] }",
      "create_view: { name: v, sql: \"CREATE VIEW v AS SELECT 1; DROP TABLE t\" }",
      "create_view: { name: v, sql: \"CREATE VIEW w AS SELECT 1\" }",
      "create_trigger: { name: v, sql: \"CREATE VIEW v AS SELECT 1\" }",
      "create_view: { name: v, sql: \"CREATE TEMP VIEW v AS SELECT 1\" }",
    ] {
      let sandbox = try Sandbox()
      try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
      try sandbox.add("0002_x", "operations:\n  - \(yaml)\n")
      let failure = sandbox.failure()
      #expect(failure?.status == .invalidInput, "\(yaml): \(failure?.message ?? "")")
    }
  }

  @Test("PRAGMAs of hand-written rebuilds are accepted without effect")
  func acceptedNotRun() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      """
      PRAGMA foreign_keys = ON;
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (p REFERENCES p ON DELETE CASCADE);
      PRAGMA defer_foreign_keys = ON;
      INSERT INTO p VALUES (1);
      INSERT INTO c VALUES (1);
      DROP TABLE p;
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      INSERT INTO p VALUES (1);
      PRAGMA foreign_key_check;
      PRAGMA table_info(p);
      PRAGMA user_version;
      """)
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT * FROM c") == [[1]])
  }

  @Test("writable_schema works inside its migration and is reset")
  func writableSchema() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_edit",
      """
      CREATE TABLE t (a CHECK (a > 0));
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a)' WHERE name = 't';
      """)
    try sandbox.addSQL("0002_use", "INSERT INTO t VALUES (0);")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT a FROM t") == [[0]])
    try sandbox.addSQL("0003_again", "UPDATE sqlite_schema SET sql = 'x';")
    #expect(try sandbox.migrate().status == .migrationFailed)
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test(
    "an edit of sqlite_schema that damages the database is refused",
    arguments: [
      "DELETE FROM sqlite_schema WHERE name = 't'",
      "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = "
        + "'schemactl_migrations') WHERE name = 't'",
      "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a NOT NULL)' WHERE name = 't'",
      "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a CHECK (a IN (SELECT 1)))' WHERE name = 't'",
    ])
  func damagingEdit(statement: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_table", "CREATE TABLE t (a)")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (1), (NULL)")
    try sandbox.addSQL("0002_edit", "PRAGMA writable_schema = ON; \(statement)")
    #expect(try sandbox.migrate().status == .migrationFailed)
    #expect(try sandbox.rows("SELECT a FROM t") == [[1], [.null]])
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test("a function of the application is not called on a database")
  func declaredFunction() throws {
    let sandbox = try Sandbox()
    sandbox.application.declaredFunctions = [DeclaredFunction(name: "slug", arguments: 1)]
    sandbox.application.declaredCollations = ["naturally"]
    try sandbox.addSQL(
      "0001_create",
      """
      CREATE TABLE t (a COLLATE naturally, b DEFAULT (slug('x')) CHECK (slug(b) IS NOT 'y'));
      CREATE INDEX i ON t (a);
      """)
    #expect(try sandbox.migrate().failure == nil, "naming it in a definition calls nothing")
    for sql in [
      "UPDATE t SET a = slug(a);", "INSERT INTO t (a) VALUES (1);",
      "CREATE INDEX s ON t (slug(a));",
    ] {
      try sandbox.addSQL("0002_call", sql)
      let failure = #expect(throws: Failure.self, "\(sql)") { try sandbox.migrate() }
      #expect(failure?.status == .invalidInput)
      #expect(failure?.message.contains("SchemaKit") == true)
      #expect(try sandbox.ledger == ["0001_create"])
    }
    sandbox.application.functions = [
      FunctionDefinition(name: "slug", arguments: 1, isDeterministic: true) {
        .text("slug \($0[0])")
      }
    ]
    try sandbox.addSQL("0002_call", "INSERT INTO t (a) VALUES (1);")
    #expect(try sandbox.migrate().failure == nil, "with the real one it runs")
  }

  @Test("rows are not sorted by a collation of the application")
  func declaredCollation() throws {
    let sandbox = try Sandbox()
    sandbox.application.declaredCollations = ["naturally"]
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a TEXT COLLATE naturally);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES ('a10'), ('a9')")
    try sandbox.addSQL("0002_index", "CREATE INDEX i ON t (a);")
    let report = try sandbox.migrate()
    #expect(report.status == .invalidInput)
    #expect(report.failure?.message.contains("naturally") == true)
    #expect(try sandbox.ledger == ["0001_create"])
  }

  @Test("uuid() exists, and declaring it changes nothing")
  func uuid() throws {
    let sandbox = try Sandbox()
    sandbox.application.declaredFunctions = [DeclaredFunction(name: "UUID", arguments: 0)]
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), n); INSERT INTO t (n) VALUES (1), (2);"
    )
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT count(DISTINCT id), min(length(id)) FROM t") == [[2, 36]])
  }

  @Test("assertions are checked on databases, not on scratch databases")
  func assertions() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
    try sandbox.migrate()
    try sandbox.add(
      "0002_assert",
      """
      before:
        - { query: SELECT count(*) FROM t, equals: 1, message: there is one row }
      operations:
        - assert: { query: SELECT a FROM t, equals: x }
        - update: { table: t, set: { a: "'y'" }, all: true }
      after:
        - { query: SELECT a FROM t, equals: y }
      """)
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed)
    #expect(failure.message == "there is one row: expected 1, found 0")
    #expect(failure.place?.position?.line == 2)
    try sandbox.run("INSERT INTO t VALUES ('x')")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT a FROM t") == [["y"]])
  }
}

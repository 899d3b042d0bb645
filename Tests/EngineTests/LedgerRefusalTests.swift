import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaSQLite
import SchemaTestSupport
import Testing

/// The ledger records which migrations a database has run, so migrations must not write to it.
@Suite("Migrations cannot access the ledger")
struct LedgerRefusalTests {
  @Test(
    "SQL in any spelling is refused",
    arguments: [
      "UPDATE schemactl_migrations SET position = 7",
      "INSERT INTO main.\"schemactl_migrations\" SELECT * FROM t",
      "REPLACE INTO `SCHEMACTL_migrations` (id) VALUES (1)",
      "DELETE FROM 'schemactl_migrations'",
      "DELETE FROM main . [schemactl_Migrations] WHERE 1",
      "DROP TABLE IF EXISTS main.schemactl_migrations",
      "ALTER TABLE schemactl_migrations RENAME TO mine",
      "ALTER TABLE schemactl_migrations RENAME COLUMN id TO mine",
      "ALTER TABLE schemactl_migrations DROP COLUMN tool_version",
      "ALTER TABLE t RENAME TO schemactl_migrations",
      "CREATE INDEX mine ON schemactl_migrations (id)",
      "CREATE TABLE mine AS SELECT * FROM schemactl_migrations",
      "CREATE TABLE mine (a REFERENCES schemactl_migrations ON DELETE CASCADE)",
      "CREATE TEMP TABLE schemactl_migrations (id)",
      "CREATE TEMP VIEW schemactl_migrations AS SELECT 1",
      "CREATE VIEW mine AS SELECT * FROM schemactl_migrations",
      "CREATE VIEW mine AS WITH x AS (SELECT 1 FROM \"schemactl_migrations\") SELECT * FROM x",
      "CREATE TEMP TRIGGER mine AFTER INSERT ON main.schemactl_migrations BEGIN SELECT 1; END",
      "CREATE TRIGGER mine AFTER INSERT ON t BEGIN DELETE FROM schemactl_migrations; END",
      "CREATE TRIGGER mine AFTER INSERT ON t BEGIN SELECT 1 FROM t, [schemactl_migrations]; END",
      "CREATE TRIGGER mine AFTER INSERT ON t WHEN (SELECT 1 FROM schemactl_migrations) "
        + "BEGIN SELECT 1; END",
      "WITH x AS (SELECT id FROM schemactl_migrations) INSERT INTO t SELECT * FROM x",
      "INSERT INTO t VALUES ((SELECT max(position) FROM schemactl_migrations))",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET name = 'x' WHERE name LIKE 'schemactl%'",
      "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE tbl_name = 'schemactl_' || 'migrations'",
      "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY', '')",
      "CREATE TABLE schemactl_migrations_too (a)",
    ])
  func sql(_ sql: String) throws {
    let sandbox = try sandbox()
    try sandbox.add(
      "0002_reach", "operations:\n  - sql: |\n      \(sql);\n")
    try expectRefusal(sandbox, sql)
  }

  @Test(
    "operations are refused",
    arguments: [
      "create_table: { name: schemactl_migrations, columns: [{ name: id }] }",
      "rename_table: { table: t, to: SchemaCtl_Migrations }",
      "rename_table: { table: schemactl_migrations, to: mine }",
      "drop_table: { table: schemactl_migrations }",
      "add_column: { table: schemactl_migrations, column: { name: x } }",
      "drop_column: { table: schemactl_migrations, column: tool_version }",
      "rename_column: { table: schemactl_migrations, from: id, to: x }",
      "move_column: { table: schemactl_migrations, from: tool_version, to: { name: x }, map: { a: b } }",
      "create_index: { name: mine, table: schemactl_migrations, columns: [id] }",
      "insert: { table: schemactl_migrations, rows: [{ id: x }] }",
      "update: { table: schemactl_migrations, set: { id: \"1\" }, all: true }",
      "update: { table: t, set: { a: \"(SELECT max(id) FROM schemactl_migrations)\" }, all: true }",
      "delete: { table: schemactl_migrations, all: true }",
      "create_view: { name: schemactl_migrations, sql: \"CREATE VIEW schemactl_migrations AS SELECT 1\" }",
      "create_view: { name: v, sql: \"CREATE VIEW v AS SELECT * FROM schemactl_migrations\" }",
      "assert: { query: \"SELECT count(*) FROM schemactl_migrations\", equals: 1 }",
      "create_virtual_table: { name: schemactl_migrations, using: fts5, arguments: [a] }",
      "create_virtual_table: { name: f, using: fts5, arguments: [id, \"content='schemactl_migrations'\"] }",
    ])
  func operation(_ operation: String) throws {
    let sandbox = try sandbox()
    try sandbox.add("0002_reach", "operations:\n  - \(operation)\n")
    try expectRefusal(sandbox, operation)
  }

  @Test("a trigger on the ledger does not fire, including during a repair")
  func trigger() throws {
    let sandbox = try sandbox()
    try sandbox.run(
      """
      INSERT INTO t VALUES (1);
      CREATE TRIGGER theirs AFTER INSERT ON schemactl_migrations BEGIN DELETE FROM t; END;
      CREATE TRIGGER also BEFORE INSERT ON schemactl_migrations BEGIN SELECT RAISE(IGNORE); END;
      CREATE TRIGGER again AFTER DELETE ON schemactl_migrations BEGIN DELETE FROM t; END;
      """)
    try sandbox.addSQL("0002_more", "CREATE TABLE u (a);")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT a FROM t") == [[1]])
    #expect(try sandbox.ledger == ["0001_create", "0002_more"])
    let project = try sandbox.project()
    let plan = try project.plan(
      LedgerRepair(id: "0002_more", action: .current, reason: "x"), database: sandbox.database,
      timeout: 1)
    try project.carryOut(plan, database: sandbox.database, timeout: 1)
    #expect(try sandbox.rows("SELECT a FROM t") == [[1]])
    #expect(try sandbox.ledger == ["0001_create", "0002_more"])
  }

  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
    try sandbox.migrate()
    return sandbox
  }

  private func expectRefusal(_ sandbox: Sandbox, _ what: String) throws {
    let before = try sandbox.rows("SELECT * FROM schemactl_migrations")
    let schema = try sandbox.schema()
    let failure: Failure?
    do {
      failure = try sandbox.migrate().failure
    } catch let error as Failure {
      failure = error
    }
    // SQLite itself rejects a second table with this name, and an edit that makes the schema malformed.
    let isSQLites = [
      "table \"schemactl_migrations\" already exists", "malformed database schema",
    ].contains { failure?.message.hasPrefix($0) ?? false }
    #expect(
      failure?.status == (isSQLites ? .migrationFailed : .invalidInput),
      "\(what): \(failure?.message ?? "it ran")")
    #expect(
      isSQLites || failure?.message.contains("schemactl") == true, "\(failure?.message ?? "")")
    #expect(failure?.place?.position != nil)
    #expect(try sandbox.rows("SELECT * FROM schemactl_migrations") == before)
    #expect(try sandbox.schema() == schema)
  }
}

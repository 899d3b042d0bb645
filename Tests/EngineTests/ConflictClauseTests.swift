import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("conflict clauses of a table")
struct ConflictClauseTests {
  private func sandbox(_ clause: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_t",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER UNIQUE ON CONFLICT \(clause), b);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (1, 0, 'x'), (2, 1, 'x'), (3, 2, 'z')")
    return sandbox
  }

  @Test(
    "operations neither remove rows nor skip new ones",
    arguments: ["REPLACE", "IGNORE"],
    [
      "update: { table: t, set: { a: \"7\" }, where: id < 3 }",
      "insert: { table: t, rows: [{ id: 9, a: 1, b: new }] }",
    ])
  func operation(clause: String, operation: String) throws {
    let sandbox = try sandbox(clause)
    let before = try sandbox.rows("SELECT * FROM t")
    try sandbox.add("0002_write", "operations:\n  - \(operation)\n")
    let report = try sandbox.migrate()
    #expect(report.failure?.status == .migrationFailed)
    #expect(report.failure?.message.contains("UNIQUE constraint failed: t.a") == true)
    #expect(try sandbox.rows("SELECT * FROM t") == before)
  }

  @Test("clauses in triggers apply as they are written")
  func trigger() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_t",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a);
          CREATE TABLE last (a UNIQUE);
          CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT OR REPLACE INTO last VALUES (NEW.a); END;
      """)
    try sandbox.add(
      "0002_write", "operations: [{ insert: { table: t, rows: [{ a: 1 }, { a: 1 }] } }]")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT count(*) FROM t") == [[2]])
  }
}

@Suite("foreign keys of the history's own rows")
struct OwnReferenceTests {
  @Test("verify fails where a new database would fail")
  func replay() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_t",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (pid INTEGER REFERENCES p (id));")
    try sandbox.add("0002_c", "operations: [{ insert: { table: c, rows: [{ pid: 1 }] } }]")
    let failure = try sandbox.project().verify(database: nil, timeout: 1).failure
    #expect(failure?.status == .migrationFailed)
    #expect(failure?.migration?.id == "0002_c")
    try sandbox.add(
      "0002_c",
      "operations: [{ insert: { table: c, rows: [{ pid: 1 }] } }, { insert: { table: p, rows: [{ id: 1 }] } }]"
    )
    #expect(try sandbox.project().verify(database: nil, timeout: 1).failure == nil)
  }
}

import SchemaHistory
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Views and triggers after a rewrite")
struct CompiledObjectsTests {
  private func sandbox(_ change: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_t",
      """
      CREATE TABLE t (a, b);
      INSERT INTO t VALUES (1, 2);
      CREATE TABLE log (x);
      CREATE VIEW bad AS SELECT nosuch FROM t;
      CREATE VIEW names AS SELECT b FROM t;
      CREATE TRIGGER copies AFTER INSERT ON log BEGIN INSERT INTO t VALUES (1, 2); END;
      """)
    try sandbox.migrate()
    return try sandbox.add("0002_change", "operations:\n\(change)\n")
  }

  @Test(
    "a migration that breaks a view or trigger by a rewrite fails and names it",
    arguments: [
      (
        "- rebuild_table: { table: t, columns: [{ name: a }, { name: b }, { name: c }] }",
        "trigger `copies` (table t has 3 columns but 2 values were supplied)"
      ),
      (
        "- sql: |\n    CREATE TABLE n (a, c); INSERT INTO n SELECT * FROM t; DROP TABLE t;\n"
          + "    PRAGMA legacy_alter_table = ON; ALTER TABLE n RENAME TO t",
        "view `names` (no such column: b)"
      ),
      (
        "- sql: |\n    CREATE TEMP TABLE n AS SELECT * FROM t; DROP TABLE t; CREATE TABLE t (a, c);\n"
          + "    INSERT INTO t SELECT * FROM n", "view `names` (no such column: b)"
      ),
    ])
  func broken(change: String, names: String) throws {
    let sandbox = try sandbox(change)
    let failure = try #require(sandbox.failure())
    #expect(failure.status == .migrationFailed)
    #expect(failure.message.hasPrefix("this migration breaks \(names)"), "\(failure.message)")
    #expect(try sandbox.rows("SELECT * FROM t") == [[1, 2]])
  }

  @Test("a view that exists only in the database stops the migration")
  func ownView() throws {
    let sandbox = try sandbox(
      "- drop_view: { name: names }\n- drop_view: { name: bad }\n- drop_trigger: { name: copies }\n"
        + "- rebuild_table: { table: t, columns: [{ name: a }, { name: c }], copy: { c: b } }")
    try sandbox.run("CREATE VIEW own AS SELECT * FROM t, (SELECT 3 AS d) WHERE b > 1")
    sandbox.ignore = ["own"]
    let failure = try #require(sandbox.failure())
    #expect(failure.message.contains("view `own`"), "\(failure.message)")
    #expect(try sandbox.rows("SELECT b FROM t") == [[2]])
  }

  @Test("objects that were broken before or that the migration repairs are accepted")
  func notBlamed() throws {
    let sandbox = try sandbox(
      "- drop_view: { name: names }\n- drop_trigger: { name: copies }\n- drop_view: { name: bad }\n"
        + "- rebuild_table: { table: t, columns: [{ name: a }, { name: c }], copy: { c: b } }\n"
        + "- create_view: { name: names, sql: CREATE VIEW names AS SELECT c FROM t }")
    #expect(sandbox.failure() == nil)
    let other = try self.sandbox(
      "- sql: |\n    CREATE TEMP TABLE n AS SELECT * FROM t; DROP TABLE t; CREATE TABLE t (b, a);\n"
        + "    INSERT INTO t SELECT b, a FROM n")
    #expect(other.failure() == nil)
  }
}

import SchemaApply
import SchemaAuthoring
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import SchemaYAML
import Testing

@Suite("Migrating a database with rows between two schemas")
struct SchemaPairTests {
  /// `Torture schema-pairs --seed N --tries 10000 --seconds 3600` tests any number of pairs.
  @Test(
    "the result has the schema and all kept rows", arguments: seeds(2, of: 80))
  func pairs(seed: UInt64) throws {
    let problem = try SchemaPairTrial(seed: seed).problem()
    #expect(problem == nil, "\(problem ?? "")")
  }

  /// Regressions.
  @Test(
    "every obstacle is resolved",
    arguments: [
      (
        "a full-text table reads the column that goes",
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
        CREATE VIRTUAL TABLE f USING fts5(a, content=t, content_rowid=id);
        """, "INSERT INTO t VALUES (4, 'x', 'y')",
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, b TEXT);
        CREATE VIRTUAL TABLE f USING fts5(b, content=t, content_rowid=id);
        """
      ),
      (
        "ADD COLUMN would not take the default where there are rows", "CREATE TABLE t (a)",
        "INSERT INTO t VALUES (1)", "CREATE TABLE t (a, b TEXT DEFAULT CURRENT_TIMESTAMP)"
      ),
      (
        "ADD COLUMN would not take a stored column where there are rows", "CREATE TABLE t (a)",
        "INSERT INTO t VALUES (1)", "CREATE TABLE t (a, b AS (a + 1) STORED)"
      ),
      (
        "a default is a word", "CREATE TABLE u (a)", "",
        "CREATE TABLE u (a); CREATE TABLE t (a DEFAULT word, b DEFAULT \"double\", c DEFAULT true, d DEFAULT current_date)"
      ),
      (
        "a column is called true, and a type changes",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, \"true\" TEXT, v TEXT)",
        "INSERT INTO t VALUES (1, 'x', '5')",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER, \"true\" TEXT)"
      ),
      (
        "types change where the key that told rows apart goes",
        "CREATE TABLE t (k INT, n INT, v TEXT, PRIMARY KEY (k, n)) WITHOUT ROWID",
        "INSERT INTO t VALUES (1, 2, '5'), (2, 1, '6')", "CREATE TABLE t (n INT, v INTEGER)"
      ),
      (
        "the key gets another type, and another column too",
        "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT) WITHOUT ROWID",
        "INSERT INTO t VALUES (1, '5'), (2, '6')",
        "CREATE TABLE t (k TEXT PRIMARY KEY, v INTEGER) WITHOUT ROWID"
      ),
      (
        "a text that is a number becomes one with a fraction",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)",
        "INSERT INTO t VALUES (1, '5'), (2, '-2'), (3, '1.5'), (4, 'x')",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v REAL)"
      ),
      (
        "DROP COLUMN would make a text of a view's column",
        """
        CREATE TABLE "one" ("true" INTEGER PRIMARY KEY);
        CREATE VIEW v AS WITH c AS (SELECT * FROM "one") SELECT "true", count(*) FROM c GROUP BY 1;
        CREATE TABLE t (a, b)
        """, "INSERT INTO t VALUES (1, 2)",
        """
        CREATE TABLE "one" ("true" INTEGER PRIMARY KEY);
        CREATE VIEW v AS WITH c AS (SELECT * FROM "one") SELECT "true", count(*) FROM c GROUP BY 1;
        CREATE TABLE t (a)
        """
      ),
      (
        "a computed column becomes a plain one beside one that goes",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, g AS (a || '!'), h)",
        "INSERT INTO t VALUES (1, 'x', 2)", "CREATE TABLE t (id INTEGER PRIMARY KEY, g, a)"
      ),
      (
        "a plain column becomes a computed one that gives the same",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, g)", "INSERT INTO t VALUES (1, 'x', 'x!')",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, g AS (a || '!'), a)"
      ),
    ])
  func regressions(what: String, old: String, rows: String, new: String) throws {
    let sandbox = try Sandbox(isInMemory: true)
    try sandbox.addSQL("0001_old", old)
    try sandbox.migrate()
    try sandbox.run(rows)
    let wanted = try Connection(path: nil)
    try wanted.execute(new)
    let schema = try Schema(of: wanted)
    try sandbox.add(
      "0002_new",
      manifestText(
        try SchemaTransition.operations(
          from: sandbox.schema().ours { $0.hasPrefix("schemactl_") }, to: schema,
          sandbox.application)))
    let report = try sandbox.migrate { $0.isParanoid = true }
    #expect(report.failure == nil, "\(what): \(report.failure?.message ?? "")")
    #expect(
      compareSchemas(
        expected: schema, actual: try sandbox.schema().ours { $0.hasPrefix("schemactl_") }) == [],
      "\(what)")
  }

  @Test(
    "a rebuild that would lose a value is refused with the column",
    arguments: [
      (
        "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT) WITHOUT ROWID",
        "INSERT INTO t VALUES (1, '007')",
        "columns: [{ name: k, type: TEXT, primary_key: true }, { name: v, type: INTEGER }], without_rowid: true",
        "1 row of `t` holds a value in `v` that `v INTEGER` would store as another value"
      ),
      (
        "CREATE TABLE t (k INT, v TEXT, PRIMARY KEY (k)) WITHOUT ROWID",
        "INSERT INTO t VALUES (1, '1e2')", "columns: [{ name: v, type: INTEGER }]",
        "1 row of `t` holds a value in `v` that `v INTEGER` would store as another value"
      ),
      (
        "CREATE TABLE t (a, g)", "INSERT INTO t VALUES (1, 'mine')",
        "columns: [{ name: a }, { name: g, generated: { as: a + 1 } }]",
        "`t.g` holds values that differ from its expression"
      ),
      (
        "CREATE TABLE t (a, g)", "INSERT INTO t VALUES (1, 'mine')",
        "columns: [{ name: b }, { name: g, generated: { as: b + 1 } }]",
        "`t.g` is computed from columns that `t` does not have"
      ),
    ])
  func refused(old: String, rows: String, keys: String, message: String) throws {
    let sandbox = try Sandbox(isInMemory: true)
    try sandbox.addSQL("0001_old", old)
    try sandbox.migrate()
    try sandbox.run(rows)
    try sandbox.add("0002_new", "operations: [{ rebuild_table: { table: t, \(keys) } }]")
    let before = try DatabaseContent(sandbox.open())
    var failure: Failure?
    do {
      failure = try sandbox.migrate().failure
    } catch let refusal as Failure {
      failure = refusal
    }
    #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "no failure")")
    #expect(try DatabaseContent(sandbox.open()) == before)
  }
}

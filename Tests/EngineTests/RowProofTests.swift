import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaPlanning
import SchemaPreview
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Unchanged data is verified")
struct RowProofTests {
  /// A rebuild reads the rows of this table from an index, which is narrower than the table. The order of the
  /// index does not suit reading in chunks.
  private static let create = """
    CREATE TABLE t (
      id INTEGER, d DEFAULT 0, a, b, f INTEGER,
      wide VARCHAR(900) GENERATED ALWAYS AS (upper(a)) STORED, PRIMARY KEY (id, d DESC)
    ) WITHOUT ROWID;
    CREATE INDEX i ON t (a, b, f);
    """

  /// Each index differs from its table, as in a damaged file. Anybody with access to the file can cause that
  /// with an edit of the schema.
  @Test(
    "a damaged file cannot make a migration write other rows",
    arguments: [
      ("two columns are swapped", "CREATE INDEX i ON t (b, a, f)"),
      ("a row is missing", "CREATE INDEX i ON t (a, b, f) WHERE id > 1"),
      ("'x' is read as NULL", "CREATE INDEX i ON t (nullif(a, 'x'), b, f)"),
      ("a text is read as a number", "CREATE INDEX i ON t (a, b + 0, f)"),
      ("a row has another key", "CREATE INDEX i ON u (a, b, f)"),
    ])
  func damagedIndex(what: String, index: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", Self.create)
    try sandbox.migrate()
    try sandbox.run(
      """
      INSERT INTO t (id, a, b, f) VALUES (1, 'x', '10', 0), (2, 'y', '20', 1), (7, 'z', '30', 1);
      CREATE TABLE u (id, d, a, b, f, wide VARCHAR(900), PRIMARY KEY (id, d DESC)) WITHOUT ROWID;
      INSERT INTO u SELECT id + 1, d, a, b, f, wide FROM t;
      """)
    let connection = try sandbox.open()
    try connection.execute("DROP INDEX i; \(index)")
    connection.set(.defensive, to: false)
    try connection.execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET tbl_name = 't', sql = 'CREATE INDEX i ON t (a, b, f)'
        WHERE name = 'i';
      PRAGMA writable_schema = RESET;
      DROP TABLE u;
      """)
    let plan = try sandbox.rows("EXPLAIN QUERY PLAN SELECT id, d, a, b, f FROM t")
    try #require(plan[0][3] == "SCAN t USING COVERING INDEX i", "\(what)")
    try sandbox.add(
      "0002_move",
      "operations: [{ move_column: { table: t, from: f, to: { name: s, type: TEXT }, "
        + "map: { 0: open, 1: done }, dependents: rename } }]")

    let failure = try sandbox.migrate().failure
    #expect(failure == nil, "\(what): \(failure.map { "\($0)" } ?? "")")

    #expect(
      try sandbox.rows("SELECT id, a, b, s FROM t ORDER BY +id")
        == [[1, "x", "10", "open"], [2, "y", "20", "done"], [7, "z", "30", "done"]], "\(what)")
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]], "\(what)")
  }

  /// Returns the plan for a `move_column` with these keys on this table.
  private func plan(_ create: String, _ keys: String) throws -> OperationPlan {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", create)
    try sandbox.add("0002_move", "operations: [{ move_column: { table: t, from: f, \(keys) } }]")
    let report = try sandbox.project().plan(sandbox.options(), database: nil)
    return try #require(report.migrations.last?.operations.last?.plan)
  }

  @Test(
    "every strategy verifies all columns except the changed one",
    arguments: [
      ("to: { name: s }, map: { 0: 1 }", Strategy.update, ["id", "a"]),
      ("to: { name: s }, using: f + 1", .update, ["id", "a"]),
      ("to: { name: s, type: TEXT }, map: { 0: x }", .rewrite, ["id", "a"]),
      ("to: { name: s }, map: { 0: 1 }, keep_source: true", .update, ["id", "f", "a"]),
      (
        "to: { name: s, unique: true }, map: { 0: 0 }, keep_source: true", .rewrite,
        ["id", "f", "a"]
      ),
    ])
  func everyStrategy(keys: String, strategy: Strategy, columns: [String]) throws {
    let plan = try plan(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, f, a, g AS (a), h AS (a) STORED)", keys)
    #expect(plan.strategy == strategy)
    #expect(plan.proofs.first?.columns == columns)
  }

  @Test("without written rows there is no second pass")
  func identity() throws {
    #expect(try plan("CREATE TABLE t (f)", "to: { name: s }, map: { 0: 0 }").proofs.isEmpty)
    #expect(
      try plan(
        "CREATE TABLE t (f)",
        "to: { name: s, default: 0 }, map: { 0: 0 }, keep_source: true"
      ).proofs.isEmpty)
  }

  /// Tables with different kinds of primary keys.
  private static let tables = [
    "CREATE TABLE t (a, b, f)", "CREATE TABLE t (rowid TEXT, a, b, f)",
    "CREATE TABLE t (rowid INTEGER PRIMARY KEY, oid, _rowid_, a, b, f)",
    "CREATE TABLE t (a, b, f, PRIMARY KEY (b, a)) WITHOUT ROWID",
    "CREATE TABLE t (a PRIMARY KEY COLLATE NOCASE, b, f) WITHOUT ROWID",
    "CREATE TABLE t (rowid TEXT, oid, _rowid_, a, b, f)",
    "CREATE TABLE t (a, b INTEGER, f, g AS (a || b))",
  ]

  @Test(
    "a difference is found by key, or between rows without one", arguments: oneIn(3, of: tables),
    [
      (nil, false), ("DELETE FROM t WHERE b = 2", true), ("UPDATE t SET f = 9", false),
      ("UPDATE t SET b = CAST(b AS TEXT) WHERE b = 2", true),
      ("UPDATE t SET a = 'X' WHERE b = 1", true),
      ("UPDATE t SET b = 6 - b", true), ("UPDATE t SET a = NULL WHERE b = 3", true),
      ("UPDATE t SET b = 2.0 WHERE b = 2", true),
    ] as [(String?, Bool)])
  func difference(create: String, change: (sql: String?, isSeen: Bool)) throws {
    let plan = try plan(create, "to: { name: s }, map: { 0: 1 }")
    let proof = try #require(plan.proofs.first)
    let connection = try Connection(path: nil)
    try connection.execute(create)
    let scan = try connection.fullScan(of: "t")
    try connection.execute("INSERT INTO t (a, b, f) VALUES ('x', 1, 0), ('y', 2, 1), ('z', 3, 0)")
    for statement in proof.keeping(as: "kept", scan) { try connection.execute(statement) }
    if let sql = change.sql { try? connection.execute(sql) }
    let now = try connection.rows("SELECT a, typeof(b), b FROM t ORDER BY a")
    let isDifferent = now != [["x", "integer", 1], ["y", "integer", 2], ["z", "integer", 3]]
    let isFound = try connection.value("SELECT \(proof.differs(from: "kept", scan))") == 1
    let isFewer = try connection.value(proof.count(scan)) != 3
    #expect((isFound || isFewer) == isDifferent)
    if !create.contains("INTEGER,"), !create.contains("PRIMARY KEY") {
      #expect(isDifferent == change.isSeen)
    }
  }

  @Test(
    "a new column with the name of the rowid is not confused with it",
    arguments: [
      "{ name: rowid, type: INTEGER }", "{ name: rowid, type: TEXT }",
      "{ name: ROWID, type: TEXT }",
    ])
  func calledRowid(to: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a, f INTEGER);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t (rowid, a, f) VALUES (3, 'x', 0), (9, 'y', 1)")
    try sandbox.add(
      "0002_move",
      "operations: [{ move_column: { table: t, from: f, to: \(to), map: { 0: 5, 1: 6 } } }]")
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
    #expect(
      try sandbox.rows("SELECT _rowid_, a, rowid + 0 FROM t") == [[3, "x", 5], [9, "y", 6]])
  }
}

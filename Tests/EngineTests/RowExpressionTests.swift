import SchemaHistory
import SchemaModel
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Expressions on the old row")
struct RowExpressionTests {
  /// Runs one operation on a database in which the migration `sql` has inserted rows.
  private func run(_ sql: String, _ operation: String) throws -> (Sandbox, failure: Failure?) {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_rows", sql)
    try sandbox.migrate()
    try sandbox.add("0002_change", "operations:\n- \(operation)\n")
    return (sandbox, sandbox.failure())
  }

  // MARK: Other rows

  private static let ranks = [
    "(SELECT count(*) FROM t AS x WHERE x.position < t.position)",
    "(SELECT count(*) FROM main.'T' AS x WHERE x.position < main.t.position)",
    "(SELECT count(*) FROM others WHERE p < t.position)",
    "(WITH c AS (SELECT * FROM [t]) SELECT count(*) FROM c WHERE c.position < t.[position])",
    "(SELECT sum(x.position < t.position) FROM `t` AS x)",
  ]
  private static let ways = [
    "move_column: { table: t, from: position, dependents: rename, "
      + "to: { name: rank, type: INTEGER, not_null: true, default: 0 }, using: \"USING\" }",
    "move_column: { table: t, from: position, dependents: rename, "
      + "to: { name: rank, type: TEXT }, using: \"USING\" }",
    "move_column: { table: t, from: position, keep_source: true, "
      + "to: { name: rank, type: INTEGER, not_null: true, default: 0 }, using: \"USING\" }",
    "rebuild_table: { table: t, columns: [{ name: id, type: INTEGER, primary_key: true }, "
      + "{ name: position, type: INTEGER }, { name: rank, type: INTEGER }], "
      + "copy: { rank: \"USING\", position: \"USING\" } }",
  ]

  @Test(
    "an expression sees the old values of other rows, in every spelling and strategy",
    arguments: ranks, ways)
  func readsOtherRows(using: String, way: String) throws {
    let (sandbox, failure) = try run(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, position INTEGER NOT NULL DEFAULT 0);
      CREATE VIEW others AS SELECT position AS p FROM "T";
      INSERT INTO t VALUES (1, 40), (2, 30), (3, 20), (4, 10);
      """, way.replacing("USING", with: using))
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    #expect(
      try sandbox.rows("SELECT CAST(rank AS INTEGER) FROM t ORDER BY id") == [[3], [2], [1], [0]])
  }

  @Test(
    "a path consists of the names of ancestor rows, in any kind of table",
    arguments: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, parent INTEGER, name TEXT)",
      "CREATE TABLE t (id TEXT PRIMARY KEY, parent TEXT, name TEXT) WITHOUT ROWID",
      "CREATE TABLE t (id INT PRIMARY KEY, parent INT, name TEXT, rowid) STRICT"
        .replacing("rowid)", with: "rowid ANY)"),
    ])
  func paths(table: String) throws {
    let (sandbox, failure) = try run(
      """
      \(table);
      INSERT INTO t (id, parent, name) VALUES (1, NULL, 'a'), (2, 1, 'b'), (3, 2, 'c');
      """,
      "move_column: { table: t, from: name, to: { name: path, type: TEXT }, "
        + "using: \"coalesce((SELECT p.name FROM t p WHERE p.id = t.parent) || '/', '') || name\" }"
    )
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    #expect(try sandbox.rows("SELECT path FROM t ORDER BY id") == [["a"], ["a/b"], ["b/c"]])
  }

  @Test("operations do not share a pass with an expression that reads other rows")
  func notShared() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_rows",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
      CREATE TABLE known (v);
      CREATE VIEW known_b AS SELECT b FROM t;
      INSERT INTO t VALUES (1, 'x', '1'), (2, 'y', '2');
      """)
    try sandbox.migrate()
    try sandbox.add(
      "0002_change",
      """
      operations:
      - drop_view: { name: known_b }
      - alter_column: { table: t, column: b, type: INTEGER }
      - create_view: { name: known_b, sql: CREATE VIEW known_b AS SELECT b FROM t }
      - alter_column: { table: t, column: b, type: BLOB }
      - move_column: { table: t, from: a, to: { name: c, type: INTEGER }, using: "typeof(a) = 'text' AND 1 IN known_b" }
      """)
    let failure = sandbox.failure()
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    #expect(try sandbox.rows("SELECT c FROM t") == [[1], [1]])
  }

  @Test(
    "an aggregate or a window function is refused, and a subquery is suggested",
    arguments: [
      "move_column: { table: t, from: a, to: { name: b, type: TEXT }, using: \"USING\" }",
      "move_column: { table: t, from: a, to: { name: b, type: INTEGER }, using: \"USING\" }",
      "move_column: { table: t, from: a, keep_source: true, to: { name: b }, using: \"USING\" }",
      "rebuild_table: { table: t, columns: [{ name: b }], copy: { b: \"USING\" } }",
    ], ["count(*)", "max(a)", "row_number() OVER (ORDER BY a)", "(SELECT sum(t.a))"])
  func aggregates(way: String, using: String) throws {
    let (sandbox, stop) = try run(
      "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2);",
      way.replacing("USING", with: using))
    let failure = try #require(stop)
    #expect(failure.status == .invalidInput)
    #expect(failure.message.contains("subquery"))
    #expect(try sandbox.rows("SELECT a FROM t") == [[1], [2]])
  }

  @Test("`using` of a kept column may not read the column that it sets")
  func ownColumn() throws {
    let (_, failure) = try run(
      "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2);",
      "move_column: { table: t, from: a, keep_source: true, to: { name: b, default: 0 }, "
        + "using: \"(SELECT max(b) FROM t) + 1\" }")
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains("no such column: b") == true)
  }

  // MARK: Kept values

  /// The type of a column, a value, and a new type that would change the value.
  private static let lost = [
    ("INTEGER", "9007199254740993", "REAL"), ("TEXT", "'007'", "NUMERIC"),
    ("TEXT", "'007'", "INTEGER"), ("TEXT", "'1e3'", "REAL"), ("TEXT", "' 7 '", "INTEGER"),
    ("REAL", "0.1 + 0.2", "TEXT"), ("", "'7.0'", "INT"),
  ]
  private static let carrying = [
    "alter_column: { table: t, column: a, type: TYPE }",
    "move_column: { table: t, from: a, to: { name: b, type: TYPE }, using: a }",
    "move_column: { table: t, from: a, to: { name: b, type: TYPE }, using: '((main.T.\"A\"))' }",
    "move_column: { table: t, from: a, to: { name: b, type: TYPE }, using: '[t].`a`' }",
    "move_column: { table: t, from: a, to: { name: b, type: TYPE }, using: \"( 't'.'a' )\" }",
    "move_column: { table: t, from: a, keep_source: true, to: { name: b, type: TYPE }, using: a }",
    "rebuild_table: { table: t, columns: [{ name: a, type: TYPE }] }",
    "rebuild_table: { table: t, columns: [{ name: b, type: TYPE }], copy: { b: '\"a\"' } }",
  ]

  @Test(
    "a value that another type would change stops every operation that copies it",
    arguments: lost, carrying)
  func changed(case: (from: String, value: String, to: String), way: String) throws {
    let (sandbox, stop) = try run(
      "CREATE TABLE t (a \(`case`.from)); INSERT INTO t VALUES (NULL), (\(`case`.value)), (x'00');",
      way.replacing("TYPE", with: `case`.to))
    let failure = try #require(stop)
    #expect(failure.status == .migrationFailed)
    #expect(failure.message.hasPrefix("1 row of `t` holds a value in `a` that"))
    #expect(try sandbox.rows("SELECT count(a) FROM t") == [[2]])
    #expect(try sandbox.schema().table("t")?.sql == "CREATE TABLE t (a \(`case`.from))")
  }

  @Test("values that another type does not change are copied", arguments: carrying)
  func unchanged(way: String) throws {
    for (from, value, to) in [
      ("TEXT", "'7'", "INTEGER"), ("TEXT", "'7.5'", "REAL"), ("INTEGER", "7", "TEXT"),
      ("REAL", "7.0", "INTEGER"), ("TEXT", "'Anna'", "INTEGER"),
      ("INTEGER", "9007199254740993", ""),
      ("TEXT", "'007'", "BLOB"),
    ] where !to.isEmpty {
      let (_, failure) = try run(
        "CREATE TABLE t (a \(from)); INSERT INTO t VALUES (NULL), (\(value)), (x'00');",
        way.replacing("TYPE", with: to))
      #expect(failure == nil, "\(value): \(failure.map { "\($0)" } ?? "")")
    }
  }

  @Test("a computed value may differ")
  func computed() throws {
    let (sandbox, failure) = try run(
      "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('007');",
      "move_column: { table: t, from: a, to: { name: b, type: INTEGER }, using: CAST(a AS INTEGER) }"
    )
    #expect(failure == nil)
    #expect(try sandbox.rows("SELECT b FROM t") == [[7]])
  }

  @Test("a value of `map` that the column would change is refused")
  func mapped() throws {
    for (type, value, isRefused) in [
      ("INTEGER", "'007'", true), ("REAL", "9007199254740993", true), ("INTEGER", "'7'", false),
      ("TEXT", "7", false),
    ] {
      let (_, failure) = try run(
        "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x');",
        "move_column: { table: t, from: a, to: { name: b, type: \(type) }, map: { x: \(value) } }")
      #expect(failure?.status == (isRefused ? .invalidInput : nil), "\(value)")
    }
  }

  // MARK: Tables without kept values

  @Test(
    "a table that is rebuilt without its values keeps the number of rows",
    arguments: [
      "columns: [{ name: id, type: INTEGER, primary_key: true }, { name: b, default: 5 }]",
      "columns: [{ name: b, default: 5 }]",
      "strict: true, columns: [{ name: id, type: INTEGER, primary_key: true }, { name: b, type: INT, default: 5 }]",
    ],
    [
      "CREATE TABLE t (a, c)", "CREATE TABLE t (a INTEGER PRIMARY KEY, c)",
      "CREATE TABLE t (a PRIMARY KEY, c) WITHOUT ROWID",
    ])
  func nothingCarried(columns: String, table: String) throws {
    let (sandbox, failure) = try run(
      "\(table); INSERT INTO t VALUES (1, 2), (3, 4);", "rebuild_table: { table: t, \(columns) }")
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    #expect(try sandbox.rows("SELECT b FROM t") == [[5], [5]])
  }

  @Test("a key that is equal in every row fails at the second row")
  func nothingCarriedIntoKey() throws {
    let (sandbox, failure) = try run(
      "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);",
      "rebuild_table: { table: t, without_rowid: true, "
        + "columns: [{ name: k, primary_key: true, default: x }] }")
    #expect(failure?.status == .migrationFailed)
    #expect(try sandbox.rows("SELECT a FROM t") == [[1], [2]])
  }
}

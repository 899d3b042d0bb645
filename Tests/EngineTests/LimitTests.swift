import Foundation
import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaPlanning
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// Operations work up to SQLite's limits. Beyond them, they fail with a clear error.
@Suite("Limits")
struct LimitTests {
  private func columns(_ count: Int) -> String {
    (1...count).map { "c\($0)" }.joined(separator: ", ")
  }

  private func move(_ from: String, _ to: String, _ map: String) -> String {
    "operations: [{ move_column: { table: t, from: \(from), to: \(to), map: \(map) } }]"
  }

  @Test("2,000 columns can be created, added to, moved and rebuilt, but not more", .thorough)
  func columns() throws {
    let sandbox = try Sandbox()
    let list = (1...1998).map { "{ name: c\($0) }" }.joined(separator: ", ")
    try sandbox.add(
      "0001_create",
      "operations: [{ create_table: { name: t, columns: [{ name: id, type: INTEGER, "
        + "primary_key: true }, \(list)] } }]")
    try sandbox.add(
      "0002_add",
      "operations: [{ add_column: { table: t, column: { name: c1999, type: INTEGER } } }]")
    try sandbox.migrate()
    try sandbox.run(
      "INSERT INTO t (id, c1, c1000, c1999) VALUES (3, 0, 'x', 1), (9, 1, x'ff', 0)")
    try sandbox.add("0003_update", move("c1", "{ name: d1 }", "{ 0: 5, 1: 1 }"))
    try sandbox.add("0004_rebuild", move("c1999", "{ name: d2, type: TEXT }", "{ 0: a, 1: b }"))
    let report = try sandbox.migrate { $0.isParanoid = true }
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
    #expect(report.applied.map(\.strategies) == [[.update], [.rewrite]])
    #expect(
      try sandbox.rows("SELECT id, d1, c1000, d2 FROM t")
        == [[3, 5, "x", "b"], [9, 1, .blob([255]), "a"]])
    let before = try Dump(sandbox.open())
    try sandbox.add("0005_more", "operations: [{ add_column: { table: t, column: { name: e } } }]")
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed)
    #expect(failure.message == "too many columns on sqlite_altertab_t")
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test("2,000 columns and a separate rowid cannot be rebuilt, and remain unchanged")
  func columnsAndRowid() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (\(columns(2000)));")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t (rowid, c1, c2) VALUES (7, 0, 'x'), (9, 1, 'y')")
    let before = try Dump(sandbox.open())
    try sandbox.add("0002_move", move("c1", "{ name: d1, type: TEXT }", "{ 0: 5, 1: 1 }"))
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed)
    #expect(failure.message.contains("SQLite reads at most 2000 columns at once"))
    #expect(try Dump(sandbox.open()) == before)
    try sandbox.add("0002_move", move("c1", "{ name: d1 }", "{ 0: 5, 1: 1 }"))
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
    #expect(try sandbox.rows("SELECT rowid, d1, c2 FROM t") == [[7, 5, "x"], [9, 1, "y"]])
  }

  @Test("statements of a megabyte run unchanged", .thorough)
  func statements() throws {
    let sandbox = try Sandbox()
    let text = String(repeating: "wörd ", count: 180_000)
    let rows = (1...20_000).map { "(\($0), 'v\($0)')" }.joined(separator: ", ")
    try sandbox.addSQL("0001_table", "CREATE TABLE t (a /* \(text) */, b, f INTEGER);")
    try sandbox.addSQL("0002_rows", "INSERT INTO t (a, b) VALUES \(rows);")
    try sandbox.add(
      "0003_value", "operations: [{ insert: { table: t, rows: [{ a: \"\(text)\", f: 0 }] } }]")
    try sandbox.add(
      "0004_view",
      "operations: [{ create_view: { name: v, sql: \"CREATE VIEW v AS SELECT '\(text)' AS x\" } }]")
    try sandbox.add(
      "0005_move",
      "operations: [{ move_column: { table: t, from: f, to: { name: s, type: TEXT }, "
        + "map: { null: null, 0: x } } }]")
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(String(describing: report.failure?.message.prefix(300)))")
    #expect(
      try sandbox.rows("SELECT count(*), max(length(a)), max(s) FROM t") == [
        [20_001, 900_000, "x"]
      ])
    #expect(try sandbox.rows("SELECT length(x) FROM v") == [[900_000]])
    #expect(
      try sandbox.rows("SELECT length(sql) > 900000 FROM sqlite_schema WHERE name = 't'") == [[1]])
  }

  @Test("names of 10,000 characters are valid")
  func identifiers() throws {
    let sandbox = try Sandbox()
    let table = String(repeating: "t", count: 10_000)
    let column = String(repeating: "ü", count: 10_000)
    let other = String(repeating: "o", count: 10_000)
    try sandbox.add(
      "0001_create",
      """
      operations:
        - create_table: { name: \(table), columns: [{ name: a }, { name: \(column), type: INTEGER }] }
        - create_index: { name: i\(table), table: \(table), columns: [a] }
        - insert: { table: \(table), rows: [{ a: 1, ? \(column) : 0 }] }
      """)
    try sandbox.add(
      "0002_move",
      """
      operations:
        - move_column:
            table: \(table)
            from: \(column)
            to: { name: \(other), type: TEXT }
            map: { 0: x }
      """)
    let report = try sandbox.migrate { $0.isParanoid = true }
    #expect(report.failure == nil, "\(String(describing: report.failure?.message.prefix(300)))")
    #expect(try sandbox.rows("SELECT a, \(other) FROM \(table)") == [[1, "x"]])
  }

  @Test(
    "SQL with too much nesting is an error, not a crash",
    arguments: oneIn(
      3,
      of: [
        ("(", ")", 10_000), ("abs(", ")", 2_000), ("- ", "", 5_000), ("NOT ", "", 5_000),
        ("CASE WHEN 1 THEN ", " END", 2_000), ("(SELECT ", ")", 2_000),
        ("1 + ", "", 5_000),
      ]))
  func nesting(open: String, close: String, depth: Int) throws {
    let deep =
      String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
    for manifest in [
      "operations: [{ create_table: { name: t, columns: [{ name: a, check: \"\(deep)\" }] } }]",
      "operations: [{ create_view: { name: v, sql: \"CREATE VIEW v AS SELECT \(deep)\" } }]",
      "operations: [{ sql: \"CREATE TABLE t (a, CHECK (\(deep)))\" }]",
      "operations: [{ assert: { query: \"SELECT \(deep)\", equals: 1 } }]",
    ] {
      let sandbox = try Sandbox()
      try sandbox.add("0001_deep", manifest)
      let failure = try #require(try sandbox.migrate().failure, "\(open) \(manifest.prefix(40))")
      #expect([.migrationFailed, .invalidInput].contains(failure.status))
    }
  }

  @Test("YAML with too much nesting is an error, not a crash", arguments: ["[", "{ a: ", "- "])
  func yaml(open: String) throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_deep",
      "operations: \(open == "- " ? "\n" : "")" + String(repeating: open, count: 100_000))
    #expect(throws: (any Error).self) { try sandbox.project() }
  }

  @Test(
    "of 1,000 tables with foreign keys, one is rebuilt and the others remain",
    .thorough)
  func foreignKeys() throws {
    let sandbox = try Sandbox()
    // A cycle of foreign keys through all tables, and two more foreign keys from each table.
    let tables = (0..<1000).map { index in
      """
      CREATE TABLE t\(index) (id INTEGER PRIMARY KEY, f INTEGER,
        next REFERENCES t\((index + 1) % 1000) (id) ON DELETE CASCADE,
        far REFERENCES t\((index * 7 + 3) % 1000) ON DELETE SET NULL,
        self REFERENCES t\(index) ON UPDATE CASCADE);
      """
    }
    try sandbox.addSQL("0001_create", tables.joined(separator: "\n"))
    try sandbox.migrate()
    try sandbox.run(
      (0..<1000).map { "INSERT INTO t\($0) VALUES (1, 0, 1, 1, 1), (2, 1, 1, 2, 77);" }.joined())
    try sandbox.add(
      "0002_move",
      "operations: [{ move_column: { table: t500, from: f, to: { name: s, type: TEXT }, "
        + "map: { 0: x, 1: y } } }]")
    let report = try sandbox.migrate { $0.isParanoid = true }
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
    #expect(
      try sandbox.rows("SELECT * FROM t500")
        == [[1, "x", 1, 1, 1], [2, "y", 1, 2, 77]])
    #expect(try sandbox.rows("SELECT count(*) FROM pragma_foreign_key_check") == [[1000]])
  }

  @Test(
    "a hundred thousand old foreign key violations cause neither a failure nor a long wait",
    .thorough)
  func brokenReferences() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE p (id INTEGER PRIMARY KEY);\nCREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p);"
    )
    try sandbox.migrate()
    try sandbox.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO c SELECT i, -i FROM n
      """)
    try sandbox.addSQL("0002_rename", "ALTER TABLE c RENAME COLUMN p TO parent;\nDELETE FROM p;")
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
  }

  @Test("hundreds of small migrations are replayed, applied in two halves and verified", .thorough)
  func manyMigrations() throws {
    let sandbox = try Sandbox()
    let count = 400
    for number in 1...count {
      let table = "t\(number % 40)"
      let operation =
        switch number {
        case ...40: "{ create_table: { name: \(table), columns: [{ name: a }] } }"
        case _ where number % 3 == 0:
          "{ add_column: { table: \(table), column: { name: c\(number), default: 1 } } }"
        case _ where number % 3 == 1: "{ insert: { table: \(table), rows: [{ a: \(number) }] } }"
        default: "{ update: { table: \(table), set: { a: a + 1 }, all: true } }"
        }
      try sandbox.add("\(number)_step", "operations: [\(operation)]")
    }
    #expect(try sandbox.migrate(to: "200").applied.count == 200)
    try sandbox.freeze(through: "300_step")
    #expect(try sandbox.migrate().applied.count == 200)
    let report = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(report.status == .success)
    #expect(report.drift == [])
    #expect(try sandbox.ledger.count == count)
    #expect(try sandbox.migrate().applied.isEmpty)
  }
}

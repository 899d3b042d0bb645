import SchemaHistory
import SchemaPreview
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("ADD COLUMN on a STRICT table")
struct StrictColumnTests {
  private static let ways = [
    "add_column: { table: t, column: { name: b, type: TYPE, default: VALUE } }",
    "sql: ALTER TABLE \"T\" ADD b TYPE DEFAULT VALUE",
    "move_column: { table: t, from: a, keep_source: true, "
      + "to: { name: b, type: TYPE, default: VALUE }, map: { 1: null } }",
  ]

  private func add(_ way: String, _ type: String, _ value: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_t", "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1);")
    return try sandbox.add(
      "0002_b",
      "operations:\n- \(way.replacing("TYPE", with: type).replacing("VALUE", with: value))\n")
  }

  @Test(
    "a default of another type is refused", arguments: ways,
    [("INTEGER", "'x'"), ("INT", "1.5"), ("REAL", "'x'"), ("BLOB", "'x'")])
  func mistyped(way: String, column: (type: String, value: String)) throws {
    let failure = try #require(try add(way, column.type, column.value).failure())
    #expect(failure.status == .invalidInput)
    #expect(failure.message.contains("is not of the type \(column.type)"), "\(failure.message)")
  }

  @Test(
    "a default that STRICT accepts is accepted", arguments: ways,
    [("INTEGER", "'1'"), ("ANY", "'x'"), ("TEXT", "5"), ("REAL", "1"), ("INTEGER", "2.0")])
  func stored(way: String, column: (type: String, value: String)) throws {
    let sandbox = try add(way, column.type, column.value)
    let failure = sandbox.failure()
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test(
    "a generated column with values of another type is refused, and other rows are accepted",
    arguments: [
      "add_column: { table: t, column: { name: b, type: TYPE, generated: { as: \"VALUE\" } } }",
      "sql: ALTER TABLE t ADD b TYPE AS (VALUE)",
    ])
  func generated(way: String) throws {
    for (type, value) in [("INT", "'x' || a"), ("INTEGER", "a / 2.0"), ("BLOB", "a")] {
      let failure = try #require(try add(way, type, value).failure())
      #expect(failure.status == .migrationFailed)
      #expect(failure.message.contains("is not of the type \(type) in 1 row"), "\(failure)")
    }
    for (type, value) in [("INT", "'7' || a"), ("REAL", "a"), ("ANY", "a"), ("TEXT", "a")] {
      let sandbox = try add(way, type, value)
      #expect(sandbox.failure() == nil, "\(type)")
      #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
    }
  }

  @Test(
    "an operation that gives a generated column values of another type fails, and others succeed",
    arguments: [
      "alter_column: { table: t, column: g, generated: { as: a } }",
      "alter_column: { table: t, column: g, generated: { as: a, stored: true } }",
      "rebuild_table: { table: t, strict: true, columns: [{ name: a, type: TEXT }, "
        + "{ name: g, type: INTEGER, generated: { as: a } }] }",
      "move_column: { table: t, from: a, to: { name: b, type: TEXT }, using: \"a || 'x'\", "
        + "dependents: rename }",
    ])
  func changedExpression(operation: String) throws {
    let isMove = operation.hasPrefix("move")
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_t",
      "CREATE TABLE t (a TEXT, g INTEGER AS (\(isMove ? "a" : "length(a)"))) STRICT")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t (a) VALUES ('\(isMove ? "7" : "x")')")
    let before = try sandbox.rows("SELECT * FROM t")
    try sandbox.add("0002_change", "operations: [{ \(operation) }]")
    let failure = try #require(sandbox.failure())
    #expect(failure.status == .migrationFailed, "\(failure.message)")
    #expect(failure.message.contains("`t.g` is not of the type INTEGER in 1 row"))
    #expect(try sandbox.rows("SELECT * FROM t") == before)
    try sandbox.run("UPDATE t SET a = '\(isMove ? "x" : "7")'")
    #expect((sandbox.failure() == nil) == true)
  }

  @Test(
    "a plan names the values that another type in a STRICT table refuses",
    arguments: [("TEXT", "INT", "'x'"), ("BLOB", "TEXT", "x'00'"), ("REAL", "INT", "1.5")])
  func changedType(old: String, new: String, value: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_t", "CREATE TABLE t (a \(old)) STRICT; INSERT INTO t VALUES (\(value))")
    try sandbox.migrate()
    try sandbox.add(
      "0002_type", "operations:\n- alter_column: { table: t, column: a, type: \(new) }\n")
    let failure = try #require(try sandbox.project().dryRun(sandbox.options()).failure)
    #expect(failure.message.contains("does not accept: "), "\(failure.message)")
    #expect(sandbox.failure()?.status == .migrationFailed)
  }

  @Test("an old default of another type does not prevent other changes")
  func old() throws {
    let sandbox = try add("sql: ALTER TABLE t RENAME a TO c", "", "")
    try sandbox.addSQL("0001_t", "CREATE TABLE t (a INTEGER, z INTEGER DEFAULT 'x') STRICT;")
    #expect(sandbox.failure() == nil)
  }
}

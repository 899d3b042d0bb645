import SchemaHistory
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Keys that other tables refer to")
struct ParentKeyTests {
  private static let actions = ["", " ON UPDATE CASCADE", " ON UPDATE SET NULL"]
  private static let moved =
    "move_column: { table: p, from: code, dependents: rename, "
    + "to: { name: key, type: INTEGER, unique: true }, "

  private func shop(_ action: String, _ operation: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_shop",
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY, code INTEGER UNIQUE);
      CREATE TABLE c (code INTEGER REFERENCES p (code)\(action), owner INTEGER REFERENCES p);
      """)
    try sandbox.migrate()
    try sandbox.run(
      "INSERT INTO p VALUES (1, 10), (2, 20), (3, 30); INSERT INTO c VALUES (10, 1), (20, 2)")
    return try sandbox.add("0002_change", "operations:\n- \(operation)\n")
  }

  @Test(
    "a change of keys that would give children another parent is refused for any action",
    arguments: actions,
    [
      moved + "map: { 10: 20, 20: 10, 30: 30 } }",
      moved + "map: { 10: 20, 20: 30, 30: 40 } }",
      moved + "using: 30 - code }",
      "rebuild_table: { table: p, columns: [{ name: id, type: INTEGER, primary_key: true }, "
        + "{ name: code, type: INTEGER, unique: true }], copy: { code: 40 - code } }",
      "rebuild_table: { table: p, columns: [{ name: id, type: INTEGER, primary_key: true }, "
        + "{ name: code, type: INTEGER, unique: true }], copy: { id: 4 - id } }",
    ])
  func refused(action: String, operation: String) throws {
    let sandbox = try shop(action, operation)
    let failure = try #require(sandbox.failure())
    #expect([.invalidInput, .migrationFailed].contains(failure.status))
    #expect(failure.message.contains("would refer to other rows of `p`"), "\(failure.message)")
    #expect(try sandbox.rows("SELECT * FROM p") == [[1, 10], [2, 20], [3, 30]])
    #expect(try sandbox.rows("SELECT * FROM c") == [[10, 1], [20, 2]])
  }

  @Test("keys without references may change")
  func unheld() throws {
    let sandbox = try shop("", Self.moved + "map: { 10: 10, 20: 20, 30: 33 } }")
    #expect(sandbox.failure() == nil)
    #expect(try sandbox.rows("SELECT key FROM p") == [[10], [20], [33]])
  }

  @Test("a table that refers to itself may get other keys with updated references")
  func selfReference() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_tree",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, up INTEGER REFERENCES t);
      INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2);
      """)
    try sandbox.migrate()
    let columns =
      "columns: [{ name: id, type: INTEGER, primary_key: true }, "
      + "{ name: up, type: INTEGER, references: { table: t } }]"
    try sandbox.add(
      "0002_ids", "operations:\n- rebuild_table: { table: t, \(columns), copy: { id: 4 - id } }\n")
    #expect(sandbox.failure()?.message.contains("would refer to other rows of `t`") == true)
    try sandbox.add(
      "0002_ids",
      "operations:\n- rebuild_table: { table: t, \(columns), copy: { id: 4 - id, up: 4 - up } }\n")
    #expect(sandbox.failure() == nil)
    #expect(try sandbox.rows("SELECT * FROM t") == [[1, 2], [2, 3], [3, .null]])
  }
}

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
    "a change of values to which a foreign key refers is refused for any action",
    arguments: actions,
    [
      moved + "map: { 10: 20, 20: 10, 30: 30 } }",
      moved + "map: { 10: 10, 20: 20, 30: 33 } }",
      moved + "using: 30 - code }",
      "rebuild_table: { table: p, columns: [{ name: id, type: INTEGER, primary_key: true }, "
        + "{ name: code, type: INTEGER, unique: true }], copy: { code: 40 - code } }",
      "rebuild_table: { table: p, columns: [{ name: id, type: INTEGER, primary_key: true }, "
        + "{ name: code, type: INTEGER, unique: true }], copy: { id: 4 - id } }",
    ])
  func refused(action: String, operation: String) throws {
    let sandbox = try shop(action, operation)
    let failure = try #require(sandbox.failure())
    #expect(failure.status == .invalidInput)
    #expect(failure.message.contains("whose values change"), "\(failure.message)")
    #expect(try sandbox.rows("SELECT * FROM p") == [[1, 10], [2, 20], [3, 30]])
    #expect(try sandbox.rows("SELECT * FROM c") == [[10, 1], [20, 2]])
  }

  @Test("the values may change after the foreign key is removed, and before it is added again")
  func withoutForeignKey() throws {
    let change =
      """
      alter_column: { table: c, column: code, references: null }
      - \(Self.moved)map: { 10: 11, 20: 22, 30: 33 } }
      - update: { table: c, set: { code: code + code / 10 }, all: true }
      - alter_column: { table: c, column: code, references: { table: p, column: key } }
      """
    let sandbox = try shop("", change)
    let failure = sandbox.failure()
    #expect(failure == nil, "\(failure?.message ?? "")")
    #expect(try sandbox.rows("SELECT key FROM p") == [[11], [22], [33]])
    #expect(try sandbox.rows("SELECT * FROM c") == [[11, 1], [22, 2]])
  }

  @Test(
    "a column may be copied unchanged although a foreign key refers to it",
    arguments: ["code", "'\"code\"'", "(CODE)", "p.code"])
  func unchanged(code: String) throws {
    let sandbox = try shop(
      "",
      "rebuild_table: { table: p, columns: [{ name: id, type: INTEGER, primary_key: true }, "
        + "{ name: code, type: INTEGER, unique: true }], copy: { code: \(code) } }")
    #expect(sandbox.failure() == nil)
  }
}

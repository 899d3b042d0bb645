import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaTestSupport
import Testing

/// What `plan` asks the rows of a database, and `migrate` would refuse.
@Suite("A plan asks the rows of the database")
struct PlanAgainstRowsTests {
  private func sandbox(_ yaml: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base",
      "CREATE TABLE lists (id INTEGER PRIMARY KEY); "
        + "CREATE TABLE items (id INTEGER PRIMARY KEY, list INTEGER);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO lists VALUES (1); INSERT INTO items VALUES (1, 1), (2, 7)")
    return try sandbox.add("0002_step", yaml)
  }

  private static let reference =
    "operations:\n- alter_column: { table: items, column: list, references: { table: lists } }\n"

  @Test("whether a new foreign key finds its parents")
  func reference() throws {
    let sandbox = try sandbox(Self.reference)
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.status == .migrationFailed)
    #expect(plan.failure?.message.contains("found 1 row: id = 2, list = 7") == true)
    #expect(try sandbox.migrate().status == .migrationFailed)
    try sandbox.run("DELETE FROM items WHERE id = 2")
    let repaired = try sandbox.project().dryRun(sandbox.options())
    #expect(repaired.status == .success)
    #expect(repaired.answers.map(\.isAsked) == [true])
    #expect(try sandbox.migrate().status == .success)
  }

  @Test(
    "whether an assertion holds",
    arguments: [
      "before: [{ query: SELECT count(*) FROM items, equals: 3, message: three items }]\n"
        + "operations: [{ sql: SELECT 1 }]\n",
      "operations: [{ assert: { query: SELECT count(*) FROM items, equals: 3, message: three items } }]\n",
      "operations: [{ sql: CREATE TABLE other (id) }]\n"
        + "after: [{ query: SELECT count(*) FROM items, equals: 3, message: three items }]\n",
    ])
  func assertion(_ yaml: String) throws {
    let sandbox = try sandbox(yaml)
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.failure?.message == "three items: expected 3, found 2")
    #expect(try sandbox.migrate().failure?.lines.first == plan.failure?.lines.first)
    try sandbox.run("INSERT INTO items VALUES (3, 1)")
    #expect(try sandbox.project().dryRun(sandbox.options()).failure == nil)
  }

  @Test(
    "but not an assertion on rows or tables that the migration changes before",
    arguments: [
      "operations:\n- insert: { table: items, rows: [{ id: 3 }] }\n"
        + "- assert: { query: SELECT count(*) FROM items, equals: 3 }\n",
      "operations:\n- rename_table: { table: items, to: old }\n- sql: CREATE TABLE items (id)\n"
        + "- assert: { query: SELECT count(*) FROM items, equals: 0 }\n",
      "operations:\n- sql: CREATE TABLE other (id)\n"
        + "after: [{ query: SELECT count(*) FROM other, equals: 0 }]\n",
    ])
  func later(_ yaml: String) throws {
    let sandbox = try sandbox(yaml)
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.failure == nil)
    #expect(plan.answers.map(\.isAsked) == [false])
    #expect(try sandbox.migrate().failure == nil)
  }
}

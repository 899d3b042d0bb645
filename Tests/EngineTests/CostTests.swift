import SchemaInspect
import SchemaPlanning
import SchemaPreview
import SchemaTestSupport
import Testing

@Suite("The cost of a plan")
struct CostTests {
  private struct Case: Sendable, CustomTestStringConvertible {
    let operation: String
    let work: Work.Kind
    let reads: Int64
    let writes: Int64
    /// The number of copies of the table on disk.
    let copies: Int64
    var testDescription: String { operation }

    init(_ operation: String, _ work: Work.Kind, _ reads: Int64, _ writes: Int64, _ copies: Int64) {
      self.operation = operation
      self.work = work
      self.reads = reads
      self.writes = writes
      self.copies = copies
    }
  }

  private static let cases = [
    Case("rename_table: { table: t, to: u }", .none, 0, 0, 0),
    Case("rename_column: { table: t, from: a, to: x }", .none, 0, 0, 0),
    Case("add_column: { table: t, column: { name: x, type: TEXT } }", .none, 0, 0, 0),
    Case("add_column: { table: t, column: { name: x, check: x > 1 } }", .scan, 1, 0, 0),
    Case("create_index: { name: i, table: t, columns: [a] }", .buildsIndex, 1, 1, 1),
    Case("drop_column: { table: t, column: twice }", .none, 0, 0, 0),
    Case("drop_column: { table: t, column: a }", .rewritesTable, 1, 1, 1),
    Case("update: { table: t, set: { a: '1' }, where: a = 2 }", .writesRows, 1, 1, 1),
    Case("alter_column: { table: t, column: a, not_null: true }", .scan, 1, 0, 0),
    Case("alter_column: { table: t, column: a, references: { table: t } }", .none, 0, 0, 0),
    Case("alter_column: { table: t, column: a, default: 9 }", .writesRows, 2, 1, 1),
    Case("alter_column: { table: t, column: a, type: TEXT }", .rewritesTable, 2, 1, 1),
    Case(
      "move_column: { table: t, from: a, to: { name: x, type: INTEGER, default: 5 }, map: { 1: 1 } }",
      .scan, 1, 0, 0),
    Case(
      "move_column: { table: t, from: a, to: { name: x, type: INTEGER, default: 5 }, map: { 1: 2 } }",
      .writesRows, 2, 1, 1),
    Case(
      "move_column: { table: t, from: a, to: { name: x, type: TEXT }, map: { 1: b } }",
      .rewritesTable, 2, 1, 1),
  ]

  private func sandbox(_ operations: String, rows: Int = 2500) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_table",
      """
      CREATE TABLE t (
        id INTEGER PRIMARY KEY, a INTEGER DEFAULT 5, b TEXT, c BLOB, twice AS (id * 2)
      )
      """)
    try sandbox.migrate()
    try sandbox.run(
      """
      WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < \(rows))
      INSERT INTO t (id, a, b, c) SELECT n, 1, 'text ' || n, zeroblob(90) FROM n
      """)
    return try sandbox.add("0002_change", "operations:\n\(operations)")
  }

  private func plan(_ sandbox: Sandbox, database: Bool = true) throws -> PlanReport {
    try sandbox.project().plan(
      sandbox.options(), database: database ? sandbox.database : nil)
  }

  @Test("it is counted in passes over the existing rows", arguments: cases)
  private func rows(_ expected: Case) throws {
    let sandbox = try sandbox("- \(expected.operation)\n")
    let report = try plan(sandbox)
    let migration = try #require(report.migrations.last)
    #expect(migration.operations.map(\.work.kind) == [expected.work])
    let cost = try #require(migration.operations[0].cost)
    #expect(cost.rowsRead == expected.reads * 2500)
    #expect(cost.rowsWritten == expected.writes * 2500)
    // A row has about 115 bytes. The cost never exceeds the size of the file.
    #expect(cost.extraDisk >= expected.copies * 2500 * 100)
    #expect(cost.extraDisk <= expected.copies * 2500 * 130)
    #expect(report.cost == cost)
    #expect(!report.isCostPartial)
  }

  @Test("three drops in one pass cost a third of three separate ones")
  func shared() throws {
    let drops = ["a", "b", "c"].map { "- drop_column: { table: t, column: \($0) }\n" }.joined()
    let sandbox = try sandbox("- drop_column: { table: t, column: twice }\n" + drops)
    let together = try plan(sandbox)
    #expect(
      together.migrations.last?.operations.map(\.work.kind) == [
        .none, .none, .none, .rewritesTable,
      ])
    #expect(together.cost?.rowsWritten == 2500)
    sandbox.application.plansOperationsAlone = true
    #expect(try plan(sandbox).cost?.rowsWritten == 7500)
  }

  @Test("it is unknown without a database, for SQL of the manifest and for new tables")
  func unknown() throws {
    let sandbox = try sandbox(
      """
      - sql: DELETE FROM t
      - create_table: { name: u, columns: [{ name: a }] }
      - insert: { table: u, rows: [{ a: 1 }, { a: 2 }] }
      - drop_column: { table: t, column: twice }
      - drop_column: { table: t, column: a }
      - create_index: { name: i, table: u, columns: [a] }

      """)
    let report = try plan(sandbox)
    let migration = try #require(report.migrations.last)
    #expect(migration.operations.map { $0.cost?.rowsWritten } == [nil, 0, 2, 0, 2500, nil])
    #expect(report.costInWords?.hasSuffix(", plus 2 operations of unknown cost") == true)
    #expect(report.isCostPartial)
    #expect(report.script.contains("\n--   unknown cost\n"))
    #expect(
      report.script.contains("\n--   reads at most 2,500 rows, writes at most 2,500, needs about "))
    #expect(
      report.script.contains(
        "\n-- in total: reads at most 2,500 rows, writes at most 2,502, needs about "))

    let nowhere = try plan(sandbox, database: false)
    #expect(nowhere.cost == nil)
    #expect(nowhere.migrations.flatMap(\.operations).allSatisfy { $0.cost == nil })
    #expect(nowhere.script.contains("\n--   writes every row of the table\n"))
    #expect(!nowhere.script.contains("in total"))
  }

  @Test(
    "a plan explains why no cheaper strategy applies",
    arguments: [
      (
        "alter_column: { table: t, column: a, type: TEXT }",
        "the new type changes how its values are stored"
      ),
      (
        "move_column: { table: t, from: a, to: { name: x, type: TEXT }, map: { 1: b } }",
        "the column's definition changes, too"
      ),
    ])
  func reason(operation: String, reason: String) throws {
    let report = try plan(sandbox("- \(operation)\n", rows: 1))
    #expect(
      report.migrations.last?.operations.first?.plan.why.hasSuffix(", because \(reason)") == true)
  }
}

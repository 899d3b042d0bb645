import SchemaApply
import SchemaInspect
import SchemaPreview
import SchemaTestSupport
import Testing

/// An operation that adds a unique constraint to a table with rows.
struct UniqueCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let create: String
  let rows: String
  let operation: String
  let isInTheWay: Bool

  init(
    _ description: String, _ create: String, _ rows: String, _ operation: String, isInTheWay: Bool
  ) {
    testDescription = description
    self.create = create
    self.rows = rows
    self.operation = operation
    self.isInTheWay = isInTheWay
  }

  static let all = [
    UniqueCase(
      "a BINARY index on a NOCASE column", "CREATE TABLE t (a TEXT COLLATE NOCASE)",
      "('x'), ('X')",
      "create_index: { name: i, table: t, unique: true, columns: [{ column: a, collate: BINARY }] }",
      isInTheWay: false),
    UniqueCase(
      "a NOCASE index on a BINARY column", "CREATE TABLE t (a TEXT)", "('x'), ('X')",
      "create_index: { name: i, table: t, unique: true, columns: [{ column: a, collate: NOCASE }] }",
      isInTheWay: true),
    UniqueCase(
      "an index with its column's collation", "CREATE TABLE t (a TEXT COLLATE NOCASE)",
      "('x'), ('X')", "create_index: { name: i, table: t, unique: true, columns: [a] }",
      isInTheWay: true),
    UniqueCase(
      "RTRIM in raw SQL", "CREATE TABLE t (a TEXT)", "('x'), ('x  ')",
      "sql: CREATE UNIQUE INDEX i ON t (a COLLATE rtrim)", isInTheWay: true),
    UniqueCase(
      "an expression", "CREATE TABLE t (a TEXT)", "('x'), ('y')",
      "sql: CREATE UNIQUE INDEX i ON t (length(a))", isInTheWay: true),
    UniqueCase(
      "an expression that tells them apart", "CREATE TABLE t (a TEXT COLLATE NOCASE)",
      "('x'), ('X')", "sql: CREATE UNIQUE INDEX i ON t (hex(a))", isInTheWay: false),
    UniqueCase(
      "rows beside the condition of a partial index", "CREATE TABLE t (a, b)",
      "(1, 0), (1, 0), (2, 1)",
      "create_index: { name: i, table: t, unique: true, columns: [a], where: b = 1 }",
      isInTheWay: false),
    UniqueCase(
      "rows within the condition of a partial index", "CREATE TABLE t (a, b)", "(1, 1), (1, 1)",
      "sql: CREATE UNIQUE INDEX i ON t (a DESC) WHERE b = 1 -- the end", isInTheWay: true),
    UniqueCase(
      "NULLs", "CREATE TABLE t (a, b)", "(1, NULL), (1, NULL), (NULL, NULL), (NULL, NULL)",
      "create_index: { name: i, table: t, unique: true, columns: [a, b] }", isInTheWay: false),
    UniqueCase(
      "a column that becomes NOCASE under a UNIQUE", "CREATE TABLE t (a TEXT UNIQUE, b)",
      "('x', 1), ('X', 2)", "alter_column: { table: t, column: a, collate: NOCASE }",
      isInTheWay: true),
    UniqueCase(
      "a column that becomes BINARY under a primary key",
      "CREATE TABLE t (a TEXT COLLATE NOCASE PRIMARY KEY, b)", "('x', 1), ('y', 1)",
      "alter_column: { table: t, column: a, collate: BINARY }", isInTheWay: false),
    UniqueCase(
      "a UNIQUE that a rebuild makes", "CREATE TABLE t (a TEXT, b)", "('x', 1), ('y', 1)",
      "rebuild_table: { table: t, columns: [{ name: a, type: TEXT }, { name: b }], unique: [[b]] }",
      isInTheWay: true),
    UniqueCase(
      "a primary key that a rebuild makes, of rows that it leaves out",
      "CREATE TABLE t (a TEXT, b)", "('x', 1), ('X', 2)",
      "rebuild_table: { table: t, columns: [{ name: a, type: TEXT, collate: NOCASE }, { name: b }], "
        + "primary_key: [a], where: b > 1, rows_may_be_lost: true }", isInTheWay: false),
    UniqueCase(
      "a WITHOUT ROWID key that a rebuild makes", "CREATE TABLE t (a TEXT, b)",
      "('x', 1), ('X', 2)",
      "rebuild_table: { table: t, columns: [{ name: a, type: TEXT, not_null: true, collate: NOCASE }, "
        + "{ name: b }], primary_key: [a], without_rowid: true }", isInTheWay: true),
    UniqueCase(
      "an integer primary key that a rebuild makes", "CREATE TABLE t (a INTEGER, b)",
      "(1, 1), (1, 2)",
      "rebuild_table: { table: t, columns: [{ name: a, type: INTEGER, primary_key: true }, "
        + "{ name: b }] }", isInTheWay: true),
  ]
}

@Suite("Dry runs of new unique constraints")
struct UniqueKeyTests {
  @Test("rows are compared as in SQLite", arguments: UniqueCase.all)
  func sameAsMigrate(trial: UniqueCase) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_table", trial.create)
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES \(trial.rows)")
    try sandbox.add("0002_unique", "operations:\n  - \(trial.operation)\n")
    let report = try sandbox.project().dryRun(sandbox.options())
    #expect(report.answers.contains { $0.question.contains("unique") })
    #expect(report.answers.allSatisfy { $0.isAsked })
    #expect(report.answers.contains { $0.obstacle != nil } == trial.isInTheWay)
    #expect((report.failure != nil) == trial.isInTheWay)
    #expect((try sandbox.migrate().failure != nil) == trial.isInTheWay)
  }

  @Test("an index that is recreated under another name needs no check")
  func sameKey() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_table", "CREATE TABLE t (a, b); CREATE UNIQUE INDEX i ON t (a)")
    try sandbox.migrate()
    try sandbox.addSQL("0002_again", "CREATE UNIQUE INDEX j ON t (b, A); DROP INDEX i")
    #expect(try sandbox.project().dryRun(sandbox.options()).answers.isEmpty)
  }
}

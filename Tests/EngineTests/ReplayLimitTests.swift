import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaPlanning
import SchemaPreview
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// SQL that does not end, or that exceeds the memory limit of a replay.
struct CostlyCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let operations: String
  let key: String
  let line: Int

  private static let endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

  init(_ description: String, _ operations: String, exceeds key: String, line: Int = 2) {
    testDescription = description
    self.operations = operations
    self.key = key
    self.line = line
  }

  static let all = [
    CostlyCase(
      "an endless query", "- sql: CREATE TABLE t AS \(endless) SELECT count(*) FROM n",
      exceeds: "seconds"),
    CostlyCase(
      "an endless operation",
      """
      - create_table: { name: t, columns: [{ name: a }] }
      - insert: { table: t, rows: [{ a: 1 }] }
      - update: { table: t, set: { a: "(\(endless) SELECT count(*) FROM n)" }, all: true }
      """, exceeds: "seconds", line: 4),
    CostlyCase(
      "an endless trigger",
      """
      - sql: |
          CREATE TABLE t (a);
          CREATE TRIGGER g AFTER INSERT ON t BEGIN
            INSERT INTO t \(endless) SELECT max(i) FROM n;
          END;
          INSERT INTO t VALUES (1);
      """, exceeds: "seconds", line: 7),
    CostlyCase(
      "a queue that grows without end",
      """
      - sql: CREATE TABLE t AS WITH RECURSIVE n(b) AS (SELECT randomblob(1000000)
          UNION ALL SELECT b FROM n, (SELECT 1 UNION ALL SELECT 2)) SELECT count(*) FROM n
      """, exceeds: "seconds"),
    CostlyCase(
      "a blob of zeros", "- sql: CREATE TABLE t AS SELECT zeroblob(900000000)",
      exceeds: "megabytes"),
    CostlyCase(
      "a random blob as text", "- sql: CREATE TABLE t AS SELECT hex(randomblob(6000000))",
      exceeds: "megabytes"),
    CostlyCase(
      "a text that is replaced",
      "- sql: CREATE TABLE t AS SELECT replace(hex(zeroblob(3000000)), '0', 'abc')",
      exceeds: "megabytes"),
    CostlyCase(
      "a text that is joined",
      """
      - sql: CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
          WHERE i < 20) SELECT group_concat(hex(zeroblob(500000))) FROM n
      """, exceeds: "megabytes"),
    CostlyCase(
      "many rows",
      """
      - create_table: { name: t, columns: [{ name: a }] }
      - sql: INSERT INTO t \(endless) SELECT zeroblob(1000000) FROM n
      """, exceeds: "megabytes", line: 3),
    CostlyCase(
      "many temporary rows",
      """
      - sql: |
          CREATE TEMP TABLE t (a);
          INSERT INTO t \(endless) SELECT zeroblob(1000000) FROM n;
      """, exceeds: "megabytes", line: 4),
  ]
}

@Suite("Limits of replays")
struct ReplayLimitTests {
  private func sandbox(_ operations: String, seconds: Double = 0.3) throws -> Sandbox {
    let sandbox = try Sandbox()
    sandbox.application.limit = WorkLimit(seconds: seconds, megabytes: 10)
    return try sandbox.add("0001_costly", "operations:\n" + operations + "\n")
  }

  @Test(
    "an error names the exceeded limit and the key that raises it",
    arguments: oneIn(2, of: CostlyCase.all))
  func exceeded(trial: CostlyCase) throws {
    let sandbox = try sandbox(
      trial.operations, seconds: trial.key == "seconds" ? 0.3 : 60)
    let project = try sandbox.project()
    let failures = [
      try project.verify(database: nil, timeout: 1).failure,
      try project.plan(sandbox.options(), database: nil).failure,
      try sandbox.migrate().failure,
    ]
    for failure in failures {
      #expect(failure?.status == .migrationFailed)
      #expect(failure?.migration?.id == "0001_costly")
      #expect(failure?.place?.position?.line == trial.line)
      let limit = trial.key == "seconds" ? "0.3 s" : "10 MB"
      #expect(failure?.message.contains(limit) == true)
      #expect(failure?.message.contains("`replay: { \(trial.key): … }`") == true)
    }
  }

  @Test("a database has no limits")
  func database() throws {
    let sandbox = try sandbox(
      "- sql: CREATE TABLE t (a)\n- sql: UPDATE t SET a = zeroblob(20000000)")
    try sandbox.migrate(to: "1")
    try sandbox.run("INSERT INTO t VALUES (NULL)")
    try sandbox.add(
      "0002_large",
      "operations:\n- sql: UPDATE t SET a = zeroblob(20000000)\n"
        + "- sql: UPDATE t SET a = (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        + "WHERE i < 3000000) SELECT count(*) FROM n)\n")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT a FROM t") == [[.integer(3_000_000)]])
  }

  @Test("time between statements does not count")
  func others() throws {
    let limited = try Connection(path: nil)
    try limited.limitWork(to: WorkLimit(seconds: 0.2, megabytes: 1))
    let free = try Connection(path: nil)
    let count = """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000)
      SELECT count(*) FROM n
      """
    #expect(try free.value(count) == .integer(3_000_000))
    #expect(try free.value("SELECT length(zeroblob(2000000))") == .integer(2_000_000))
    #expect(try limited.value("SELECT 1") == .integer(1))
    #expect { try limited.value(count.replacing("WHERE i < 3000000", with: "")) } throws: {
      ($0 as? DatabaseError)?.exceeded == .seconds(0.2)
    }
    // The connection can still clean up.
    #expect(try limited.value("SELECT 1") == .integer(1))
  }

  @Test("many short statements reach the limit, too")
  func shortStatements() throws {
    let limited = try Connection(path: nil)
    try limited.limitWork(to: WorkLimit(seconds: 0.05, megabytes: 10))
    try limited.execute("CREATE TABLE t (a); BEGIN")
    #expect {
      for _ in 0..<1_000_000 { try limited.execute("UPDATE t SET a = 1") }
    } throws: {
      ($0 as? DatabaseError)?.exceeded == .seconds(0.05)
    }
    // The connection can still clean up.
    try limited.execute("ROLLBACK; DROP TABLE IF EXISTS t")
  }
}

import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLite
import SchemaTestSupport
import Synchronization
import Testing

@Suite("The third of three pending migrations fails")
struct ThirdFailsTests {
  /// Returns a history whose first two migrations are small. They share a transaction with the third, if that
  /// is possible.
  private func sandbox(_ third: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_one", "CREATE TABLE one (a); INSERT INTO one VALUES (1);")
    try sandbox.addSQL("0002_two", "CREATE TABLE two (a);")
    try sandbox.addSQL("0003_three", third)
    return sandbox
  }

  private func expectFirstTwo(_ sandbox: Sandbox, _ report: MigrateReport) throws {
    #expect(report.applied.map(\.id) == ["0001_one", "0002_two"])
    #expect(try sandbox.ledger == ["0001_one", "0002_two"])
    #expect(
      try sandbox.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map {
        $0[0]
      }
        == ["one", "schemactl_migrations", "two"])
    #expect(try sandbox.rows("SELECT a FROM one") == [[1]])
  }

  @Test("an error on the scratch database keeps the first two")
  func shadowError() throws {
    let sandbox = try sandbox("CREATE TABLE three (a); INSERT INTO nowhere VALUES (1);")
    let report = try sandbox.migrate()
    #expect(report.status == .migrationFailed)
    #expect(report.failure?.migration?.id == "0003_three")
    #expect(report.failure?.message.contains("no such table: nowhere") == true)
    try expectFirstTwo(sandbox, report)
  }

  @Test("an error that only rows cause keeps the first two")
  func databaseError() throws {
    // Only the database has these rows. The scratch database runs the same INSERTs as the migrations, so
    // their own rows could not cause a difference.
    let sandbox = try Sandbox()
    try sandbox.addSQL("0000_base", "CREATE TABLE base (a);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO base VALUES (1), (1)")
    try sandbox.addSQL("0001_one", "CREATE TABLE one (a); INSERT INTO one VALUES (1);")
    try sandbox.addSQL("0002_two", "CREATE TABLE two (a);")
    try sandbox.addSQL("0003_three", "CREATE TABLE three (a); CREATE UNIQUE INDEX i ON base (a);")
    let report = try sandbox.migrate()
    #expect(report.status == .migrationFailed)
    #expect(report.failure?.lines.first == "UNIQUE constraint failed: base.a")
    #expect(report.failure?.place?.position?.line == 3)
    #expect(report.applied.map(\.id) == ["0001_one", "0002_two"])
    #expect(try sandbox.ledger == ["0000_base", "0001_one", "0002_two"])
    #expect(try sandbox.schema().table("three") == nil)
  }

  @Test(
    "RAISE(ROLLBACK), which ends the whole transaction, reruns and keeps the first two")
  func raiseRollback() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0000_base",
      """
      CREATE TABLE base (a);
      CREATE TRIGGER veto BEFORE INSERT ON base WHEN (SELECT count(*) FROM base) > 0
      BEGIN SELECT RAISE(ROLLBACK, 'not in this house'); END;
      """)
    try sandbox.migrate()
    try sandbox.run("INSERT INTO base VALUES (1)")
    try sandbox.addSQL("0001_one", "CREATE TABLE one (a); INSERT INTO one VALUES (1);")
    try sandbox.addSQL("0002_two", "CREATE TABLE two (a);")
    // The INSERT depends on rows that only the database has.
    try sandbox.addSQL(
      "0003_three",
      "CREATE TABLE three (a); CREATE TABLE t4 AS SELECT 1; INSERT INTO base SELECT a FROM base;")
    let report = try sandbox.migrate()
    #expect(report.status == .migrationFailed)
    #expect(report.failure?.message == "not in this house")
    #expect(report.applied.map(\.id) == ["0001_one", "0002_two"])
    #expect(try sandbox.ledger == ["0000_base", "0001_one", "0002_two"])
    #expect(try sandbox.schema().table("three") == nil)
    #expect(try sandbox.rows("SELECT a FROM one") == [[1]])
  }

  /// Returns a table with many rows, and a function that interrupts at its third call. The scratch database
  /// does not call it, because its table is empty.
  private func interruptible(isDeterministic: Bool) throws -> (Sandbox, Interruption) {
    let sandbox = try Sandbox()
    let interruption = Interruption()
    let calls = Counter()
    sandbox.application.functions = [
      FunctionDefinition(
        name: "pull_the_plug", arguments: 1, isDeterministic: isDeterministic
      ) { values in
        if calls.next() == 3 { interruption.request() }
        return values[0]
      }
    ]
    try sandbox.addSQL("0000_base", "CREATE TABLE base (a);")
    try sandbox.migrate()
    try sandbox.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO base SELECT i FROM n
      """)
    return (sandbox, interruption)
  }

  private final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }

  @Test("an interruption starts nothing again, and the last committed migration is named")
  func interrupt() throws {
    let (sandbox, interruption) = try interruptible(isDeterministic: false)
    try sandbox.addSQL("0001_one", "CREATE TABLE one (a); INSERT INTO one VALUES (1);")
    try sandbox.addSQL("0002_two", "CREATE TABLE two (a);")
    try sandbox.addSQL("0003_three", "UPDATE base SET a = pull_the_plug(a) + 1;")
    let report = try sandbox.project().migrate(sandbox.options(), interruption: interruption)
    #expect(report.status == .interrupted)
    #expect(report.applied.map(\.id) == ["0001_one", "0002_two"])
    #expect(
      report.failure?.message.contains("The last applied migration is `0002_two`") == true)
    #expect(try sandbox.ledger == ["0000_base", "0001_one", "0002_two"])
    #expect(try sandbox.rows("SELECT min(a), max(a) FROM base") == [[1, 100_000]])
  }

  @Test("an interruption of the shared transaction keeps none of it")
  func interruptOfABatch() throws {
    let (sandbox, interruption) = try interruptible(isDeterministic: true)
    try sandbox.addSQL("0001_one", "CREATE TABLE one (a);")
    // Creating an index changes no rows, so the migration shares the transaction.
    try sandbox.addSQL("0002_two", "CREATE INDEX i ON base (pull_the_plug(a));")
    let report = try sandbox.project().migrate(sandbox.options(), interruption: interruption)
    #expect(report.status == .interrupted)
    let ledger = try sandbox.ledger
    #expect(ledger == ["0000_base"] + report.applied.map(\.id))
    #expect(try sandbox.schema().object(.index, "i") == nil)
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }
}

@Suite("Transactions")
struct TransactionTests {
  /// Migrates. Returns the report, and the migrations of each commit.
  private func migrate(_ sandbox: Sandbox) throws -> (MigrateReport, commits: [[String]]) {
    var commits: [[String]] = []
    let report = try sandbox.project().migrate(sandbox.options()) { event in
      if case .committed(let ids) = event { commits.append(ids) }
    }
    return (report, commits)
  }

  @Test("many small migrations share one commit")
  func batching() throws {
    let sandbox = try Sandbox()
    for number in 1...20 {
      try sandbox.addSQL("\(number)_t", "CREATE TABLE t\(number) (a);")
    }
    let (report, commits) = try migrate(sandbox)
    #expect(report.applied.count == 20)
    #expect(commits.joined().count == 20)
    #expect(commits.count < 20)
  }

  @Test("a migration that rewrites rows has a transaction of its own")
  func aloneInItsTransaction() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.addSQL("0008_small", "CREATE TABLE small (a);")
    try sandbox.addSQL("0009_update", "UPDATE reminders SET title = 'x';")
    try sandbox.addSQL("0010_small", "CREATE TABLE smaller (a);")
    let (_, commits) = try migrate(sandbox)
    #expect(commits.contains(["0009_update"]))
  }

  @Test("foreign keys are enforced during a migration that requests it")
  func enforced() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p ON DELETE CASCADE);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1), (2)")
    try sandbox.add(
      "0002_delete",
      "foreign_keys: enforced\noperations:\n  - delete: { table: p, where: id = 1 }\n")
    let report = try sandbox.migrate()
    #expect(report.failure == nil)
    #expect(try sandbox.rows("SELECT p FROM c") == [[2]])
  }

  @Test("a new foreign key violation is reported by table, row and parent; an old one is not")
  func violations() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1), (2), (99)")
    try sandbox.addSQL("0002_delete", "DELETE FROM p WHERE id = 1;")
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed)
    #expect(
      failure.message
        == "this migration breaks foreign keys: row 1 of `c` refers by `p` to a missing row of `p`")
    #expect(failure.place?.position == Position(line: 2, column: 5))
    #expect(failure.migration?.operation == "1 sql")
    #expect(try sandbox.rows("SELECT count(*) FROM p") == [[2]])
    try sandbox.addSQL("0002_delete", "DELETE FROM c WHERE p = 1;")
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test("a foreign key to a table with a non-ASCII name is checked, too")
  func umlautViolation() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE \"Ärger\" (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES \"Ärger\");")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO \"Ärger\" VALUES (1); INSERT INTO c VALUES (1)")
    try sandbox.addSQL("0002_delete", "DELETE FROM \"Ärger\";")
    #expect(try sandbox.migrate().failure?.status == .migrationFailed)
    #expect(try sandbox.rows("SELECT count(*) FROM \"Ärger\"") == [[1]])
  }

  @Test("an old violation is not a new one after a rename or rebuild of its table")
  func renamedViolation() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p, flag);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO c VALUES (99, 0)")
    try sandbox.add("0002_rename", "operations: [{ rename_table: { table: c, to: d } }]")
    try sandbox.add(
      "0003_move",
      "operations: [{ move_column: { table: d, from: flag, to: { name: s, type: INTEGER }, map: { 0: 0 } } }]"
    )
    let report = try sandbox.migrate()
    #expect(report.failure == nil)
    #expect(report.applied.map(\.strategies) == [[.native], [.rewrite]])
  }

  @Test("dropping a parent deletes no child row")
  func dropParent() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p ON DELETE CASCADE);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)")
    try sandbox.add("0002_drop", "operations: [{ drop_table: { table: p } }]")
    #expect(try sandbox.migrate().status == .migrationFailed)
    #expect(try sandbox.rows("SELECT * FROM c") == [[1]])
  }

  @Test("in rollback-journal mode a reader prevents the start of a rewriting migration")
  func exclusive() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.addSQL("0008_update", "UPDATE reminders SET title = 'x';")
    let reader = try sandbox.open()
    let reading = try reader.prepare("SELECT * FROM reminders")
    _ = try reading.step()
    let report = try sandbox.migrate { $0.timeout = 0 }
    #expect(report.status == .busy)
    reading.reset()
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test("busy: another process has the lock, and nothing changes")
  func busy() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    let writer = try sandbox.open()
    try writer.execute("BEGIN IMMEDIATE")
    let report = try sandbox.migrate { $0.timeout = 0.05 }
    #expect(report.status == .busy)
    #expect(report.applied.isEmpty)
  }

  @Test("without pending migrations no transaction starts, so locks do not matter")
  func busyAfterwards() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (x);")
    try sandbox.migrate()
    try sandbox.addSQL("0002_b", "CREATE TABLE b (x);")
    let other = try sandbox.open()
    let options = sandbox.options { $0.timeout = 0 }
    let report = try sandbox.project().migrate(options) { event in
      if case .committed = event { try? other.execute("BEGIN EXCLUSIVE") }
    }
    #expect(other.isInTransaction)
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    #expect(report.applied.map(\.id) == ["0002_b"])
  }
}

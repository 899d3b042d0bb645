import SchemaApply
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Between two transactions of a run")
struct RereadingTests {
  /// Runs two migrations that rewrite rows, each in its own transaction. Runs an action of another connection
  /// after the first commit.
  private func migrate(
    _ journal: String, meanwhile: @escaping (Sandbox) throws -> Void
  ) throws -> (sandbox: Sandbox, report: MigrateReport) {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a); CREATE TABLE u (a);")
    try sandbox.migrate()
    try sandbox.run("PRAGMA journal_mode = \(journal); INSERT INTO t VALUES (1)")
    try sandbox.addSQL("0002_first", "UPDATE t SET a = a + 1;")
    try sandbox.addSQL("0003_second", "UPDATE t SET a = a + 1;")
    let report = try sandbox.project().migrate(sandbox.options()) { event in
      if case .committed(["0002_first"]) = event {
        do { try meanwhile(sandbox) } catch { Issue.record("\(error)") }
      }
    }
    return (sandbox, report)
  }

  @Test(
    "another process may apply the rest, and nothing is applied twice",
    arguments: ["DELETE", "WAL"])
  func race(journal: String) throws {
    let (sandbox, report) = try migrate(journal) { try $0.migrate() }
    #expect(report.failure == nil)
    #expect(report.applied.map(\.id) == ["0002_first"])
    #expect(try sandbox.rows("SELECT a FROM t") == [[3]])
    #expect(try sandbox.ledger == ["0001_create", "0002_first", "0003_second"])
  }

  @Test("a schema change of another process is noticed", arguments: ["DELETE", "WAL"])
  func drift(journal: String) throws {
    let (sandbox, report) = try migrate(journal) { try $0.run("ALTER TABLE t ADD COLUMN b") }
    #expect(report.failure?.status == .finding)
    #expect(report.drift.map(\.object) == ["t.b"])
    #expect(try sandbox.rows("SELECT a FROM t") == [[2]])
  }

  @Test("nothing is read again without a write", arguments: ["DELETE", "WAL"])
  func quiet(journal: String) throws {
    let (sandbox, report) = try migrate(journal) { _ in }
    #expect(report.failure == nil)
    #expect(report.applied.map(\.id) == ["0002_first", "0003_second"])
    #expect(try sandbox.rows("SELECT a FROM t") == [[3]])
  }
}

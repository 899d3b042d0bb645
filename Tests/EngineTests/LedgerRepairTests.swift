import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaTestSupport
import Testing

@Suite("Ledger repairs")
struct LedgerRepairTests {
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    try sandbox.makeRelease1()
    return sandbox
  }

  private func plan(_ sandbox: Sandbox, _ id: String, _ action: LedgerRepair.Action) throws
    -> RepairPlan
  {
    try sandbox.project().plan(
      LedgerRepair(id: id, action: action, reason: "because"), database: sandbox.database,
      timeout: 1)
  }

  private func carryOut(_ plan: RepairPlan, _ sandbox: Sandbox) throws {
    try sandbox.project().carryOut(plan, database: sandbox.database, timeout: 1)
  }

  @Test("a missing row is recorded again, and migrate continues")
  func applied() throws {
    let sandbox = try sandbox()
    try sandbox.run("DELETE FROM schemactl_migrations WHERE id = '0003_refresh_updated_at'")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .brokenHistory)
    let plan = try plan(sandbox, "0003_refresh_updated_at", .applied)
    #expect(plan.isClean)
    try carryOut(plan, sandbox)
    #expect(try sandbox.migrate().failure == nil)
    let status = try sandbox.project().status(database: sandbox.database, timeout: 1)
    #expect(status.repairs.map(\.id) == ["0003_refresh_updated_at"])
    #expect(status.repairs.map(\.reason) == ["because"])
    #expect(status.ledger.allSatisfy { $0.state == .applied })
    #expect(try sandbox.project().verify(database: sandbox.database, timeout: 1).status == .success)
  }

  @Test("the error explains how the schema differs from the recorded state")
  func unfit() throws {
    let sandbox = try sandbox()
    let plan = try plan(sandbox, Sandbox.statusMove, .applied)
    #expect(!plan.isClean)
    #expect(plan.drift.contains { $0.object == "reminders.status" })
  }

  @Test("an unknown row is deleted, and an altered one is rewritten")
  func absentAndCurrent() throws {
    let sandbox = try sandbox()
    try sandbox.run(
      """
      INSERT INTO schemactl_migrations SELECT '0009_theirs', 9, raw_digest, canonical_digest, fingerprint,
        started_at, milliseconds, tool_version FROM schemactl_migrations LIMIT 1;
      UPDATE schemactl_migrations SET canonical_digest = 'x' WHERE position = 2;
      """)
    try carryOut(try plan(sandbox, "0009_theirs", .absent), sandbox)
    try carryOut(try plan(sandbox, "0002_create_tags", .current), sandbox)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test("a migration that a later one needs is not recorded as absent")
  func needed() throws {
    let sandbox = try sandbox()
    let failure = #expect(throws: Failure.self) {
      try plan(sandbox, "0001_create_lists_and_reminders", .absent)
    }
    #expect(failure?.status == .finding)
    let problem = failure?.statement.first ?? ""
    #expect(
      problem.hasPrefix("schemactl cannot record `0001_create_lists_and_reminders` as absent: "))
    #expect(problem.contains("has also run `000"))
    #expect(problem.hasSuffix("which needs it. Nothing changed"))
    #expect(failure?.remedy?.contains("absent --reason") == true)
  }

  @Test("a repair is refused if the ledger has changed since it was planned")
  func changed() throws {
    let sandbox = try sandbox()
    try sandbox.run("DELETE FROM schemactl_migrations WHERE position = 3")
    let plan = try plan(sandbox, "0003_refresh_updated_at", .applied)
    try sandbox.run("DELETE FROM schemactl_migrations WHERE position = 2")
    let failure = #expect(throws: Failure.self) { try carryOut(plan, sandbox) }
    #expect(failure?.status == .busy)
  }

  @Test("a repair that contradicts the ledger is refused")
  func refused() throws {
    let sandbox = try sandbox()
    for (id, action) in [
      ("0001_create_lists_and_reminders", LedgerRepair.Action.applied), ("0099_none", .applied),
      ("0099_none", .absent), (Sandbox.statusMove, .current),
    ] {
      let failure = #expect(throws: Failure.self) { try plan(sandbox, id, action) }
      #expect(failure?.status == .usage)
    }
  }
}

import Foundation
import SchemaApply
import SchemaAuthoring
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import SchemaYAML
import Testing

@Suite("Verification")
struct VerifyTests {
  private func frozen() throws -> Sandbox {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    return sandbox
  }

  private func edit(_ sandbox: Sandbox, _ id: String, _ old: String, _ new: String) throws {
    let path = "\(sandbox.folder)/migrations/\(id).yaml"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    try #require(text.contains(old))
    try text.replacing(old, with: new, maxReplacements: 1)
      .write(toFile: path, atomically: true, encoding: .utf8)
  }

  private func state(_ report: VerifyReport, _ id: String) -> HistoryState? {
    report.history.first { $0.id == id }?.state
  }

  @Test("an unchanged history with a draft is valid")
  func unchanged() throws {
    let report = try frozen().project().verify(database: nil, timeout: 1)
    #expect(report.status == .success)
    #expect(report.history.map(\.state) == Array(repeating: .unchanged, count: 6) + [.draft])
  }

  @Test(
    "one changed character in a frozen manifest's SQL is an error, and migrate stops")
  func edited() throws {
    let sandbox = try frozen()
    try edit(sandbox, "0005_limit_tags", ">= 5", ">= 6")
    let report = try sandbox.project().verify(database: nil, timeout: 1)
    #expect(report.status == .brokenHistory)
    #expect(state(report, "0005_limit_tags") == .edited)
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .brokenHistory)
    #expect(failure?.message.contains("0005_limit_tags") == true)
    #expect(try DatabaseFile.exists(sandbox.database) == false)
  }

  @Test("a comment, a suppression or CRLF is cosmetic")
  func cosmetic() throws {
    let sandbox = try frozen()
    try edit(sandbox, "0002_create_tags", "operations:", "# a comment\noperations:")
    try edit(
      sandbox, "0003_refresh_updated_at", "operations:",
      "lint: { allow: [{ rule: drop-table, reason: x }] }\noperations:")
    try edit(sandbox, "0004_order_lists", "\n", "\r\n")
    let report = try sandbox.project().verify(database: nil, timeout: 1)
    #expect(report.status == .success)
    #expect(state(report, "0002_create_tags") == .cosmetic)
    #expect(state(report, "0003_refresh_updated_at") == .cosmetic)
    #expect(state(report, "0004_order_lists") == .cosmetic)
  }

  @Test("a manual ALTER TABLE is drift, with table and column")
  func drift() throws {
    let sandbox = try frozen()
    try sandbox.makeRelease1()
    try sandbox.migrate()
    try sandbox.run(
      "ALTER TABLE reminders ADD COLUMN starred INTEGER; DROP INDEX remindersTags_tagID")
    let report = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(report.status == .finding)
    let drift = try #require(report.drift)
    #expect(drift.map(\.object).sorted() == ["reminders.starred", "remindersTags_tagID"])
    #expect(drift.first { $0.kind == .column }?.change == .unexpected)
    #expect(drift.first { $0.kind == .index }?.change == .missing)
    #expect(try sandbox.project().diff(database: sandbox.database, timeout: 1).changes == drift)
  }

  @Test("a draft that a merge put before the latest migration has not run and is not drift")
  func mergedDraft() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (x)")
    try sandbox.addSQL("0003_c", "CREATE TABLE c (x)")
    try sandbox.migrate()
    try sandbox.addSQL("0002_b", "CREATE TABLE b (x)")
    let project = try sandbox.project()
    let status = try project.status(database: sandbox.database, timeout: 1, comparesSchema: true)
    #expect(status.ledger.map(\.state) == [.applied, .outOfOrder, .applied])
    #expect(status.drift.isEmpty)
    #expect(status.failure == nil)
    #expect(try project.diff(database: sandbox.database, timeout: 1).changes.isEmpty)
    let report = try project.verify(database: sandbox.database, timeout: 1)
    #expect(report.drift == [])
    #expect(report.notes.allSatisfy { !$0.contains("schema") })
  }

  @Test(
    "a manual index is reported and kept, and does not stop migrate")
  func handMadeIndex() throws {
    let sandbox = try frozen()
    try sandbox.makeRelease1()
    try sandbox.run("CREATE INDEX mine ON tags (title); CREATE INDEX mine2 ON reminders (title)")
    let report = try sandbox.migrate()
    #expect(report.failure == nil)
    #expect(report.drift.map(\.object) == ["mine", "mine2"])
    #expect(try sandbox.schema().object(.index, "mine2") != nil)
  }

  @Test("drift in an object that a migration uses stops it")
  func driftInTheWay() throws {
    let sandbox = try frozen()
    try sandbox.makeRelease1()
    try sandbox.run("ALTER TABLE reminders ADD COLUMN starred INTEGER")
    let report = try sandbox.migrate()
    #expect(report.status == .finding)
    #expect(report.failure?.message.contains("reminders.starred") == true)
    #expect(try sandbox.ledger.count == 6)
  }

  @Test("a database with tables and without a ledger is not migrated")
  func stranger() throws {
    let sandbox = try frozen()
    try sandbox.run("CREATE TABLE theirs (a)")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .finding)
    #expect(failure?.message.contains("theirs") == true)
    #expect(try sandbox.rows("SELECT name FROM sqlite_schema") == [["theirs"]])
  }

  @Test("a database with only tables of an engine can be migrated")
  func engineTables() throws {
    let sandbox = try frozen()
    try sandbox.run("CREATE TABLE android_metadata (locale TEXT)")
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test("a database with an unknown migration is ahead")
  func ahead() throws {
    let sandbox = try frozen()
    try sandbox.migrate()
    try FileManager.default.removeItem(
      atPath: "\(sandbox.folder)/migrations/\(Sandbox.statusMove).yaml")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .databaseAhead)
    let report = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(report.status == .databaseAhead)
  }

  @Test("a database that is ahead has precedence over a broken history")
  func aheadOfBroken() throws {
    let sandbox = try frozen()
    try sandbox.migrate()
    let project = try sandbox.project()
    try sandbox.run(
      "INSERT INTO schemactl_migrations SELECT 'x_later', 99, raw_digest, canonical_digest, "
        + "fingerprint, started_at, 0, tool_version FROM schemactl_migrations LIMIT 1")
    try sandbox.add(project.migrations[0].id, "operations:\n- sql: CREATE TABLE other (a)\n")
    let broken = try sandbox.project()
    #expect(broken.comparison.contains { $0.state == .edited })
    let runs: [() throws -> Void] = [
      { _ = try sandbox.migrate() },
      { _ = try broken.dryRun(sandbox.options()) },
      { _ = try broken.diff(database: sandbox.database, timeout: 1) },
    ]
    for run in runs {
      #expect(#expect(throws: Failure.self, performing: run)?.status == .databaseAhead)
    }
    try sandbox.run("DELETE FROM schemactl_migrations WHERE position = 99")
    for run in runs {
      #expect(#expect(throws: Failure.self, performing: run)?.status == .brokenHistory)
    }
  }

  @Test("diff reports a changed ledger, and status an emptied one")
  func changedLedger() throws {
    let sandbox = try frozen()
    try sandbox.migrate()
    try sandbox.run("DELETE FROM schemactl_migrations WHERE position = 2")
    let report = try sandbox.project().diff(database: sandbox.database, timeout: 1)
    #expect(report.status == .brokenHistory)
    #expect(report.ledger.map(\.state) == [.missing])
    try sandbox.run("DELETE FROM schemactl_migrations")
    let failure = #expect(throws: Failure.self) {
      try sandbox.project().status(database: sandbox.database, timeout: 1)
    }
    #expect(failure?.status == .finding)
  }

  @Test("a draft that was edited after the database ran it is found")
  func draftEdited() throws {
    let sandbox = try frozen()
    try sandbox.migrate()
    try edit(sandbox, Sandbox.statusMove, "default: 0", "default: 1")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .finding)
    #expect(failure?.message.contains("draft-edited") == true)
  }

  @Test("a release that another one follows gets no more migrations")
  func closedRelease() throws {
    let sandbox = try Sandbox()
    for number in 1...4 { try sandbox.addSQL("000\(number)_t", "CREATE TABLE t\(number) (a);") }
    try sandbox.freeze(release: "1", through: "1")
    try sandbox.freeze(release: "1", through: "2")
    try sandbox.freeze(release: "2", through: "3")
    let failure = #expect(throws: Failure.self) { try sandbox.freeze(release: "1") }
    #expect(failure?.status == .usage)
    #expect(
      failure?.message.hasPrefix("release `1` is frozen already, and `2` came after it") == true)
    #expect(try sandbox.project().freezing(release: "1", through: "3").frozen.isEmpty)
  }

  @Test("a second freeze freezes nothing, and a frozen history needs no replay")
  func freezing() throws {
    let sandbox = try frozen()
    let first = try Data(
      contentsOf: URL(fileURLWithPath: sandbox.folder + "/migrations/history.lock"))
    #expect(try sandbox.project().freezing(release: "1.1", through: "0006").frozen.isEmpty)
    try sandbox.freeze(release: "1.1")
    let second = try Data(
      contentsOf: URL(fileURLWithPath: sandbox.folder + "/migrations/history.lock"))
    #expect(second.starts(with: first))
    #expect(second.count > first.count)
  }

  @Test(
    "a failure on the scratch database fails verify with 3, and other results are reported"
  )
  func failing() throws {
    let sandbox = try frozen()
    try sandbox.addSQL("0008_bad", "DROP TABLE nowhere;")
    let report = try sandbox.project().verify(database: nil, timeout: 1)
    #expect(report.status == .migrationFailed)
    #expect(report.failure?.migration?.id == "0008_bad")
    #expect(report.history.count == 8)
  }

  @Test("the repository's own history is valid")
  func ownHistory() throws {
    let folder = MigrationFolder(repository.path + "/migrations")
    let project = Project(
      folder: folder, migrations: try folder.migrations(), lock: try folder.lock())
    #expect(project.lock?.releases.map(\.name) == ["1.0"])
    let report = try project.verify(database: nil, timeout: 1)
    #expect(report.history.map(\.state).filter { $0 == .draft }.count == 1)
    #expect(report.status == .success || report.status == .finding)
    if Connection.libraryVersion == "3.40.1" { #expect(report.status == .success) }
  }
}

import Foundation
import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Synchronization
import Testing

@Suite("The copy before the first draft")
struct DraftCopyTests {
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    try sandbox.makeRelease1()
    return sandbox
  }

  @discardableResult
  private func reset(_ sandbox: Sandbox) throws -> String {
    try DraftCopy(of: sandbox.database, sandbox.project()).restore(timeout: 1)?.setAside ?? ""
  }

  @Test("the copy equals the database, and exists before the draft runs")
  func kept() throws {
    let sandbox = try sandbox()
    let before = try Dump(sandbox.open())
    let report = try sandbox.migrate()
    let copy = try #require(report.draftCopy)
    #expect(try Dump(Connection(path: copy, mode: .readOnly)) == before)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: sandbox.folder).sorted() == [
        "live.sqlite", "live.sqlite.before-drafts", "migrations",
      ])
  }

  @Test("no copy is made for frozen migrations, for a second draft, or without a lock")
  func notTaken() throws {
    let sandbox = try sandbox()
    #expect(try sandbox.migrate { $0.frozenOnly = true }.draftCopy == nil)
    try sandbox.migrate()
    try sandbox.addSQL("0008_more", "CREATE TABLE more (a);")
    #expect(try sandbox.migrate().draftCopy == nil)
    #expect(try Sandbox.reminders().migrate().draftCopy == nil)
  }

  @Test("does not stay when a reader prevents the commit")
  func busyCommit() throws {
    let sandbox = try Sandbox()
    for name in ["a", "b"] {
      try sandbox.addSQL("000\(name == "a" ? 1 : 2)_\(name)", "CREATE TABLE \(name) (x);")
    }
    try sandbox.freeze(through: "0002")
    try sandbox.migrate { $0.through = "1" }
    try sandbox.addSQL("0003_c", "CREATE TABLE c (x);")
    let reader = try sandbox.open()
    var isReading = false
    var options = sandbox.options()
    options.timeout = 0
    let report = try sandbox.project().migrate(options) { event in
      // The frozen migration is committed. Next, the draft runs in its own transaction.
      guard case .committed = event, !isReading else { return }
      isReading = true
      try? reader.execute("BEGIN")
      _ = try? reader.value("SELECT count(*) FROM a")
    }
    #expect(report.applied.map(\.id) == ["0002_b"])
    #expect(report.status == .busy)
    #expect(report.draftCopy == nil)
    let files = try FileManager.default.contentsOfDirectory(atPath: sandbox.folder)
    #expect(!files.contains { $0.hasSuffix(".before-drafts") })
  }

  @Test("an edited draft is reset and applied again, and the replaced database is kept")
  func resetAndForward() throws {
    let sandbox = try sandbox()
    try sandbox.migrate()
    try sandbox.run("INSERT INTO tags (id, title) VALUES ('late', 'after the copy')")
    let edited = try String(
      contentsOfFile: "\(repository.path)/migrations/\(Sandbox.statusMove).yaml", encoding: .utf8
    ).replacing("1: 1", with: "1: 2")
    try sandbox.add(Sandbox.statusMove, edited)
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.message.contains("--reset-drafts") == true)

    let setAside = try reset(sandbox)
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT DISTINCT status FROM reminders ORDER BY 1") == [[0], [2]])
    let aside = try Connection(path: setAside, mode: .readOnly)
    #expect(try aside.value("SELECT title FROM tags WHERE id = 'late'") == "after the copy")
  }

  @Test("a copy of another point of the history is not restored if no draft has run since")
  func frozenDrafts() throws {
    let sandbox = try sandbox()
    try sandbox.migrate()
    try sandbox.freeze(release: "1.1")
    let before = try Dump(sandbox.open())
    #expect(try reset(sandbox) == "")
    #expect(try Dump(sandbox.open()) == before)
    try FileManager.default.removeItem(atPath: sandbox.database + ".before-drafts")
    #expect(try reset(sandbox) == "")
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test("after some drafts were frozen the failure names them and the way back")
  func frozenSince() throws {
    let sandbox = try Sandbox()
    for name in ["0001_a", "0002_b", "0003_c"] {
      try sandbox.addSQL(name, "CREATE TABLE \(name.suffix(1)) (x)")
      if name == "0001_a" {
        try sandbox.freeze(through: "0001")
        try sandbox.migrate()
      }
    }
    try sandbox.migrate()
    try sandbox.freeze(release: "1.1", through: "0002")
    try sandbox.addSQL("0003_c", "CREATE TABLE c (y)")
    let failure = #expect(throws: Failure.self) { try reset(sandbox) }
    #expect(failure?.status == .finding)
    let copy = sandbox.database + ".before-drafts"
    let problem =
      "`\(copy)` is from before `0002_b` (frozen since then), and a reset would remove rows that a "
      + "release may have written. Nothing changed"
    #expect(failure?.message.hasPrefix(problem) == true)
    #expect(failure?.remedy?.contains("`schemactl restore ") == true)
    _ = try Restore(
      sandbox.database,
      from: Backups(of: sandbox.database, .usual, in: nil).file(named: copy), .usual
    ).run(try sandbox.project())
    #expect(try sandbox.migrate().applied.map(\.id) == ["0002_b", "0003_c"])
  }

  @Test("the copy is not restored to another database of the same app")
  func otherDatabase() throws {
    let first = try sandbox()
    let second = try sandbox()
    try first.migrate()
    try second.migrate()
    for suffix in [".before-drafts"] {
      try FileManager.default.removeItem(atPath: second.database + suffix)
      try FileManager.default.copyItem(
        atPath: first.database + suffix, toPath: second.database + suffix)
    }
    let before = try Dump(second.open())
    let failure = #expect(throws: Failure.self) { try reset(second) }
    #expect(failure?.status == .finding)
    #expect(try Dump(second.open()) == before)
  }

  @Test("the copy remains the database's own after a repair of the ledger")
  func repaired() throws {
    let sandbox = try sandbox()
    try sandbox.migrate()
    try sandbox.run("UPDATE schemactl_migrations SET raw_digest = 'x' WHERE position = 1")
    let project = try sandbox.project()
    let repair = LedgerRepair(
      id: "0001_create_lists_and_reminders", action: .current, reason: "because")
    try project.carryOut(
      try project.plan(repair, database: sandbox.database, timeout: 1),
      database: sandbox.database, timeout: 1)
    // Imitate a ledger row that a later version of schemactl wrote.
    try sandbox.run("UPDATE schemactl_migrations SET tool_version = 'later' WHERE position = 1")
    try reset(sandbox)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test("a database that has run no draft since the copy is not reset")
  func nothingToUndo() throws {
    let sandbox = try sandbox()
    try sandbox.migrate()
    _ = try reset(sandbox)
    try sandbox.run("INSERT INTO tags (id, title) VALUES ('late', 'after the reset')")
    #expect(try reset(sandbox) == "")
    #expect(try sandbox.rows("SELECT count(*) FROM tags WHERE id = 'late'") == [[1]])
  }

  @Test(
    "without a copy, a database that has run no draft is not reset, for example after a failed commit"
  )
  func noCopy() throws {
    let sandbox = try sandbox()
    try sandbox.migrate { $0.frozenOnly = true }
    let copy = try DraftCopy(of: sandbox.database, sandbox.project())
    #expect(try copy.restore(timeout: 1) == nil)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test(
    "a reset to an empty database is refused if it has objects that no migration created",
    arguments: ["CREATE TABLE a (x)", "CREATE TABLE b (x, y)"])
  func foreignObjects(draft: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (x)")
    try sandbox.migrate()
    try sandbox.run("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)")
    try sandbox.addSQL("0001_a", draft)
    let failure = #expect(throws: Failure.self) { try reset(sandbox) }
    #expect(failure?.status == .finding)
    #expect(failure?.message.contains("`mine`, which the current migrations do not create") == true)
    #expect(try sandbox.rows("SELECT x FROM mine") == [[1]])
    try sandbox.run("DROP TABLE mine")
    #expect(try !reset(sandbox).isEmpty)
    #expect(try sandbox.rows("SELECT name FROM sqlite_schema").isEmpty)
  }

  @Test("a reset never overwrites an earlier replaced database")
  func everySetAside() throws {
    let sandbox = try sandbox()
    try sandbox.migrate()
    try sandbox.run("INSERT INTO tags (id, title) VALUES ('late', 'once')")
    let first = try reset(sandbox)
    try sandbox.migrate()
    let second = try reset(sandbox)
    #expect(first != second)
    let aside = try Connection(path: first, mode: .readOnly)
    #expect(try aside.value("SELECT title FROM tags WHERE id = 'late'") == "once")
  }

  @Test("a failing reset leaves the database unchanged and no copy of it")
  func lockedReset() throws {
    let sandbox = try sandbox()
    try sandbox.migrate()
    let before = try Dump(sandbox.open())
    let writer = try sandbox.open()
    try writer.execute("BEGIN IMMEDIATE")
    let failure = #expect(throws: Failure.self) {
      try DraftCopy(of: sandbox.database, sandbox.project()).restore(timeout: 0)
    }
    #expect(failure?.status == .busy)
    let setAside = sandbox.database + ".before-reset"
    #expect(failure?.message.hasSuffix(". Nothing changed") == true)
    #expect(!FileManager.default.fileExists(atPath: setAside))
    try writer.execute("ROLLBACK")
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test("of several processes with a pending draft, one works, and the copy is complete")
  func together() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    try sandbox.makeRelease1(reminders: 4000)
    let running = try (0..<3).map { _ in try start("schemactl", sandbox.migrateArguments) }
    let ended = try running.map { try $0.wait() }
    for one in ended { #expect([0, 75].contains(one.code), "\(one.code) \(one.errors)") }
    #expect(ended.contains { $0.code == 0 })
    let copy = try Connection(
      path: DraftCopy(of: sandbox.database, sandbox.project()).path, mode: .readOnly)
    #expect(try (Ledger.usual.rows(in: copy) ?? []).count == 6)
    #expect(try copy.value("SELECT count(*) FROM reminders") == 4000)
    let files = try FileManager.default.contentsOfDirectory(atPath: sandbox.folder)
    #expect(!files.contains { $0.contains(".partial") })
  }

  @Test(
    "concurrent writes of another process are not lost",
    arguments: oneIn(2, of: ["wal", "delete"]))
  func writtenMeanwhile(journal: String) throws {
    let sandbox = try sandbox()
    try sandbox.run("PRAGMA journal_mode = \(journal)")
    try sandbox.migrate()
    let written = Locked<[String]>([])
    let isOver = Atomic<Bool>(false)
    let path = sandbox.database
    let finished = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      defer { finished.signal() }
      guard let connection = try? Connection(path: path, mode: .readWrite) else { return }
      connection.setBusyHandler(timeout: 5)
      var number = 0
      while !isOver.load(ordering: .relaxed), number < 2000 {
        number += 1
        let id = "live\(number)"
        let isWritten =
          (try? connection.execute("INSERT INTO tags (id) VALUES (?1)", [.text(id)])) != nil
        if isWritten { written.withLock { $0.append(id) } }
      }
    }
    while written.withLock({ $0.isEmpty }) { Thread.sleep(forTimeInterval: 0.001) }
    let reset = try? DraftCopy(of: sandbox.database, sandbox.project()).restore(timeout: 5)
    isOver.store(true, ordering: .relaxed)
    finished.wait()
    var held = Set(try sandbox.rows("SELECT id FROM tags").compactMap { $0[0].text })
    if let reset {
      let aside = try Connection(path: reset.setAside, mode: .readOnly)
      held.formUnion(try aside.rows("SELECT id FROM tags").compactMap { $0[0].text })
    }
    #expect(Set(written.withLock { $0 }).subtracting(held).isEmpty)
  }
}

import Foundation
import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaPreview
import SchemaReplay
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Rehearsals on a copy")
struct RehearsalTests {
  private func files(_ sandbox: Sandbox) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: sandbox.folder).sorted()
  }

  @Test("a rehearsal has the result of migrate on a private copy, which is deleted")
  func works() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    try sandbox.makeRelease1()
    let before = try Data(contentsOf: URL(fileURLWithPath: sandbox.database))
    var mode: Any?
    let report = try sandbox.project().rehearse(sandbox.options { $0.backup = BackupOptions() }) {
      event in
      guard case .began = event, let all = try? files(sandbox),
        let copy = all.first(where: { $0.hasSuffix(".partial") })
      else { return }
      mode = try? FileManager.default.attributesOfItem(
        atPath: sandbox.folder + "/" + copy)[.posixPermissions]
    }
    #expect(mode as? Int == 0o600)
    #expect(report.status == .success)
    #expect(report.run.applied.map(\.id) == [Sandbox.statusMove])
    #expect(report.run.backup == nil)
    #expect(report.run.draftCopy == nil)
    #expect(try Data(contentsOf: URL(fileURLWithPath: sandbox.database)) == before)
    #expect(try files(sandbox) == ["live.sqlite", "migrations"])
    // The actual run uses the same strategies.
    #expect(try sandbox.migrate().applied.map(\.strategies) == report.run.applied.map(\.strategies))
    #expect(try sandbox.project().rehearse(sandbox.options()).run.applied.isEmpty)
  }

  #if os(Linux)
    @Test(
      "a rehearsal does not flock the copy, because that may conflict with SQLite's locks")
    func locks() throws {
      let sandbox = try Sandbox.reminders()
      try sandbox.makeRelease1()
      var found: [String: Bool] = [:]
      _ = try sandbox.project().rehearse(sandbox.options()) { event in
        guard case .ran = event, found.isEmpty else { return }
        let locks = (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? ""
        for name in (try? files(sandbox)) ?? [] where name.contains(".partial") {
          var status = stat()
          guard stat(sandbox.folder + "/" + name, &status) == 0 else { continue }
          let lock = locks.split(separator: "\n")
            .first { $0.contains(" FLOCK ") && $0.contains(":\(status.st_ino) ") }
          let kind = name.hasSuffix("-claim") ? "claim" : "other"
          found[kind] = lock != nil || found[kind] == true
        }
      }
      #expect(found == ["claim": true, "other": false])
    }
  #endif

  @Test("a rehearsal fails like migrate, with the rows and the name of the database")
  func fails() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.run("UPDATE reminders SET isCompleted = 5 WHERE id = 'r7'")
    let rehearsal = try sandbox.project().rehearse(sandbox.options())
    let migration = try sandbox.migrate()
    #expect(rehearsal.status == .migrationFailed)
    #expect(rehearsal.run.failure?.message == migration.failure?.message)
    #expect(rehearsal.run.failure?.message.contains("5 (integer) in 1 row") == true)
    #expect(try files(sandbox) == ["live.sqlite", "migrations"])
  }

  @Test("a rehearsal of a missing database does not create it")
  func missing() throws {
    let sandbox = try Sandbox.reminders()
    #expect(try sandbox.project().rehearse(sandbox.options()).run.applied.count == 7)
    let failure = #expect(throws: Failure.self) {
      try sandbox.project().rehearse(sandbox.options { $0.existing = true })
    }
    #expect(failure?.status == .notFound)
    #expect(try files(sandbox) == ["migrations"])
  }

  @Test("an interrupted rehearsal leaves no file", arguments: ["wal", "delete"])
  func interrupted(journal: String) throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.run("PRAGMA journal_mode = \(journal)")
    for copies in [true, false] {
      let interruption = Interruption()
      var status: SchemaHistory.ExitStatus?
      do {
        status = try sandbox.project().rehearse(
          sandbox.options(), interruption: interruption
        ) { event in
          switch event {
          case .copying where copies: interruption.request()
          case .ran where !copies: interruption.request()
          default: break
          }
        }.status
      } catch let failure as Failure {
        status = failure.status
      }
      #expect(status == .interrupted)
      #expect(try !files(sandbox).contains { $0.contains("partial") })
    }
  }
}

@Suite("A file that is replaced during a run")
struct ReplacedFileTests {
  enum Moment: String, CaseIterable, Sendable { case began, started, ran, willCommit }

  enum Way: CaseIterable, Sendable { case replaced, removed }

  private func sandbox(_ journal: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES ('old'); PRAGMA journal_mode = \(journal)")
    try sandbox.addSQL("0002_change", "UPDATE t SET a = 'new'; CREATE TABLE u (a);")
    return sandbox
  }

  /// Reads the content without a lock and without a journal.
  private func held(_ path: String) throws -> [[Value]] {
    let connection = try Connection(path: path, mode: .immutable)
    return try connection.rows("SELECT a FROM t")
      + connection.rows("SELECT count(*) FROM schemactl_migrations")
  }

  @Test(
    "the run is rolled back, and neither file changes", arguments: Moment.allCases,
    ["delete", "wal"].flatMap { journal in Way.allCases.map { (journal, $0) } })
  func moved(moment: Moment, how: (String, Way)) throws {
    let sandbox = try sandbox(how.0)
    let other = sandbox.folder + "/other"
    let old = sandbox.folder + "/old"
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: other)
    try Connection(path: other, mode: .readWrite).execute("UPDATE t SET a = 'other'")
    var isDone = false
    let report = try sandbox.project().migrate(sandbox.options()) { event in
      let isNow =
        switch event {
        case .began: moment == .began
        case .started: moment == .started
        case .ran: moment == .ran
        case .willCommit: moment == .willCommit
        default: false
        }
      guard isNow, !isDone else { return }
      isDone = true
      #expect(link(sandbox.database, old) == 0)
      if how.1 == .replaced {
        rename(other, sandbox.database)
      } else {
        unlink(sandbox.database)
      }
    }
    #expect(isDone)
    #expect(report.status == .inputOutput)
    #expect(report.failure?.message.contains("removed or replaced") == true)
    #expect(report.failure?.message.contains("both files are unchanged") == true)
    #expect(report.applied.isEmpty)
    #expect(try held(old) == [["old"], [1]])
    if how.1 == .replaced {
      #expect(try held(sandbox.database) == [["other"], [1]])
    } else {
      #expect(try !DatabaseFile.exists(sandbox.database))
    }
  }

  @Test("after a commit, applied migrations are reported for the opened file")
  func afterCommit() throws {
    let sandbox = try sandbox("delete")
    let other = sandbox.folder + "/other"
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: other)
    try sandbox.addSQL("0003_more", "UPDATE t SET a = 'newer';")
    let report = try sandbox.project().migrate(sandbox.options()) { event in
      if case .committed = event { rename(other, sandbox.database) }
    }
    #expect(report.status == .inputOutput)
    #expect(report.applied.map(\.id) == ["0002_change"])
    #expect(report.failure?.message.contains("up to `0002_change`") == true)
    #expect(try held(sandbox.database) == [["old"], [1]])
  }
}

import Foundation
import History
import Migrating
import SQLite
import Testing

@Suite("the copy before the first draft")
struct DraftCopyTests {
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    try sandbox.makeRelease1()
    return sandbox
  }

  private func reset(_ sandbox: Sandbox) throws {
    try DraftCopy(of: sandbox.database).restore(sandbox.project(), timeout: 1)
  }

  @Test("is the database as it was, and is there before anything of the draft is")
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

  @Test("is not taken for frozen migrations, for a second draft, or when nothing is frozen")
  func notTaken() throws {
    let sandbox = try sandbox()
    #expect(try sandbox.migrate { $0.frozenOnly = true }.draftCopy == nil)
    try sandbox.migrate()
    try sandbox.addSQL("0008_more", "CREATE TABLE more (a);")
    #expect(try sandbox.migrate().draftCopy == nil)
    #expect(try Sandbox.reminders().migrate().draftCopy == nil)
  }

  @Test("a draft that was edited is reset and applied again, and what it replaced is kept")
  func resetAndForward() throws {
    let sandbox = try sandbox()
    try sandbox.migrate()
    try sandbox.run("INSERT INTO tags (id, title) VALUES ('late', 'after the copy')")
    let edited = try String(
      contentsOfFile: "\(repository)/migrations/\(Sandbox.statusMove).yaml", encoding: .utf8
    ).replacing("1: 1", with: "1: 2")
    try sandbox.add(Sandbox.statusMove, edited)
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.message.contains("--reset-drafts") == true)

    try reset(sandbox)
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT DISTINCT status FROM reminders ORDER BY 1") == [[0], [2]])
    let aside = try Connection(path: DraftCopy(of: sandbox.database).setAside, mode: .readOnly)
    #expect(try aside.value("SELECT title FROM tags WHERE id = 'late'") == "after the copy")
  }

  @Test("is not put back when it is another database's, or from another point of the history")
  func foreignCopy() throws {
    let sandbox = try sandbox()
    try sandbox.migrate()
    try sandbox.freeze(release: "1.1")
    let before = try Dump(sandbox.open())
    let failure = #expect(throws: Failure.self) { try reset(sandbox) }
    #expect(failure?.status == .finding)
    #expect(try Dump(sandbox.open()) == before)
    try FileManager.default.removeItem(atPath: sandbox.database + ".before-drafts")
    #expect(throws: Failure.self) { try reset(sandbox) }
  }
}

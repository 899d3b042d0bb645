import Foundation
import SchemaCSQLite
import SchemaKitYAML
import SchemaSQLText
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Async")
struct AsyncTests {
  /// A database, and a pending migration whose time grows with the square of its rows.
  private func slow(rows: Int = 20_000) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    try sandbox.freeze()
    try sandbox.migrator().migrate(databaseAt: sandbox.database)
    try sandbox.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) "
        + "INSERT INTO notes SELECT i, 'note' FROM n")
    try sandbox.addSQL(
      "0002_slow",
      "UPDATE notes SET text = (SELECT count(*) FROM notes AS other WHERE other.text < notes.text || 'a')"
    )
    return sandbox
  }

  @Test(
    "a database is migrated away from the caller's thread, and the progress ends with the report")
  func progress() async throws {
    let sandbox = try Sandbox.ofNotes()
    let migrator = try sandbox.migrator()
    var seen: [MigrationProgress] = []
    for try await progress in migrator.migrating(databaseAt: sandbox.database) {
      seen.append(progress)
    }
    guard case .finished(let report)? = seen.last else {
      Issue.record("no report")
      return
    }
    #expect(report.applied.count == 3)
    #expect(seen.contains(.started(migration: "0003_tags", number: 3, of: 3)))
    #expect(seen.contains { if case .committed = $0 { true } else { false } })
    #expect(try await migrator.migrate(databaseAt: sandbox.database).applied.isEmpty)
    #expect(try await migrator.status(databaseAt: sandbox.database).current == "0003_tags")
    #expect(try await migrator.verify(databaseAt: sandbox.database).isIntact)
  }

  @Test("a cancelled task rolls back", arguments: [true, false])
  func cancels(onHandle: Bool) async throws {
    let sandbox = try slow()
    let migrator = try sandbox.migrator()
    let database = sandbox.database
    let hasBegun = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      let app = try AppConnection(database)
      let report: @Sendable (MigrationProgress) -> Void = { _ in hasBegun.continuation.yield() }
      do {
        if onHandle {
          hasBegun.continuation.yield()
          try await migrator.migrate(handle: app.handle, onProgress: report)
        } else {
          try await migrator.migrate(databaseAt: database, onProgress: report)
        }
        return nil as SchemaError?
      } catch let error as SchemaError {
        return error
      }
    }
    for await _ in hasBegun.stream { break }
    task.cancel()
    let error = try await task.value
    #expect(error?.code == .interrupted)
    #expect(try sandbox.ledger == ["0001_notes"])
    #expect(try sandbox.rows("SELECT count(*) FROM notes WHERE text <> 'note'") == [[0]])
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test("who stops reading the progress cancels the migration")
  func stopsReading() async throws {
    let sandbox = try slow()
    for try await progress in try sandbox.migrator().migrating(databaseAt: sandbox.database) {
      if case .working = progress { break }
    }
    // The lock is free once it has been rolled back.
    try sandbox.run("PRAGMA busy_timeout = 60000")
    let connection = try sandbox.open()
    connection.setBusyHandler(timeout: 60)
    try connection.execute("BEGIN IMMEDIATE; COMMIT")
    #expect(try sandbox.ledger == ["0001_notes"])
  }

  @Test("a long statement is reported while it runs")
  func reports() throws {
    let sandbox = try slow(rows: 4000)
    var working = 0
    _ = try sandbox.migrator().migrate(databaseAt: sandbox.database) { progress in
      if case .working = progress { working += 1 }
    }
    #expect(working > 3)
  }

  @Test("drafts are taken back, and a database that was made by hand is adopted")
  func resetAndAdopt() throws {
    let sandbox = try Sandbox.ofNotes()
    let migrator = try sandbox.migrator()
    try migrator.migrate(databaseAt: sandbox.database, through: "2")
    try migrator.migrate(databaseAt: sandbox.database)
    try migrator.resetDrafts(databaseAt: sandbox.database)
    #expect(try migrator.status(databaseAt: sandbox.database).pending == ["0003_tags"])
    let path = sandbox.folder + "/made.sqlite"
    try AppConnection(path).run("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    #expect(try migrator.adopt(databaseAt: path) == ["0001_notes"])
  }
}

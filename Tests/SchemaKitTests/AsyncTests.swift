import Foundation
import SchemaCSQLite
import SchemaKitYAML
import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Async")
struct AsyncTests {
  /// A database with a pending migration whose duration grows with the square of its rows.
  private func slow(rows: Int) throws -> Sandbox {
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
    "a database is migrated on another thread, and the progress ends with the report")
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
    let app = try AppConnection(sandbox.database)
    #expect(try await migrator.status(handle: app.handle).current == "0003_tags")
    #expect(try await migrator.verify(handle: app.handle).isIntact)
  }

  /// Pauses a migration until the test continues it.
  private final class Gate: Sendable {
    let hasBegun = AsyncStream.makeStream(of: Void.self)
    private let semaphore = DispatchSemaphore(value: 0)

    var function: AppFunction {
      AppFunction("pause", arguments: 1, isDeterministic: false) { [self] arguments in
        hasBegun.continuation.yield()
        semaphore.wait()
        semaphore.signal()
        return arguments[0]
      }
    }

    func open() { semaphore.signal() }
  }

  /// A database with a pending migration that calls the gate's function for each row.
  private func paused() throws -> Sandbox {
    let sandbox = try Sandbox()
    sandbox.application.declaredFunctions = [DeclaredFunction(name: "pause", arguments: 1)]
    try sandbox.addSQL("0001_notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    try sandbox.freeze()
    try sandbox.migrator().migrate(databaseAt: sandbox.database)
    try sandbox.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        + "INSERT INTO notes SELECT i, 'note' FROM n")
    try sandbox.addSQL("0002_slow", "UPDATE notes SET text = pause('new')")
    return sandbox
  }

  private func expectUnchanged(_ sandbox: Sandbox) throws {
    let connection = try sandbox.open()
    // The lock is released after the migration was rolled back.
    connection.setBusyHandler(timeout: 60)
    try connection.execute("BEGIN IMMEDIATE; COMMIT")
    #expect(try sandbox.ledger == ["0001_notes"])
    #expect(try sandbox.rows("SELECT count(*) FROM notes WHERE text <> 'note'") == [[0]])
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test("a cancelled task rolls back", arguments: [true, false])
  func cancels(onHandle: Bool) async throws {
    let sandbox = try paused()
    let gate = Gate()
    let migrator = try sandbox.migrator(functions: [gate.function])
    let database = sandbox.database
    let task = Task {
      let app = try AppConnection(database)
      do {
        if onHandle {
          try await migrator.migrate(handle: app.handle)
        } else {
          try await migrator.migrate(databaseAt: database)
        }
        return nil as SchemaError?
      } catch let error as SchemaError {
        return error
      }
    }
    for await _ in gate.hasBegun.stream { break }
    task.cancel()
    gate.open()
    #expect(try await task.value?.code == .interrupted)
    try expectUnchanged(sandbox)
  }

  @Test("ending the iteration of the progress cancels the migration")
  func stopsReading() async throws {
    let sandbox = try paused()
    let gate = Gate()
    let migrator = try sandbox.migrator(functions: [gate.function])
    for try await progress in migrator.migrating(databaseAt: sandbox.database) {
      if case .started = progress { break }
    }
    gate.open()
    try expectUnchanged(sandbox)
  }

  @Test("a long statement reports progress while it runs")
  func reports() throws {
    let sandbox = try slow(rows: 4000)
    var working = 0
    _ = try sandbox.migrator().migrate(databaseAt: sandbox.database) { progress in
      if case .working = progress { working += 1 }
    }
    #expect(working > 3)
  }

  @Test("drafts can be reset, and a manually created database can be adopted")
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

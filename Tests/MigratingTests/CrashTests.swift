import Foundation
import History
import Migrating
import SQLite
import SchemaModel
import TestSupport
import Testing

@Suite("kill -9 at each step of migrate")
struct CrashTests {
  private enum Journal: String, CaseIterable {
    case delete, truncate, persist, wal
  }

  /// A move that renames, and one that copies the table: then the cache spills, and a journal is
  /// left that the next one to open the file must play back.
  private func makeDatabase(_ journal: Journal) throws -> Sandbox {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1(reminders: 4000)
    try sandbox.run("PRAGMA journal_mode = \(journal.rawValue)")
    try sandbox.add(
      "0008_move_title",
      """
      operations:
        - move_column:
            table: reminders
            from: notes
            to: { name: text, type: TEXT, not_null: true, default: none }
            using: "upper(notes)"
      """)
    try sandbox.addSQL("0009_small", "CREATE TABLE small (a); INSERT INTO small VALUES (1);")
    return sandbox
  }

  private func isHot(_ database: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: database + "-journal") else { return false }
    // A journal that counts begins with this; a committed one is gone, empty or zeroed.
    return (try? file.read(upToCount: 8)) == Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
  }

  @Test("leaves a migration's boundary, and migrate again finishes", arguments: Journal.allCases)
  private func everyStep(_ journal: Journal) throws {
    let template = try makeDatabase(journal)
    let boundaries = try Self.boundaries(template)
    var seen: Set<Int> = []
    var sawHotJournal = false
    var steps = 0
    var isDone = false
    while !isDone {
      steps += 1
      try #require(steps < 500)
      let copy = try Sandbox.reminders()
      for file in try FileManager.default.contentsOfDirectory(atPath: template.folder)
      where file != "migrations" {
        try FileManager.default.copyItem(
          atPath: "\(template.folder)/\(file)", toPath: "\(copy.folder)/\(file)")
      }
      let migrations = template.folder + "/migrations"
      let ended = try run("CrashingMigrator", [migrations, copy.database, "\(steps)"])
      isDone = ended.code == 0
      try #require(isDone || ended.code == 128 + SIGKILL, "\(ended.errors)")
      sawHotJournal = sawHotJournal || isHot(copy.database)

      let connection = try copy.open()
      #expect(try connection.rows("PRAGMA integrity_check") == [["ok"]])
      #expect(try connection.rows("PRAGMA foreign_key_check").isEmpty)
      let state = try State(connection)
      let boundary = boundaries.firstIndex(of: state)
      #expect(boundary != nil, "step \(steps): neither the old nor the new state")
      if let boundary { seen.insert(boundary) }

      let again = try run("CrashingMigrator", [migrations, copy.database, "0"])
      #expect(again.code == 0, "\(again.errors)")
      #expect(try State(copy.open()) == boundaries.last)
    }
    #expect(seen == Set(boundaries.indices), "all boundaries have been met")
    #expect(sawHotJournal || journal == .wal, "no kill left a journal to be played back")
  }

  /// Schema, ledger and the rows that the migrations rewrite.
  private struct State: Equatable {
    let fingerprint: String
    let ledger: [String]
    let rows: [[Value]]

    init(_ connection: Connection) throws {
      let schema = try Schema(of: connection)
      fingerprint = schema.fingerprint()
      ledger = (try Ledger.rows(in: connection) ?? []).map(\.id)
      rows = try connection.rows("SELECT rowid, * FROM reminders ORDER BY rowid")
    }
  }

  /// The states before, between and after the pending migrations.
  private static func boundaries(_ template: Sandbox) throws -> [State] {
    let copy = try Sandbox()
    try FileManager.default.removeItem(atPath: copy.folder + "/migrations")
    try FileManager.default.copyItem(
      atPath: template.folder + "/migrations", toPath: copy.folder + "/migrations")
    try template.run("PRAGMA wal_checkpoint(TRUNCATE)")
    try FileManager.default.copyItem(atPath: template.database, toPath: copy.database)
    var states = [try State(copy.open())]
    for id in ["0007", "0008", "0009"] {
      try copy.migrate(to: id)
      states.append(try State(copy.open()))
    }
    return states
  }
}

@Suite("two processes at once")
struct ConcurrencyTests {
  @Test(
    "on one file: each migration is in the ledger once, and one has nothing to do",
    arguments: [false, true])
  func together(startsWithDatabase: Bool) throws {
    let sandbox = try Sandbox.reminders()
    if startsWithDatabase { try sandbox.makeRelease1(reminders: 2000) }
    let arguments = [sandbox.folder + "/migrations", sandbox.database, "0"]
    let running = try (0..<4).map { _ in try start("CrashingMigrator", arguments) }
    let ended = try running.map { try $0.wait() }
    for one in ended { #expect([0, 75].contains(one.code), "\(one.errors)") }
    #expect(ended.contains { $0.code == 0 })
    let ids = try sandbox.project().migrations.map(\.id)
    #expect(try sandbox.ledger == ids)
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }
}

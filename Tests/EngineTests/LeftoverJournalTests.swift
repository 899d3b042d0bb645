import Foundation
import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaSQLite
import SchemaTestSupport
import Testing

/// Rollback journals next to a database that are incomplete, obsolete, or belong to another database.
@Suite("Leftover journals")
struct LeftoverJournalTests {
  // MARK: Transactions over several databases

  @Test("with its super-journal, a journal is rolled back and deleted with it")
  func superJournal() throws {
    let copy = try Leftover.reminders()
    try copy.write([copy.sandbox.database + "-journal"], to: copy.superJournal)
    try copy.writeJournal(naming: copy.superJournal)
    try copy.expectMigrated(halfDone: 0)
    #expect(!FileManager.default.fileExists(atPath: copy.superJournal))
  }

  @Test("a super-journal that another database needs remains")
  func sharedSuperJournal() throws {
    let copy = try Leftover.reminders()
    let other = copy.sandbox.folder + "/other.sqlite-journal"
    try copy.write([copy.sandbox.database + "-journal", other], to: copy.superJournal)
    try copy.writeJournal(naming: copy.superJournal)
    try copy.writeJournal(naming: copy.superJournal, to: other)
    let files = try [other, copy.superJournal].map { try Data(contentsOf: URL(filePath: $0)) }
    try copy.expectMigrated(halfDone: 0)
    #expect(
      try [other, copy.superJournal].map { try Data(contentsOf: URL(filePath: $0)) } == files)
  }

  /// Deleting the super-journal committed the transaction (Atomic Commit In SQLite, section 5.5).
  @Test("without its super-journal, a journal is obsolete and the commit remains")
  func missingSuperJournal() throws {
    let copy = try Leftover.reminders()
    try copy.writeJournal(naming: copy.superJournal)
    try copy.expectMigrated(halfDone: 400)
  }

  // MARK: Journals of other databases

  /// SQLite cannot detect that the journal belongs to another database, and damages the database. schemactl
  /// cannot repair that, but must not migrate the damaged database.
  @Test(
    "a rollback of another database's journal is detected, and nothing more is written",
    arguments: [(4096, 40), (4096, 2000), (1024, 400), (8192, 400)])
  func foreign(pageSize: Int, rows: Int) throws {
    let journal = try Leftover.journalOfNotes(pageSize: pageSize, rows: rows)
    let copy = try Leftover.reminders(journal)
    try copy.writeJournal()
    let bytes = try copy.playedBack()
    for command in copy.commands {
      let failure = #expect(throws: Failure.self) { try command() }
      #expect([.finding, .brokenHistory, .inputOutput].contains(failure?.status))
      #expect(failure?.message.contains(copy.sandbox.database) == true)
      #expect(FileManager.default.contents(atPath: copy.sandbox.database) == bytes)
    }
  }

  @Test("a completed or empty journal of another database has no effect")
  func foreignAndCold() throws {
    let journal = try Leftover.journalOfNotes(pageSize: 4096, rows: 400)
    for bytes in [Data(), Data(count: 28) + journal.dropFirst(28), Data(journal.prefix(27))] {
      let copy = try Leftover.reminders(bytes)
      try copy.writeJournal()
      try copy.expectMigrated(halfDone: 400)
    }
  }
}

/// A database with a journal, copied in the middle of a transaction of a process that was killed.
private struct Leftover {
  let sandbox: Sandbox
  private let journal: Data

  /// Returns a database in which all titles are `half` already. The journal belongs to that transaction, or
  /// is `other`.
  static func reminders(_ other: Data? = nil) throws -> Leftover {
    let origin = try Sandbox.reminders()
    try origin.makeRelease1(reminders: 400)
    let (database, journal) = try interrupted(
      origin, "UPDATE reminders SET title = 'half'; SELECT count(*) FROM reminders")
    let copy = try Sandbox.reminders()
    try database.write(to: URL(filePath: copy.database))
    return Leftover(sandbox: copy, journal: other ?? journal)
  }

  /// Returns the journal of another killed application, which stores notes.
  static func journalOfNotes(pageSize: Int, rows: Int) throws -> Data {
    let notes = try Sandbox()
    try notes.run(
      """
      PRAGMA page_size = \(pageSize);
      CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      INSERT INTO notes SELECT i, hex(zeroblob(200)) FROM n;
      """)
    return try interrupted(
      notes, "CREATE TABLE more (a); UPDATE notes SET body = 'half'; SELECT count(*) FROM notes"
    ).journal
  }

  /// Returns the files during a transaction. The small cache makes SQLite write to the database before the
  /// commit.
  private static func interrupted(
    _ sandbox: Sandbox, _ sql: String
  ) throws -> (database: Data, journal: Data) {
    let writer = try sandbox.open()
    try writer.execute("PRAGMA cache_size = 2; BEGIN IMMEDIATE; \(sql)")
    return (
      try Data(contentsOf: URL(filePath: sandbox.database)),
      try Data(contentsOf: URL(filePath: sandbox.database + "-journal"))
    )
  }

  /// A path for a super-journal, in the form that SQLite uses.
  var superJournal: String { sandbox.database + "-mj0123456789" }

  /// Writes a super-journal: the paths of its journals, each followed by a zero byte.
  func write(_ journals: [String], to path: String) throws {
    try Data(journals.flatMap { Array($0.utf8) + [0] }).write(to: URL(filePath: path))
  }

  /// Writes the journal, and appends the path of a super-journal in the format of `writeSuperJournal` in
  /// SQLite's pager.c.
  func writeJournal(naming superJournal: String? = nil, to path: String? = nil) throws {
    var bytes = journal
    if let name = superJournal.map({ Array($0.utf8) }) {
      let numbers = [0x4000_0000 / 4096 + 1, name.count, name.reduce(0) { $0 + Int($1) }]
        .map { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
      bytes += numbers[0] + name + numbers[1] + numbers[2]
      bytes += [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    }
    try bytes.write(to: URL(filePath: path ?? sandbox.database + "-journal"))
  }

  /// Returns the database after SQLite's own rollback.
  func playedBack() throws -> Data {
    let path = sandbox.folder + "/alone.sqlite"
    for suffix in ["", "-journal"] {
      try FileManager.default.copyItem(atPath: sandbox.database + suffix, toPath: path + suffix)
    }
    _ = try? Connection(path: path, mode: .readWrite).value("SELECT count(*) FROM sqlite_schema")
    return try Data(contentsOf: URL(filePath: path))
  }

  var commands: [() throws -> Void] {
    [
      { _ = try sandbox.project().status(database: sandbox.database, timeout: 1) },
      { _ = try sandbox.project().dryRun(sandbox.options()) },
      { try sandbox.migrate() },
    ]
  }

  func expectMigrated(halfDone: Int64) throws {
    let copy = sandbox
    #expect(try copy.project().status(database: copy.database, timeout: 1).pending.count == 1)
    #expect(try copy.migrate().failure == nil)
    #expect(
      try copy.rows("SELECT count(*), sum(title = 'half'), sum(status) FROM reminders")
        == [[400, .integer(halfDone), 133]])
    #expect(try copy.rows("PRAGMA integrity_check") == [["ok"]])
    #expect(!FileManager.default.fileExists(atPath: copy.database + "-journal"))
  }
}

import Foundation
import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Restored backups")
struct RestoreTests {
  /// Returns a database with a backup from before its last migration.
  private func sandbox(
    _ prepare: String = "", _ create: String = "CREATE TABLE t (id INTEGER PRIMARY KEY, a);"
  ) throws -> (Sandbox, backup: String) {
    let sandbox = try Sandbox()
    try sandbox.run(prepare)
    try sandbox.addSQL("0001_create", create)
    try sandbox.migrate()
    return (sandbox, "")
  }

  private func backedUp(
    _ prepare: String = "", _ create: String = "CREATE TABLE t (id INTEGER PRIMARY KEY, a);",
    rows: String = "INSERT INTO t (a) VALUES ('old')"
  ) throws -> (Sandbox, backup: String, before: Whole) {
    let (sandbox, _) = try sandbox(prepare, create)
    try sandbox.run(rows)
    let before = try Whole(sandbox.open())
    try sandbox.addSQL("0002_change", "CREATE TABLE u (a); DELETE FROM t;")
    let report = try sandbox.migrate { $0.backup = BackupOptions() }
    #expect(report.failure == nil)
    return (sandbox, try #require(report.backup), before)
  }

  /// All observable content of a database.
  struct Whole: Equatable {
    let dump: Dump
    let settings: [[Value]]

    init(_ connection: Connection) throws {
      dump = try Dump(connection)
      settings = try [
        "user_version", "application_id", "page_size", "auto_vacuum", "encoding",
      ].map { [.text($0), try connection.value("PRAGMA \($0)") ?? .null] }
    }
  }

  private func restore(
    _ sandbox: Sandbox, _ backup: String, force: Bool = false, project: Bool = true
  ) throws -> Restore.Report {
    var restore = Restore(sandbox.database, from: backup, .usual)
    restore.force = force
    restore.timeout = 1
    return try restore.run(project ? sandbox.project() : nil)
  }

  struct Kind: Sendable, CustomTestStringConvertible {
    let prepare: String
    var create = "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT COLLATE NOCASE UNIQUE);"
    var testDescription: String { prepare }
  }

  static let kinds =
    [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536].flatMap { size in
      ["delete", "wal"].map {
        Kind(prepare: "PRAGMA page_size = \(size); PRAGMA journal_mode = \($0)")
      }
    } + [
      Kind(prepare: "PRAGMA encoding = 'UTF-16le'"), Kind(prepare: "PRAGMA encoding = 'UTF-16be'"),
      Kind(prepare: "PRAGMA auto_vacuum = FULL"), Kind(prepare: "PRAGMA auto_vacuum = INCREMENTAL"),
      Kind(prepare: "PRAGMA application_id = 77; PRAGMA user_version = 9"),
      Kind(
        prepare: "PRAGMA journal_mode = truncate",
        create: "CREATE TABLE t (a, b PRIMARY KEY) WITHOUT ROWID;"),
      Kind(
        prepare: "PRAGMA journal_mode = persist",
        create: "CREATE TABLE t (a, b); CREATE VIRTUAL TABLE ft USING fts5(a, content='t');"),
    ]

  @Test(
    "a restore restores every row, the schema, the ledger and the file header",
    arguments: oneIn(2, of: kinds))
  func same(kind: Kind) throws {
    let (sandbox, backup, before) = try backedUp(
      kind.prepare, kind.create,
      rows: """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO t (a, b) SELECT randomblob(300), 'é€😀' || i FROM n
        """)
    let changed = try Whole(sandbox.open())
    #expect(changed != before)
    let report = try restore(sandbox, backup)
    #expect(try Whole(sandbox.open()) == before)
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
    let aside = try #require(report.setAside)
    #expect(aside == sandbox.database + ".before-restore")
    #expect(try Whole(Connection(path: aside, mode: .readWrite)) == changed)
    #expect(report.current == "0001_create")
    try sandbox.migrate()
    #expect(try sandbox.ledger.count == 2)
  }

  @Test("a busy database that cannot be identified is not replaced")
  func busy() throws {
    let (owner, backup, _) = try backedUp()
    defer { withExtendedLifetime(owner) {} }
    let (other, _, _) = try backedUp()
    let before = try Whole(other.open())
    let app = try other.open()
    try app.execute("BEGIN EXCLUSIVE")
    let failure = #expect(throws: Failure.self) { try restore(other, backup) }
    #expect(failure?.status == .busy)
    try app.execute("ROLLBACK")
    #expect(try Whole(other.open()) == before)
    #expect(throws: Failure.self) { try restore(other, backup) }
  }

  @Test("a replaced file is kept under a name without another file's log")
  func staleLog() throws {
    let (sandbox, backup, _) = try backedUp()
    try "a log".write(
      toFile: sandbox.database + ".before-restore-wal", atomically: true, encoding: .utf8)
    let report = try restore(sandbox, backup)
    #expect(report.setAside == sandbox.database + ".before-restore-2")
  }

  @Test("a backup behind a link is read with its log")
  func linked() throws {
    let (sandbox, backup, _) = try backedUp()
    try FileManager.default.createDirectory(
      atPath: sandbox.folder + "/links", withIntermediateDirectories: false)
    let link = sandbox.folder + "/links/kept"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: backup)
    let app = try Connection(path: backup, mode: .readWrite)
    try app.execute("PRAGMA journal_mode = WAL; INSERT INTO t (a) VALUES ('in the log')")
    _ = try restore(sandbox, link)
    #expect(try sandbox.rows("SELECT a FROM t") == [["old"], ["in the log"]])
  }

  @Test("a restore through a link creates its missing target")
  func danglingLink() throws {
    let (sandbox, backup, before) = try backedUp()
    let real = sandbox.folder + "/real.sqlite"
    try FileManager.default.removeItem(atPath: sandbox.database)
    try FileManager.default.createSymbolicLink(
      atPath: sandbox.database, withDestinationPath: "real.sqlite")
    _ = try restore(sandbox, backup)
    #expect(try Whole(Connection(path: real, mode: .readOnly)) == before)
    let type = try FileManager.default.attributesOfItem(atPath: sandbox.database)[.type]
    #expect(type as? FileAttributeType == .typeSymbolicLink)
  }

  @Test(
    "a backup may have another page size than the replaced database",
    arguments: ["wal", "delete"], [(512, 4096), (4096, 512), (1024, 65536), (65536, 1024)])
  func pageSizes(journal: String, sizes: (Int, Int)) throws {
    let (sandbox, backup, before) = try backedUp("PRAGMA page_size = \(sizes.0)")
    let vacuum = "PRAGMA page_size = \(sizes.1); VACUUM; PRAGMA journal_mode = \(journal);"
    #expect(try run("/usr/bin/env", ["sqlite3", sandbox.database, vacuum]).code == 0)
    #expect(try sandbox.rows("PRAGMA page_size") == [[.integer(Int64(sizes.1))]])
    _ = try restore(sandbox, backup)
    #expect(try Whole(sandbox.open()) == before)
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test(
    "an unreadable file is set aside unchanged",
    arguments: ["garbage", "cut", "short", "empty", "schema", "gone"])
  func damaged(how: String) throws {
    let (sandbox, backup, before) = try backedUp()
    let url = URL(fileURLWithPath: sandbox.database)
    var bytes = try Data(contentsOf: url)
    switch how {
    case "garbage": bytes.replaceSubrange(0..<16, with: Data(repeating: 7, count: 16))
    case "cut": bytes.removeLast(bytes.count - 4096)
    case "short": bytes = Data("SQLite".utf8)
    case "schema": bytes.replaceSubrange(100..<110, with: Data(repeating: 0xee, count: 10))
    default: bytes = Data()
    }
    if how == "gone" {
      try FileManager.default.removeItem(at: url)
    } else {
      try bytes.write(to: url)
    }
    // The journal belongs to an unfinished transaction. Rolling it back would destroy the restored file.
    let journal = try Data(contentsOf: URL(fileURLWithPath: backup))
    try journal.write(to: URL(fileURLWithPath: sandbox.database + "-wal"))
    let report = try restore(sandbox, backup)
    #expect(try Whole(sandbox.open()) == before)
    let aside = try #require(report.setAside)
    #expect(aside == sandbox.database + ".before-restore" + (how == "gone" ? "-wal" : ""))
    let kept = try Data(contentsOf: URL(fileURLWithPath: aside))
    #expect(kept == (how == "gone" ? journal : bytes))
  }

  @Test("a link to the database remains")
  func link() throws {
    let (sandbox, backup, before) = try backedUp()
    let link = sandbox.folder + "/link.sqlite"
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: sandbox.database)
    try Data("no database".utf8).write(to: URL(fileURLWithPath: sandbox.database))
    _ = try Restore(link, from: backup, .usual).run(nil)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == sandbox.database)
    #expect(try Whole(sandbox.open()) == before)
  }

  @Test(
    "75: a damaged file that another process has open is not moved",
    arguments: [
      "BEGIN EXCLUSIVE;", "BEGIN; SELECT count(*) FROM t;",
      "PRAGMA journal_mode = WAL; SELECT count(*) FROM t;",
    ])
  func damagedInUse(use: String) throws {
    let (sandbox, backup, _) = try backedUp()
    let ready = sandbox.folder + "/ready"
    // Another process reads from a pipe without a writer, so it keeps the file open until it is killed.
    let pipe = sandbox.folder + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let shell = try start(
      "/usr/bin/env", ["sqlite3", sandbox.database],
      input: "\(use)\n.shell touch \(ready)\n.read \(pipe)\n")
    defer {
      shell.send(SIGKILL)
      _ = try? shell.wait()
    }
    for _ in 0..<6000 where !FileManager.default.fileExists(atPath: ready) {
      Thread.sleep(forTimeInterval: 0.01)
    }
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: sandbox.database))
    try handle.write(contentsOf: Data(repeating: 7, count: 100))
    try handle.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: sandbox.database))
    let failure = #expect(throws: Failure.self) { try restore(sandbox, backup) }
    #expect(failure?.status == .busy)
    #expect(try Data(contentsOf: URL(fileURLWithPath: sandbox.database)) == before)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: sandbox.folder)
        .allSatisfy { !$0.contains("restore") && !$0.contains("partial") })
  }

  @Test("a connection of the same process to a damaged file is noticed")
  func damagedInUseHere() throws {
    let (sandbox, backup, before) = try backedUp()
    let reader = try sandbox.open()
    try reader.execute("BEGIN")
    _ = try reader.value("SELECT count(*) FROM t")
    // Another process must do this: closing the file in this process would release its locks.
    let damage = "dd if=/dev/zero of='\(sandbox.database)' bs=100 count=1 conv=notrunc 2>&1"
    #expect(try run("/bin/sh", ["-c", damage]).code == 0)
    let failure = #expect(throws: Failure.self) { try restore(sandbox, backup) }
    #expect(failure?.status == .busy)
    #expect(try leftovers(sandbox).isEmpty)
    try reader.execute("COMMIT")
    _ = try restore(sandbox, backup)
    #expect(try Whole(sandbox.open()) == before)
  }

  @Test("a damaged backup is refused without changes")
  func unsound() throws {
    let (sandbox, backup, _) = try backedUp(rows: "INSERT INTO t (a) VALUES (zeroblob(9000))")
    let before = try Whole(sandbox.open())
    var bytes = try Data(contentsOf: URL(fileURLWithPath: backup))
    let root = try Connection(path: backup, mode: .immutable)
      .value("SELECT rootpage FROM sqlite_schema WHERE name = 't'")?.integer
    let page = (Int(try #require(root)) - 1) * 4096
    bytes.replaceSubrange(page + 3..<page + 11, with: Data(repeating: 0xff, count: 8))
    // Only a check of the whole file detects the wrong number of free pages.
    var freelist = try Data(contentsOf: URL(fileURLWithPath: backup))
    freelist[39] = 5
    let cases: [(Data, SchemaHistory.ExitStatus)] = [
      (freelist, .inputOutput),
      (Data(), .inputOutput), (Data("text".utf8), .inputOutput), (bytes, .inputOutput),
      (bytes.prefix(5000), .inputOutput),
    ]
    for (content, status) in cases {
      let file = sandbox.folder + "/bad"
      try content.write(to: URL(fileURLWithPath: file))
      let failure = #expect(throws: Failure.self) { try restore(sandbox, file, force: true) }
      #expect(failure?.status == status, "\(content.count)")
    }
    for (file, status) in [
      (sandbox.folder + "/no", SchemaHistory.ExitStatus.notFound), (sandbox.folder, .inputOutput),
      (sandbox.database, .usage),
    ] {
      let failure = #expect(throws: Failure.self) { try restore(sandbox, file) }
      #expect(failure?.status == status, "\(file)")
    }
    #expect(try Whole(sandbox.open()) == before)
  }

  @Test("a backup of another database or ahead of the history needs --force")
  func mismatch() throws {
    let (sandbox, backup, before) = try backedUp()
    let changed = try Whole(sandbox.open())
    let (other, otherBackup, otherBefore) = try backedUp()
    let stranger = sandbox.folder + "/stranger"
    try Connection(path: stranger).execute("CREATE TABLE theirs (a)")
    for file in [otherBackup, stranger] {
      let failure = #expect(throws: Failure.self) { try restore(sandbox, file) }
      #expect(failure?.status == .finding)
      #expect(failure?.message.contains("--force") == true)
    }
    try FileManager.default.removeItem(atPath: sandbox.folder + "/migrations/0001_create.yaml")
    let failure = #expect(throws: Failure.self) { try restore(sandbox, backup) }
    #expect(failure?.message.contains("0001_create") == true)
    #expect(try Whole(sandbox.open()) == changed)
    // Without a history, schemactl cannot detect that.
    _ = try restore(sandbox, backup, project: false)
    #expect(try Whole(sandbox.open()) == before)
    _ = try restore(sandbox, otherBackup, force: true)
    #expect(try Whole(sandbox.open()) == otherBefore)
    #expect(try other.ledger.count == 2)
  }

  @Test(
    "a backup belongs to its database after a repair of the ledger",
    arguments: [LedgerRepair.Action.current, .absent])
  func repaired(action: LedgerRepair.Action) throws {
    let (sandbox, backup, before) = try backedUp()
    let folder = sandbox.folder + "/kept"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let moved = folder + "/" + (backup as NSString).lastPathComponent
    try FileManager.default.moveItem(atPath: backup, toPath: moved)
    if action == .current {
      try sandbox.run("UPDATE schemactl_migrations SET raw_digest = 'x', tool_version = 'y'")
    } else {
      // Insert a row for an earlier migration that was never run.
      let backup = try Connection(path: moved, mode: .readWrite)
      for connection in [backup, try sandbox.open()] {
        try connection.execute(
          """
          INSERT INTO schemactl_migrations SELECT '0000_none', 0, raw_digest, canonical_digest,
            fingerprint, '2020-01-01T00:00:00.000Z', 0, '' FROM schemactl_migrations LIMIT 1
          """)
      }
    }
    let repair = LedgerRepair(
      id: action == .current ? "0001_create" : "0000_none", action: action, reason: "because")
    let project = try sandbox.project()
    let plan = try project.plan(repair, database: sandbox.database, timeout: 1)
    try project.carryOut(plan, database: sandbox.database, timeout: 1)

    _ = try restore(sandbox, moved, project: false)
    if action == .current { #expect(try Whole(sandbox.open()) == before) }
  }

  private func leftovers(_ sandbox: Sandbox) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: sandbox.folder)
      .filter { $0.contains("before-restore") || $0.contains("partial") }
  }

  @Test(
    "a restore waits for a lock, and keeps no copy of an unchanged database",
    arguments: ["wal", "delete"])
  func locked(journal: String) throws {
    let (sandbox, backup, _) = try backedUp("PRAGMA journal_mode = \(journal)")
    let before = try Whole(sandbox.open())
    let writer = try sandbox.open()
    try writer.execute("BEGIN IMMEDIATE")
    var restore = Restore(sandbox.database, from: backup, .usual)
    restore.timeout = 0
    let failure = #expect(throws: Failure.self) { try restore.run(nil) }
    #expect(failure?.status == .busy)
    #expect(failure?.message.hasSuffix(". Nothing changed") == true)
    #expect(try leftovers(sandbox).isEmpty)
    try writer.execute("ROLLBACK")
    #expect(try Whole(sandbox.open()) == before)
  }

  @Test("a reader keeps its snapshot until its transaction ends")
  func reader() throws {
    let (sandbox, backup, before) = try backedUp("PRAGMA journal_mode = wal")
    let reader = try sandbox.open()
    try reader.execute("BEGIN")
    #expect(try reader.value("SELECT count(*) FROM t") == 0)
    _ = try restore(sandbox, backup)
    #expect(try reader.value("SELECT count(*) FROM t") == 0)
    try reader.execute("COMMIT")
    #expect(try Whole(reader) == before)
  }

  @Test(
    "a connection that is open meanwhile works with the restored content",
    arguments: ["delete", "wal"])
  func openConnection(mode: String) throws {
    let (sandbox, backup, before) = try backedUp("PRAGMA journal_mode = \(mode)")
    let app = try sandbox.open()
    #expect(try app.value("SELECT count(*) FROM t") == 0)
    _ = try restore(sandbox, backup)
    #expect(try Whole(app) == before)
    try app.execute("INSERT INTO t (a) VALUES ('kept')")
    #expect(try sandbox.open().value("SELECT count(*) FROM t WHERE a = 'kept'") == 1)
  }

  @Test("an interrupted restore changes nothing")
  func interrupted() throws {
    let (sandbox, backup, _) = try backedUp()
    let before = try Whole(sandbox.open())
    let interruption = Interruption()
    let restore = Restore(sandbox.database, from: backup, .usual, interruption: interruption) {
      event in
      if case .note = event { interruption.request() }
    }
    let failure = #expect(throws: Failure.self) { try restore.run(nil) }
    #expect(failure?.status == .interrupted)
    #expect(failure?.message.hasSuffix(". Nothing changed") == true)
    #expect(try leftovers(sandbox).isEmpty)
    #expect(try Whole(sandbox.open()) == before)
  }

  @Test("a reader of a rollback journal prevents a restore, and no copy is kept")
  func readerInTheWay() throws {
    let (sandbox, backup, _) = try backedUp("PRAGMA journal_mode = delete")
    let before = try Whole(sandbox.open())
    let reader = try sandbox.open()
    try reader.execute("BEGIN")
    #expect(try reader.value("SELECT count(*) FROM t") == 0)
    var restore = Restore(sandbox.database, from: backup, .usual)
    restore.timeout = 0
    let failure = #expect(throws: Failure.self) { try restore.run(nil) }
    #expect(failure?.status == .busy)
    try reader.execute("COMMIT")
    #expect(try leftovers(sandbox).isEmpty)
    #expect(try Whole(sandbox.open()) == before)
  }

  @Test("reading a backup in any folder leaves no file next to it")
  func noTraces() throws {
    let (sandbox, backup, _) = try backedUp("PRAGMA journal_mode = wal")
    let folder = sandbox.folder + "/odd #1? 100%"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let file = folder + "/" + (backup as NSString).lastPathComponent
    try FileManager.default.moveItem(atPath: backup, toPath: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file)
    #expect(
      try Restore(sandbox.database, from: file, .usual).check(nil).current == "0001_create")
    _ = try restore(sandbox, file)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
  }
}

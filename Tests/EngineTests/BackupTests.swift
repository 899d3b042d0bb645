import Foundation
import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaPreview
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Synchronization
import Testing

@Suite("Backups before migrating")
struct BackupTests {
  private func sandbox(_ journal: String = "delete") throws -> Sandbox {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.run("PRAGMA journal_mode = \(journal)")
    return sandbox
  }

  private func still(_ path: String) throws -> Connection {
    try Connection(path: path, mode: .immutable)
  }

  private func files(_ sandbox: Sandbox, in folder: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: sandbox.folder + folder).sorted()
      .filter { $0 != "migrations" }
  }

  @Test(
    "a backup equals the database, and is complete before the first commit",
    arguments: ["wal", "delete"])
  func kept(journal: String) throws {
    let sandbox = try sandbox(journal)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o640], ofItemAtPath: sandbox.database)
    let before = try Dump(sandbox.open())
    var found: [String]?
    let report = try sandbox.project().migrate(
      sandbox.options { $0.backup = BackupOptions() }
    ) { event in
      if case .willCommit = event, found == nil { found = try? files(sandbox) }
    }
    let backup = try #require(report.backup)
    #expect(report.failure == nil)
    #expect(found?.contains((backup as NSString).lastPathComponent) == true)
    #expect(found?.contains { $0.hasSuffix(".partial") } == false)
    #expect(try Dump(still(backup)) == before)
    #expect(try Dump(sandbox.open()) != before)
    let mode = try FileManager.default.attributesOfItem(atPath: backup)[.posixPermissions]
    #expect(mode as? Int == 0o640)
    #expect(try files(sandbox).filter { !$0.hasPrefix("live.sqlite-") }.count == 2)
    let name = (backup as NSString).lastPathComponent
    #expect(name.wholeMatch(of: /live\.sqlite\.backup-0001-\d{8}T\d{6}Z/) != nil)
  }

  @Test("no backup is made if nothing is pending or the database is new")
  func notMade() throws {
    let sandbox = try Sandbox.reminders()
    #expect(try sandbox.migrate { $0.backup = BackupOptions() }.backup == nil)
    #expect(try sandbox.migrate { $0.backup = BackupOptions() }.backup == nil)
    #expect(try files(sandbox) == ["live.sqlite"])
  }

  @Test("a backup is written to the requested folder or file")
  func places() throws {
    let sandbox = try sandbox()
    let folder = sandbox.folder + "/kept"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try sandbox.addSQL("0008_more", "CREATE TABLE more (a);")
    try sandbox.addSQL("0009_last", "CREATE TABLE last (a);")
    let first = try sandbox.migrate(to: "7") { $0.backup = BackupOptions(.path(folder)) }
    let name = try #require(first.backup?.dropFirst(folder.count + 1))
    #expect(name.wholeMatch(of: /live\.sqlite-[0-9a-f]+\.backup-0001-\d{8}T\d{6}Z/) != nil)
    let slash = try sandbox.migrate(to: "8") { $0.backup = BackupOptions(.path(folder + "/")) }
    #expect(slash.backup?.hasPrefix(folder + "/live.sqlite-") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
    let second = try sandbox.migrate(to: "9") {
      $0.backup = BackupOptions(.path(sandbox.folder + "/one.sqlite"))
    }
    #expect(second.backup == sandbox.folder + "/one.sqlite")
    #expect(try (Ledger.usual.rows(in: still(sandbox.folder + "/one.sqlite")) ?? []).count == 8)
  }

  @Test("a backup never replaces a file, and is refused before any change")
  func refused() throws {
    let sandbox = try sandbox()
    let before = try Dump(sandbox.open())
    let file = sandbox.folder + "/mine"
    try "mine".write(toFile: file, atomically: true, encoding: .utf8)
    let places: [(BackupOptions.Place, SchemaHistory.ExitStatus)] = [
      (.path(file), .usage), (.path(sandbox.folder + "/no/file"), .notFound),
      (.path(sandbox.folder + "/no/"), .notFound), (.folder(sandbox.folder + "/no"), .notFound),
      (.folder(file), .notFound), (.path(sandbox.database + "-wal"), .usage), (.path(""), .usage),
      (.path(sandbox.database), .usage),
    ]
    for (place, status) in places {
      let failure = #expect(throws: Failure.self) {
        try sandbox.migrate { $0.backup = BackupOptions(place) }
      }
      #expect(failure?.status == status, "\(place)")
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    #expect(try Dump(sandbox.open()) == before)
    #expect(try files(sandbox) == ["live.sqlite", "mine"])
  }

  @Test("a backup and a draft copy are both made if both are due")
  func withDraftCopy() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    try sandbox.makeRelease1()
    let before = try Dump(sandbox.open())
    let report = try sandbox.migrate { $0.backup = BackupOptions() }
    for path in [try #require(report.backup), try #require(report.draftCopy)] {
      #expect(try Dump(still(path)) == before)
    }
  }

  @Test("no backup remains if the draft copy cannot get its name")
  func withoutDraftCopy() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    try sandbox.makeRelease1()
    let before = try Dump(sandbox.open())
    try FileManager.default.createDirectory(
      atPath: sandbox.database + ".before-drafts", withIntermediateDirectories: false)
    let report = try sandbox.migrate { $0.backup = BackupOptions() }
    #expect(report.failure != nil)
    #expect(report.applied.isEmpty)
    #expect(report.backup == nil)
    #expect(try files(sandbox) == ["live.sqlite", "live.sqlite.before-drafts"])
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test("the draft copy of a draft after frozen migrations includes them")
  func draftLater() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    try sandbox.migrate(to: "5")
    let report = try sandbox.migrate { $0.backup = BackupOptions() }
    let backup = try still(try #require(report.backup))
    let draftCopy = try still(try #require(report.draftCopy))
    #expect(try Ledger.usual.rows(in: backup)?.count == 5)
    #expect(try Ledger.usual.rows(in: draftCopy)?.count == 6)
  }

  @Test("the newest backups remain, and only backups of this database are deleted")
  func retention() throws {
    let sandbox = try sandbox()
    let folder = sandbox.folder + "/kept"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let options = BackupOptions(.folder(folder), keep: 3)
    let first = try #require(try sandbox.migrate(to: "7") { $0.backup = options }.backup)
    try FileManager.default.removeItem(atPath: first)
    let name = (first as NSString).lastPathComponent
    let own = try #require(name.firstRange(of: ".backup-").map { String(name[..<$0.upperBound]) })
    let mine = (1...4).map { "\(own)0001-2020010\($0)T000000Z" }
    for name in mine {
      try FileManager.default.copyItem(atPath: sandbox.database, toPath: folder + "/" + name)
    }
    // Backups of other databases, copies of this one among them, and files that are not backups.
    let others = [
      "live.sqlite.backup-0001-20190101T000000Z", own + "2019", "live.sqlite",
      "live.sqlite-00000000.backup-0001-20190101T000000Z", own + "20190101T000000Z-x",
    ]
    for name in others {
      try FileManager.default.copyItem(atPath: sandbox.database, toPath: folder + "/" + name)
    }
    let unreadable = own + "0001-20190102T000000Z"
    try "no database".write(
      toFile: folder + "/" + unreadable, atomically: true, encoding: .utf8)
    try sandbox.addSQL("0008_wrong", "INSERT INTO tags (id) VALUES ('a'), ('a');")
    let failed = try sandbox.migrate { $0.backup = options }
    #expect(failed.failure != nil)
    #expect(try files(sandbox, in: "/kept").count == mine.count + others.count + 1)

    try sandbox.addSQL("0008_wrong", "CREATE TABLE more (a);")
    let report = try sandbox.migrate { $0.backup = options }
    #expect(report.failure == nil)
    let left = try files(sandbox, in: "/kept")
    for name in others + [unreadable] {
      #expect(left.contains(name), "\(name)")
    }
    #expect(!left.contains(mine[0]) && !left.contains(mine[1]))
    #expect(left.contains(mine[2]) && left.contains(mine[3]))
    #expect(report.backup.map { left.contains(($0 as NSString).lastPathComponent) } == true)
  }

  @Test("of two backups with one number the later one is newer, and other names are ignored")
  func sameNumber() throws {
    let sandbox = try sandbox()
    let names = [
      "0001-20300101T000000Z", "0002-20300101T000000Z", "0001-20300102T000000Z",
      "20300101T000000Z", "0001-20300101T000000Z-2", "1-20300101T000000Z",
    ]
    for name in names {
      try FileManager.default.copyItem(
        atPath: sandbox.database, toPath: sandbox.database + ".backup-" + name)
    }
    let all = try Backups(of: sandbox.database, .usual).all()
    #expect(
      all.map { $0.path.dropFirst(sandbox.database.count) } == [
        ".backup-0002-20300101T000000Z", ".backup-0001-20300102T000000Z",
        ".backup-0001-20300101T000000Z",
      ])
    #expect(all[0].madeAt == "2030-01-01T00:00:00Z")
    #expect(try all[0].rows(.usual).count == 6)
  }

  @Test("the newest backup is the last one made, regardless of the clock")
  func clockThatWasAhead() throws {
    let sandbox = try sandbox()
    for name in ["0001-20990101T000000Z", "0003-20980101T000000Z", "0002-20990101T000000Z"] {
      try FileManager.default.copyItem(
        atPath: sandbox.database, toPath: sandbox.database + ".backup-" + name)
    }
    let made = try #require(try sandbox.migrate { $0.backup = BackupOptions(keep: 2) }.backup)
    #expect(made.contains("live.sqlite.backup-0004-2"))
    let left = try Backups(of: sandbox.database, .usual).all()
    #expect(
      left.map { $0.path.dropFirst(sandbox.database.count) } == [
        made.dropFirst(sandbox.database.count), ".backup-0003-20980101T000000Z",
      ])
    #expect(try Backups(of: sandbox.database, .usual).file(named: nil) == made)
  }

  @Test("other files are not counted and delete no backup", arguments: ["", "garbage", "cut"])
  func notCounted(content: String) throws {
    let sandbox = try sandbox()
    let good = sandbox.database + ".backup-0001-20200101T000000Z"
    let bad = sandbox.database + ".backup-0002-20200102T000000Z"
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: good)
    let whole = try Data(contentsOf: URL(fileURLWithPath: good))
    try (content == "cut" ? whole.prefix(5000) : Data(content.utf8))
      .write(to: URL(fileURLWithPath: bad))
    let report = try sandbox.migrate { $0.backup = BackupOptions(keep: 2) }
    #expect(report.failure == nil)
    #expect(FileManager.default.fileExists(atPath: good))
    #expect(FileManager.default.fileExists(atPath: bad))
  }

  @Test("a name with a too long number is not a backup")
  func absurdNumber() throws {
    let sandbox = try sandbox()
    for digits in ["9223372036854775807", "99999999999999999999", "1234567890123456789"] {
      try FileManager.default.copyItem(
        atPath: sandbox.database,
        toPath: sandbox.database + ".backup-\(digits)-20200101T000000Z")
    }
    let made = try #require(try sandbox.migrate { $0.backup = BackupOptions() }.backup)
    #expect(made.contains(".backup-0001-"))
  }

  @Test(
    "the backup equals the state before the first migration while another process writes",
    arguments: ["wal", "delete"])
  func writtenMeanwhile(journal: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_ticks", "CREATE TABLE ticks (id INTEGER PRIMARY KEY, filler);")
    try sandbox.migrate()
    try sandbox.run("PRAGMA journal_mode = \(journal)")
    try sandbox.addSQL("0002_look", "CREATE TABLE seen AS SELECT id FROM ticks;")
    let written = Locked<[Int64]>([])
    let isOver = Atomic<Bool>(false)
    let path = sandbox.database
    let finished = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      defer { finished.signal() }
      guard let connection = try? Connection(path: path, mode: .readWrite) else { return }
      connection.setBusyHandler(timeout: 10)
      var number: Int64 = 0
      while !isOver.load(ordering: .relaxed), number < 20_000 {
        number += 1
        // Pause, so that schemactl gets the lock. It would wait in vain for a process that never releases it.
        usleep(1000)
        let insert = "INSERT INTO ticks VALUES (?1, zeroblob(2000))"
        guard (try? connection.execute(insert, [.integer(number)])) != nil else { continue }
        written.withLock { $0.append(number) }
      }
    }
    while written.withLock({ $0.count < 20 }) { Thread.sleep(forTimeInterval: 0.001) }
    let project = try sandbox.project()
    let options = sandbox.options {
      $0.backup = BackupOptions()
      $0.timeout = 20
    }
    let report = try project.migrate(options)
    isOver.store(true, ordering: .relaxed)
    finished.wait()
    #expect(report.failure == nil)
    let backup = try still(try #require(report.backup))
    let kept = try backup.rows("SELECT id FROM ticks").compactMap { $0[0].integer }
    #expect(try sandbox.rows("SELECT id FROM seen").compactMap { $0[0].integer } == kept)
    let live = Set(try sandbox.rows("SELECT id FROM ticks").compactMap { $0[0].integer })
    #expect(Set(written.withLock { $0 }).isSubset(of: live))
    #expect(kept == (1...Int64(kept.count)).map { $0 })
    #expect(kept.count >= 20)
    #expect(try backup.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test(
    "no other process can write between the backup and the first migration",
    arguments: ["wal", "delete"])
  func exactly(journal: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_ticks", "CREATE TABLE ticks (id INTEGER PRIMARY KEY);")
    try sandbox.migrate()
    try sandbox.run("PRAGMA journal_mode = \(journal); INSERT INTO ticks DEFAULT VALUES")
    try sandbox.addSQL(
      "0002_look", "CREATE TABLE seen AS SELECT id FROM ticks; UPDATE ticks SET id = -id;")
    let writer = try sandbox.open()
    let reader = try sandbox.open()
    var codes: [ResultCode?] = []
    let options = sandbox.options { $0.backup = BackupOptions() }
    let report = try sandbox.project().migrate(options) { event in
      guard case .copying = event else { return }
      #expect((try? reader.value("SELECT count(*) FROM ticks")) == 1)
      let write = Result { () throws(DatabaseError) in
        try writer.execute("INSERT INTO ticks DEFAULT VALUES")
      }
      if case .failure(let error) = write { codes.append(error.code) } else { codes.append(nil) }
    }
    #expect(!codes.isEmpty && codes.allSatisfy { $0 == .busy })
    #expect(report.failure == nil)
    let backup = try still(try #require(report.backup))
    #expect(try backup.rows("SELECT id FROM ticks") == sandbox.rows("SELECT id FROM seen"))
  }

  @Test("the backup is repeated if another process commits before the exclusive lock")
  func changedBeforeLock() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_ticks", "CREATE TABLE ticks (id INTEGER PRIMARY KEY);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO ticks DEFAULT VALUES")
    try sandbox.addSQL("0002_negate", "UPDATE ticks SET id = -id;")
    let isOver = DispatchSemaphore(value: 0)
    let hasBegun = Atomic<Bool>(false)
    let path = sandbox.database
    let report = try sandbox.project().migrate(
      sandbox.options {
        $0.backup = BackupOptions()
        $0.timeout = 10
      }
    ) { event in
      guard case .copying = event, !hasBegun.exchange(true, ordering: .relaxed) else { return }
      Thread.detachNewThread {
        defer { isOver.signal() }
        guard let writer = try? Connection(path: path, mode: .readWrite) else { return }
        writer.setBusyHandler(timeout: 10)
        for _ in 0..<3 { try? writer.execute("INSERT INTO ticks DEFAULT VALUES") }
      }
    }
    isOver.wait()
    #expect(report.failure == nil)
    let kept = try still(try #require(report.backup)).rows("SELECT id FROM ticks ORDER BY id")
    let negated = try sandbox.rows("SELECT -id FROM ticks WHERE id < 0 ORDER BY id DESC")
    #expect(kept == negated)
    #expect(try sandbox.rows("SELECT count(*) FROM ticks") == [[4]])
  }

  @Test("the backup is deleted if a reader prevents the commit", arguments: [true, false])
  func busyCommit(isNamed: Bool) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (x);")
    try sandbox.migrate()
    try sandbox.addSQL("0002_b", "CREATE TABLE b (x);")
    let reader = try sandbox.open()
    try reader.execute("BEGIN")
    _ = try reader.value("SELECT count(*) FROM a")
    let report = try sandbox.migrate {
      $0.backup = isNamed ? BackupOptions(.path(sandbox.folder + "/one.bak")) : BackupOptions()
      $0.timeout = 0
    }
    #expect(report.status == .busy)
    #expect(report.backup == nil)
    #expect(try files(sandbox) == ["live.sqlite"])
    try reader.execute("COMMIT")
    #expect(try sandbox.migrate { $0.backup = BackupOptions() }.backup != nil)
  }

  @Test("a damaged database is not migrated")
  func damaged() throws {
    let sandbox = try sandbox()
    let root = try #require(
      try sandbox.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'reminders'")
        .first?[0].integer)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: sandbox.database))
    try handle.seek(toOffset: UInt64(root - 1) * 4096 + 3)
    try handle.write(contentsOf: Data([0xff, 0xff, 0xff, 0xff]))
    try handle.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: sandbox.database))
    try sandbox.addSQL("0007_replace_is_completed_with_status", "CREATE TABLE more (a);")
    let report = try sandbox.migrate { $0.backup = BackupOptions() }
    #expect(report.status == .inputOutput)
    #expect(report.failure?.message.contains("damaged") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: sandbox.database)) == before)
    #expect(try files(sandbox) == ["live.sqlite"])
  }

  @Test("a backup does not need functions of the application")
  func applicationFunctions() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (x CHECK (theirs(x)), y AS (x));")
    sandbox.application = .init(declaredFunctions: [.init(name: "theirs")])
    try sandbox.migrate()
    try sandbox.addSQL("0002_b", "CREATE TABLE b (x);")
    #expect(try sandbox.migrate { $0.backup = BackupOptions() }.backup != nil)
  }

  @Test("an interrupted copy leaves no file")
  func interrupted() throws {
    let sandbox = try sandbox()
    let before = try Dump(sandbox.open())
    let interruption = Interruption()
    let report = try sandbox.project().migrate(
      sandbox.options { $0.backup = BackupOptions() }, interruption: interruption
    ) { event in
      if case .copying = event { interruption.request() }
    }
    #expect(interruption.isRequested)
    #expect(report.status == .interrupted)
    #expect(try Dump(sandbox.open()) == before)
    #expect(try files(sandbox) == ["live.sqlite"])
  }

  @Test("files of a killed process are deleted, and files in use remain")
  func sweeping() throws {
    let sandbox = try sandbox()
    let stale = sandbox.database + ".123-456.partial"
    let used = sandbox.database + ".123-789.partial"
    let foreign = ["live.sqlite.partial", "live.sqlite.12-x.partial", "other.sqlite.1-2.partial"]
    let ours = [stale, stale + "-claim", stale + "-journal", used, used + "-claim"]
    for path in ours + foreign.map({ sandbox.folder + "/" + $0 }) {
      try "x".write(toFile: path, atomically: true, encoding: .utf8)
    }
    let descriptor = open(used + "-claim", O_RDWR)
    #expect(flock(descriptor, LOCK_EX) == 0)
    defer { close(descriptor) }
    try sandbox.migrate { $0.backup = BackupOptions() }
    let left = try files(sandbox)
    #expect(!left.contains { $0.hasPrefix("live.sqlite.123-456") })
    #expect(left.contains("live.sqlite.123-789.partial"))
    for name in foreign { #expect(left.contains(name)) }
  }
}

@Suite("Free disk space", .needsMount)
struct FreeSpaceTests {
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    try sandbox.makeRelease1(reminders: 1000)
    return sandbox
  }

  @Test("is checked before a backup, and the error states the missing space")
  func backup() throws {
    let sandbox = try sandbox()
    let disk = try SmallDisk(in: sandbox.folder, "300k")
    let before = try Dump(sandbox.open())
    let report = try sandbox.migrate { $0.backup = BackupOptions(.folder(disk.path)) }
    #expect(report.status == .inputOutput)
    let message = report.failure?.message ?? ""
    #expect(message.hasPrefix("a backup of `\(sandbox.database)` needs 1."), "\(message)")
    #expect(message.contains("`\(disk.path)` has 307 kB free"), "\(message)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).isEmpty)
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test("if the disk is full after the backup, the backup is deleted")
  func afterwards() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1(reminders: 1000)
    let disk = try SmallDisk(in: sandbox.folder, "1250k")
    var options = sandbox.options { $0.backup = BackupOptions(.folder(sandbox.folder)) }
    options.database = disk.path + "/live.sqlite"
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: options.database)
    try sandbox.addSQL("0007_replace_is_completed_with_status", "UPDATE reminders SET title = '';")
    let report = try sandbox.project().migrate(options)
    #expect(report.status == .inputOutput)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: sandbox.folder).allSatisfy {
        !$0.contains(".backup-") && !$0.contains(".partial")
      })
    #expect(report.backup == nil)
    #expect(report.failure?.message.contains("the disk is full") == true)
  }

  @Test("is also checked before a draft copy, a rehearsal and a restore")
  func others() throws {
    let sandbox = try sandbox()
    let disk = try SmallDisk(in: sandbox.folder, "1700k")
    let path = disk.path + "/live.sqlite"
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: path)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    var options = sandbox.options()
    options.database = path
    let project = try sandbox.project()
    let migrated = try project.migrate(options)
    #expect(migrated.status == .inputOutput)
    #expect(migrated.failure?.message.contains("before its drafts needs") == true)
    let rehearsal = #expect(throws: Failure.self) { try project.rehearse(options) }
    #expect(rehearsal?.message.contains("to try the migrations on needs") == true)
    let restore = #expect(throws: Failure.self) {
      try Restore(path, from: sandbox.database, .usual).run(project)
    }
    #expect(restore?.message.contains("needs") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["live.sqlite"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }
}

import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("Several processes on one database")
struct ConcurrencyTests {
  enum Journal: String, CaseIterable {
    case wal, delete, truncate, persist
  }

  /// Frozen through 0002, so that the first draft needs a copy. 0003 and 0005 change each row once
  /// more for each process that applies them again.
  private func counting(failing: Bool = false) throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_counter": manifest("CREATE TABLE counter (n INTEGER)"),
    ])
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.write("migrations/0003_up.yaml", manifest("UPDATE counter SET n = n + 1"))
    try folder.write("migrations/0004_tags.yaml", manifest("CREATE TABLE tags (id)"))
    try folder.write(
      "migrations/0005_text.yaml",
      """
      operations:
        - move_column:
            table: notes
            from: text
            to: { name: body, type: TEXT }
            using: text || '!'
      """)
    if failing {
      try folder.write("migrations/0006_fails.yaml", manifest("INSERT INTO nowhere VALUES (1)"))
    }
    return folder
  }

  private func fill(_ folder: WorkingFolder, _ journal: Journal) throws {
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--to", "2")
    try folder.connection().execute(
      """
      PRAGMA journal_mode = \(journal.rawValue);
      INSERT INTO counter VALUES (0);
      WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 1000)
      INSERT INTO notes SELECT i, 'text' FROM i
      """)
  }

  /// Runs eight processes at once; returns the migrations that each of them reports as applied.
  private func migrateAtOnce(
    _ folder: WorkingFolder, expecting status: Int32
  ) throws -> [[String]] {
    let children = try (0..<8).map { _ in
      try folder.start(
        ["migrate", "--database", "app.sqlite", "--timeout", "100", "--format", "json"])
    }
    return try children.map { child in
      let run = try child.wait()
      #expect(run.status == status, "\(run.output)\(run.errors)")
      let applied = try run.json()["applied"] as? [[String: Any]]
      return (applied ?? []).compactMap { $0["id"] as? String }
    }
  }

  @Test("eight processes create a database: each migration runs once, and one reports the creation")
  func newFile() throws {
    let folder = try counting()
    let children = try (0..<8).map { _ in
      try folder.start(["migrate", "--database", "app.sqlite", "--timeout", "100"])
    }
    let runs = try children.map { try $0.wait() }
    #expect(runs.allSatisfy { $0.status == 0 }, "\(runs.map(\.errors))")
    let said = runs.map(\.output).joined()
    #expect(said.components(separatedBy: "Created `app.sqlite`").count == 2)
    for id in try folder.applied() {
      #expect(said.components(separatedBy: "Applied `\(id)` ").count == 2)
    }
    #expect(try folder.applied().count == 5)
    #expect(try folder.rows("PRAGMA integrity_check") == ["ok"])
  }

  @Test(
    "eight processes migrate a database: each migration runs once, in order, on each row",
    arguments: Journal.allCases)
  func existingFile(journal: Journal) throws {
    let folder = try counting()
    try fill(folder, journal)
    let applied = try migrateAtOnce(folder, expecting: 0)
    #expect(applied.joined().sorted() == ["0003_up", "0004_tags", "0005_text"])
    #expect(applied.allSatisfy { $0 == $0.sorted() })
    #expect(try folder.applied().map { $0.prefix(4) } == ["0001", "0002", "0003", "0004", "0005"])
    #expect(try folder.rows("SELECT n FROM counter") == ["1"])
    #expect(try folder.rows("SELECT body, count(*) FROM notes GROUP BY body") == ["text!|1000"])
    #expect(try folder.rows("PRAGMA integrity_check") == ["ok"])
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(!left.contains { $0.hasSuffix(".partial") || $0.hasSuffix("-wal") }, "\(left)")
  }

  @Test("eight processes run a failing history: all report it, and earlier migrations run once")
  func failing() throws {
    let folder = try counting(failing: true)
    try fill(folder, .delete)
    let applied = try migrateAtOnce(folder, expecting: 3)
    #expect(applied.joined().sorted() == ["0003_up", "0004_tags", "0005_text"])
    #expect(try folder.applied().last == "0005_text")
    #expect(try folder.rows("SELECT n FROM counter") == ["1"])
  }

  // MARK: Readers

  @Test("a reader of a write-ahead log keeps its snapshot and blocks nobody")
  func readerOfWAL() throws {
    let folder = try counting()
    try fill(folder, .wal)
    let reader = try folder.connection()
    try reader.execute("BEGIN")
    #expect(try reader.value("SELECT n FROM counter") == .integer(0))
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try reader.value("SELECT n FROM counter") == .integer(0))
    #expect(try reader.value("SELECT text FROM notes") == .text("text"))
    try reader.execute("COMMIT")
    #expect(try reader.value("SELECT n FROM counter") == .integer(1))
  }

  @Test(
    "migrate waits for a reader of a rollback journal, then fails with advice and no change",
    arguments: [3, 4])
  func reader(first: Int) throws {
    let folder = try counting()
    // A rewrite waits before it begins; a new table waits at its commit.
    if first == 4 { try folder.remove("migrations/0003_up.yaml") }
    try fill(folder, .delete)
    let reader = try folder.connection()
    try reader.execute("BEGIN; SELECT n FROM counter")
    let run = try folder.expect(
      75, "migrate", "--database", "app.sqlite", "--timeout", "0.2")
    #expect(run.errors.contains("`app.sqlite` is in use by another process"))
    #expect(run.errors.contains("Close it there and try again, or wait longer with `--timeout`"))
    #expect(run.errors.contains("schemactl applied no migration: `app.sqlite` is unchanged"))
    try reader.execute("COMMIT")
    #expect(try folder.applied().count == 2)
    #expect(try folder.rows("SELECT name FROM sqlite_schema WHERE name = 'tags'").isEmpty)
  }

  @Test("migrate reports a wait for a reader of a rollback journal and then succeeds")
  func readerThatLeaves() throws {
    let folder = try counting()
    try fill(folder, .delete)
    let reader = try folder.connection()
    try reader.execute("BEGIN; SELECT n FROM counter")
    let child = try folder.start(["migrate", "--database", "app.sqlite", "--timeout", "100"])
    try waitUntil { try !child.text("err").isEmpty || !child.isRunning }
    try reader.execute("COMMIT")
    let run = try child.wait()
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.hasPrefix("note: waiting for another process to release the database\n"))
    #expect(try folder.applied().count == 5)
  }

  // MARK: Writers

  @Test(
    "75: a writer that does not finish; JSON contains only that error", arguments: Journal.allCases)
  func writer(journal: Journal) throws {
    let folder = try counting()
    try fill(folder, journal)
    let writer = try folder.connection()
    try writer.execute("BEGIN IMMEDIATE; UPDATE counter SET n = 7")
    let run = try folder.expect(
      75, "migrate", "--database", "app.sqlite", "--timeout", "1.1", "--format", "json")
    let error = try #require(run.json()["error"] as? [String: Any])
    #expect(error["code"] as? Int == 75)
    #expect(run.errors.isEmpty)
    try writer.execute("COMMIT")
    #expect(try folder.applied().count == 2)
    #expect(try folder.rows("SELECT n FROM counter") == ["7"])
  }

  #if os(Linux)
    @Test("on a terminal the wait is counted, also for a lock that blocks readers")
    func progress() throws {
      let folder = try counting()
      try fill(folder, .delete)
      let writer = try folder.connection()
      try writer.execute("BEGIN EXCLUSIVE")
      let terminal = try Terminal()
      let child = try folder.start(
        ["migrate", "--database", "app.sqlite", "--timeout", "100"],
        environment: ["TERM": "xterm"], errors: terminal.handle)
      terminal.read(until: "\r\u{1B}[Kwaiting for the database 0.2 s")
      try writer.execute("COMMIT")
      #expect(try child.wait().status == 0)
      #expect(terminal.readToEnd().contains("commit …\r\u{1B}[Knote: schemactl kept the"))
    }
  #endif

  @Test("the ledger is read under the lock, so a concurrent migration does not run again")
  func between() throws {
    let folder = try counting()
    try fill(folder, .delete)
    let script = try folder.expect(0, "plan", "--sql", "--database", "app.sqlite").output
      .split(separator: "\n").filter {
        !$0.hasPrefix("BEGIN") && !$0.hasPrefix("COMMIT") && !$0.hasPrefix(".")
      }
    let writer = try folder.connection()
    try writer.execute("BEGIN IMMEDIATE; INSERT INTO notes VALUES (5000, 'late')")
    let child = try folder.start(["migrate", "--database", "app.sqlite", "--timeout", "100"])
    try waitUntil { try !child.text("err").isEmpty || !child.isRunning }
    try writer.execute(script.joined(separator: "\n"))
    try writer.execute("COMMIT")
    let run = try child.wait()
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output == "`app.sqlite` is up to date: nothing to do.\n")
    #expect(try folder.rows("SELECT n FROM counter") == ["1"])
    #expect(try folder.rows("SELECT body FROM notes WHERE id = 5000") == ["late!"])
  }

  // MARK: Concurrent readers

  /// Runs `body` during a migration that would take hours.
  private func inTheMiddle(
    _ journal: Journal, _ slow: String, locking lock: String,
    _ body: (WorkingFolder) throws -> Void
  ) throws {
    let folder = try counting()
    try fill(folder, journal)
    try folder.write("migrations/0003_up.yaml", manifest(slow))
    let child = try folder.start(["migrate", "--database", "app.sqlite", "--timeout", "100"])
    let other = try folder.connection()
    try waitUntil {
      let isLocked = (try? other.execute("\(lock); ROLLBACK")) == nil
      // The draft copy gets its name at the commit.
      let isCopied = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .contains { $0.hasSuffix(".partial") }
      return !child.isRunning || isLocked && isCopied
    }
    #expect(child.isRunning)
    try body(folder)
    child.send(SIGINT)
    #expect(try child.wait().status == 130)
    #expect(try folder.applied().count == 2)
    #expect(try folder.rows("SELECT DISTINCT text FROM notes") == ["text"])
  }

  private static let rewrites =
    "UPDATE notes SET text = (SELECT count(*) FROM notes a, notes b, notes c, notes d)"
  private static let adds =
    "CREATE TABLE slow AS SELECT count(*) FROM notes a, notes b, notes c, notes d"
  private static let lookers = [
    ["status"], ["verify"], ["diff"], ["migrate", "--dry-run"], ["plan"],
  ]

  @Test(
    "while a migration runs, other connections see the state before it",
    arguments: [(Journal.wal, rewrites), (.delete, adds), (.persist, adds)])
  func lookingOn(journal: Journal, slow: String) throws {
    try inTheMiddle(journal, slow, locking: "BEGIN IMMEDIATE") { folder in
      // The replay of the slow migration would also take long.
      try folder.remove("migrations/0003_up.yaml")
      for words in Self.lookers {
        let run = try folder.start(words + ["--database", "app.sqlite", "--timeout", "5"])
          .wait(seconds: 60)
        #expect(run.status == 0, "\(words): \(run.errors)")
      }
    }
  }

  @Test("while rows are rewritten with a rollback journal, other processes fail with 75")
  func lockedOut() throws {
    try inTheMiddle(.delete, Self.rewrites, locking: "BEGIN; SELECT 1 FROM notes") { folder in
      try folder.remove("migrations/0003_up.yaml")
      for words in Self.lookers {
        let run = try folder.start(words + ["--database", "app.sqlite", "--timeout", "0.1"])
          .wait(seconds: 60)
        #expect(run.status == 75, "\(words): \(run.errors)")
        #expect(run.errors.contains("`app.sqlite` is in use by another process"))
      }
    }
  }
}

@Suite("Several processes on one folder of migrations")
struct FolderConcurrencyTests {
  private func drafts(_ count: Int) throws -> WorkingFolder {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    for number in 1...count {
      let id = "000\(number)".suffix(4) + "_t\(number)"
      try folder.write("migrations/\(id).yaml", manifest("CREATE TABLE t\(number) (id)"))
    }
    return folder
  }

  @Test("commands that change the folder wait for each other and name the other process")
  func claimed() throws {
    let folder = try drafts(2)
    try folder.write("schemactl.yaml", "timeout: 0.1\n")
    let descriptor = open(folder.path("migrations"), O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX) == 0)
    for words in [
      ["freeze"], ["freeze", "--accept", "1", "--reason", "x"], ["new", "x"], ["renumber", "1"],
    ] {
      let run = try folder.start(words).wait()
      #expect(run.status == 75, "\(words): \(run.errors)")
      #expect(run.errors.contains("another schemactl has been writing in `migrations`"))
    }
    #expect(try folder.expect(0, "verify").status == 0)
    #expect(flock(descriptor, LOCK_UN) == 0)
    try folder.expect(0, "freeze")
  }

  @Test("two concurrent freezes lose no line of the lock")
  func freezing() throws {
    for round in 0..<6 {
      let folder = try drafts(8)
      let first = try folder.start(["freeze", "--release", "1.0", "--to", "\(round + 1)"])
      let second = try folder.start(["freeze", "--release", "2.0"])
      let codes = [try first.wait().status, try second.wait().status]
      #expect(codes == [0, 0])
      let lock = try folder.text("migrations/history.lock")
      #expect(lock.components(separatedBy: "release=").count == 9, "\(lock)")
      try folder.expect(0, "verify")
    }
  }

  @Test("concurrent freeze, new and renumber keep all manifests and a valid lock")
  func together() throws {
    for _ in 0..<4 {
      let folder = try drafts(4)
      try folder.write("migrations/0003_late.yaml", manifest("CREATE TABLE late (id)"))
      let children = try [
        ["renumber", "0003_late"], ["new", "next"], ["freeze"], ["renumber", "0003_late"],
        ["freeze"],
      ].map { try folder.start($0) }
      for child in children {
        let run = try child.wait()
        // Two manifests have the number 3 until renumber has run, and it runs once. A manifest that
        // `new` has made is not frozen empty.
        #expect([0, 1, 65, 66, 64].contains(run.status), "\(run.errors)")
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("migrations"))
      #expect(names.filter { $0.hasSuffix("_late.yaml") }.count == 1)
      #expect(!names.contains { $0.hasSuffix(".tmp") }, "\(names)")
      // `new` refuses a folder in which two manifests have one number.
      if let next = names.first(where: { $0.hasSuffix("_next.yaml") }) {
        try folder.write("migrations/\(next)", manifest("CREATE TABLE next (id)"))
      }
      try folder.expect(0, "freeze")
      try folder.expect(0, "verify")
    }
  }

  @Test("a manifest that is saved during freeze is frozen as it was read, or not at all")
  func saving() throws {
    let folder = try drafts(8)
    let file = "migrations/0008_t8.yaml"
    let texts = ["id", "name"].map { manifest("CREATE TABLE t8 (\($0))") }
    var ends: [Int32] = []
    for _ in 0..<10 where ends.last != 0 {
      let child = try folder.start(["freeze"])
      while child.isRunning { for text in texts { try folder.write(file, text) } }
      ends.append(try child.wait().status)
      // A partial text is not a valid manifest.
      #expect([0, 65, 75].contains(ends.last))
    }
    if ends.last != 0 { try folder.expect(0, "freeze") }
    let isFrozen = try texts.contains { text in
      try folder.write(file, text)
      return try folder.run("verify").status == 0
    }
    #expect(isFrozen, "what was frozen is neither of the texts")
  }
}

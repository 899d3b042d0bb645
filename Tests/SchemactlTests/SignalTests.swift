import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

#if os(Linux)
  extension WorkingFolder {
    /// The number of committed migrations, read while another process writes.
    fileprivate func committed() -> Int {
      (try? applied().count) ?? 0
    }

    /// A history whose replay does not end.
    static func endlessHistory() throws -> WorkingFolder {
      try WorkingFolder.of([
        "0001_endless": manifest(
          "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) "
            + "SELECT count(*) FROM n")
      ])
    }
  }

  @Suite("Signals")
  struct SignalTests {
    /// Three migrations. The last one takes hours on existing rows, and no time without rows.
    private func longHistory() throws -> WorkingFolder {
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      try folder.expect(0, "migrate", "--database", "app.sqlite")
      // A write-ahead log allows the test to read meanwhile.
      try folder.connection().execute(
        """
        PRAGMA journal_mode = WAL;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO notes SELECT i, 'text' FROM n
        """)
      try folder.write("migrations/0002_more.yaml", manifest("CREATE TABLE more (id)"))
      try folder.write(
        "migrations/0003_slow.yaml",
        manifest("UPDATE notes SET text = (SELECT count(*) FROM notes a, notes b, notes c)"))
      return folder
    }

    @Test(
      "130: a signal rolls back and names the last migration, and migrate can continue",
      arguments: [SIGINT, SIGTERM, SIGHUP])
    func interrupted(signal: Int32) throws {
      let folder = try longHistory()
      let child = try folder.start(["migrate", "--database", "app.sqlite"])
      try waitUntil { folder.committed() == 2 || !child.isRunning }
      child.send(signal)
      let run = try child.wait()
      #expect(run.status == 130)
      #expect(run.errors.contains("The last applied migration is `0002_more`"))
      #expect(run.errors.contains("help: run the command again"))
      #expect(try folder.applied() == ["0001_notes", "0002_more"])
      #expect(try folder.rows("SELECT DISTINCT text FROM notes") == ["text"])
    }

    @Test("130: JSON contains the applied migrations")
    func json() throws {
      let folder = try longHistory()
      let child = try folder.start(["migrate", "--database", "app.sqlite", "--format", "json"])
      try waitUntil { folder.committed() == 2 || !child.isRunning }
      child.send(SIGINT)
      let run = try child.wait()
      #expect(run.status == 130)
      let json = try run.json()
      #expect((json["error"] as? [String: Any])?["code"] as? Int == 130)
      #expect((json["applied"] as? [[String: Any]])?.map { $0["id"] as? String } == ["0002_more"])
    }

    @Test("a signal stops a replay before any change")
    func replaying() throws {
      let folder = try WorkingFolder.endlessHistory()
      let child = try folder.start(["migrate", "--database", "app.sqlite"])
      try waitUntil { child.takes(SIGINT) }
      child.send(SIGINT)
      let run = try child.wait()
      #expect(run.status == 130)
      #expect(run.errors == "schemactl: error: interrupted: schemactl applied no migration\n")
      #expect(!folder.exists("app.sqlite"))
    }

    @Test("130: the same signal twice within a second counts once, as GNU timeout sends it")
    func twice() throws {
      let folder = try longHistory()
      let run = try folder.shell(
        "timeout -s TERM 1 \"$schemactl\" migrate --database app.sqlite --format json; echo >&2 $?")
      #expect(run.errors == "124\n")
      #expect((try run.json()["error"] as? [String: Any])?["code"] as? Int == 130)
    }

    @Test("a second signal ends the program at once in any state")
    func second() throws {
      let folder = try WorkingFolder()
      try folder.makeFolder("migrations")
      for number in 1...100 { try folder.write("migrations/\(number)_none.yaml", "operations: []") }
      // Nobody reads the pipe, and its buffer is smaller than the output.
      let pipe = Pipe()
      _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, 1031 /* F_SETPIPE_SZ */, 4096)
      let child = try folder.start(
        ["migrate", "--database", "app.sqlite", "--format", "json"],
        output: pipe.fileHandleForWriting)
      try waitUntil { folder.exists("app.sqlite") && folder.committed() == 100 }
      child.send(SIGINT)
      child.send(SIGTERM)
      try waitUntil { !child.isRunning }
      child.send(SIGKILL)
      let run = try child.wait()
      #expect(run.status == 130)
      #expect(
        run.errors.hasSuffix(
          """

          schemactl: stopped by a second signal. SQLite rolls back unfinished changes when a program next opens the database

          """), "\(run.errors)")
    }

    @Test("a command that writes nothing ends at the first signal")
    func reading() throws {
      let folder = try WorkingFolder.endlessHistory()
      let child = try folder.start(["verify", "--format", "json"])
      try waitUntil { child.takes(SIGTERM) }
      child.send(SIGTERM)
      let run = try child.wait()
      #expect(run.status == 130)
      #expect((try run.json()["error"] as? [String: Any])?["code"] as? Int == 130)
    }

    // MARK: During a wait

    /// Starts a `migrate` that waits for a lock, with a long timeout.
    private func waiting(
      for lock: String, _ words: [String] = [],
      _ body: (WorkingFolder, Connection, Running) throws -> Void
    ) throws {
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      try folder.expect(0, "migrate", "--database", "app.sqlite")
      try folder.write("migrations/0002_more.yaml", manifest("CREATE TABLE more (id)"))
      let other = try folder.connection()
      try other.execute(lock)
      let child = try SchemaTestPrograms.start(
        "/bin/sh",
        [
          "-c",
          (words + ["exec \(program) migrate --database app.sqlite --timeout 100000"])
            .joined(separator: "; "),
        ], in: folder.path)
      try waitUntil { try !child.text("err").isEmpty || !child.isRunning }
      try body(folder, other, child)
    }

    @Test(
      "a signal ends the wait for a lock at once without changes",
      arguments: ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"])
    func waitingForLock(lock: String) throws {
      try waiting(for: lock) { folder, other, child in
        child.send(SIGINT)
        let run = try child.wait(seconds: 30)
        #expect(run.status == 130)
        #expect(run.errors.contains("interrupted"))
        #expect(run.errors.contains("o migration"))
        try other.execute("ROLLBACK")
        #expect(try folder.applied() == ["0001_notes"])
      }
    }

    @Test("a signal that the parent ignores, like nohup, stays ignored")
    func ignored() throws {
      try waiting(for: "BEGIN IMMEDIATE", ["trap '' HUP"]) { folder, other, child in
        child.send(SIGHUP)
        try other.execute("ROLLBACK")
        #expect(try child.wait(seconds: 30).status == 0)
        #expect(try folder.applied().count == 2)
      }
    }

    @Test("a stopped and continued process loses nothing, and signals meanwhile take effect")
    func stopped() throws {
      try waiting(for: "BEGIN IMMEDIATE") { folder, other, child in
        child.send(SIGSTOP)
        try waitUntil { child.isStopped }
        try other.execute("ROLLBACK")
        child.send(SIGCONT)
        #expect(try child.wait(seconds: 30).status == 0)
        #expect(try folder.applied().count == 2)
      }
      try waiting(for: "BEGIN IMMEDIATE") { _, _, child in
        child.send(SIGSTOP)
        try waitUntil { child.isStopped }
        child.send(SIGINT)
        child.send(SIGCONT)
        #expect(try child.wait(seconds: 30).status == 130)
      }
    }

    @Test("a signal ends the program even if nobody reads its last message")
    func unreadMessage() throws {
      let folder = try WorkingFolder.endlessHistory()
      let pipe = Pipe()
      let end = pipe.fileHandleForWriting.fileDescriptor
      // Fill the pipe, as if by other processes.
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      while write(end, "x", 1) == 1 {}
      _ = fcntl(end, F_SETFL, 0)
      let child = try folder.start(
        ["verify", "--format", "json"], output: pipe.fileHandleForWriting)
      try waitUntil { child.takes(SIGTERM) }
      child.send(SIGTERM)
      #expect(try child.wait(seconds: 30).status == 130)
    }

    @Test("a signal ends the wait for the migrations folder at once without changes")
    func waitingForFolder() throws {
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      try folder.write("schemactl.yaml", "timeout: 3600\n")
      let descriptor = open(folder.path("migrations"), O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      #expect(flock(descriptor, LOCK_EX) == 0)
      for words in [["freeze"], ["new", "x"], ["renumber", "1"]] {
        let child = try folder.start(words)
        try waitUntil { child.takes(SIGINT) }
        child.send(SIGINT)
        let run = try child.wait(seconds: 30)
        #expect(run.status == 130)
        #expect(run.errors == "\nschemactl: interrupted\n")
      }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path("migrations"))
          == ["0001_notes.yaml"])
    }
  }
#endif

import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

#if os(Linux)
  /// A failing system call of the program or of SQLite.
  struct FaultyCall {
    /// For example `link` or `pread64`; nil for any.
    var name: String?
    /// A part of the path.
    var path = ""
    /// The first matching call that fails, counted from 1.
    var first = 1
    var last: Int?
    var error = EIO
    /// Kills the program at the call, as with `kill -9`.
    var kills = false
    /// Simulates a file system without hard links.
    var isWithoutLinks = false
  }

  extension WorkingFolder {
    func run(
      _ arguments: [String], failing call: FaultyCall, loggingTo log: String? = nil
    ) throws -> Finished {
      var environment = [
        "LD_PRELOAD": try faultyCallsLibrary.get(),
        "FAULTY_CALLS_FOLDER": path, "FAULTY_CALLS_PATH": call.path,
        "FAULTY_CALLS_FIRST": "\(call.first)", "FAULTY_CALLS_LAST": "\(call.last ?? call.first)",
        "FAULTY_CALLS_ERRNO": "\(call.error)",
      ]
      environment["FAULTY_CALLS_NAME"] = call.name
      environment["FAULTY_CALLS_LOG"] = log
      // The folder of SQLite's temporary files.
      environment["SQLITE_TMPDIR"] = path
      if call.kills { environment["FAULTY_CALLS_KILL"] = "" }
      if call.isWithoutLinks { environment["FAULTY_CALLS_NO_LINKS"] = "" }
      return try start(arguments, environment: environment).wait()
    }

    func names(_ folder: String = "") throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
    }

    fileprivate func node(_ name: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path(name))[.systemFileNumber] as? Int
    }
  }

  @Suite("A failing disk")
  struct FaultTests {
    @Test("a file system with 16 EiB of free space has enough for a backup and a restore")
    func endless() throws {
      let folder = try folder()
      let environment = [
        "LD_PRELOAD": programs.appendingPathComponent("libFaultyCalls.so").path,
        "FAULTY_CALLS_ENDLESS": "",
      ]
      try folder.write("migrations/0003_more.yaml", manifest("UPDATE notes SET text = 'two'"))
      try folder.expect(
        0, "migrate", "--database", "app.sqlite", "--backup=new.bak", environment: environment)
      try folder.expect(
        0, "restore", "--database", "app.sqlite", "new.bak", environment: environment)
    }

    /// A database and its backup `one.bak` with one row, which the database has deleted since.
    private func folder(
      _ prepare: String = "", tables: String = ""
    ) throws -> WorkingFolder {
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes + "    ;\(tables)\n"])
      try folder.connection().execute(prepare)
      try folder.expect(0, "migrate", "--database", "app.sqlite")
      try folder.connection().execute("INSERT INTO notes (text) VALUES ('one')")
      try folder.write("migrations/0002_empty.yaml", manifest("DELETE FROM notes"))
      try folder.expect(0, "migrate", "--database", "app.sqlite", "--backup=one.bak")
      return folder
    }

    private static let restore = ["restore", "--database", "app.sqlite", "one.bak"]

    @Test("75: a file that the system is using can be written later")
    func busyFile() throws {
      let folder = try folder()
      let run = try folder.run(
        ["freeze", "--release", "1.0"], failing: FaultyCall(name: "rename", error: EBUSY))
      #expect(run.status == 75, "\(run.errors)")
      #expect(run.errors.contains("busy"), "\(run.errors)")
      try folder.expect(0, "freeze", "--release", "1.0")
    }

    @Test("a single read error never makes restore replace an intact database as damaged")
    func transientRead() throws {
      // A schema that needs several pages.
      let folder = try folder(
        tables: (1...40).map { "CREATE TABLE long_\($0) (\(String(repeating: "a", count: 300)))" }
          .joined(separator: ";"))
      let node = try folder.node("app.sqlite")
      var failed = 0
      for number in 1...40 {
        let run = try folder.run(
          Self.restore, failing: FaultyCall(name: "pread64", path: "app.sqlite", first: number))
        #expect(!run.errors.contains("set aside as a file"), "\(number): \(run.errors)")
        #expect(try folder.node("app.sqlite") == node, "\(number): \(run.errors)")
        failed += run.status == 74 ? 1 : 0
      }
      #expect(failed > 0)
    }

    @Test("restore reports that the result is uncertain if the file name was not synced")
    func uncertainInstallation() throws {
      let folder = try folder()
      try folder.remove("app.sqlite")
      // The first sync is of the copy, the second one of the folder.
      let run = try folder.run(
        Self.restore, failing: FaultyCall(name: "fsync", first: 2))
      #expect(run.status == 74, "\(run.errors)")
      #expect(
        run.errors.contains("It is unknown whether `one.bak` was restored"), "\(run.errors)")
      #expect(try folder.rows("SELECT text FROM notes") == ["one"])
    }

    @Test("restore reports an uncertain result and names the old database if a commit fails")
    func uncertainCommit() throws {
      let folder = try folder()
      let failing = FaultyCall(name: "pwrite64", path: "app.sqlite-journal", last: .max)
      let run = try folder.run(Self.restore, failing: failing)
      #expect(run.status == 74, "\(run.errors)")
      #expect(
        run.errors.contains("It is unknown whether `one.bak` was restored"), "\(run.errors)")
      #expect(
        run.errors.contains("the old content is also in `app.sqlite.before-restore`"))
      #expect(try folder.rows("SELECT count(*) FROM notes") == ["0"])
      // The next run succeeds as if nothing had happened.
      let again = try folder.expect(0, "restore", "--database", "app.sqlite", "one.bak")
      #expect(again.errors.contains("app.sqlite.before-restore-2"))
      #expect(try folder.rows("SELECT text FROM notes") == ["one"])
    }

    @Test(
      "if a database cannot be set aside completely, restore changes nothing",
      arguments: ["gone", "garbage"])
    func setAside(content: String) throws {
      let folder = try folder()
      let failing: FaultyCall
      if content == "gone" {
        try folder.remove("app.sqlite")
        for suffix in ["-wal", "-shm"] { try folder.write("app.sqlite" + suffix, "a log") }
        failing = FaultyCall(name: "rename", path: "app.sqlite-shm")
      } else {
        try folder.write(
          "app.sqlite", "no database, and longer than the header of one: no database")
        // The sync of the folder, after the database got its second name.
        failing = FaultyCall(name: "fsync")
      }
      let before = try folder.names()
      let run = try folder.run(Self.restore, failing: failing)
      #expect(run.status == 74, "\(run.errors)")
      #expect(run.errors.contains("Nothing changed"), "\(run.errors)")
      #expect(!run.errors.contains("before-restore is kept"), "\(run.errors)")
      #expect(try folder.names() == before)
      let again = try folder.expect(0, "restore", "--database", "app.sqlite", "one.bak")
      #expect(
        again.errors.contains(
          "the previous content of `app.sqlite` is in `app.sqlite.before-restore"),
        "\(again.errors)")
      #expect(try folder.rows("SELECT text FROM notes") == ["one"])
    }

    @Test("an error when opening a copy is reported for the copy, not the database")
    func copy() throws {
      let folder = try folder()
      try folder.write("migrations/0003_more.yaml", manifest("CREATE TABLE more (id)"))
      let run = try folder.run(
        ["migrate", "--database", "app.sqlite", "--backup"],
        failing: FaultyCall(name: "open", path: ".partial"))
      #expect(run.status == 74, "\(run.errors)")
      #expect(run.errors.contains("cannot create a backup of `app.sqlite`"), "\(run.errors)")
      #expect(run.errors.contains(".partial"), "\(run.errors)")
      #expect(!run.errors.contains("error: cannot open `app.sqlite`"), "\(run.errors)")
      #expect(!run.errors.contains("permission"), "\(run.errors)")
    }

    @Test("too little space for the index of a write-ahead log is reported as a full disk")
    func fullDisk() throws {
      let folder = try folder("PRAGMA journal_mode = WAL")
      try folder.write("migrations/0003_more.yaml", manifest("CREATE TABLE more (id)"))
      for command in ["migrate", "status"] {
        let run = try folder.run(
          [command, "--database", "app.sqlite"],
          failing: FaultyCall(name: "pwrite64", path: "app.sqlite-shm", last: .max, error: ENOSPC))
        #expect(run.status == 74, "\(run.errors)")
        #expect(run.errors.contains("the disk is full"), "\(run.errors)")
        #expect(run.errors.contains("Free some space"), "\(run.errors)")
        #expect(!run.errors.contains("4874"), "\(run.errors)")
      }
    }

    @Test("without links, too, a backup is either complete under its name or missing")
    func withoutLinks() throws {
      let folder = try folder()
      try folder.write("migrations/0003_more.yaml", manifest("CREATE TABLE more (id)"))
      for place in ["=two.bak", ""] {
        let killed = try folder.run(
          ["migrate", "--database", "app.sqlite", "--backup\(place)"],
          failing: FaultyCall(name: "rename", path: "partial", kills: true, isWithoutLinks: true))
        #expect(killed.status == 137)
      }
      #expect(try !folder.names().contains { $0 == "two.bak" || $0.contains(".backup-") })
      let never = FaultyCall(first: 0, isWithoutLinks: true)
      let run = try folder.run(
        ["migrate", "--database", "app.sqlite", "--backup=two.bak"], failing: never)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try folder.rows("SELECT count(*) FROM schemactl_migrations", in: "two.bak") == ["2"])
      #expect(try !folder.names().contains { $0.hasPrefix("two.bak.") })
    }

    @Test("a replay that fails because of a file is an error, not a finding about an edit")
    func replayOfEdit() throws {
      let folder = try WorkingFolder.committed([
        "0001_big": manifest(
          "CREATE TEMP TABLE big AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
            + "WHERE i < 9000) SELECT zeroblob(1000) FROM n; DROP TABLE big; CREATE TABLE b (x)")
      ])
      let text = try String(
        contentsOfFile: folder.path("migrations/0001_big.yaml"), encoding: .utf8)
      try folder.write(
        "migrations/0001_big.yaml", text.replacing("CREATE TABLE b (x)", with: "SELECT 1"))
      try folder.expect(2, "verify")
      let run = try folder.run(
        ["verify"], failing: FaultyCall(name: "create", path: "etilqs", last: .max))
      #expect(run.status == 74, "\(run.output)\(run.errors)")
      #expect(!run.output.contains("cannot be replayed"), "\(run.output)")
    }

    // MARK: Leftovers

    @Test("freeze deletes temporary files of a killed freeze")
    func killedFreeze() throws {
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      let killed = try folder.run(["freeze"], failing: FaultyCall(name: "rename", kills: true))
      #expect(killed.status == 137)
      #expect(try folder.names("migrations").contains { $0.hasSuffix(".tmp") })
      try folder.expect(0, "freeze")
      #expect(
        try folder.names("migrations") == ["0001_notes.yaml", "history.lock"])
    }

    @Test("new deletes temporary files of a killed `new`")
    func killedNew() throws {
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      try folder.expect(0, "new", "first")
      let before = try folder.names("migrations")
      let killed = try folder.run(
        ["new", "second"], failing: FaultyCall(name: "link", kills: true))
      #expect(killed.status == 137)
      #expect(try folder.names("migrations").count == before.count + 1)
      try folder.expect(0, "new", "third")
      #expect(try folder.names("migrations") == before + ["0003_third.yaml"])
    }

    @Test("temporary files of running processes and other files remain")
    func inUse() throws {
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      let others = ["0001_notes.yaml.tmp", "0001_notes.yaml.x-1.tmp", "notes.txt.12-0.tmp"]
      let used = "migrations/history.lock.999999-1.tmp"
      let stale = "migrations/0007_gone.yaml.999999-0.tmp"
      for name in others { try folder.write("migrations/" + name, "mine") }
      for name in [used, stale] { try folder.write(name, "half") }
      let descriptor = open(folder.path(used), O_RDWR | O_CLOEXEC)
      #expect(flock(descriptor, LOCK_EX) == 0)
      defer { close(descriptor) }
      try folder.expect(0, "freeze")
      #expect(folder.exists(used))
      #expect(!folder.exists(stale))
      for name in others { #expect(folder.exists("migrations/" + name), "\(name)") }
    }
  }
#endif

#if os(Linux)
  import Foundation
  import SchemaPlatform
  import SchemaSQLite
  import SchemaTestPrograms
  import Testing

  /// A file system that can be made read-only. Needs root and the right to mount.
  private final class Mount {
    let folder: WorkingFolder

    init() throws {
      folder = try WorkingFolder()
      let ended = try SchemaTestPrograms.run(
        "/usr/bin/env", ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", folder.path])
      guard ended.code == 0 else { throw Failure(message: ended.errors) }
    }

    deinit { _ = try? SchemaTestPrograms.run("/usr/bin/env", ["umount", "--lazy", folder.path]) }

    func forbidWriting() throws {
      let ended = try SchemaTestPrograms.run(
        "/usr/bin/env", ["mount", "-o", "remount,ro", folder.path])
      guard ended.code == 0 else { throw Failure(message: ended.errors) }
    }

    struct Failure: Error {
      let message: String
    }

    static let isPossible = geteuid() == 0 && (try? Mount()) != nil
  }

  @Suite("Read-only files and folders")
  struct ReadOnlyTests {
    private static let lookers = [
      ["status"], ["verify"], ["diff"], ["plan"], ["migrate", "--dry-run"],
    ]

    /// Creates `app.sqlite`, which lacks one migration. Its write-ahead log, if any, is removed or
    /// left.
    private func fill(_ folder: WorkingFolder, _ journal: String, leavingLog: Bool = false) throws {
      try folder.makeFolder("migrations")
      try folder.write("migrations/0001_notes.yaml", tableOfNotes)
      try folder.expect(0, "migrate", "--database", "app.sqlite")
      try folder.connection().execute("PRAGMA journal_mode = \(journal)")
      if leavingLog {
        let open = try folder.connection()
        try open.execute("INSERT INTO notes VALUES (1, 'in the log')")
        for ending in ["", "-wal", "-shm"] {
          try FileManager.default.copyItem(
            atPath: folder.path("app.sqlite" + ending), toPath: folder.path("kept" + ending))
        }
        try open.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        withExtendedLifetime(open) {}
      }
      try folder.write("migrations/0002_more.yaml", manifest("CREATE TABLE more (id)"))
    }

    @Test(
      "a database on a read-only file system can be inspected, and is not changed",
      .enabled(if: Mount.isPossible, "needs the right to mount a file system"),
      arguments: ["delete", "truncate", "persist"])
    func readOnlyFileSystem(journal: String) throws {
      let mount = try Mount()
      let folder = mount.folder
      try fill(folder, journal)
      try mount.forbidWriting()
      for words in Self.lookers {
        let run = try folder.start(words + ["--database", "app.sqlite"]).wait()
        #expect(run.status == 0, "\(words): \(run.errors)")
      }
      let run = try folder.expect(77, "migrate", "--database", "app.sqlite")
      #expect(
        run.errors == "schemactl: error: cannot write `app.sqlite`: Read-only file "
          + "system. Nothing changed\n")
      for words in [["migrate", "--database", "new.sqlite"], ["freeze"], ["new", "x"]] {
        let run = try folder.start(words).wait()
        #expect(run.status == 77, "\(words)")
        #expect(run.errors.lowercased().contains("read-only"))
      }
    }

    @Test(
      "one in WAL mode can be read if its log exists; otherwise the error explains it",
      .enabled(if: Mount.isPossible, "needs the right to mount a file system"))
    func readOnlyWAL() throws {
      let mount = try Mount()
      let folder = mount.folder
      try fill(folder, "wal", leavingLog: true)
      try mount.forbidWriting()
      for words in Self.lookers {
        let run = try folder.start(words + ["--database", "kept"]).wait()
        #expect(run.status == 0, "\(words): \(run.errors)")
        let refused = try folder.start(words + ["--database", "app.sqlite"]).wait()
        #expect(refused.status == 77, "\(words)")
        #expect(
          refused.errors.contains(
            "cannot open `app.sqlite`: Read-only file system\nhelp: A database in WAL mode needs a "
              + "writable folder"), "\(refused.errors)")
      }
      try folder.expect(77, "migrate", "--database", "kept")
    }

    @Test(
      "77: a folder without write permission is reported, and nothing changes",
      .enabled(if: geteuid() == 0, "needs root, to be somebody else"),
      arguments: ["delete", "wal"])
    func folder(journal: String) throws {
      let folder = try WorkingFolder()
      try fill(folder, journal)
      try folder.setMode(0o666, of: "app.sqlite")
      try folder.setMode(0o755, of: "")
      let run = try folder.run("migrate", "--database", "app.sqlite", asStranger: true)
      #expect(run.status == 77)
      #expect(run.errors.contains("its folder: Permission denied"), "\(run.errors)")
      #expect(try folder.applied() == ["0001_notes"])
    }

    @Test(
      "77: a database in WAL mode that cannot be read is reported with the remedy",
      .enabled(if: geteuid() == 0, "needs root, to be somebody else"),
      arguments: ["status", "verify"])
    func unreadableWAL(command: String) throws {
      let folder = try WorkingFolder()
      try fill(folder, "wal")
      try folder.setMode(0o755, of: "")
      let run = try folder.run(command, "--database", "app.sqlite", asStranger: true)
      #expect(run.status == 77)
      #expect(
        run.errors.contains(
          "\nhelp: A database in WAL mode needs a writable folder, because SQLite creates files in "
            + "it even to read. Copy the database with its `-wal` file to a writable folder\n"),
        "\(run.errors)")
    }

    @Test(
      "77: another user's log or journal is named, and nothing changes",
      .enabled(if: geteuid() == 0, "needs root, to be somebody else"),
      arguments: ["-wal", "-journal"])
    func othersFile(ending: String) throws {
      let folder = try WorkingFolder()
      try fill(folder, ending == "-wal" ? "wal" : "delete", leavingLog: ending == "-wal")
      try folder.setMode(0o777, of: "")
      let name = ending == "-wal" ? "kept" : "app.sqlite"
      if ending != "-wal" { try folder.write(name + ending, "left over") }
      for file in ["", ending, "-shm"] where folder.exists(name + file) {
        try folder.setMode(file == ending ? 0o600 : 0o666, of: name + file)
      }
      let run = try folder.run("migrate", "--database", name, asStranger: true)
      #expect(run.status == 77, "\(run.errors)")
      #expect(run.errors.contains("\(name)\(ending)`: Permission denied"), "\(run.errors)")
      #expect(try folder.run("status", "--database", name, asStranger: true).status == 77)
      #expect(try folder.rows("SELECT id FROM schemactl_migrations", in: name) == ["0001_notes"])
    }
  }
#endif

import Foundation
import SchemaJSONChecking
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("Backups on the command line")
struct RestoreTests {
  private func folder() throws -> WorkingFolder {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("INSERT INTO notes (text) VALUES ('one')")
    try folder.write("migrations/0002_empty.yaml", manifest("DELETE FROM notes"))
    return folder
  }

  private func backups(_ folder: WorkingFolder, in path: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path(path))
      .filter { $0.contains(".backup-") }.sorted()
  }

  @Test("a backup is made, named, listed and restored")
  func roundTrip() throws {
    let folder = try folder()
    let run = try folder.expect(0, "migrate", "--database", "app.sqlite", "--backup")
    let name = try #require(try backups(folder).first)
    #expect(run.errors == "note: schemactl kept a backup: `\(name)`\n")
    #expect(try folder.rows("SELECT count(*) FROM notes") == ["0"])
    let list = try folder.expect(0, "restore", "--database", "app.sqlite", "--dry-run")
    #expect(list.output.hasPrefix("\(name)  2"))
    #expect(list.output.hasSuffix("kB  0001_notes\nFound 1 backup of `app.sqlite`.\n"))
    let restored = try folder.expect(0, "restore", "--database", "app.sqlite")
    #expect(
      restored.output == """
        Restored `app.sqlite` from `\(name)`.
        Its last migration is `0001_notes`; 1 migration pending.

        """)
    #expect(
      restored.errors == "note: the previous content of `app.sqlite` is in "
        + "`app.sqlite.before-restore`\n")
    #expect(try folder.rows("SELECT text FROM notes") == ["one"])
    #expect(try folder.rows("SELECT count(*) FROM notes", in: "app.sqlite.before-restore") == ["0"])
    try folder.expect(0, "restore", "--database", "app.sqlite", name)
    #expect(folder.exists("app.sqlite.before-restore-2"))
  }

  @Test("--dry-run checks a backup that is named")
  func checked() throws {
    let folder = try folder()
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--backup")
    let name = try #require(try backups(folder).first)
    for words in [[name], ["--from", name]] {
      let run = try folder.start(
        ["restore", "--database", "app.sqlite", "--dry-run"] + words
      ).wait()
      #expect(run.status == 0)
      #expect(
        run.output == """
          schemactl would restore `app.sqlite` from `\(name)`.
          Its last migration is `0001_notes`.

          """)
    }
    try folder.expect(66, "restore", "missing", "--database", "app.sqlite", "--dry-run")
    #expect(!folder.exists("app.sqlite.before-restore"))
    #expect(try folder.rows("SELECT count(*) FROM notes") == ["0"])
  }

  @Test("77: an unreadable file is reported without mentioning WAL")
  func unreadable() throws {
    let folder = try folder()
    try folder.setMode(0o777, of: "")
    try folder.setMode(0, of: "app.sqlite")
    try FileManager.default.copyItem(
      atPath: folder.path("app.sqlite"), toPath: folder.path("kept.sqlite"))
    try folder.setMode(0o644, of: "kept.sqlite")
    for command in [["status"], ["restore", "kept.sqlite"]] {
      let run = try folder.start(command + ["--database", "app.sqlite"], asStranger: true).wait()
      #expect(run.status == 77, "\(command) \(run.errors)")
      #expect(
        run.errors.lowercased().contains("cannot read `app.sqlite`: permission denied"),
        "\(run.errors)")
      #expect(!run.errors.contains("WAL"))
    }
    try folder.setMode(0o644, of: "app.sqlite")
  }

  @Test("77: a read-only database is unchanged, and the message says so")
  func readOnly() throws {
    let folder = try folder()
    try folder.setMode(0o777, of: "")
    try FileManager.default.copyItem(
      atPath: folder.path("app.sqlite"), toPath: folder.path("kept.sqlite"))
    for file in ["app.sqlite", "kept.sqlite"] { try folder.setMode(0o444, of: file) }
    let run = try folder.start(
      ["restore", "kept.sqlite", "--database", "app.sqlite"], asStranger: true
    ).wait()
    #expect(run.status == 77)
    #expect(run.errors.contains("Nothing changed"), "\(run.errors)")
    #expect(!folder.exists("app.sqlite.before-restore"))
  }

  @Test("drafts are reset to the copy, and the report names both files")
  func resetDrafts() throws {
    let folder = try folder()
    try folder.expect(0, "freeze", "--to", "1")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    let run = try folder.expect(0, "migrate", "--database", "app.sqlite", "--reset-drafts")
    #expect(
      run.errors.contains("reset `app.sqlite` to `app.sqlite.before-drafts`. "), "\(run.errors)")
    #expect(run.errors.contains("in `app.sqlite.before-reset`"))
    let inJSON = try folder.expect(
      0, "migrate", "--database", "app.sqlite", "--reset-drafts", "--format=json")
    let schema = repository.appendingPathComponent("docs/json/migrate.schema.json")
    let tree = try JSONTree(parsing: inJSON.output)
    #expect(try SchemaChecker(contentsOf: schema, isClosed: true).problems(of: tree) == [])
    let json = try inJSON.json()
    let reset = try #require(json["reset"] as? [String: Any])
    #expect(reset["copy"] as? String == "app.sqlite.before-drafts")
    #expect(reset["setAside"] as? String == "app.sqlite.before-reset-2")
  }

  @Test("a failing run names its backup and how to restore it")
  func failed() throws {
    let folder = try folder()
    try folder.write(
      "migrations/0003_twice.yaml", manifest("INSERT INTO notes (id) VALUES (1), (1)"))
    let run = try folder.expect(3, "migrate", "--database", "app.sqlite", "--backup=it's.bak")
    let advice =
      "help: `schemactl restore --database app.sqlite 'it'\\''s.bak'` returns to the state before this run"
    #expect(run.errors.contains(advice), "\(run.errors)")
    try folder.expect(0, "restore", "--database", "app.sqlite", "it's.bak")
    #expect(try folder.rows("SELECT text FROM notes") == ["one"])
    let json = try folder.expect(
      3, "migrate", "--database", "app.sqlite", "--backup=other.bak", "--format=json"
    ).json()
    #expect(json["backup"] as? String == "other.bak")
  }

  @Test(
    "a run that applies nothing keeps no backup and deletes no other one",
    arguments: ["", "=bk", "=one.bak"])
  func needless(place: String) throws {
    let folder = try folder()
    try folder.makeFolder("bk")
    let old = (place == "=bk" ? "bk/" : "") + "app.sqlite.backup-0001-20200101T000000Z"
    try FileManager.default.copyItem(
      atPath: folder.path("app.sqlite"), toPath: folder.path(old))
    try folder.write(
      "migrations/0002_empty.yaml", manifest("INSERT INTO notes (id) VALUES (1)"))
    let before = try names(folder)
    let arguments = ["migrate", "--database", "app.sqlite", "--backup\(place)"]
    for _ in 0..<2 {
      let run = try expect(3, arguments, folder)
      #expect(!run.errors.contains("returns to the state"))
      #expect(try names(folder) == before)
    }
    let json = try expect(3, arguments + ["--format=json"], folder).json()
    #expect(json["backup"] is NSNull)
    #expect(try names(folder) == before)
  }

  private func names(_ folder: WorkingFolder) throws -> [String] {
    try ["", "bk"].flatMap {
      try FileManager.default.contentsOfDirectory(atPath: folder.path($0)).sorted()
    }
  }

  @Test("a configured backup is made for every run")
  func configured() throws {
    let folder = try folder()
    try folder.makeFolder("kept")
    try folder.makeFolder("sub")
    try folder.write("schemactl.yaml", "database: app.sqlite\nbackup: { path: kept, keep: 1 }\n")
    try folder.expect(0, "migrate", "--frozen", in: "sub")
    #expect(try backups(folder, in: "kept").isEmpty)
    try folder.expect(0, "migrate", in: "sub")
    let first = try backups(folder, in: "kept")
    #expect(first.count == 1)
    for number in 3...4 {
      try folder.write("migrations/000\(number)_more.yaml", manifest("CREATE TABLE m\(number) (a)"))
    }
    try folder.expect(0, "migrate")
    #expect(try backups(folder, in: "kept").count == 1)
    #expect(try backups(folder, in: "kept") != first)
    let list = try folder.expect(0, "restore", "--dry-run", in: "sub")
    #expect(list.output.contains("0002_empty"))
    try folder.expect(0, "restore", "--from", "../kept", in: "sub")
  }

  @Test("--frozen makes a backup")
  func frozen() throws {
    let folder = try folder()
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--frozen", "--backup")
    #expect(try backups(folder).count == 1)
  }

  @Test("restore needs neither the manifests nor the database")
  func alone() throws {
    let folder = try folder()
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--backup")
    try folder.remove("migrations")
    try folder.remove("app.sqlite")
    let run = try folder.expect(0, "restore", "--database", "app.sqlite")
    #expect(run.errors.contains("did not compare the backup with the history"))
    #expect(try folder.rows("SELECT text FROM notes") == ["one"])
    try folder.write("app.sqlite", "not a database at all")
    let again = try folder.expect(0, "restore", "--database", "app.sqlite", "--format", "json")
    #expect(again.errors.isEmpty)
    let json = try again.json()
    #expect(json["setAside"] as? String == "app.sqlite.before-restore")
    #expect(json["pending"] is NSNull)
  }

  /// A database and its copy of the same name, with a backup each in one folder. The newest backup is the
  /// copy's.
  private func shared() throws -> (WorkingFolder, own: String, other: String) {
    let folder = try folder()
    try folder.makeFolder("bk")
    try folder.makeFolder("other")
    try FileManager.default.copyItem(
      atPath: folder.path("app.sqlite"), toPath: folder.path("other/app.sqlite"))
    try folder.connection("other/app.sqlite").execute("UPDATE notes SET text = 'theirs'")
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--backup=bk")
    let own = try #require(try backups(folder, in: "bk").first)
    try folder.expect(0, "migrate", "--database", "other/app.sqlite", "--backup=bk")
    let other = try #require(try backups(folder, in: "bk").first { $0 != own })
    return (folder, "bk/" + own, "bk/" + other)
  }

  @discardableResult
  private func expect(
    _ status: Int32, _ arguments: [String], _ folder: WorkingFolder
  ) throws -> Finished {
    let run = try folder.start(arguments).wait()
    #expect(run.status == status, "\(arguments): \(run.output)\(run.errors)")
    return run
  }

  private static let fromShared = ["restore", "--database", "app.sqlite", "--from", "bk"]

  @Test(
    "another database's backup in a shared folder is never used",
    arguments: ["there", "gone", "no database", ""])
  func ofAnother(content: String) throws {
    let (folder, own, _) = try shared()
    if content == "gone" {
      try folder.remove("app.sqlite")
    } else if content != "there" {
      try folder.write("app.sqlite", content)
    }
    let list = try expect(0, Self.fromShared + ["--dry-run"], folder).output.split(separator: "\n")
    #expect(list.count == 2)
    #expect(list[0].hasPrefix(own) && list[0].hasSuffix("0001_notes"))
    let run = try expect(0, Self.fromShared, folder)
    #expect(run.output.contains("from `\(own)`"))
    #expect(try folder.rows("SELECT text FROM notes") == ["one"])
  }

  @Test("a run removes no backup of another database in a shared folder")
  func keptOfAnother() throws {
    let (folder, own, other) = try shared()
    try folder.write("schemactl.yaml", "backup: { path: bk, keep: 1 }\n")
    try folder.write("migrations/0003_more.yaml", manifest("CREATE TABLE more (a)"))
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(!folder.exists(own) && folder.exists(other))
    #expect(try backups(folder, in: "bk").count == 2)
  }

  @Test("a database that another program created is not replaced without --force")
  func foreign() throws {
    let (folder, own, _) = try shared()
    try folder.connection("other.sqlite").execute("CREATE TABLE customers (id)")
    let run = try expect(1, ["restore", "--database", "other.sqlite", own], folder)
    #expect(run.errors.contains("`other.sqlite` has tables and no ledger"), "\(run.errors)")
    try folder.expect(0, "restore", "--database", "other.sqlite", own, "--force")
  }

  @Test("the backup of a database that has moved must be named")
  func moved() throws {
    let (folder, own, _) = try shared()
    try FileManager.default.moveItem(
      atPath: folder.path("app.sqlite"), toPath: folder.path("moved.sqlite"))
    let run = try expect(66, ["restore", "--database", "moved.sqlite", "--from", "bk"], folder)
    #expect(run.errors.contains("If the database has moved, name the file"), "\(run.errors)")
    try folder.expect(0, "restore", "--database", "moved.sqlite", own)
    #expect(try folder.rows("SELECT text FROM notes", in: "moved.sqlite") == ["one"])
    let unknown = try folder.expect(0, "restore", "--database", "new.sqlite", own)
    #expect(
      unknown.errors.contains("cannot check whether the backup belongs to it"), "\(unknown.errors)")
  }

  @Test(
    "74: a damaged newest backup is reported, and no older one is used instead",
    arguments: ["bk", nil], ["", "cut", "no database", "page"])
  func brokenNewest(from: String?, content: String) throws {
    let folder = try folder()
    try folder.makeFolder("bk")
    let option = from.map { "--backup=\($0)" } ?? "--backup"
    try folder.expect(0, "migrate", "--database", "app.sqlite", option)
    let name = try #require(try backups(folder, in: from ?? "").first)
    let older = (from.map { $0 + "/" } ?? "") + name
    let newest = older.replacing(".backup-0001-", with: ".backup-0002-")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path(older)))
    switch content {
    case "cut": bytes = bytes.prefix(5000)
    case "page": bytes[39] = 5
    default: bytes = Data(content.utf8)
    }
    try bytes.write(to: URL(fileURLWithPath: folder.path(newest)))
    let arguments = ["restore", "--database", "app.sqlite"] + (from.map { ["--from", $0] } ?? [])
    let run = try expect(74, arguments, folder)
    #expect(run.errors.contains(newest), "\(run.errors)")
    #expect(
      run.errors.contains(
        "Take another backup (`schemactl restore --database app.sqlite --dry-run` lists them)"),
      "\(run.errors)")
    #expect(!run.errors.contains("Restore it from a backup"))
    if content.isEmpty { #expect(run.errors.contains("is empty")) }
    try folder.expect(0, "restore", "--database", "app.sqlite", older)
    #expect(try folder.rows("SELECT text FROM notes") == ["one"])
  }

  @Test("advice depends on the situation")
  func advice() throws {
    let folder = try WorkingFolder()
    try folder.write("app.sqlite", "no database at all, but longer than the header of one is wide")
    let damaged = try folder.expect(74, "status", "--database", "app.sqlite")
    #expect(
      damaged.errors.contains("`schemactl restore --database app.sqlite`"), "\(damaged.errors)")
    let status = try folder.expect(66, "restore", "--database", "app.sqlite")
    #expect(!status.errors.contains("create it"), "\(status.errors)")
    try folder.write("schemactl.yaml", "database: app.sqlite\nbackup: { path: gone }\n")
    let run = try folder.expect(66, "restore")
    #expect(run.errors.contains("folder `gone` does not exist"), "\(run.errors)")
    #expect(run.errors.contains("`backup.path` in `schemactl.yaml`"), "\(run.errors)")
  }

  @Test("plan --on-copy reports the duration of the migrations")
  func rehearsal() throws {
    let folder = try folder()
    let run = try folder.expect(0, "plan", "--database", "app.sqlite", "--on-copy")
    #expect(run.output.contains("On a copy, applied `0002_empty` in "))
    #expect(run.output.hasSuffix(" ms: `app.sqlite` is unchanged.\n"))
    #expect(try folder.rows("SELECT text FROM notes") == ["one"])
    let json = try folder.expect(
      0, "plan", "--database", "app.sqlite", "--on-copy", "--format=json"
    ).json()
    #expect((json["migrations"] as? [Any])?.isEmpty == true)
    let copy = try #require(json["copy"] as? [String: Any])
    #expect((copy["applied"] as? [[String: Any]])?.first?["id"] as? String == "0002_empty")
  }

  #if os(Linux)
    /// A rehearsal that writes a few rows on a copy, and then takes hours.
    private func longRehearsal(in folder: WorkingFolder) throws -> Running {
      try folder.connection().execute(
        """
        WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO notes SELECT i, 'text' FROM n
        """)
      let hours = "(SELECT count(*) FROM notes a, notes b, notes c)"
      try folder.write(
        "migrations/0002_empty.yaml",
        manifest("UPDATE notes SET text = iif(id < 9, 'few', \(hours))"))
      let child = try folder.start(["plan", "--database", "app.sqlite", "--on-copy"])
      try waitUntil {
        try partials(folder).contains { $0.hasSuffix("-journal") } || !child.isRunning
      }
      return child
    }

    private func partials(_ folder: WorkingFolder) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.contains(".partial") }
    }

    @Test("130: a signal during a rehearsal leaves neither the copy nor its journal")
    func signal() throws {
      let folder = try folder()
      let child = try longRehearsal(in: folder)
      child.send(SIGINT)
      let run = try child.wait()
      #expect(run.status == 130)
      #expect(run.errors.contains("`app.sqlite` is unchanged"))
      #expect(try partials(folder).isEmpty)
    }

    @Test("the next run with a copy deletes one that kill -9 left")
    func killed() throws {
      let folder = try folder()
      let child = try longRehearsal(in: folder)
      try folder.write("migrations/0002_empty.yaml", manifest("DELETE FROM notes"))
      // Another run does not delete the copy of a running one.
      try folder.expect(0, "plan", "--database", "app.sqlite", "--on-copy")
      #expect(try !partials(folder).isEmpty)
      child.send(SIGKILL)
      _ = try child.wait()
      #expect(try !partials(folder).isEmpty)
      try folder.expect(0, "migrate", "--database", "app.sqlite", "--backup")
      #expect(try partials(folder).isEmpty)
    }
  #endif
}

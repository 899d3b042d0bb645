import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// Every exit code that a user can cause; 70 needs a bug.
@Suite("Exit codes")
struct ExitCodeTests {
  @Test("64: an unknown option, with the nearest one")
  func unknownOption() throws {
    let run = try WorkingFolder().expect(64, "migrate", "--databas", "app.sqlite")
    #expect(
      run.errors == """
        schemactl: error: unknown option `--databas` for `migrate`
        help: Did you mean `--database`? See `schemactl migrate --help`.

        """)
    #expect(run.output.isEmpty)
  }

  @Test(
    "64: an unexpected word, with the options whose value it may be",
    arguments: [
      ("migrate 0002", "--to 0002"), ("migrate 2_more", "--to 2_more"),
      ("migrate app.db", "--database app.db"), ("migrate db/0002", "--database db/0002"),
      ("migrate app", "--database app"), ("migrate --backup x.db", "--backup=x.db"),
      ("migrate --database app.db 2", "--to 2"), ("squash 2", "--to 2"),
      ("freeze 1.0", "--release 1.0"), ("init x.db", "--from x.db"),
      ("lint migrations", "--migrations migrations"),
    ])
  func unexpectedWord(line: String, option: String) throws {
    let folder = try WorkingFolder.of([:])
    let run = try folder.start(line.split(separator: " ").map(String.init)).wait()
    #expect(run.status == 64)
    #expect(run.errors.contains("help: Did you mean `\(option)`?"), "\(run.errors)")
  }

  @Test("64: an unexpected word that several options accept")
  func ambiguousWord() throws {
    let run = try WorkingFolder().expect(64, "freeze", "3")
    #expect(run.errors.contains("Did you mean `--release 3` or `--to 3`?"), "\(run.errors)")
  }

  #if os(Linux)
    @Test("64: a name that is not UTF-8, because decoding would change it")
    func notUTF8() throws {
      let folder = try WorkingFolder.ofReminders()
      let script = "exec \"$0\" migrate --database \"$(printf '\\377').sqlite\""
      let ended = try SchemaTestPrograms.run("/bin/bash", ["-c", script, program], in: folder.path)
      #expect(ended.code == 64)
      #expect(ended.errors == "schemactl: error: a word of the command line is not UTF-8\n")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["migrations"])
    }
  #endif

  @Test("64: no database was named", arguments: ["migrate", "status", "diff"])
  func noDatabase(command: String) throws {
    let run = try WorkingFolder.ofReminders().expect(64, command)
    #expect(
      run.errors.hasPrefix(
        "schemactl: error: the name of the database is missing\nhelp: Name it with `--database FILE`"
      ))
  }

  @Test("64: an unknown migration", arguments: ["migrate", "plan"])
  func unknownMigration(command: String) throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.expect(64, command, "--database", "app.sqlite", "--to", "99")
    #expect(!folder.exists("app.sqlite"))
  }

  @Test("64: an invalid name of a release")
  func releaseName() throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.expect(64, "freeze", "--release", "one two")
    #expect(!folder.exists("migrations/history.lock"))
  }

  @Test("65: all errors of all manifests are reported together, and nothing changes")
  func brokenManifests() throws {
    let folder = try WorkingFolder.of([
      "0001_first": "operations:\n- drop_tabel: { table: t }\n",
      "0002_second": "descripion: x\noperations: []\n",
    ])
    let run = try folder.expect(65, "migrate", "--database", "app.sqlite")
    let lines = run.errors.split(separator: "\n").filter { $0.contains(": error: ") }
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("migrations/0001_first.yaml:2:3: error: ") == true)
    #expect(lines.last?.hasPrefix("migrations/0002_second.yaml:1:1: error: ") == true)
    #expect(run.errors.hasSuffix("Found 2 errors\n"))
    #expect(!folder.exists("app.sqlite"))
  }

  @Test("65: an unknown key in the configuration")
  func brokenConfiguration() throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.write("schemactl.yaml", "databse: app.sqlite\n")
    let run = try folder.expect(65, "verify")
    #expect(run.errors.hasPrefix("schemactl.yaml:1:1: error: "))
    #expect(run.errors.contains("database"))
  }

  @Test("65: a migration calls a function of the application")
  func missingFunction() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes,
      "0002_shout": manifest("INSERT INTO notes (text) VALUES (shout('hello'))"),
    ])
    try folder.write("schemactl.yaml", "functions: [{ name: shout, arguments: 1 }]\n")
    let run = try folder.expect(65, "migrate", "--database", "app.sqlite")
    #expect(run.errors.contains("`shout()` belongs to the application"))
    #expect(run.errors.contains("SchemaKit"))
    #expect(try folder.rows("SELECT name FROM sqlite_schema").isEmpty)
  }

  @Test("65: a new CHECK calls a function of the application, and no migration is applied")
  func missingFunctionOfCheck() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write("schemactl.yaml", "functions: [{ name: shout, arguments: 1 }]\n")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.write("migrations/0002_tags.yaml", manifest("CREATE TABLE tags (id INTEGER)"))
    try folder.write(
      "migrations/0003_check.yaml",
      "operations: [alter_column: { table: notes, column: text, check: shout(text) > 1 }]\n")
    for command in ["plan", "migrate"] {
      let run = try folder.expect(65, command, "--database", "app.sqlite")
      #expect(run.errors.contains("`shout()` belongs to the application"))
    }
    #expect(try folder.rows("SELECT name FROM sqlite_schema WHERE name = 'tags'").isEmpty)
  }

  @Test("65: a statement uses an index with a collation of the application, and not 74")
  func missingCollation() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes,
      "0002_index": manifest("CREATE INDEX i ON notes (text COLLATE reverse)"),
    ])
    try folder.write("schemactl.yaml", "collations: [reverse]\n")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    let connection = try Connection(path: folder.path("app.sqlite"))
    try connection.registerCollation("reverse") {
      Int($1.utf8.first ?? 0) - Int($0.utf8.first ?? 0)
    }
    try connection.execute("INSERT INTO notes (text) VALUES ('x'), ('a'), ('m')")
    try folder.write("migrations/0003_delete.yaml", manifest("DELETE FROM notes WHERE id = 2"))
    let run = try folder.expect(65, "migrate", "--database", "app.sqlite")
    #expect(run.errors.contains("`reverse` belongs to the application"))
  }

  @Test(
    "66: a missing database",
    arguments: [
      ["status"], ["diff"], ["verify"], ["migrate", "--existing"], ["migrate", "--frozen"],
    ])
  func missingDatabase(arguments: [String]) throws {
    let folder = try WorkingFolder.ofReminders()
    let run = try folder.start(arguments + ["--database", "app.sqlite"]).wait()
    #expect(run.status == 66)
    #expect(
      run.errors == """
        schemactl: error: database `app.sqlite` does not exist
        help: Correct `--database`, or create the database (`schemactl migrate --database app.sqlite`)

        """)
    #expect(!folder.exists("app.sqlite"))
  }

  @Test(
    "66: an empty database where one with tables is expected",
    arguments: [
      ["verify"], ["migrate", "--existing"], ["migrate", "--frozen"], ["plan", "--frozen"],
    ])
  func emptyDatabase(arguments: [String]) throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.write("app.sqlite", "")
    let run = try folder.start(arguments + ["--database", "app.sqlite"]).wait()
    #expect(run.status == 66)
    #expect(
      (run.output + run.errors).contains("`app.sqlite` is empty: it has no table and no ledger"))
    #expect(try folder.rows("SELECT name FROM sqlite_schema").isEmpty)
  }

  @Test("66: a missing migrations folder, with advice")
  func missingFolder() throws {
    let run = try WorkingFolder().expect(66, "verify")
    #expect(run.errors.contains("the migrations directory `migrations` does not exist"))
  }

  @Test("66: a missing configuration that --config names")
  func missingConfiguration() throws {
    let run = try WorkingFolder.ofReminders().expect(66, "verify", "--config", "other.yaml")
    #expect(run.errors.contains("other.yaml"))
  }

  @Test("74: a photo instead of a database", arguments: ["migrate", "status", "verify", "diff"])
  func photo(command: String) throws {
    let folder = try WorkingFolder.ofReminders()
    let photo = Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data(repeating: 0x4A, count: 4096)
    try photo.write(to: URL(fileURLWithPath: folder.path("photo.jpg")))
    let run = try folder.expect(74, command, "--database", "photo.jpg")
    #expect(run.errors.contains("`photo.jpg` is not an SQLite database, or it is encrypted"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("photo.jpg"))) == photo)
  }

  @Test("74: a folder instead of a database", arguments: ["migrate", "status"])
  func folder(command: String) throws {
    let folder = try WorkingFolder.ofReminders()
    let run = try folder.expect(74, command, "--database", "migrations")
    #expect(run.errors.contains("`migrations` is a folder"))
  }

  #if os(Linux)
    @Test("74: standard output cannot be written")
    func fullOutput() throws {
      let folder = try WorkingFolder.ofReminders()
      let full = FileHandle(forWritingAtPath: "/dev/full")
      let run = try folder.start(["plan"], output: full).wait()
      #expect(run.status == 74)
      #expect(run.errors.contains("cannot write standard output: No space left on device"))
    }

    @Test("77: an unreadable database", arguments: ["migrate", "status"])
    func unreadable(command: String) throws {
      let folder = try migrated()
      try folder.setMode(geteuid() == 0 ? 0o600 : 0, of: "app.sqlite")
      let run = try folder.run(command, "--database", "app.sqlite", asStranger: true)
      #expect(run.status == 77, "\(run.errors)")
      #expect(run.errors.contains("permission denied"))
    }

    @Test("77: a file in a folder that cannot be searched is not missing")
    func unsearchable() throws {
      let folder = try WorkingFolder.ofReminders()
      try folder.makeFolder("closed")
      try folder.write("closed/schema.sql", "CREATE TABLE t (a);")
      try folder.setMode(geteuid() == 0 ? 0o700 : 0, of: "closed")
      defer { try? folder.setMode(0o700, of: "closed") }
      let run = try folder.run("diff", "closed/schema.sql", asStranger: true)
      #expect(run.status == 77, "\(run.errors)")
      #expect(run.errors.contains("closed/schema.sql: Permission denied"), "\(run.errors)")
    }

    @Test("77: an unreadable manifest is not an invalid one")
    func unreadableManifest() throws {
      let folder = try WorkingFolder.ofReminders()
      let manifest = "migrations/0002_create_tags.yaml"
      try folder.setMode(geteuid() == 0 ? 0o600 : 0, of: manifest)
      let run = try folder.run("verify", asStranger: true)
      #expect(run.status == 77, "\(run.errors)")
      #expect(run.errors.contains("\(manifest): Permission denied"))
    }

    @Test("77: a read-only database")
    func readOnly() throws {
      let folder = try migrated(through: "6")
      try folder.setMode(0o444, of: "app.sqlite")
      let run = try folder.run("migrate", "--database", "app.sqlite", asStranger: true)
      #expect(run.status == 77, "\(run.errors)")
      #expect(try folder.applied().count == 6)
    }
  #endif

  @Test("75: another connection writes for longer than the timeout")
  func busy() throws {
    let folder = try migrated(through: "6")
    let other = try folder.connection()
    try other.execute("BEGIN IMMEDIATE")
    let run = try folder.expect(75, "migrate", "--database", "app.sqlite", "--timeout", "0.1")
    #expect(run.errors.contains("`app.sqlite` is in use by another process"))
    #expect(run.errors.contains("--timeout"))
    try other.execute("COMMIT")
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--timeout", "0.1")
  }

  @Test("4: the database has run an unknown migration", arguments: ["migrate", "status"])
  func ahead(command: String) throws {
    let folder = try migrated()
    try folder.remove("migrations/0007_replace_is_completed_with_status.yaml")
    let run = try folder.expect(4, command, "--database", "app.sqlite")
    let said = (run.output + run.errors).replacing("` is unknown", with: "  unknown")
    #expect(said.contains("0007_replace_is_completed_with_status  unknown"))
  }

  @Test("2: a frozen manifest was edited", arguments: ["migrate", "verify", "freeze", "plan"])
  func edited(command: String) throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.write("migrations/0005_limit_tags.yaml", "operations: []\n")
    let database = command == "migrate" ? ["SCHEMACTL_DATABASE": "app.sqlite"] : [:]
    let run = try folder.expect(2, command, environment: database)
    let said = run.output + run.errors
    #expect(said.contains("`0005_limit_tags` is edited") || said.contains("[history/edited]"))
    let advice = "\nhelp: `schemactl verify` shows each edit and how to restore the manifest\n"
    #expect(said.hasSuffix(advice) == (command != "verify"), "\(said)")
  }

  @Test("2: a manually edited lock")
  func alteredLock() throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.expect(0, "freeze", "--release", "1.0")
    let lock = try String(contentsOfFile: folder.path("migrations/history.lock"), encoding: .utf8)
    try folder.write(
      "migrations/history.lock", lock.replacingOccurrences(of: "release=1.0", with: "version=1.0"))
    let run = try folder.expect(2, "verify")
    #expect(run.errors.hasPrefix("migrations/history.lock:"))
  }

  @Test("3: a value that stops a later migration is not reported as if nothing had changed")
  func unmapped() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": manifest(
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (7, 'c')"),
      "0002_kind": """
      operations:
        - move_column: { table: notes, from: text, to: { name: kind, type: TEXT }, map: { a: b } }
      """,
    ])
    let run = try folder.expect(3, "migrate", "--database", "app.sqlite")
    #expect(run.errors.contains("still applied: 1 migration, up to `0001_notes`"), "\(run.errors)")
    #expect(!run.errors.contains("Nothing changed"))
  }

  @Test("3: a migration fails, and the earlier ones remain applied")
  func failing() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes,
      "0002_twice": manifest("INSERT INTO notes (id) VALUES (1), (1)"),
    ])
    let run = try folder.expect(3, "migrate", "--database", "app.sqlite")
    #expect(
      run.errors == """
        migrations/0002_twice.yaml:3:5: error: UNIQUE constraint failed: notes.id
          3 |     INSERT INTO notes (id) VALUES (1), (1)
            |     ^
          still applied: 1 migration, up to `0001_notes`
          in operation `1 sql` of migration `0002_twice`
          statement: INSERT INTO notes (id) VALUES (1), (1)
        help: correct the manifest, or the rows of the database, and run the command again

        """)
    #expect(run.output.hasPrefix("Created `app.sqlite`.\nApplied `0001_notes` in "))
    #expect(try folder.applied() == ["0001_notes"])
  }

  @Test("3: the advice for a released migration is not to correct its manifest")
  func failingFrozen() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_unique": manifest("CREATE UNIQUE INDEX u ON notes (text)"),
    ])
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--to", "1")
    try folder.connection().execute("INSERT INTO notes (text) VALUES ('x'), ('x')")
    let run = try folder.expect(3, "migrate", "--database", "app.sqlite", "--frozen")
    #expect(run.errors.contains("help: correct the rows of the database"))
    #expect(!run.errors.contains("correct the manifest"))
  }

  @Test("3: the history cannot be replayed", arguments: ["verify", "plan", "freeze"])
  func notReplayed(command: String) throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_twice": manifest("CREATE TABLE notes (id)"),
    ])
    let run = try folder.expect(3, command)
    #expect(
      (run.output + run.errors).contains(
        "migrations/0002_twice.yaml:3:18: error: table notes already exists"))
    #expect(!folder.exists("migrations/history.lock"))
  }

  @Test("1: the schema differs from its history", arguments: ["verify", "diff"])
  func drift(command: String) throws {
    let folder = try migrated()
    try folder.connection().execute("DROP TRIGGER reminders_refresh_updatedAt")
    let run = try folder.expect(1, command, "--database", "app.sqlite")
    let difference =
      command == "diff"
      ? "@@ trigger `reminders_refresh_updatedAt` @@\n-CREATE TRIGGER"
      : "trigger `reminders_refresh_updatedAt` is missing"
    #expect(run.output.contains(difference))
  }

  @Test("1: a database of another application is not changed", arguments: ["migrate", "verify"])
  func strangers(command: String) throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.connection().execute("CREATE TABLE theirs (id)")
    let run = try folder.expect(1, command, "--database", "app.sqlite")
    #expect((run.output + run.errors).contains("but no ledger"))
    #expect(try folder.rows("SELECT name FROM sqlite_schema") == ["theirs"])
  }

  @Test("1: a migration is pending, with the option that requests this status")
  func pending() throws {
    let folder = try migrated(through: "6")
    try folder.expect(0, "status", "--database", "app.sqlite")
    try folder.expect(1, "status", "--database", "app.sqlite", "--check")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.expect(0, "status", "--database", "app.sqlite", "--check")
  }
}

/// The Reminders history on `app.sqlite`.
func migrated(through last: String = "7") throws -> WorkingFolder {
  let folder = try WorkingFolder.ofReminders()
  try folder.expect(0, "migrate", "--database", "app.sqlite", "--to", last)
  return folder
}

import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("Output")
struct OutputTests {
  @Test("migrate reports its changes in words, and then that there is nothing to do")
  func migrate() throws {
    let folder = try migrated(through: "6")
    let first = try folder.expect(0, "migrate", "--database", "app.sqlite")
    let time = /in \d+ ms/
    #expect(
      first.output.replacing(time, with: "in N ms") == """
        Applied `0007_replace_is_completed_with_status` in N ms (update: wrote no row).
        `app.sqlite` is up to date: 1 migration applied.

        """)
    #expect(first.errors.isEmpty)
    let second = try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(second.output == "`app.sqlite` is up to date: nothing to do.\n")
  }

  @Test("a map that changes values is reported as rewriting rows")
  func rewritingMap() throws {
    let folder = try WorkingFolder.of([
      "0001_tasks": manifest(
        "CREATE TABLE tasks (id INTEGER PRIMARY KEY, done INTEGER NOT NULL DEFAULT 0)")
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("INSERT INTO tasks (done) VALUES (0), (1)")
    try folder.write(
      "migrations/0002_state.yaml",
      """
      operations:
        - move_column:
            table: tasks
            from: done
            to: { name: state, type: INTEGER, not_null: true, default: 0 }
            map: { 0: 1, 1: 2 }
      """)
    let run = try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(run.output.contains("(update: updated rows in place)"))
    #expect(try folder.rows("SELECT state FROM tasks") == ["1", "2"])
  }

  @Test("--paranoid reports the result of integrity_check")
  func paranoid() throws {
    let folder = try WorkingFolder.of([
      "0001_tasks": manifest("CREATE TABLE tasks (id INTEGER PRIMARY KEY); CREATE TABLE old (a)")
    ])
    let run = try folder.expect(0, "migrate", "--database", "app.sqlite", "--paranoid")
    #expect(run.errors.contains("note: `integrity_check` found no problem\n"), "\(run.errors)")
    let json = try folder.expect(
      0, "migrate", "--database", "new.sqlite", "--paranoid", "--format=json"
    ).json()
    #expect(json["integrityCheck"] as? String == "ok")
  }

  @Test("the same mistake in many manifests is shown ten times and then counted")
  func sameMistake() throws {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    for number in 1001...1030 {
      let mistakes = String(repeating: "colour: red\n", count: number == 1030 ? 0 : 1)
      try folder.write(
        "migrations/\(number)_a.yaml", "operations: []\n\(mistakes)size: \(number)\n")
    }
    for command in [
      ["verify"], ["lint"], ["plan"], ["migrate", "--database", "app.sqlite"], ["check"],
    ] {
      let run = try folder.start(command).wait()
      #expect(run.status == 65)
      let text = command == ["check"] ? run.output : run.errors
      func count(_ part: String) -> Int { text.components(separatedBy: part).count - 1 }
      #expect(count(": error: unknown key `colour`") == 10, "\(text)")
      #expect(count("| colour: red\n") == 10)
      #expect(count(": error: unknown key `size`") == 10)
      let more = "(`--verbose` prints them all): unknown key"
      #expect(text.contains("\n… and 19 more in 19 files \(more) `colour`"))
      #expect(text.contains("\n… and 20 more in 20 files \(more) `size`"))
      #expect(text.contains(command == ["check"] ? "59 errors." : "Found 59 errors\n"))
      let all = try folder.start(command + ["--verbose"]).wait()
      #expect((all.output + all.errors).components(separatedBy: ": error: ").count - 1 == 59)
      #expect(!(all.output + all.errors).contains("more in"))
      let json = try folder.start(command + ["--format=json"]).wait().json()
      let error = try #require(json["error"] as? [String: Any])
      #expect((error["diagnostics"] as? [Any])?.count == 59)
    }
  }

  @Test("the same mistake twenty times in one manifest is shown in full")
  func twentyMistakes() throws {
    let folder = try WorkingFolder.of([
      "1_a": "operations:\n" + String(repeating: "- drop_tables: { table: a }\n", count: 20)
    ])
    let run = try folder.expect(65, "verify")
    #expect(run.errors.components(separatedBy: ": error: ").count - 1 == 20, "\(run.errors)")
    #expect(!run.errors.contains("more in"))
  }

  @Test("for a value that the map does not name, the error has value, place and remedy")
  func unnamedValue() throws {
    let folder = try migrated(through: "6")
    try folder.connection().execute("INSERT INTO reminders (id, isCompleted) VALUES ('x', 7)")
    let run = try folder.expect(3, "migrate", "--database", "app.sqlite")
    #expect(
      run.errors == """
        migrations/0007_replace_is_completed_with_status.yaml:8:7: error: 1 row of `reminders` holds \
        a value in `isCompleted` that `map` does not name: 7 (integer) in 1 row. Name it in \
        `map`, or correct the rows first
          8 |       map: { 0: 0, 1: 1 }
            |       ^
          schemactl applied no migration: `app.sqlite` is unchanged
          in operation `1 move_column` of migration `0007_replace_is_completed_with_status`
        help: correct the manifest, or the rows of the database, and run the command again

        """)
    let redacted = try folder.expect(3, "migrate", "--database", "app.sqlite", "--redact")
    #expect(redacted.errors.contains("a value (integer) in 1 row"))
  }

  @Test("a dry run reports its steps and obstacles, and changes nothing")
  func dryRun() throws {
    let folder = try migrated(through: "6")
    try folder.connection().execute("INSERT INTO reminders (id, isCompleted) VALUES ('x', 7)")
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.path("app.sqlite")))
    let run = try folder.expect(3, "migrate", "--database", "app.sqlite", "--dry-run")
    #expect(run.output.hasPrefix("0007_replace_is_completed_with_status\n  1 "))
    #expect(
      run.output.contains("failed check: `map` names every value of `reminders.isCompleted`"))
    #expect(run.output.hasSuffix("Nothing changed.\n"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("app.sqlite"))) == before)
  }

  @Test("the script of a plan has the same effect as migrate")
  func plan() throws {
    let folder = try migrated()
    try folder.write("plan.sql", try folder.expect(0, "plan", "--sql").output)
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    shell.arguments = ["sqlite3", "-init", folder.path("plan.sql"), folder.path("new.sqlite"), ""]
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    shell.waitUntilExit()
    let schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY name"
    #expect(try folder.rows(schema, in: "new.sqlite") == folder.rows(schema))
    try folder.expect(0, "verify", "--database", "new.sqlite")
  }

  @Test(
    "the script of a plan keeps the control characters of SQL, and escapes those of comments",
    arguments: ["\\e[2J", "\\b", "\\r", "\\x7f", "\\x9b"])
  func hostilePlan(character: String) throws {
    let folder = try WorkingFolder.of([
      "0001_fine": manifest("CREATE TABLE fine (id)"),
      "0002_wild":
        "description: \"\(character)\"\noperations:\n- sql: \"CREATE TABLE \\\"\(character)\\\" (id)\"\n",
    ])
    let shell = try folder.shell("$schemactl plan --sql | sqlite3 new.sqlite")
    #expect(shell.status == 0, "\(shell.errors)")
    try folder.expect(0, "verify", "--database", "new.sqlite")
    let json = try folder.expect(0, "plan", "--sql", "--format", "json")
    #expect(
      json.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 32 && $0.value < 127 })
    #expect(try (json.json()["script"] as? String)?.contains("CREATE TABLE \"") == true)
    try folder.write(
      "migrations/0002_wild.yaml", "description: \"\(character)\\u202e\"\noperations: []\n")
    let comments = try folder.expect(0, "plan", "--sql").output
    #expect(comments.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 32 && $0.value < 127 })
  }

  @Test("the shell fails on the script of a plan that is refused, or that ends early")
  func refusedPlan() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes, "0002_wrong": "operations: 1\n"])
    let refused = try folder.shell("$schemactl plan --sql | sqlite3 new.sqlite")
    #expect(refused.status != 0)
    #expect(try folder.rows("SELECT name FROM sqlite_schema", in: "new.sqlite").isEmpty)
    try folder.write("migrations/0002_wrong.yaml", manifest("DROP TABLE missing"))
    let early = try folder.shell("$schemactl plan --sql | sqlite3 new.sqlite")
    #expect(early.status != 0)
    // As `migrate` does.
    #expect(
      try folder.rows("SELECT id FROM schemactl_migrations", in: "new.sqlite") == ["0001_notes"])
  }

  @Test("a schema is printed to a pipe with the control characters of its SQL, such as CRLF")
  func hostileSchema() throws {
    let folder = try WorkingFolder()
    let sql = "CREATE TABLE \"wild\u{1b}[2J\" (\r\n  a TEXT\r\n)"
    try folder.connection().execute(sql)
    #expect(try folder.expect(0, "inspect", "app.sqlite").output == sql + ";\n")
    for format in ["yaml", "json"] {
      let shown = try folder.expect(0, "inspect", "app.sqlite", "--format", format)
      #expect(shown.output.contains("wild\\u001b[2J"), "\(shown.output)")
    }
  }

  @Test("a plan keeps tabs, line feeds and letters of any script")
  func plainPlan() throws {
    let sql = "INSERT INTO t VALUES ('a\tb\nübung 💾 שלום\u{200f}')"
    let folder = try WorkingFolder.of([
      "0001_t": "operations:\n- sql: CREATE TABLE t (a)\n- sql: |\n    "
        + sql.replacing("\n", with: "\n    ") + "\n"
    ])
    #expect(try folder.expect(0, "plan", "--sql").output.contains(sql))
  }

  @Test("freeze reports the frozen migrations, and then that there are none left")
  func freeze() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    let run = try folder.expect(0, "freeze", "--release", "1.0")
    #expect(
      run.output == """
        Froze `0001_notes`.
        1 migration frozen for release 1.0. Commit `migrations/history.lock`, and do not change these \
        manifests any more.

        """)
    #expect(
      try folder.expect(0, "freeze").output
        == "Nothing to freeze: every migration is frozen.\n")
    #expect(try folder.expect(0, "verify").output == "1 migration: 1 unchanged.\n")
  }

  @Test("an empty history is reported, and nothing is created")
  func emptyHistory() throws {
    let folder = try WorkingFolder.of([:])
    #expect(
      try folder.expect(0, "freeze", "--release", "1.0").output
        == "Nothing to freeze: the history is empty. Release 1.0 was not recorded.\n")
    for arguments in [["migrate"], ["migrate", "--dry-run"]] {
      let run = try folder.start(arguments + ["--database", "app.sqlite"]).wait()
      #expect(run.output.hasPrefix("The history is empty: "), "\(run.output)")
    }
    #expect(!folder.exists("app.sqlite"))
  }

  @Test("a release that freezes nothing is not recorded")
  func emptyRelease() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "freeze", "--release", "1.0")
    #expect(
      try folder.expect(0, "freeze", "--release", "1.0").output
        == "Nothing to freeze: every migration is frozen. Release 1.0 is already recorded.\n")
    #expect(
      try folder.expect(0, "freeze", "--release", "1.1").output
        == "Nothing to freeze: every migration is frozen. Release 1.1 was not recorded.\n")
    let json = try folder.expect(0, "freeze", "--release", "1.1", "--format", "json").json()
    #expect(json["release"] is NSNull)
  }

  @Test("diff of a database without a ledger compares it with the whole history")
  func diffWithoutLedger() throws {
    let folder = try migrated(through: "6")
    try folder.connection().execute("DROP TABLE schemactl_migrations")
    let run = try folder.expect(1, "diff", "--database", "app.sqlite")
    let note =
      "note: `app.sqlite` has no ledger, so schemactl compared it with the latest schema of the history\n"
    #expect(run.errors == note)
    let all = try migrated(through: "7")
    try all.connection().execute("DROP TABLE schemactl_migrations")
    let same = try all.expect(0, "diff", "--database", "app.sqlite")
    #expect(same.output == "The history and `app.sqlite` have the same schema.\n")
    #expect(same.errors == note)
  }

  @Test("plan --sql for a missing database starts from an empty one, whatever is configured")
  func planEmpty() throws {
    let folder = try migrated(through: "7")
    try folder.write("schemactl.yaml", "database: app.sqlite\n")
    #expect(!(try folder.expect(0, "plan", "--sql").output.contains("CREATE TABLE")))
    for environment in [[:], ["SCHEMACTL_DATABASE": "app.sqlite"]] {
      let run = try folder.expect(
        0, "plan", "--sql", "--database", "new.sqlite", environment: environment)
      #expect(run.output.contains("CREATE TABLE"))
    }
    #expect(!folder.exists("new.sqlite"))
    let run = try folder.expect(64, "plan", "--sql", "--on-copy")
    #expect(run.errors.contains("`--sql` and `--on-copy` exclude each other"))
  }

  @Test(
    "the error for a missing configuration explains --config",
    arguments: ["missing.yaml", "migrations/0001_notes.yaml/schemactl.yaml"])
  func missingConfiguration(file: String) throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    let run = try folder.expect(66, "lint", "--config", file)
    #expect(run.errors.contains("`--config` names a file such as `schemactl.yaml`"))
  }

  @Test("--quiet prints nothing on success", arguments: [["migrate"], ["verify"], ["diff"]])
  func quiet(arguments: [String]) throws {
    let folder = try migrated(through: "6")
    let run = try folder.start(arguments + ["--quiet", "--database", "app.sqlite"]).wait()
    #expect(run.status == 0)
    #expect(run.output.isEmpty)
    #expect(run.errors.isEmpty)
  }

  @Test("--quiet prints requested results and problems")
  func quietResults() throws {
    let folder = try migrated(through: "6")
    #expect(try folder.expect(0, "status", "-q", "--database", "app.sqlite").output.count > 20)
    #expect(try !folder.expect(66, "status", "-q", "--database", "no.sqlite").errors.isEmpty)
  }

  @Test("a closed reader ends the output, not the work")
  func brokenPipe() throws {
    let folder = try WorkingFolder.ofReminders()
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let child = try folder.start(
      ["migrate", "--database", "app.sqlite"], output: pipe.fileHandleForWriting)
    let run = try child.wait()
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    #expect(try folder.applied().count == 7)
  }

  @Test("control characters in names neither control the terminal nor start a line")
  func controlCharacters() throws {
    let folder = try migrated()
    try folder.connection().execute("CREATE TABLE \"a\u{1B}[2J\nerror: b\u{202E}\u{9B}31m\" (id)")
    for command in ["diff", "verify"] {
      let run = try folder.expect(1, command, "--database", "app.sqlite")
      #expect(run.output.contains("a\\u{1B}[2J\\u{A}error: b\\u{202E}\\u{9B}31m"))
      #expect(
        run.output.unicodeScalars.allSatisfy { scalar in
          scalar == "\n"
            || scalar.properties.generalCategory != .control && !scalar.properties.isBidiControl
        })
    }
    let strange = try WorkingFolder.ofReminders()
    try strange.connection().execute("CREATE TABLE \"a\u{1B}[2J\nb\" (id)")
    let run = try strange.expect(1, "migrate", "--database", "app.sqlite")
    #expect(run.errors.contains("a\\u{1B}[2J\\u{A}b"))
    let named = try strange.expect(66, "status", "--database", "no\u{1B}[2J.sqlite")
    #expect(
      named.errors.hasPrefix(
        "schemactl: error: database `no\\u{1B}[2J.sqlite` does not exist\n"))
  }

  @Test("output to a pipe has neither colours nor progress")
  func pipe() throws {
    let run = try WorkingFolder.ofReminders().expect(
      0, "migrate", "--database", "app.sqlite", environment: ["TERM": "xterm"])
    #expect(!(run.output + run.errors).unicodeScalars.contains("\u{1B}"))
  }

  #if os(Linux)
    @Test("an error is red on a terminal that supports and allows colours")
    func colour() throws {
      let arguments = ["status", "--database", "no.sqlite"]
      let message =
        " database `no.sqlite` does not exist\r\nhelp: Correct `--database`, or create the database "
        + "(`schemactl migrate --database no.sqlite`)\r\n"
      #expect(
        try onTerminal(arguments, status: 66)
          == "schemactl: \u{1B}[1;31merror:\u{1B}[0m" + message)
      for variable in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
        #expect(
          try onTerminal(arguments, environment: variable, status: 66)
            == "schemactl: error:" + message)
      }
    }

    /// The output of a run with a terminal as its standard error.
    private func onTerminal(
      _ arguments: [String], environment: [String: String] = [:], status: Int32
    ) throws -> String {
      let folder = try WorkingFolder.ofReminders()
      let terminal = try Terminal()
      let child = try folder.start(
        arguments, environment: ["TERM": "xterm"].merging(environment) { $1 },
        errors: terminal.handle)
      #expect(try child.wait().status == status)
      return terminal.readToEnd()
    }
  #endif
}

import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("Lint and freeze")
struct LintTests {
  private static let notes = """
    operations:
      - create_table:
          name: notes
          columns:
            - { name: id, type: TEXT, primary_key: true, not_null: { on_conflict: replace },
                default: { sql: uuid() } }
            - { name: text, type: TEXT }
            - { name: color, type: INTEGER }
          strict: true

    """

  private static let drop = """
    operations:
      - drop_column: { table: notes, column: color }

    """

  /// A history that drops a column, which is an error unless nothing syncs.
  private func dropping(_ suppression: String = "") throws -> WorkingFolder {
    try .of(["0001_notes": Self.notes, "0002_drop": Self.drop + suppression])
  }

  @Test("a finding has a place, a severity and a rule, and an error exits with 1")
  func finding() throws {
    let run = try dropping().expect(1, "lint")
    let line = try #require(run.output.split(separator: "\n").first { $0.contains("drop-column") })
    #expect(line.hasPrefix("migrations/0002_drop.yaml:2:34: error: "))
    #expect(line.hasSuffix(" [drop-column]"))
    #expect(
      run.output.hasSuffix("Profile additive: something may sync.\nFound 1 error\n"))
    #expect(run.errors.isEmpty)
  }

  @Test("a finding shows its line with a caret and the replacement")
  func excerpt() throws {
    let lines = try dropping().expect(1, "lint").output.split(separator: "\n").map(String.init)
    let finding = try #require(lines.firstIndex { $0.hasSuffix("[drop-column]") })
    #expect(
      lines[(finding + 1)...].prefix(3) == [
        "  2 |   - drop_column: { table: notes, column: color }",
        "    |                                  ^",
        "help: keep the column and stop using it",
      ])
    let folder = try WorkingFolder.of([
      "0001_notes": Self.notes,
      "0002_unique":
        "operations:\n  - add_column: { table: notes, column: { name: n, type: TEXT, not_null: true } }\n",
    ])
    let output = try folder.expect(1, "lint", "--profile", "local").output
    #expect(
      output.contains(
        """
        help: write this instead:
            { name: n, type: TEXT, not_null: true, default: "" }

        """))
  }

  @Test("the line and its caret are right in a file with CRLF, CR and a byte order mark")
  func windowsFile() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": Self.notes, "0002_misspelt": "\u{FEFF}operationz: []\r\nlint: {}\r\n",
    ])
    let unknown = try folder.expect(65, "lint").errors
    #expect(unknown.contains("\n  1 | operationz: []\n    | ^\n"), "\(unknown)")
    for end in ["\r\n", "\r"] {
      try folder.write(
        "migrations/0002_misspelt.yaml",
        "\u{FEFF}operations:\(end)  - drop_column: { table: notes, column: color }\(end)")
      let finding = try folder.expect(1, "lint").output
      #expect(
        finding.contains(
          """
            2 |   - drop_column: { table: notes, column: color }
              |                                  ^

          """), "\(finding)")
    }
  }

  @Test("the last line counts the findings and those that --fix corrects")
  func verdict() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": Self.notes,
      "0002_pragma":
        "operations:\n  - sql: [ PRAGMA foreign_keys = OFF, UPDATE notes SET text = trim(text) ]\n"
        + "lint: { allow: [ { rule: drop-table, reason: Nobody reads it. } ] }\n",
    ])
    #expect(
      try folder.expect(1, "lint", "--profile", "local").output.hasSuffix(
        "\nFound 1 error, 2 warnings (1 fixable with `--fix`)\n"))
  }

  @Test(
    "a check that only frozen findings fail has an error annotation",
    arguments: ["github", "xcode"])
  func frozenErrors(format: String) throws {
    let folder = try dropping()
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    try folder.expect(0, "freeze")
    try folder.write("schemactl.yaml", "sync: { engine: additive }\n")
    let output = try folder.expect(1, "lint", "--format", format).output
    #expect(output.contains(format == "github" ? "::error " : "error: "))
    #expect(output.contains("in frozen migrations; see `lint --verbose`"))
  }

  @Test("findings about frozen manifests are summarised in one line by default")
  func frozenFindings() throws {
    let folder = try dropping()
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    try folder.expect(0, "freeze")
    let brief = try folder.expect(0, "lint").output
    #expect(
      brief == """
        1 finding in frozen migrations; see `lint --verbose`
        Profile local: nothing syncs.
        Found 1 warning

        """)
    #expect(try folder.expect(0, "check").output.contains("1 finding in frozen migrations"))
    for command in ["lint", "check"] {
      let output = try folder.expect(0, command, "--verbose").output
      #expect(output.contains("[drop-column]"))
      #expect(!output.contains("frozen migrations"))
    }
    let json = try folder.expect(0, "lint", "--format", "json").json()
    #expect((json["findings"] as? [[String: Any]])?.map { $0["frozen"] as? Bool } == [true])
    #expect(
      try folder.expect(0, "lint", "--format", "sarif").output.contains("\"frozen\": true"))
    #expect(
      !(try folder.expect(0, "lint", "--format", "github").output.contains("drop-column")))
  }

  @Test("65: --explain of a rule of version 0.1 names its replacement")
  func explainOld() throws {
    let run = try WorkingFolder().expect(65, "lint", "--explain", "drop-view")
    #expect(
      run.errors == "schemactl: error: the rule `drop-view` is now called `drop-object`\n")
  }

  @Test(
    "errors in frozen manifests come with advice, unless `since` is set")
  func frozenErrors() throws {
    let folder = try dropping()
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    try folder.expect(0, "freeze")
    try folder.remove("schemactl.yaml")
    let note = "note: 1 error concerns a frozen manifest, which must not change."
    #expect(try folder.expect(1, "lint").errors.hasPrefix(note))
    #expect(try folder.expect(1, "check").errors.contains(note))
    let json = try folder.expect(1, "lint", "--format", "json").json()
    #expect((json["notes"] as? [String])?.count == 1)
    #expect(try folder.expect(0, "lint", "--profile", "local").errors == "")
    try folder.write("migrations/0003_next.yaml", manifest("SELECT 1"))
    try folder.write("schemactl.yaml", "sync: { engine: additive, since: 0003_next }\n")
    #expect(try folder.expect(0, "lint").errors == "")
  }

  @Test("warnings exit with 0, and with 1 if --strict is given")
  func warnings() throws {
    let folder = try dropping()
    let run = try folder.expect(0, "lint", "--profile", "local")
    #expect(run.output.contains(" warning: "))
    #expect(run.output.hasSuffix("Profile local: nothing syncs.\nFound 1 warning\n"))
    try folder.expect(1, "lint", "--profile", "local", "--strict")
  }

  @Test("a changed type is reported at its operation, though a later one writes the table again")
  func changedType() throws {
    let folder = try WorkingFolder.of([
      "0001_lists": manifest("CREATE TABLE lists (id INTEGER PRIMARY KEY, price INTEGER)"),
      "0002_price": """
      operations:
        - alter_column: { table: lists, column: price, type: TEXT }
        - convert_primary_key: { table: lists, to: uuid, uuids: per_database }

      """,
    ])
    let run = try folder.expect(1, "lint")
    #expect(
      run.output.contains(
        "migrations/0002_price.yaml:2:50: error: the type of `lists.price` changes"),
      "\(run.output)")
  }

  @Test("a suppressed finding is one line with its reason")
  func suppressedLine() throws {
    let folder = try dropping(
      """
          lint: { allow: [ { rule: drop-column, reason: Never filled. } ] }

      """)
    #expect(
      try folder.expect(0, "lint").output == """
        migrations/0002_drop.yaml:2:34: suppressed: drop-column: Never filled.
        Profile additive: something may sync.
        Found no problems; 1 suppressed

        """)
  }

  @Test("a replay that ends early counts as an error, and skipped migrations are reported")
  func endsEarly() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": Self.notes, "0002_fails": "operations: [ drop_table: { table: gone } ]\n",
    ])
    let run = try folder.expect(3, "lint")
    #expect(
      run.output == """
        migrations/0002_fails.yaml:1:29: error: table `gone` does not exist [replay/failed]
          1 | operations: [ drop_table: { table: gone } ]
            |                             ^
          in operation `1 drop_table` of migration `0002_fails`
          statement: DROP TABLE main."gone"
        Profile additive: something may sync. The replay ended at `0002_fails`: lint did \
        not check later migrations.
        Found 1 error

        """)
  }

  @Test("a NOT NULL column that the operation fills fails no migration")
  func filled() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": Self.notes,
      "0002_move": """
      operations:
        - move_column:
            table: notes
            from: color
            to: { name: shade, type: INTEGER, not_null: true }
            using: coalesce(color, 0)
      """,
    ])
    let output = try folder.expect(1, "lint").output
    let line = output.split(separator: "\n").first { $0.contains("[new-required-column]") }
    #expect(line?.contains("Every INSERT of an older version of the app") == true)
    #expect(!output.contains("[add-not-null"))
  }

  @Test("a renamed NOT NULL column is not a new one")
  func renamed() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": "operations: [ sql: 'CREATE TABLE notes (id TEXT PRIMARY KEY, a NOT NULL)' ]\n",
      "0002_rename":
        "operations: [ rename_column: { table: notes, from: a, to: b } ]\n",
    ])
    #expect(!(try folder.expect(1, "lint").output.contains("[add-not-null")))
  }

  @Test("harm between two devices is a line followed by a script")
  func twoDevices() throws {
    let folder = try WorkingFolder.of(["0001_notes": Self.notes])
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.write("migrations/0002_drop.yaml", Self.drop)
    let message =
      "migrations/0002_drop.yaml:2:34: error: a 1.0 device creates notes(id='one', text='Milk', "
      + "color=1); a device with `0002_drop` has no column `notes.color`, and the value is lost "
      + "[two-devices]"
    for run in try [folder.expect(1, "lint"), folder.expect(1, "lint", "--full")] {
      let lines = run.output.split(separator: "\n")
      let first = try #require(lines.firstIndex { $0.hasSuffix(" [two-devices]") })
      #expect(
        lines[first...].prefix(9).map(String.init) == [
          message,
          "  2 |   - drop_column: { table: notes, column: color }",
          "    |                                  ^",
          "  -- In one sqlite3 shell, a 1.0 device:",
          "  PRAGMA foreign_keys = ON;",
          "  CREATE TABLE \"notes\" (",
          "    \"id\" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (hex(randomblob(16))),",
          "    \"text\" TEXT,",
          "    \"color\" INTEGER",
        ])
    }
    try folder.expect(0, "lint", "--profile", "local")
    let json = try folder.expect(1, "lint", "--format", "json").output
    #expect(json.contains("\\n-- In one sqlite3 shell, a 1.0 device:\\n"))
  }

  @Test("the configuration selects the profile and sets severities")
  func configuration() throws {
    let folder = try dropping()
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    try folder.expect(0, "lint")
    try folder.write("schemactl.yaml", "lint: { rules: { drop-column: note } }\n")
    #expect(try folder.expect(0, "lint").output.contains(" note: "))
    try folder.write("schemactl.yaml", "lint: { rules: { drop-colum: note } }\n")
    let run = try folder.expect(65, "lint")
    #expect(run.errors.hasPrefix("schemactl.yaml:1:18: error: "))
    #expect(run.errors.contains("drop-column"))
  }

  @Test("the JSON of lint has the keys that scripts use")
  func json() throws {
    let run = try dropping().expect(1, "lint", "--format", "json")
    #expect(run.errors.isEmpty)
    let json = try run.json()
    #expect(json["profile"] as? String == "additive")
    let summary = try #require(json["summary"] as? [String: Any])
    #expect(Set(summary.keys) == ["errors", "warnings", "notes", "waived"])
    let findings = try #require(json["findings"] as? [[String: Any]])
    let finding = try #require(findings.first { $0["rule"] as? String == "drop-column" })
    #expect(
      Set(finding.keys) == [
        "rule", "severity", "message", "file", "line", "column", "migration", "object", "waived",
        "reason", "help", "fix", "fixPlace", "frozen",
      ])
    #expect(finding["severity"] as? String == "error")
    #expect(finding["migration"] as? String == "0002_drop")
    #expect(finding["object"] as? String == "notes.color")
    #expect(finding["line"] as? Int == 2)
  }

  @Test("a suppressed finding is counted, not shown, and in JSON with its reason")
  func suppressed() throws {
    let folder = try dropping(
      "lint: { allow: [{ rule: drop-column, reason: nobody syncs it }] }\n")
    let run = try folder.expect(0, "lint")
    #expect(!run.output.contains("[drop-column]"))
    #expect(run.output.contains("1 suppressed"))
    let json = try folder.expect(0, "lint", "--format", "json").json()
    let finding = (json["findings"] as? [[String: Any]])?.first { $0["waived"] as? Bool == true }
    #expect(finding?["reason"] as? String == "nobody syncs it")
  }

  @Test("3: a history that cannot be replayed is checked up to its failure")
  func failing() throws {
    let folder = try dropping()
    try folder.write("migrations/0003_twice.yaml", Self.notes)
    let run = try folder.expect(3, "lint")
    #expect(run.output.contains("[drop-column]"))
    #expect(run.output.contains("migrations/0003_twice.yaml:2:5: error: "))
    let json = try folder.expect(3, "lint", "--format", "json").json()
    #expect((json["failed"] as? [String: Any])?["id"] as? String == "0003_twice")
  }

  @Test("--write-baseline --full includes the findings of --full")
  func fullBaseline() throws {
    let folder = try WorkingFolder.of([
      "0001_step": manifest("CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, x TEXT)")
    ])
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    // Only 1.2, which is not adjacent to 1.0, refuses the rows of 1.0.
    let steps = [
      "CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, x TEXT)",
      "CREATE TABLE c (id TEXT PRIMARY KEY NOT NULL)", "CREATE UNIQUE INDEX a_x ON a (x)",
      "DROP INDEX a_x",
    ]
    for (index, step) in steps.enumerated() {
      try folder.write("migrations/000\(index + 1)_step.yaml", manifest(step))
      try folder.expect(0, "freeze", "--release", "1.\(index)")
    }
    try folder.write("schemactl.yaml", "sync: { engine: additive }\n")
    try folder.expect(1, "lint", "--full")
    try folder.write("schemactl.yaml", "sync: { engine: additive }\nlint: { baseline: known }\n")
    try folder.expect(0, "lint", "--write-baseline", "--full")
    try folder.expect(0, "lint", "--full", "--strict")
  }

  @Test("--explain describes a rule")
  func explain() throws {
    let folder = try WorkingFolder()
    let run = try folder.expect(0, "lint", "--explain", "drop-column")
    #expect(run.output.hasPrefix("drop-column\n"))
    let json = try folder.expect(0, "lint", "--explain", "drop-column", "--format=json").json()
    #expect(json["explanation"] as? String == run.output)
  }

  @Test("64: an unknown rule, with the nearest one")
  func unknownRule() throws {
    let run = try WorkingFolder().expect(64, "lint", "--explain", "drop-colum")
    #expect(
      run.errors == """
        schemactl: error: `drop-colum` is not a rule
        help: Did you mean `drop-column`? See `schemactl lint --help`.

        """)
  }

  @Test("a baseline replaces a baseline or an empty file, but no other file")
  func baselineOverOthers() throws {
    let folder = try dropping()
    func write(to file: String, _ status: Int32) throws -> Finished {
      try folder.write("project.yaml", "lint: { baseline: \"\(file)\" }\n")
      return try folder.expect(status, "lint", "--write-baseline", "--config", "project.yaml")
    }
    try folder.connection("app.sqlite").execute("CREATE TABLE t (a)")
    try folder.write("notes.txt", "# to do\n\nlint\n")
    try folder.write("comments.yaml", "# nothing but comments\n")
    try folder.makeFolder("folder")
    try folder.write("linked.txt", "text\n")
    for (link, target) in [("link", "linked.txt"), ("nowhere", "missing/file")] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path(link), withDestinationPath: target)
    }
    let refused = [
      "app.sqlite", "notes.txt", "comments.yaml", "folder", "link", "nowhere", "schemactl.yaml",
      "migrations/0001_notes.yaml",
    ]
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    for file in refused {
      let before = try? Data(contentsOf: URL(fileURLWithPath: folder.path(file)))
      let run = try write(to: file, 65)
      #expect(run.errors.contains("`\(file)` is not a baseline of lint findings"), "\(run.errors)")
      #expect(before == (try? Data(contentsOf: URL(fileURLWithPath: folder.path(file)))))
    }
    try folder.write("empty", "")
    for file in ["new", "new", "empty"] { _ = try write(to: file, 0) }
    // The remaining text after a user has removed the comments.
    let text = try folder.text("new")
    try folder.write(
      "entries", text.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n"))
    _ = try write(to: "entries", 0)
    #expect(try folder.text("entries") == text)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("alias"), withDestinationPath: "new")
    _ = try write(to: "alias", 0)
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("alias")) == "new")
  }

  @Test("a baseline suppresses its findings and reports unused entries")
  func baseline() throws {
    let folder = try dropping()
    #expect(
      try folder.expect(64, "lint", "--write-baseline").errors.contains(
        "`schemactl.yaml` names no baseline"))
    try folder.write("gone.yaml", "lint: { baseline: gone }\n")
    #expect(
      try folder.expect(66, "lint", "--config", "gone.yaml").errors.contains("--write-baseline"))
    try folder.write("schemactl.yaml", "lint: { baseline: known }\n")
    let written = try folder.expect(0, "lint", "--write-baseline")
    #expect(written.output == "Wrote 1 finding to `known`.\n")
    let run = try folder.expect(0, "lint")
    #expect(!run.output.contains("suppressed: ") && run.output.contains("; 1 suppressed\n"))
    #expect(
      try folder.expect(0, "lint", "--verbose").output.contains(
        "suppressed: drop-column: It is in the baseline `known`.\n"))
    try folder.expect(0, "freeze", "--to", "1")
    try folder.expect(0, "freeze")
    try folder.write("known", "0123456789abcdef drop-column 0001_notes notes.color\n")
    let stale = try folder.expect(1, "lint")
    #expect(
      stale.output.contains(
        "known:1:1: warning: `0001_notes` no longer has a finding of `drop-column`"))
    try folder.write("known", "nonsense\n")
    #expect(try folder.expect(65, "lint").errors.hasPrefix("known:1:1: error: "))
  }

  @Test("migrations that every device has run are checked without older versions")
  func oldestRelease() throws {
    let folder = try dropping(
      "lint: { allow: [{ rule: drop-column, reason: nobody syncs it }] }\n")
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.write(
      "migrations/0002_drop.yaml", Self.drop)
    try folder.expect(1, "lint")
    try folder.write("schemactl.yaml", "sync: { engine: additive, oldest_release: '1.0' }\n")
    #expect(
      try folder.expect(0, "lint", "--verbose").output.contains(
        " warning: this drops `notes.color`"))
    try folder.write("schemactl.yaml", "sync: { engine: additive, oldest_release: '1.1' }\n")
    let run = try folder.expect(65, "lint")
    #expect(run.errors.contains("`1.1`, which is not a release in `history.lock`"))
    #expect(run.errors.contains("help: did you mean `1.0`?"))
  }

  @Test("65: forbidden SQL is reported at its line")
  func refused() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": Self.notes, "0002_refused": "operations:\n  - sql: |\n      VACUUM;\n",
    ])
    let run = try folder.expect(65, "lint")
    #expect(run.errors.hasPrefix("migrations/0002_refused.yaml:3:7: error: VACUUM does not belong"))
    try folder.expect(65, "migrate", "--database", "a.db")
  }

  @Test("freeze refuses errors of lint until they are suppressed with a reason")
  func freeze() throws {
    let folder = try dropping()
    let run = try folder.expect(1, "freeze")
    #expect(run.output.contains("[drop-column]"))
    #expect(
      run.errors.hasPrefix(
        "schemactl: error: lint found 1 error, so schemactl froze nothing\nhelp: "))
    let json = try folder.expect(1, "freeze", "--format", "json").json()
    #expect((json["error"] as? [String: Any])?["code"] as? Int == 1)
    #expect((json["findings"] as? [Any])?.isEmpty == false)
    #expect(!folder.exists("migrations/history.lock"))

    try folder.expect(0, "freeze", "--to", "1")
    try folder.expect(1, "freeze")
    try folder.write(
      "migrations/0002_drop.yaml",
      Self.drop + "lint: { allow: [{ rule: drop-column, reason: nobody syncs it }] }\n")
    let second = try folder.expect(0, "freeze")
    #expect(
      second.output.hasPrefix(
        """
        Froze `0002_drop`.
        Without `--release`, they stay without a release name.
        1 migration frozen. Commit\u{20}
        """))
  }

  /// A squash of four migrations, of which releases 1 and 2 ship two each, and a later migration.
  private func squashed() throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_step": "operations:\n  - sql: CREATE TABLE t1 (a)\n",
      "0002_step": "operations:\n  - sql: CREATE TABLE t2 (a)\n",
      "0003_step": "operations:\n  - sql: CREATE TABLE t3 (a)\n",
      "0004_step": "operations:\n  - sql: CREATE TABLE t4 (a)\n",
      "0005_step": "operations:\n  - sql: CREATE TABLE t5 (a)\n",
    ])
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    try folder.expect(0, "migrate", "--to", "3", "--database", "some.sqlite")
    try folder.expect(0, "migrate", "--to", "4", "--database", "all.sqlite")
    try folder.expect(0, "freeze", "--release", "1", "--to", "2")
    try folder.expect(0, "freeze", "--release", "2", "--to", "4")
    try folder.expect(0, "squash", "--to", "4")
    return folder
  }

  @Test("65: an unreadable manifest of a squash is reported at its place")
  func unreadableSquashed() throws {
    let folder = try squashed()
    try folder.write("migrations/squashed/0002_step.yaml", "operations: [")
    let run = try folder.expect(65, "verify")
    #expect(
      (run.output + run.errors).contains("migrations/squashed/0002_step.yaml:1:"),
      "\(run.output)\(run.errors)")
  }

  @Test("an edited or missing manifest of a squash has its path, and makes no bundle")
  func editedSquashed() throws {
    let folder = try squashed()
    try folder.write(
      "migrations/squashed/0002_step.yaml", "operations:\n  - sql: CREATE TABLE t9 (a)\n")
    let run = try folder.expect(2, "verify", "--format", "github")
    #expect(run.output.contains("file=migrations/squashed/0002_step.yaml"), "\(run.output)")
    try folder.expect(2, "bundle", "--output", "app.schema")
    try folder.remove("migrations/squashed/0002_step.yaml")
    try folder.expect(2, "bundle", "--output", "app.schema")
    #expect(!folder.exists("app.schema"))
  }

  @Test(
    "runs on a copy of a database that has run some of the migrations that a squash replaces, or all",
    arguments: ["some", "all"])
  func squashedCopy(_ database: String) throws {
    let run = try squashed().expect(0, "lint", "--on-copy", "--database", database + ".sqlite")
    #expect(run.output.contains("t5: created with 0 rows"), "\(run.output)")
  }

  @Test(
    "the configuration may name a migration or a release that a squash holds",
    arguments: ["since: 0002_step", "since: '3'", "since: 0004_step", "oldest_release: '1'"])
  func squashedNames(_ setting: String) throws {
    let folder = try squashed()
    try folder.write("schemactl.yaml", "sync: { engine: additive, \(setting) }\n")
    let run = try folder.run("lint")
    #expect(run.code < 2, "\(run.output)\(run.errors)")
  }
}

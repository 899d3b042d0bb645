import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("New manifests")
struct NewTests {
  @Test("the manifest gets the next number and a slug of its name, and lint finds nothing")
  func next() throws {
    let folder = try WorkingFolder.ofReminders()
    let run = try folder.expect(0, "new", "Add priority!")
    #expect(run.output == "migrations/0008_add_priority.yaml\n")
    #expect(run.errors.isEmpty)
    #expect(
      try folder.text("migrations/0008_add_priority.yaml") == """
        # yaml-language-server: $schema=../docs/manifest.schema.json
        description: Add priority!
        operations: []
        # Instead of `[]`, an entry for each change, in order:
        #   - add_column:
        #       table: reminders
        #       column: { name: priority, type: INTEGER }

        """)
    #expect(!folder.exists("migrations/.manifest.schema.json"))
    let note = "note: `migrations/0008_add_priority.yaml` has no operations: `freeze` refuses it"
    #expect(try folder.expect(0, "lint").errors.contains(note))
    let lint = try folder.expect(0, "lint", "--strict", "--format", "json").json()
    let findings = try #require(lint["findings"] as? [[String: Any]])
    #expect(!findings.contains { $0["migration"] as? String == "0008_add_priority" })
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.applied().last == "0008_add_priority")
  }

  @Test("freeze refuses a manifest that nobody has filled in")
  func empty() throws {
    let folder = try WorkingFolder.of(["0001_reminders": manifest("CREATE TABLE reminders (id)")])
    try folder.expect(0, "new", "next")
    let run = try folder.expect(1, "freeze", "--release", "1.0")
    #expect(
      (run.output + run.errors).contains(
        "migrations/0002_next.yaml:1:1: error: this migration has no operations"))
    #expect((run.output + run.errors).contains("help: Write its operations"))
    #expect(!folder.exists("migrations/history.lock"))
    try folder.expect(0, "freeze", "--to", "1")
    try folder.write("migrations/0002_next.yaml", manifest("SELECT 1"))
    try folder.expect(0, "freeze")
  }

  @Test("`--from` refuses a database with pending migrations, which the manifest would undo")
  func pending() throws {
    let folder = try WorkingFolder.of(["0001_users": manifest("CREATE TABLE users (id, state)")])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("ALTER TABLE users ADD COLUMN z")
    try folder.write(
      "migrations/0002_st.yaml", manifest("ALTER TABLE users RENAME COLUMN state TO st"))
    let run = try folder.expect(1, "new", "Keep", "z", "--from", "app.sqlite")
    #expect(
      run.errors == """
        schemactl: error: `app.sqlite` has pending migrations, which the new migration would undo: `0002_st`
        help: Run `schemactl migrate --database app.sqlite` first. If the schema of the database prevents \
        that, correct the database

        """)
    #expect(!folder.exists("migrations/0003_keep_z.yaml"))
    try folder.connection().execute("ALTER TABLE users DROP COLUMN z")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("ALTER TABLE users ADD COLUMN z")
    try folder.expect(0, "new", "Keep", "z", "--from", "app.sqlite")
  }

  @Test("`--from` also counts migrations as pending that another tool's ledger lacks")
  func pendingOfAnotherTool() throws {
    let folder = try WorkingFolder()
    let first = """
      CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
      CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO grdb_migrations VALUES ('v1');
      """
    try folder.connection("1.sqlite").execute(first)
    try folder.connection("2.sqlite").execute(
      first
        + "CREATE TABLE team (id INTEGER PRIMARY KEY); INSERT INTO grdb_migrations VALUES ('v2')")
    let quiet = try folder.expect(
      0, "import", "1.sqlite", "2.sqlite", "--tool", "grdb", "--profile", "local", "--quiet")
    #expect(quiet.output.isEmpty)
    try folder.connection("1.sqlite").execute("CREATE INDEX names ON people (name)")
    let run = try folder.expect(1, "new", "Index", "--from", "1.sqlite")
    #expect(
      run.errors.hasPrefix(
        "schemactl: error: `1.sqlite` has pending migrations, which the new migration would undo: "
          + "`0002_v2`\n"))
    try folder.connection("2.sqlite").execute(
      "CREATE INDEX names ON people (name); INSERT INTO grdb_migrations VALUES ('v3')")
    try folder.expect(0, "new", "Index", "--from", "2.sqlite")
  }

  @Test("the commented example adds a column")
  func example() throws {
    let folder = try WorkingFolder.of(["0001_reminders": manifest("CREATE TABLE reminders (id)")])
    try folder.expect(0, "new", "Add", "priority")
    let file = "migrations/0002_add_priority.yaml"
    let lines = try folder.text(file).split(separator: "\n").map(String.init)
    let example = lines.filter { $0.hasPrefix("#   ") }.map { $0.dropFirst() + "\n" }
    #expect(example.count == 3)
    try folder.write(file, "operations:\n" + example.joined())
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(
      try folder.rows("SELECT name FROM pragma_table_info('reminders')") == ["id", "priority"])
  }

  @Test("the first manifest creates and reports the folder and the JSON Schema")
  func first() throws {
    let folder = try WorkingFolder()
    try folder.write("schemactl.yaml", "migrations: db\n")
    let run = try folder.expect(0, "new", "Create notes")
    #expect(run.output == "db/0001_create_notes.yaml\n")
    #expect(
      run.errors == """
        note: schemactl created `db`
        note: schemactl created `db/.manifest.schema.json`

        """)
    #expect(
      try folder.text("db/0001_create_notes.yaml")
        .hasPrefix("# yaml-language-server: $schema=.manifest.schema.json\n"))
    #expect(
      try folder.text("db/.manifest.schema.json")
        == folder.expect(0, "schema", "manifest").output)
    let second = try folder.expect(0, "new", "Create tags")
    #expect(second.output == "db/0002_create_tags.yaml\n")
    #expect(second.errors.isEmpty)
    try folder.expect(0, "verify")
  }

  @Test("a missing migrations directory is created")
  func missingFolder() throws {
    let folder = try WorkingFolder()
    try folder.expect(0, "new", "Create notes")
    #expect(folder.exists("migrations/0001_create_notes.yaml"))
    try folder.expect(0, "new", "Create notes", "--migrations", "mine")
    #expect(folder.exists("mine/0001_create_notes.yaml"))
    try folder.expect(66, "new", "Create notes", "--migrations", "not/there")
  }

  @Test("JSON contains an id and a file")
  func json() throws {
    let run = try WorkingFolder.ofReminders().expect(0, "new", "x", "--format", "json")
    #expect(run.errors.isEmpty)
    let json = try run.json()
    #expect(json.count == 2)
    #expect(json["id"] as? String == "0008_x")
    #expect(json["file"] as? String == "migrations/0008_x.yaml")
  }

  @Test("a name without a letter or a digit is refused", arguments: ["", "  ", "!?", "🎈"])
  func noName(name: String) throws {
    let folder = try WorkingFolder()
    let run = try folder.expect(64, "new", name, "--migrations", "mine")
    #expect(run.errors.contains("schemactl cannot create a file name from `\(name)`"))
    #expect(!folder.exists("mine"))
  }

  @Test("a frozen number is never reused, even if its manifest is missing")
  func frozenNumber() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_more": manifest("SELECT 1"),
    ])
    try folder.expect(0, "freeze")
    try folder.remove("migrations/0002_more.yaml")
    #expect(try folder.expect(0, "new", "x").output == "migrations/0003_x.yaml\n")
  }

  @Test("ten concurrent calls get ten numbers")
  func atOnce() throws {
    let folder = try WorkingFolder.ofReminders()
    let children = try (0..<10).map { _ in try folder.start(["new", "Same name"]) }
    let files = try children.map { try $0.wait().output }
    #expect(
      files.sorted()
        == (8...17).map { "migrations/00\($0 < 10 ? "0" : "")\($0)_same_name.yaml\n" })
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("migrations"))
    #expect(names.allSatisfy { $0.hasSuffix(".yaml") })
  }

  @Test("an invalid manifest is reported before another one is added")
  func brokenManifest() throws {
    let folder = try WorkingFolder.of(["0001_first": "operations:\n- drop_tabel: { table: t }\n"])
    try folder.expect(65, "new", "x")
    #expect(!folder.exists("migrations/0002_x.yaml"))
  }
}

@Suite("JSON Schemas")
struct SchemaCommandTests {
  @Test("schema prints the file in docs", arguments: ["manifest", "config"])
  func golden(kind: String) throws {
    let file = repository.appendingPathComponent("docs/\(kind).schema.json")
    let run = try WorkingFolder().expect(0, "schema", kind)
    #expect(run.output == (try String(contentsOf: file, encoding: .utf8)))
  }

  @Test("a missing argument is reported with its valid values")
  func missing() throws {
    let folder = try WorkingFolder()
    #expect(
      try folder.expect(64, "schema").errors == """
        schemactl: error: argument `KIND` is missing for `schema`
        help: It is one of `manifest`, `config`. See `schemactl schema --help`.

        """)
    let shells = "It is one of `bash`, `zsh`, `fish`, `man`."
    #expect(try folder.expect(64, "completions").errors.contains(shells))
  }

  @Test("an unknown schema is refused with the nearest one")
  func unknown() throws {
    let run = try WorkingFolder().expect(64, "schema", "manifets")
    #expect(run.errors.contains("Did you mean `manifest`?"))
  }
}

extension WorkingFolder {
  func text(_ name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }
}

import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("A new project")
struct ProjectTests {
  private func text(_ folder: WorkingFolder, _ name: String) throws -> String {
    try String(contentsOfFile: folder.path(name), encoding: .utf8)
  }

  @Test("init creates the directory, the configuration and the editor schemas, then names `new`")
  func empty() throws {
    let folder = try WorkingFolder()
    let run = try folder.expect(0, "init", "--profile", "local")
    #expect(run.output.hasSuffix("Next: `schemactl new 'Create notes'`\n"), "\(run.output)")
    #expect(try text(folder, "schemactl.yaml").contains("\nsync: { engine: none }\n"))
    #expect(
      try text(folder, "migrations/.manifest.schema.json")
        == folder.expect(0, "schema", "manifest").output)
    #expect(
      try text(folder, ".schemactl.schema.json") == folder.expect(0, "schema", "config").output)
    #expect(
      try folder.expect(0, "new", "Create notes").output == "migrations/0001_create_notes.yaml\n")
    try folder.expect(0, "check")
  }

  @Test("without a terminal and --profile, init does not set the sync engine")
  func undecided() throws {
    let folder = try WorkingFolder()
    try folder.expect(0, "init")
    #expect(try text(folder, "schemactl.yaml").contains("\n# sync: { engine: none }\n"))
    #expect(try folder.expect(0, "new", "x", "--quiet").status == 0)
    try folder.expect(0, "lint", "--quiet")
  }

  @Test("init never changes an existing file, and refuses a directory with a history")
  func existing() throws {
    let folder = try WorkingFolder()
    try folder.write("schemactl.yaml", "migrations: db\n")
    try folder.expect(64, "init", "--profile", "local")
    try folder.expect(0, "init")
    #expect(try text(folder, "schemactl.yaml") == "migrations: db\n")
    #expect(folder.exists("db/.manifest.schema.json"))
    try folder.write("db/0001_notes.yaml", tableOfNotes)
    let again = try folder.expect(1, "init")
    #expect(again.errors.contains("db` already has a history, up to `0001_notes`"))
    #expect(again.errors.contains("Add a migration with `schemactl new`"))
  }

  @Test("init adds the missing configuration to a history that `new` began, but no baseline")
  func afterNew() throws {
    let folder = try WorkingFolder()
    try folder.connection().execute("CREATE TABLE theirs (id INTEGER PRIMARY KEY)")
    try folder.expect(0, "new", "Create notes")
    let before = try text(folder, "migrations/0001_create_notes.yaml")
    let refused = try folder.expect(1, "init", "--from", "app.sqlite", "--profile", "local")
    #expect(refused.errors.contains("already has a history, up to `0001_create_notes`"))
    #expect(!folder.exists("schemactl.yaml"))
    let run = try folder.expect(0, "init", "--profile", "local")
    #expect(run.output.hasSuffix("Next: `schemactl lint`\n"), "\(run.output)")
    #expect(try text(folder, "schemactl.yaml").contains("\nsync: { engine: none }\n"))
    #expect(try text(folder, "migrations/0001_create_notes.yaml") == before)
    try folder.expect(1, "init")
  }

  @Test("init --from also writes the baseline")
  func baseline() throws {
    let folder = try WorkingFolder()
    try folder.connection().execute("CREATE TABLE theirs (id INTEGER PRIMARY KEY)")
    let json = try folder.expect(
      0, "init", "--from", "app.sqlite", "--profile", "local", "--format", "json"
    ).json()
    #expect((json["files"] as? [String])?.last == "migrations/0001_baseline.yaml")
    #expect(json["at"] as? String == "0001_baseline")
    try folder.expect(0, "check")
    try folder.expect(0, "verify", "--database", "app.sqlite")
  }
}

@Suite("The schema file")
struct SchemaFileTests {
  private func folder() throws -> WorkingFolder {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write("schemactl.yaml", "schema: schema.sql\nsync: { engine: none }\n")
    return folder
  }

  private func schema(_ folder: WorkingFolder) throws -> String {
    try String(contentsOfFile: folder.path("schema.sql"), encoding: .utf8)
  }

  @Test("inspect --write writes it, and sqlite3 can execute it")
  func written() throws {
    let folder = try folder()
    #expect(try folder.expect(0, "inspect", "--write").output == "Wrote `schema.sql`.\n")
    #expect(try schema(folder).contains("CREATE TABLE notes"))
    let shell = try folder.shell("sqlite3 new.sqlite < schema.sql && $schemactl diff new.sqlite")
    #expect(shell.status == 0, "\(shell.output)\(shell.errors)")
    try folder.expect(64, "inspect", "--write", "--to", "1")
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    let run = try folder.expect(64, "inspect", "--write")
    #expect(run.errors.contains("`schemactl.yaml` names no schema file"))
  }

  @Test("an output in a missing folder is an error that names the folder")
  func missingFolder() throws {
    let run = try folder().expect(66, "bundle", "--output", "no/x.schema")
    #expect(
      run.errors == """
        schemactl: error: folder `no` does not exist: schemactl cannot create `no/x.schema` there
        help: Create it (`mkdir -p no`), or name another path

        """)
  }

  @Test("check fails if it is missing or outdated, and names the command that updates it")
  func stale() throws {
    let folder = try folder()
    for (state, verb) in [("missing", "writes"), ("stale", "updates")] {
      let run = try folder.expect(1, "check")
      #expect(run.output.contains("failed  schema     `schema.sql` is \(state)."))
      #expect(run.output.contains("help: `schemactl inspect --write` \(verb) it"))
      try folder.expect(0, "inspect", "--write")
      #expect(try folder.expect(0, "check").output.contains("ok      schema"))
      try folder.write(
        "migrations/0002_more.yaml", manifest("ALTER TABLE notes ADD COLUMN more TEXT"))
    }
    try folder.write("migrations/0003_last.yaml", manifest("CREATE TABLE last (id TEXT) STRICT"))
    let github = try folder.expect(1, "check", "--format", "github")
    #expect(github.output.contains("title=schema/stale::"))
  }

  @Test("freeze and new --from update it")
  func kept() throws {
    let folder = try folder()
    try folder.expect(0, "freeze", "--release", "1.0")
    #expect(try schema(folder).contains("CREATE TABLE notes"))
    try folder.write(
      "wanted.sql", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, more TEXT)")
    try folder.expect(0, "new", "more", "--from", "wanted.sql")
    #expect(try schema(folder).contains("more"))
    try folder.expect(0, "check")
  }
}

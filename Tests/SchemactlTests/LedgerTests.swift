import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("status and repair")
struct LedgerTests {
  private func folder() throws -> WorkingFolder {
    let folder = try WorkingFolder.ofReminders()
    #expect(try folder.run("freeze", "--release", "1.0", "--to", "6").status == 0)
    #expect(try folder.run("migrate", "--to", "6", "--database", "app.sqlite").status == 0)
    return folder
  }

  @Test("status shows each migration with its time")
  func show() throws {
    let folder = try folder()
    let text = try folder.run("status", "--database", "app.sqlite")
    #expect(text.status == 0)
    #expect(text.output.contains("0006_create_cover_images               applied  20"))
    #expect(text.output.contains("app.sqlite: 6 applied, 1 pending\n"))
    #expect(text.output.hasSuffix("Next: `schemactl migrate --database app.sqlite`\n"))
    #expect(text.output.contains("0007_replace_is_completed_with_status  pending"))
    let document = try folder.run("status", "--database", "app.sqlite", "--format", "json").json()
    let ledger = try #require(document["ledger"] as? [[String: Any]])
    #expect(ledger.first?["state"] as? String == "applied")
    #expect(ledger.last?["state"] as? String == "pending")
    #expect((document["repairs"] as? [Any])?.isEmpty == true)
  }

  @Test(
    "status and plan report the migrations that another tool applied and migrate would adopt"
  )
  func adoptable() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes + "replaces: [{ ledger: grdb_migrations, entries: [notes] }]\n",
      "0002_tags": manifest("CREATE TABLE tags (name)"),
    ])
    try folder.connection().execute(
      """
      CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);
      CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
      INSERT INTO grdb_migrations VALUES ('notes');
      """)
    let run = try folder.expect(0, "status", "--database", "app.sqlite")
    #expect(run.output.hasPrefix("0001_notes  applied\n0002_tags   pending\n"), "\(run.output)")
    #expect(run.output.contains("app.sqlite: 1 applied by another tool, 1 pending\n"))
    let note =
      "note: `schemactl migrate` would adopt 1 migration up to `0001_notes`, which another tool "
      + "applied\n"
    #expect(run.errors == note)
    for words in [
      ["plan"], ["migrate", "--dry-run"], ["plan", "--on-copy"], ["plan", "--to", "1"],
    ] {
      let plan = try folder.start(words + ["--database", "app.sqlite"]).wait()
      #expect(plan.errors == note, "\(words): \(plan.errors)")
      let json = try folder.start(words + ["--database", "app.sqlite", "--format", "json"]).wait()
      #expect(try json.json()["adopted"] as? [String] == ["0001_notes"])
    }
    let document = try folder.run("status", "--database", "app.sqlite", "--format", "json").json()
    let applied = try #require((document["applied"] as? [[String: Any]])?.first)
    #expect(applied["appliedAt"] is NSNull)
    try folder.connection().execute("ALTER TABLE notes ADD COLUMN more")
    let refused = try folder.expect(1, "status", "--database", "app.sqlite")
    #expect(refused.errors.contains("but its schema differs from the history"))
    #expect(refused.output.hasSuffix("Next: `schemactl diff --database app.sqlite`\n"))
  }

  @Test("repair changes nothing without confirmation, and records its changes")
  func repair() throws {
    let folder = try folder()
    try folder.connection().execute("DELETE FROM schemactl_migrations WHERE position = 3")
    #expect(try folder.run("status", "--database", "app.sqlite").status == 2)
    let words = [
      "repair", "3", "applied", "--reason", "lost", "--database", "app.sqlite",
    ]
    let unasked = try folder.start(words).wait()
    #expect(unasked.status == 64)
    #expect(unasked.errors.contains("--force"))
    #expect(try folder.applied().count == 5)
    let confirmed = try folder.start(words + ["--force"]).wait()
    #expect(confirmed.status == 0)
    #expect(try folder.applied().count == 6)
    #expect(
      try folder.rows("SELECT id, action, reason FROM schemactl_repairs") == [
        "0003_refresh_updated_at|applied|lost"
      ])
    #expect(try folder.run("verify", "--database", "app.sqlite").status == 0)
  }

  @Test("repair requires the actual state and a reason")
  func usage() throws {
    let folder = try folder()
    for words in [
      ["3"], ["3", "applied"], ["3", "guess", "--reason", "x"],
      ["3", "applied", "--force", "--reason", "a\nb"],
      ["3", "applied", "--force", "--reason", " "], ["3", "applied", "--force", "--reason", "…"],
    ] {
      let run = try folder.start(["repair"] + words + ["--database", "app.sqlite"]).wait()
      #expect(run.status == 64)
    }
  }

  @Test(
    "2: a table of another program with the name of the record of repairs",
    arguments: [
      ["status"], ["fleet", "status"], ["repair", "1", "current", "--force", "--reason", "x"],
    ])
  func otherRecord(command: [String]) throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("CREATE TABLE schemactl_repairs (at TEXT, car TEXT)")
    let option = command[0] == "fleet" ? "--databases" : "--database"
    let run = try folder.start(command + [option, "app.sqlite"]).wait()
    #expect(run.status == 2)
    #expect(
      (run.output + run.errors).contains(
        "`schemactl_repairs` is not schemactl's record of repairs: it has other columns"),
      "\(run.errors)")
  }

  @Test(
    "2: migrate refuses a damaged ledger although nothing is pending",
    arguments: [
      "ALTER TABLE schemactl_migrations ADD COLUMN q",
      "ALTER TABLE schemactl_migrations ADD COLUMN q AS (1)",
      "CREATE TABLE copy AS SELECT * FROM schemactl_migrations; DROP TABLE schemactl_migrations; "
        + "ALTER TABLE copy RENAME TO schemactl_migrations",
    ])
  func damagedLedger(sql: String) throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute(sql)
    for options in [[], ["--backup"], ["--frozen"]] {
      let run = try folder.start(["migrate", "--database", "app.sqlite"] + options).wait()
      #expect(run.status == 2, "\(run.output)")
      #expect(run.errors.contains("is not a ledger of schemactl"), "\(run.errors)")
    }
  }

  @Test("a deleted draft can be undone if its draft copy exists")
  func draftIsGone() throws {
    let folder = try folder()
    #expect(try folder.run("migrate", "--database", "app.sqlite").status == 0)
    try folder.remove("migrations/0007_replace_is_completed_with_status.yaml")
    for command in ["status", "migrate", "verify"] {
      let run = try folder.expect(4, command, "--database", "app.sqlite")
      let said = run.output + run.errors
      #expect(said.contains("For a deleted draft, go back to the state before the drafts"))
      #expect(said.contains("`schemactl migrate --reset-drafts`; rows written since"))
    }
    let copy = "app.sqlite.before-drafts"
    try FileManager.default.moveItem(atPath: folder.path(copy), toPath: folder.path("aside"))
    try folder.expect(66, "migrate", "--reset-drafts", "--database", "app.sqlite")
    try FileManager.default.moveItem(atPath: folder.path("aside"), toPath: folder.path(copy))
    try folder.expect(0, "migrate", "--reset-drafts", "--database", "app.sqlite")
    try folder.expect(0, "status", "--database", "app.sqlite")
  }

  @Test("migrate --reset-drafts restores the state before the drafts and applies them again")
  func resetDrafts() throws {
    let folder = try folder()
    let first = try folder.run("migrate", "--database", "app.sqlite")
    #expect(first.status == 0)
    #expect(first.errors.contains("app.sqlite.before-drafts"))
    let draft = "migrations/0007_replace_is_completed_with_status.yaml"
    let text = try String(contentsOfFile: folder.path(draft), encoding: .utf8)
    try folder.write(draft, text.replacingOccurrences(of: "status,", with: "state,"))
    let stopped = try folder.run("migrate", "--database", "app.sqlite")
    #expect(stopped.status == 1)
    #expect(stopped.errors.contains("--reset-drafts"))
    let again = try folder.run("migrate", "--reset-drafts", "--database", "app.sqlite")
    #expect(again.status == 0)
    #expect(try folder.rows("SELECT count(state) FROM reminders") == ["0"])
    #expect(
      again.errors.contains(
        "Its previous content, with the rows written since, is in `app.sqlite.before-reset`"))
    #expect(folder.exists("app.sqlite.before-reset"))
    #expect(
      try folder.run("migrate", "--reset-drafts", "--dry-run", "--database", "app.sqlite").status
        == 64)
  }

  @Test("--reset-drafts empties a database that has run only drafts, and keeps what it held")
  func resetOnlyDrafts() throws {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    try folder.write("migrations/0001_a.yaml", manifest("CREATE TABLE a (x)"))
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    _ = try folder.rows("INSERT INTO a VALUES (1)")
    try folder.write("migrations/0001_a.yaml", manifest("CREATE TABLE a (x, y)"))
    let status = try folder.expect(1, "status", "--database", "app.sqlite")
    #expect(status.output.contains("--reset-drafts"), "\(status.output)")
    let run = try folder.expect(0, "migrate", "--reset-drafts", "--database", "app.sqlite")
    #expect(run.errors.contains("reset `app.sqlite` to an empty database"), "\(run.errors)")
    #expect(try folder.rows("SELECT count(y) FROM a") == ["0"])
    let aside = try Connection(path: folder.path("app.sqlite.before-reset"), mode: .readOnly)
    #expect(try aside.value("SELECT x FROM a") == 1)
  }

  @Test("A database with migrations that the project does not have is not reset to an empty one")
  func resetAhead() throws {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    try folder.write("migrations/0001_a.yaml", manifest("CREATE TABLE a (x)"))
    try folder.write("migrations/0002_b.yaml", manifest("CREATE TABLE b (x)"))
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.remove("migrations/0002_b.yaml")
    try folder.expect(4, "status", "--database", "app.sqlite")
    try folder.expect(66, "migrate", "--reset-drafts", "--database", "app.sqlite")
    #expect(try folder.applied() == ["0001_a", "0002_b"])
    #expect(!folder.exists("app.sqlite.before-reset"))
  }

  @Test("A database with a table that the history ignores is not reset to an empty one")
  func resetIgnored() throws {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    try folder.write("schemactl.yaml", "ignore: ['app_*']\n")
    try folder.write("migrations/0001_a.yaml", manifest("CREATE TABLE a (x)"))
    _ = try folder.rows("CREATE TABLE app_users (n)")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    let run = try folder.expect(1, "migrate", "--reset-drafts", "--database", "app.sqlite")
    #expect(run.errors.contains("`app.sqlite` also holds `app_users`"), "\(run.errors)")
    #expect(try folder.rows("SELECT count(*) FROM app_users") == ["0"])
  }
}

import Foundation
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// Two histories beside each other, `a` and `b`, whose databases can be one file.
private func twoHistories(_ ledger: String) throws -> WorkingFolder {
  let folder = try WorkingFolder()
  for name in ["a", "b"] {
    try folder.makeFolder("\(name)/migrations")
    try folder.write(
      "\(name)/migrations/0001_first.yaml",
      manifest("CREATE TABLE \(name)_notes (id INTEGER PRIMARY KEY, text TEXT)"))
    try folder.write(
      "\(name)/migrations/0002_rows.yaml",
      manifest("INSERT INTO \(name)_notes (text) VALUES ('x')"))
    try folder.write(
      "\(name)/migrations/0003_color.yaml", manifest("ALTER TABLE \(name)_notes ADD COLUMN color"))
  }
  try folder.write(
    "a/schemactl.yaml", "database: ../app.sqlite\nignore: ['b_*', '\(escaped(ledger))']\n")
  try folder.write(
    "b/schemactl.yaml",
    "database: ../app.sqlite\nignore: ['a_*']\nledger_table: '\(escaped(ledger))'\n")
  return folder
}

private func escaped(_ text: String) -> String { text.replacing("'", with: "''") }

@Suite("ledger_table")
struct LedgerTableTests {
  @Test(
    "lets two histories share a database",
    arguments: ["b_ledger", "the ledger of \"b\" and it's quotes", "grdb_b", "select"])
  func shared(ledger: String) throws {
    let folder = try twoHistories(ledger)
    try folder.expect(0, "freeze", "--release", "1.0", "--to", "1", in: "b")
    try folder.expect(0, "migrate", "--to", "2", in: "a")
    try folder.expect(0, "migrate", "--to", "2", "--backup", in: "b")
    for name in ["b", "a"] {
      try folder.expect(1, "status", "--check", in: name)
      let plan = try folder.expect(0, "plan", "--sql", in: name)
      try folder.write("script.sql", plan.output)
      #expect(try folder.shell("sqlite3 app.sqlite < script.sql").status == 0)
      let status = try folder.expect(0, "status", "--check", in: name)
      #expect(status.output.contains("3 applied, 0 pending"))
      try folder.expect(0, "migrate", in: name)
      try folder.expect(0, "verify", "--database", "../app.sqlite", in: name)
      try folder.expect(0, "diff", in: name)
      let schema = try folder.expect(0, "inspect", "../app.sqlite", in: name)
      #expect(schema.output.contains("\(name)_notes"))
      #expect(!schema.output.contains("schemactl_migrations") && !schema.output.contains(ledger))
    }
    for table in ["schemactl_migrations", Quoting.quoted(ledger)] {
      #expect(
        try folder.rows("SELECT id FROM \(table) ORDER BY position") == [
          "0001_first", "0002_rows", "0003_color",
        ])
    }
    try folder.expect(
      0, "repair", "2", "absent", "--reason", "test", "--force", in: "b")
    #expect(try folder.rows("SELECT count(*) FROM \(Quoting.quoted(ledger))") == ["2"])
    #expect(try folder.applied().count == 3)
    for (name, repairs) in [("a", 0), ("b", 1)] {
      let status = try folder.run("status", "--format", "json", in: name).json()
      #expect((status["repairs"] as? [Any])?.count == repairs)
    }
    try folder.expect(0, "verify", "--database", "../app.sqlite", in: "a")
    try folder.expect(0, "restore", "--force", in: "b")
    #expect(
      try folder.rows("SELECT name FROM sqlite_schema WHERE name = ?1", ledger).isEmpty)
  }

  @Test("each history takes back its own drafts, but not what the other has run since")
  func drafts() throws {
    let folder = try twoHistories("the \"b\" ledger")
    for name in ["a", "b"] {
      try folder.expect(0, "freeze", "--release", "1.0", "--to", "1", in: name)
      try folder.expect(0, "migrate", "--to", "1", in: name)
    }
    try folder.expect(0, "migrate", in: "a")
    try folder.expect(0, "migrate", in: "b")
    for copy in ["app.sqlite.before-drafts", "app.sqlite.before-drafts-of-the%20%22b%22%20ledger"] {
      #expect(folder.exists(copy))
    }
    try folder.write("a/migrations/0003_color.yaml", manifest("CREATE TABLE a_colors (a)"))
    let refused = try folder.expect(1, "migrate", "--reset-drafts", in: "a")
    #expect(
      refused.errors.contains(
        "also holds the history of the ledger `the \"b\" ledger`, which has run 2 migrations through `0003_color`"
      ), "\(refused.errors)")
    #expect(try folder.applied().count == 3)
    // What a has run stays when b takes its own drafts back.
    try folder.write("b/migrations/0003_color.yaml", manifest("CREATE TABLE b_colors (a)"))
    try folder.expect(0, "migrate", "--reset-drafts", in: "b")
    #expect(try folder.rows("SELECT count(*) FROM b_colors") == ["0"])
    #expect(try folder.applied().count == 3)
  }

  @Test("a history of drafts only does not empty a file that has another history")
  func onlyDrafts() throws {
    let folder = try twoHistories("b_ledger")
    try folder.expect(0, "migrate", in: "a")
    try folder.expect(0, "migrate", in: "b")
    let refused = try folder.expect(1, "migrate", "--reset-drafts", in: "b")
    #expect(refused.errors.contains("the history of the ledger `schemactl_migrations`"))
    #expect(try folder.rows("SELECT count(*) FROM b_ledger") == ["3"])
  }

  @Test("a database that has another history is adopted into the ledger of the configuration")
  func adopted() throws {
    let folder = try twoHistories("b_ledger")
    try folder.expect(0, "migrate", in: "a")
    try folder.connection().execute(
      "CREATE TABLE b_notes (id INTEGER PRIMARY KEY, text TEXT); "
        + "ALTER TABLE b_notes ADD COLUMN color")
    // Its tables do not tell which migrations have made them.
    try folder.expect(1, "migrate", in: "b")
    let adopted = try folder.expect(0, "adopt", in: "b")
    #expect(adopted.errors.contains("0002_rows"))
    #expect(try folder.rows("SELECT count(*) FROM b_ledger") == ["3"])
    #expect(try folder.applied().count == 3)
    try folder.expect(0, "fleet", "status", "--databases", "../app.sqlite", in: "b")
    try folder.expect(0, "fleet", "verify", "--databases", "../app.sqlite", in: "b")
  }

  @Test("no migration uses the ledger, nor makes a table of its name")
  func reserved() throws {
    for sql in [
      "CREATE TABLE b_Ledger (a)", "DELETE FROM b_ledger",
      "CREATE VIEW v AS SELECT * FROM \"B_LEDGER\"",
    ] {
      let folder = try twoHistories("b_ledger")
      try folder.write("b/migrations/0004_wrong.yaml", manifest(sql))
      for command in ["migrate", "lint", "plan"] {
        let run = try folder.run(command, in: "b")
        #expect([1, 65].contains(run.status), "\(command) \(run.output)")
        #expect(
          (run.output + run.errors).contains(
            "`b_ledger` is schemactl's ledger, because `ledger_table` in `schemactl.yaml` names it")
        )
      }
      // Of the other history it is an ordinary table.
      try folder.write("a/migrations/0004_wrong.yaml", manifest("CREATE TABLE c_ledger (a)"))
      try folder.expect(0, "migrate", in: "a")
    }
  }

  @Test("a name that SQLite or schemactl keeps is an error in the configuration")
  func names() throws {
    let folder = try twoHistories("b_ledger")
    for (name, problem) in [
      ("sqlite_ledger", "begins with `sqlite_`"),
      ("schemactl_repairs", "begins with `schemactl_repairs`"),
      ("''", "is empty"),
    ] {
      try folder.write("b/schemactl.yaml", "database: ../app.sqlite\nledger_table: \(name)\n")
      let run = try folder.expect(65, "status", in: "b")
      #expect(run.errors.contains("schemactl.yaml:2:15: error: `ledger_table` \(problem)"))
    }
  }

  @Test("a table, view or index that is not a ledger is left alone")
  func notALedger() throws {
    for sql in [
      "CREATE TABLE b_ledger (id TEXT)", "CREATE VIEW b_ledger AS SELECT 1 AS id",
      "CREATE TABLE a_t (a); CREATE INDEX b_ledger ON a_t (a)",
    ] {
      let folder = try twoHistories("b_ledger")
      try folder.connection().execute(sql)
      let run = try folder.run("migrate", in: "b")
      #expect(run.status != 0)
      #expect(run.errors.contains("b_ledger"), "\(run.errors)")
      #expect(try folder.rows("SELECT 1 FROM sqlite_schema WHERE name = 'b_notes'").isEmpty)
    }
  }
}

extension WorkingFolder {
  fileprivate func rows(_ sql: String, _ value: String) throws -> [[Value]] {
    try connection().rows(sql, [.text(value)])
  }
}

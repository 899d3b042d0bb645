import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// A database of another tool.
private let theirs = """
  CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
  CREATE TABLE items (id INTEGER PRIMARY KEY, list INTEGER REFERENCES lists (id), done INTEGER);
  CREATE INDEX items_by_list ON items (list);
  """

@Suite("adopt and init")
struct AdoptionTests {
  @Test("adopt finds the point of the history and writes only the ledger, and migrate continues")
  func adopted() throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--to", "4")
    try folder.connection().execute(
      "DROP TABLE schemactl_migrations; INSERT INTO remindersLists (id, title) VALUES ('a', 'A')")
    let refused = try folder.expect(1, "migrate", "--database", "app.sqlite")
    #expect(refused.errors.contains("`schemactl adopt --database FILE` adopts such a database"))

    let run = try folder.expect(0, "adopt", "--database", "app.sqlite")
    #expect(run.output.contains("Adopted `app.sqlite` at `0004"))
    #expect(run.output.contains("3 migrations pending, next: `0005_limit_tags`"))
    #expect(try folder.applied().count == 4)
    #expect(
      try folder.rows("SELECT DISTINCT tool_version LIKE '% adopted' FROM schemactl_migrations")
        == ["1"])
    #expect(try folder.expect(0, "status", "--database", "app.sqlite").output.contains("adopted"))
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.applied().count == 7)
    #expect(try folder.rows("SELECT title FROM remindersLists") == ["A"])
    let again = try folder.expect(1, "adopt", "--database", "app.sqlite")
    #expect(again.errors.contains("already has a ledger"))
  }

  @Test("adopt shows the nearest point with its differences, and changes nothing")
  func nearest() throws {
    let folder = try WorkingFolder.of([
      "0001_lists": manifest("CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT NOT NULL)"),
      "0002_items": manifest(
        "CREATE TABLE items (id INTEGER PRIMARY KEY, list INTEGER REFERENCES lists (id), done INTEGER)"
      ),
    ])
    try folder.connection().execute(theirs)
    let run = try folder.expect(1, "adopt", "--database", "app.sqlite")
    #expect(run.errors.contains("Differences from the nearest point, `0002_items`"))
    #expect(run.errors.contains("index `items_by_list` is not in the history"))
    #expect(!(try folder.rows("SELECT name FROM sqlite_schema").contains("schemactl_migrations")))
    try folder.expect(1, "adopt", "--database", "app.sqlite", "--to", "1")
    try folder.connection("old.sqlite").execute(
      "CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
    #expect(
      try folder.expect(1, "adopt", "--database", "old.sqlite", "--to", "2").errors.hasPrefix(
        "schemactl: error: the schema of `old.sqlite` is not that of `0002_items`, but that of `0001_lists`"
      ))
    try folder.expect(64, "adopt", "--database", "app.sqlite", "--to", "7")
    try folder.expect(66, "adopt", "--database", "other.sqlite")
  }

  /// A baseline may spell the schema differently from the original tool.
  @Test(
    "an adopted database can be migrated, however its tables were written",
    arguments: oneIn(
      2,
      of: [
        "d text default current_timestamp", "d integer null", "d text default 'x' not null",
        "d integer references lists(id) on update cascade on delete cascade",
        "d integer unique not null", "d text collate nocase default 'x'", "d default (0)",
        "d default true", "d int as (id + 1)", "d [floating point]", "d 'REAL'",
        "d int, foreign key (d) references lists (id), unique (d)",
      ]))
  func spelled(definition: String) throws {
    let folder = try WorkingFolder()
    try folder.connection().execute(
      """
      create table lists(id integer primary key asc);
      create table t(id integer not null primary key autoincrement, \(definition));
      create view v as select id from t;
      """)
    try folder.expect(0, "init", "--from", "app.sqlite")
    try folder.write(
      "migrations/0002_more.yaml",
      """
      operations:
      - add_column: { table: t, column: { name: z, type: INTEGER } }
      - rename_column: { table: lists, from: id, to: key }
      - create_index: { name: by_z, table: t, columns: [z] }
      - alter_column: { table: t, column: z, default: 7 }
      - rename_table: { table: t, to: u }
      """)
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.expect(0, "verify", "--database", "app.sqlite")
    #expect(try folder.rows("SELECT name FROM pragma_table_info('u')").contains("z"))
  }

  @Test("init does not change a database with a ledger or create a missing one")
  func notTwice() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    let run = try folder.expect(
      1, "init", "--from", "app.sqlite", "--migrations", "others")
    #expect(run.errors.contains("already has a ledger, up to `0001_notes`"))
    #expect(try !folder.names().contains("others"))
    try folder.expect(66, "init", "--from", "none.sqlite", "--migrations", "others")
  }

  @Test(
    "new --from asks whether a column was renamed, and keeps data of FTS tables")
  func mayBeRenamed() throws {
    let folder = try WorkingFolder.of([
      "0001_people": manifest(
        "CREATE TABLE people (id INTEGER PRIMARY KEY, fax TEXT); "
          + "CREATE VIRTUAL TABLE f USING fts5(a, b UNINDEXED)")
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("INSERT INTO f (rowid, a, b) VALUES (5, 'hello', 'x')")
    try folder.write(
      "wanted.sql",
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY, phone TEXT, age INTEGER);
      CREATE VIRTUAL TABLE f USING fts5(a, c);
      """)
    let run = try folder.expect(0, "new", "People", "--from", "wanted.sql")
    #expect(run.errors.contains("add `--rename people.fax=phone`"), "\(run.errors)")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.rows("SELECT rowid || a FROM f WHERE f MATCH 'hello'") == ["5hello"])
  }

  @Test("the command that new --from prints replaces the draft by one that renames")
  func printedRenaming() throws {
    let folder = try WorkingFolder.of([
      "0001_people": manifest(
        "CREATE TABLE people (id INTEGER PRIMARY KEY, fax TEXT); "
          + "CREATE TABLE \"my pets\" (id INTEGER PRIMARY KEY, \"a.b\" TEXT, \"it's\" TEXT)")
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute(
      "INSERT INTO people VALUES (1, '555'); INSERT INTO \"my pets\" VALUES (1, 'x', 'y')")
    let target = try folder.connection("wanted one.sqlite")
    try target.execute(
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY, phone TEXT);
      CREATE TABLE "my pets" (id INTEGER PRIMARY KEY, "c=d" TEXT, "it's" TEXT);
      """)
    let run = try folder.expect(
      0, "new", "People's phones", "--from", "wanted one.sqlite", "--migrations", "migrations")
    #expect(run.errors.contains("--rename people.fax=phone"), "\(run.errors)")
    let line = try #require(
      run.errors.split(separator: "\n").first { $0.contains("replace the draft") })
    let parts = line.split(separator: "`", omittingEmptySubsequences: false)
    let command = parts.dropFirst().dropLast().joined(separator: "`")
    let repeated = try folder.shell(
      "schemactl() { \"$schemactl\" \"$@\"; }; " + command)
    #expect(repeated.code == 0, "\(command): \(repeated.errors)")
    #expect(!repeated.errors.contains("replace the draft"))
    let files = try folder.names("migrations").filter { $0.hasSuffix(".yaml") }
    #expect(files == ["0001_people.yaml", "0002_people_s_phones.yaml"])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.rows("SELECT phone FROM people") == ["555"])
    #expect(try folder.rows("SELECT \"c=d\", \"it's\" FROM \"my pets\"") == ["x|y"])
    try folder.expect(0, "diff", "app.sqlite", "wanted one.sqlite")
  }

  @Test("a rename of a column that a draft has dropped works after the draft is deleted")
  func renamingAfterDraft() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write("schema.sql", "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT);")
    try folder.expect(0, "new", "Body", "--from", "schema.sql")
    let arguments = ["new", "Body", "--from", "schema.sql", "--rename", "notes.text=body"]
    let run = try folder.start(arguments).wait()
    #expect(run.status == 64)
    #expect(run.errors.contains("`notes` has no column `text`"), "\(run.errors)")
    try folder.remove("migrations/0002_body.yaml")
    #expect(try folder.start(arguments).wait().status == 0)
  }

  @Test(
    "a table of the history is compared even if another tool uses its name",
    arguments: ["schema_migrations", "grdb_migrations", "alembic_version", "Ignored"])
  func bookkeepingOfOurOwn(name: String) throws {
    let folder = try WorkingFolder.of([
      "0001_tables": manifest(
        "CREATE TABLE \(name) (version TEXT); CREATE INDEX \(name)_i ON \(name) (version)")
    ])
    try folder.write("schemactl.yaml", "ignore: [Ignored, other_*]\n")
    try folder.connection("theirs.sqlite").execute(
      """
      CREATE TABLE \(name) (version TEXT); CREATE INDEX \(name)_i ON \(name) (version);
      CREATE TABLE notes (id); CREATE TABLE goose_db_version (id); CREATE TABLE other_a (id);
      """)
    try folder.expect(0, "new", "Theirs", "--from", "theirs.sqlite")
    let text = try folder.text("migrations/0002_theirs.yaml")
    #expect(!text.contains("drop_") && text.contains("notes") && !text.contains("goose"), "\(text)")
    #expect(!text.contains("other_a"))
    try folder.expect(0, "diff", "theirs.sqlite")
    try folder.expect(0, "diff", "theirs.sqlite", "migrations")
    try folder.connection("theirs.sqlite").execute("ALTER TABLE \(name) ADD COLUMN more")
    for names in [["theirs.sqlite"], ["theirs.sqlite", "migrations"]] {
      let run = try folder.start(["diff"] + names).wait()
      #expect(run.status == 1 && run.output.contains("\(name).more"), "\(run.output)")
    }
    try folder.connection("theirs.sqlite").execute("DROP TABLE \(name)")
    try folder.expect(0, "new", "Gone", "--from", "theirs.sqlite")
    #expect(try folder.text("migrations/0003_gone.yaml").contains("drop_table"))
  }

  @Test("adopt does not guess whether a migration of rows has run")
  func ambiguous() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_rows": manifest("INSERT INTO notes VALUES (1, 'x')"),
    ])
    try folder.connection().execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    let run = try folder.expect(1, "adopt", "--database", "app.sqlite")
    #expect(run.errors.contains("several points of the history"))
    #expect(run.errors.contains("`0001_notes`, `0002_rows`"))
    try folder.expect(0, "adopt", "--database", "app.sqlite", "--to", "1")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.rows("SELECT text FROM notes") == ["x"])
  }

  @Test("adopt warns about rows of a full-text table that a migration inserts, not of its module")
  func fullText() throws {
    let text = "- create_virtual_table: { name: found, using: fts5, arguments: [text] }\n"
    for row in ["", "- insert: { table: found, rows: [{ text: x }] }\n"] {
      let folder = try WorkingFolder.of(["0001_found": "operations:\n" + text + row])
      try folder.connection().execute("CREATE VIRTUAL TABLE found USING fts5 (text)")
      let run = try folder.expect(0, "adopt", "--database", "app.sqlite")
      #expect(run.errors.contains("`0001_found` writes rows") == !row.isEmpty, "\(run.errors)")
    }
  }

  @Test("init writes a baseline with the schema, and adopts the database")
  func baseline() throws {
    let folder = try WorkingFolder()
    try folder.connection().execute(theirs + "INSERT INTO lists VALUES (1, 'Home')")
    let run = try folder.expect(0, "init", "--from", "app.sqlite")
    #expect(run.output.contains("Adopted the database at `0001_baseline`."))
    let text = try String(
      contentsOfFile: folder.path("migrations/0001_baseline.yaml"), encoding: .utf8)
    #expect(text.contains("create_table:\n      name: lists"))
    #expect(folder.exists("schemactl.yaml"))
    try folder.expect(0, "verify", "--database", "app.sqlite")
    try folder.expect(0, "diff", "--database", "app.sqlite")
    try folder.expect(0, "migrate", "--database", "new.sqlite")
    try folder.expect(0, "diff", "app.sqlite", "new.sqlite")
    #expect(try folder.rows("SELECT title FROM lists") == ["Home"])
    let again = try folder.expect(1, "init", "--from", "app.sqlite")
    #expect(again.errors.contains("already has a history, up to `0001_baseline`"))
    try folder.expect(1, "init")
  }
}

@Suite("Schemas from different sources")
struct SchemaSourceTests {
  @Test("64: --to without a history")
  func pointOfNothing() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.connection().execute("CREATE TABLE a (b)")
    try folder.write("schema.sql", "CREATE TABLE a (b)")
    for command in [
      ["diff", "schema.sql", "app.sqlite"], ["inspect", "app.sqlite"], ["inspect", "schema.sql"],
    ] {
      let run = try folder.start(command + ["--to", "1"]).wait()
      #expect(run.status == 64, "\(command)")
      #expect(run.errors.contains("`--to` needs a history"), "\(run.errors)")
    }
    try folder.expect(1, "diff", "schema.sql", "migrations", "--to", "1")
    try folder.expect(1, "diff", "schema.sql", "--to", "1")
    try folder.expect(0, "inspect", "migrations", "--to", "1")
    try folder.expect(66, "inspect", "gone.sql", "--to", "1")
  }

  @Test("inspect explains an empty result")
  func nothing() throws {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    try folder.write("empty.sqlite", "")
    #expect(
      try folder.expect(0, "inspect", "migrations").errors
        == "note: `migrations` has no migrations\n")
    #expect(
      try folder.expect(0, "inspect").errors == "note: `migrations` has no migrations\n")
    #expect(
      try folder.expect(0, "inspect", "empty.sqlite").errors
        == "note: `empty.sqlite` has no tables\n")
    try folder.write("migrations/0001_nothing.yaml", "operations: []\n")
    #expect(
      try folder.expect(0, "inspect").errors
        == "note: the history in `migrations` creates no tables\n")
  }

  @Test("inspect prints the schema of a database, of a history at a point, and of SQL")
  func inspect() throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.connection().execute(theirs)
    try folder.write("schema.sql", theirs)
    let sql = try folder.expect(0, "inspect", "app.sqlite").output
    #expect(sql == theirs + "\n")
    #expect(try folder.expect(0, "inspect", "schema.sql").output == sql)
    #expect(try folder.expect(0, "inspect", "--to", "1").output.contains("remindersLists"))
    let operations = try folder.expect(0, "inspect", "schema.sql", "--format", "yaml").output
    #expect(operations.hasPrefix("operations:\n  - create_table:\n      name: lists\n"))
    let json = try folder.expect(0, "inspect", "schema.sql", "--format", "json").json()
    #expect((json["objects"] as? [[String: Any]])?.count == 3)
    try folder.expect(66, "inspect", "nothing.sql")
    try folder.write("broken.sql", "CREATE TABLE t (a")
    #expect(
      try folder.expect(65, "inspect", "broken.sql").errors.hasPrefix(
        "broken.sql:1:1: error: incomplete input\n"))
  }

  @Test("diff compares any two of a database, a folder and SQL")
  func diff() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write("schema.sql", "create table \"notes\" (id integer primary key, text TEXT)")
    try folder.connection().execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, more)")
    #expect(
      try folder.expect(0, "diff", "schema.sql").output
        == "`migrations` and `schema.sql` have the same schema.\n")
    let run = try folder.expect(1, "diff", "schema.sql", "app.sqlite")
    #expect(run.output.contains("@@ column `notes.more` @@\n+more\nFound 1 difference.\n"))
    let json = try folder.expect(1, "diff", "app.sqlite", "migrations", "--format", "json").json()
    #expect(json["equal"] as? Bool == false)
    try folder.expect(64, "diff", "a", "b", "c")
    #expect(
      try folder.expect(64, "diff", "--database", "app.sqlite", "schema.sql").errors
        .contains("`--database` compares a database with its history, not with `schema.sql`"))
  }

  @Test("new --from writes a migration that results in the wanted schema")
  func newFrom() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write(
      "schema.sql",
      """
      CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL DEFAULT '', pinned INTEGER);
      CREATE INDEX notes_by_body ON notes (body);
      """)
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("INSERT INTO notes VALUES (7, 'kept')")
    try folder.expect(
      0, "new", "Pin notes", "--from", "schema.sql", "--rename", "notes.text=body")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.rows("SELECT id, body FROM notes") == ["7|kept"])
    try folder.expect(0, "diff", "schema.sql", "app.sqlite")
    let again = try folder.expect(1, "new", "Again", "--from", "schema.sql")
    #expect(again.errors.contains("already has the schema of the history"))
    try folder.expect(64, "new", "x", "--from", "schema.sql", "--rename", "nonsense")
    try folder.expect(64, "new", "x", "--rename", "a.b=c")
  }

  @Test(
    "64: --rename of an unknown table or column names it and the nearest one",
    arguments: [
      ("note.text=body", "table `note` does not exist: did you mean `notes`?"),
      ("notes.txet=body", "`notes` has no column `txet`: did you mean `text`?"),
      ("notes.text=ID", "`notes` already has a column `ID`"),
      ("notes=NOTES", "table `NOTES` already exists"),
      ("notes.text=bdy", "the new schema has no column `notes.bdy`: did you mean `body`?"),
      ("notes=note", "the new schema has no table `note`: did you mean `notes`?"),
    ])
  func renamingOfNothing(renaming: String, message: String) throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write("schema.sql", "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT);")
    let run = try folder.expect(64, "new", "x", "--from", "schema.sql", "--rename", renaming)
    #expect(run.errors.hasSuffix("error: --rename: \(message)\n"), "\(run.errors)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("migrations")).count == 1)
  }

  @Test(
    "65: an error in a file of SQL has its line and column",
    arguments: [
      ("CREATE TABLE a (x);\n\nCREATE TABLE b (y,);\n", "3:19: error: near \")\": syntax error"),
      (
        "CREATE TABLE a (x UNIQUE);\n -- rows\n INSERT INTO a VALUES (1), (1)",
        "3:2: error: UNIQUE constraint failed: a.x"
      ),
      ("\n ATTACH 'b' AS b;", "2:2: error: a schema cannot contain ATTACH or VACUUM"),
      ("CREATE TABLE a (x); VACUUM;", "1:21: error: a schema cannot contain ATTACH or VACUUM"),
    ])
  func placeInSQL(sql: String, message: String) throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write("schema.sql", sql)
    for command in [["diff", "schema.sql"], ["new", "x", "--from", "schema.sql"]] {
      let run = try folder.start(command).wait()
      #expect(run.status == 65)
      #expect(run.errors.hasPrefix("schema.sql:\(message)\n"), "\(run.errors)")
    }
  }

  @Test("new --from drops columns without a rename, and lint reports the harm")
  func dropped() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write("schema.sql", "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)")
    try folder.expect(0, "new", "Body", "--from", "schema.sql")
    #expect(try folder.expect(1, "lint").output.contains("drop-column"))
  }

  @Test("a plan with a schema edit has the same effect in the sqlite3 shell as migrate")
  func script() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes,
      "0002_text":
        "operations:\n- alter_column: { table: notes, column: text, not_null: true, default: 'it''s' }\n",
    ])
    let script = try folder.expect(0, "plan", "--sql").output
    try folder.write("plan.sql", script)
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    shell.arguments = ["sqlite3", folder.path("shell.sqlite"), ".read \(folder.path("plan.sql"))"]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    try folder.expect(0, "migrate", "--database", "ours.sqlite")
    try folder.expect(0, "diff", "shell.sqlite", "ours.sqlite")
    try folder.expect(0, "verify", "--database", "shell.sqlite")
  }
}

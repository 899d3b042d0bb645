import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// A sample with the expected result of its import.
struct ImportedSample: Sendable, CustomTestStringConvertible {
  let tool: String
  let source: String
  /// The first and the last manifest.
  let first: String
  let last: String
  /// The first entry of `replaces`; nil for a tool without a ledger.
  let replaces: String?

  init(_ tool: String, _ source: String, _ first: String, _ last: String, _ replaces: String?) {
    self.tool = tool
    self.source = source
    self.first = first
    self.last = last
    self.replaces = replaces
  }

  var testDescription: String { tool }

  static let all = [
    ImportedSample(
      "dbmate", "db/migrations", "20240105090000_create_lists", "20240630080000_add_list_colors",
      "ledger: schema_migrations, kind: dbmate, entries: [\"20240105090000\"]"),
    ImportedSample(
      "goose", "migrations", "00001_create_lists", "00003_add_list_colors",
      "ledger: goose_db_version, kind: goose, entries: [\"1\"]"),
    ImportedSample(
      "golang-migrate", "migrations", "000001_create_lists", "000003_add_list_colors",
      "ledger: schema_migrations, kind: golang-migrate, entries: [\"1\"]"),
    ImportedSample(
      "sqlx", "migrations", "20240105090000_create_lists", "20240630080000_add_list_colors",
      "ledger: _sqlx_migrations, kind: sqlx, entries: [\"20240105090000\"]"),
    ImportedSample(
      "diesel", "migrations", "20240105090000_create_lists", "20240630080000_add_list_colors",
      "ledger: __diesel_schema_migrations, kind: diesel, entries: [\"20240105090000\"]"),
    ImportedSample(
      "flyway", "sql", "1_create_lists", "4_list_titles",
      "ledger: flyway_schema_history, kind: flyway, entries: [\"1\"]"),
    ImportedSample(
      "rails", "db", "20240630080000_structure", "20240630080000_structure",
      "ledger: schema_migrations, kind: rails, "
        + "entries: [\"20240105090000\", \"20240212113000\", \"20240630080000\"]"),
    ImportedSample(
      "drizzle", "drizzle", "0000_create_lists", "0002_add_list_colors",
      "ledger: __drizzle_migrations, kind: drizzle, entries: [\"1704445200000\"]"),
    ImportedSample(
      "prisma", "prisma/migrations", "20240105090000_create_lists",
      "20240630080000_add_list_colors",
      "ledger: _prisma_migrations, kind: prisma, entries: [\"20240105090000_create_lists\"]"),
    ImportedSample(
      "atlas", "migrations", "20240105090000_create_lists", "20240630080000_add_list_colors",
      "ledger: atlas_schema_revisions, kind: atlas, entries: [\"20240105090000\"]"),
    ImportedSample(
      "alembic", "upgrade.sql", "0001_1975ea83b712", "0003_27c6a30d7c24",
      "ledger: alembic_version, kind: alembic, entries: [\"1975ea83b712\"]"),
    ImportedSample(
      "django", "sql", "0001_initial", "0003_list_color",
      "ledger: django_migrations, kind: django, entries: [lists.0001_initial]"),
    ImportedSample("plain", "sql", "001_create_lists", "003_add_list_colors", nil),
  ]
}

@Suite("Import of another tool's history")
struct ToolTests {
  @Test(
    "it recognises the tool, keeps the numbers and names its ledger", arguments: ImportedSample.all)
  func recognises(_ sample: ImportedSample) throws {
    let folder = try Sample(sample.tool)
    // The source folder may also be the migrations folder.
    let run = try folder.expect(
      0, "import", sample.source, "--migrations", "manifests", "--format", "json")
    #expect(run.output.contains("\"tool\": \"\(sample.tool)\""), "\(run.output)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/manifests")
      .filter { $0.hasSuffix(".yaml") }.sorted()
    #expect(names.first == sample.first + ".yaml" && names.last == sample.last + ".yaml")
    let text = try folder.text("manifests/\(sample.first).yaml")
    #expect(sample.replaces.map { text.contains("  - { \($0) }") } ?? true, "\(text)")
    #expect(text.contains("DROP TABLE lists;") == false, "the down part is not imported")
  }

  @Test(
    "databases without the ledger of GRDB are imported with --tool only",
    arguments: [
      ("", "has no ledger of a migration tool", "schemactl init --from other.sqlite"),
      (
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY); "
          + "INSERT INTO alembic_version VALUES ('a')",
        "has the ledger of alembic, `alembic_version`",
        "schemactl import FOLDER --tool alembic --database other.sqlite"
      ),
    ])
  func unknownDatabase(ledger: String, problem: String, help: String) throws {
    let folder = try Sample("grdb")
    try folder.open("other.sqlite").execute("CREATE TABLE t (a); \(ledger)")
    let run = try folder.expect(1, "import", "other.sqlite", "--migrations", "manifests")
    #expect(run.errors.contains("`other.sqlite` \(problem)"), "\(run.errors)")
    #expect(run.errors.contains(help), "\(run.errors)")
    try folder.expect(0, "import", "other.sqlite", "--tool", "grdb", "--migrations", "manifests")
  }

  @Test(
    "it compares a database of the tool, which migrate can then continue",
    arguments: oneIn(2, of: ImportedSample.all))
  func database(_ sample: ImportedSample) throws {
    let folder = try Sample(sample.tool)
    try folder.expect(
      0, "import", sample.source, "--migrations", "manifests", "--database", "app.sqlite")
    try folder.write(
      "manifests/29990101000000_more.yaml",
      "operations:\n  - sql: CREATE TABLE more (id INTEGER PRIMARY KEY)\n")
    if sample.replaces == nil {
      try folder.expect(
        0, "adopt", "--database", "app.sqlite", "--migrations", "manifests", "--to",
        String(sample.last.prefix(3)))
    }
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--migrations", "manifests")
    try folder.expect(
      0, "verify", "--database", "app.sqlite", "--migrations", "manifests")
    let rows = try folder.open().rows("SELECT count(*) FROM schemactl_migrations")
    let count = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/manifests")
      .count { $0.hasSuffix(".yaml") }
    #expect(rows == [[.integer(Int64(count))]])
  }

  @Test(
    "reads the folders of Drizzle 1.0, and its ledger with the names of folders or with their times",
    arguments: [
      "name TEXT, applied_at TEXT); INSERT INTO __drizzle_migrations (created_at, name) "
        + "VALUES (1704445200123, '20240105090000_lists')",
      "hash TEXT); INSERT INTO __drizzle_migrations (created_at) VALUES (1704445200123)",
    ])
  func drizzleFolders(_ ledger: String) throws {
    let folder = try Sample(files: [
      "drizzle/20240105090000_lists/migration.sql":
        "CREATE TABLE lists (id INTEGER);--> statement-breakpoint\nINSERT INTO lists VALUES (1);",
      "drizzle/20240105090000_lists/snapshot.json": "{}",
      "drizzle/20240212113000_items/migration.sql": "CREATE TABLE items (id INTEGER);",
      "drizzle/20240212113000_items/snapshot.json": "{}",
    ])
    try folder.open().execute(
      "CREATE TABLE lists (id INTEGER); INSERT INTO lists VALUES (1); "
        + "CREATE TABLE __drizzle_migrations (id INTEGER PRIMARY KEY, created_at numeric, \(ledger)"
    )
    try folder.expect(0, "import", "drizzle", "--database", "app.sqlite")
    #expect(folder.manifests == ["20240105090000_lists", "20240212113000_items"])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.open().rows("SELECT id FROM items") == [])
    #expect(
      try folder.open().rows("SELECT id FROM schemactl_migrations ORDER BY id")
        == [[.text("20240105090000_lists")], [.text("20240212113000_items")]])
    #expect(try folder.open().rows("SELECT id FROM lists") == [[.integer(1)]])
  }

  @Test(
    "knows the migrations that a squashed one of Django replaces, and a renamed field comes last")
  func djangoSquashed() throws {
    let folder = try Sample(files: [
      "sql/plan.txt": "[X]  app.0001_squashed_0003_more\n[X]  app.0004_rename\n",
      "sql/app.0001_squashed_0003_more.sql": """
      BEGIN;
      --
      -- Create model T
      --
      CREATE TABLE "app_t" ("id" integer NOT NULL PRIMARY KEY, "a_id" integer NOT NULL, "b" text NOT NULL);
      COMMIT;
      """,
      "sql/app.0004_rename.sql": """
      BEGIN;
      --
      -- Rename field a on t to c
      --
      CREATE TABLE "new__app_t" ("id" integer NOT NULL PRIMARY KEY, "c_id" integer NOT NULL, "b" text NOT NULL);
      INSERT INTO "new__app_t" ("id", "b", "c_id") SELECT "id", "b", "a_id" FROM "app_t";
      DROP TABLE "app_t";
      ALTER TABLE "new__app_t" RENAME TO "app_t";
      COMMIT;
      """,
    ])
    try folder.open().execute(
      """
      CREATE TABLE "app_t" ("id" integer NOT NULL PRIMARY KEY, "b" text NOT NULL, "c_id" integer NOT NULL);
      CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app TEXT, name TEXT, applied TEXT);
      INSERT INTO django_migrations (app, name) VALUES ('app', '0001_squashed_0003_more'),
        ('app', '0001_initial'), ('app', '0002_b'), ('app', '0003_more'), ('app', '0004_rename');
      """)
    try folder.expect(0, "import", "sql", "--database", "app.sqlite")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.open().execute("INSERT INTO django_migrations (app, name) VALUES ('app', '0005_x')")
    try folder.open().execute("DROP TABLE schemactl_migrations")
    #expect(
      try folder.expect(4, "migrate", "--database", "app.sqlite").errors.contains("app.0005_x"))
  }

  @Test("it stops at a database with another schema, and writes nothing")
  func otherSchema() throws {
    let folder = try Sample("dbmate")
    try folder.open().execute("ALTER TABLE lists ADD COLUMN extra")
    let run = try folder.expect(1, "import", "db/migrations", "--database", "app.sqlite")
    #expect(run.errors.contains("extra"), "\(run.errors)")
    #expect(folder.manifests.isEmpty)
  }

  @Test("it stops at a database that schemactl has migrated already, and says so")
  func ownLedger() throws {
    let folder = try Sample("dbmate")
    try folder.expect(0, "import", "db/migrations", "--database", "app.sqlite")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    let run = try folder.expect(
      1, "import", "db/migrations", "--migrations", "again", "--database", "app.sqlite")
    #expect(run.errors.contains("`app.sqlite` already has a ledger of schemactl"), "\(run.errors)")
  }

  @Test("it converts databases of releases to migrations with their ledger entries")
  func releases() throws {
    let folder = try Sample("grdb")
    try folder.expect(
      0, "import", "1.0.sqlite", "1.1.sqlite", "2.0.sqlite", "--database", "app.sqlite")
    #expect(folder.manifests == ["0001_createLists", "0002_createItems", "0003_addListColors"])
    #expect(
      try folder.text("migrations/0002_createItems.yaml")
        .contains("{ ledger: grdb_migrations, kind: grdb, entries: [createItems] }"))
    for database in ["1.0.sqlite", "1.1.sqlite", "app.sqlite"] {
      try folder.expect(0, "migrate", "--database", database)
    }
  }

  @Test(
    "a table or column that a release no longer has is named, and not frozen",
    arguments: [
      (
        "ALTER TABLE lists RENAME TO folders",
        "drops table `lists` with all rows, and creates `folders`"
      ),
      (
        "CREATE VIRTUAL TABLE search USING fts5(title, content='lists'); ALTER TABLE lists RENAME title TO name",
        "drops `title` of `lists` with all values, and adds `name`"
      ),
    ])
  func renamed(sql: String, note: String) throws {
    let folder = try Sample("grdb")
    try folder.copy("1.0.sqlite", to: "3.0.sqlite")
    try folder.open("3.0.sqlite").execute(
      "INSERT INTO grdb_migrations VALUES ('rename'); " + sql)
    let refused = try folder.expect(
      1, "import", "1.0.sqlite", "3.0.sqlite", "--database", "3.0.sqlite", "--release", "3.0")
    #expect(refused.errors.contains(note), "\(refused.errors)")
    #expect(folder.manifests.isEmpty)
    let run = try folder.expect(0, "import", "1.0.sqlite", "3.0.sqlite")
    #expect((run.output + run.errors).contains(note), "\(run.output)\(run.errors)")
  }

  @Test("a database between two identifiers of one release is told which one is missing")
  func betweenIdentifiers() throws {
    let folder = try Sample("grdb")
    let run = try folder.expect(0, "import", "1.0.sqlite", "2.0.sqlite")
    #expect(
      run.output.contains("same schema as each database; their rows were not compared"),
      "\(run.output)")
    let refused = try folder.expect(1, "migrate", "--database", "1.1.sqlite")
    #expect(
      refused.errors.contains(
        "`1.1.sqlite` has run `createItems` with another tool, but not `addListColors`: `0002_addListColors` replaces all of them"
      ), "\(refused.errors)")
    #expect(
      refused.errors.contains("a database that has run `createItems` and not `addListColors`"),
      "\(refused.errors)")
  }

  @Test("it writes the sync engine into schemactl.yaml, and lints the release for it")
  func syncEngine() throws {
    let folder = try Sample("dbmate")
    let run = try folder.expect(
      0, "import", "db/migrations", "--profile", "local", "--database", "app.sqlite", "--release",
      "1.0")
    #expect(run.output.contains("Created `schemactl.yaml`"), "\(run.output)")
    #expect(try folder.text("schemactl.yaml").contains("sync: { engine: none }"))
    let lint = try folder.expect(0, "lint")
    #expect(lint.output.contains("Profile local"), "\(lint.output)")
  }

  @Test(
    "a baseline replaces the entries of the database", arguments: oneIn(3, of: ImportedSample.all))
  func baseline(_ sample: ImportedSample) throws {
    guard sample.replaces != nil else { return }
    let folder = try Sample(sample.tool)
    try folder.copy("app.sqlite", to: "device.sqlite")
    let run = try folder.expect(
      0, "init", "--from", "app.sqlite", "--profile", "local", "--migrations", "manifests")
    #expect(run.output.contains("use `schemactl import` instead"), "\(run.output)")
    let text = try folder.text("manifests/0001_baseline.yaml")
    #expect(text.contains("replaces:\n  - { ledger: "), "\(text)")
    try folder.expect(0, "migrate", "--database", "device.sqlite")
    try folder.expect(0, "verify", "--database", "device.sqlite")
  }

  @Test("a baseline refuses a database with a failed entry, and writes nothing")
  func baselineOfFailed() throws {
    let folder = try Sample("golang-migrate")
    try folder.open().execute("UPDATE schema_migrations SET dirty = 1")
    let run = try folder.expect(1, "init", "--from", "app.sqlite", "--migrations", "manifests")
    #expect(run.errors.contains("has entries that failed: `3`"), "\(run.errors)")
    #expect(!folder.exists("manifests"))
  }

  @Test("it freezes applied migrations and adds their findings to the baseline, in one line")
  func release() throws {
    let folder = try Sample("dbmate")
    try folder.open().execute(
      """
      DELETE FROM schema_migrations WHERE version = '20240630080000';
      ALTER TABLE lists DROP COLUMN color;
      """)
    let run = try folder.expect(
      0, "import", "db/migrations", "--database", "app.sqlite", "--release", "2.3")
    let lines = run.output.split(separator: "\n").filter { $0.contains("release 2.3") }
    #expect(lines.count == 1 && lines[0].hasPrefix("2 migrations frozen"), "\(run.output)")
    let lock = try folder.text("migrations/history.lock")
    #expect(lock.contains("20240212113000_create_items release=2.3"))
    #expect(!lock.contains("20240630080000"))
    try folder.expect(0, "verify", "--database", "app.sqlite")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
  }

  @Test(
    "it refuses a database with a failed entry without changes",
    arguments: [
      ("golang-migrate", "migrations", "UPDATE schema_migrations SET dirty = 1"),
      ("flyway", "sql", "UPDATE flyway_schema_history SET success = 0 WHERE version = '3'"),
      (
        "atlas", "migrations",
        "UPDATE atlas_schema_revisions SET applied = 1 WHERE version > '20240601'"
      ),
      (
        "prisma", "prisma/migrations",
        "UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name > '202406'"
      ),
      (
        "sqlx", "migrations",
        "UPDATE _sqlx_migrations SET success = 0 WHERE version > 20240601000000"
      ),
    ])
  func failedEntry(_ tool: String, _ source: String, _ change: String) throws {
    let folder = try Sample(tool)
    try folder.open().execute(change)
    try folder.expect(0, "import", source, "--migrations", "manifests")
    for arguments in [["migrate"], ["adopt"]] {
      let run = try folder.expect(
        1, arguments[0], "--database", "app.sqlite", "--migrations", "manifests")
      #expect(run.errors.contains("has entries that failed"), "\(run.errors)")
    }
    #expect(
      try folder.open().rows("SELECT 1 FROM sqlite_schema WHERE name = 'schemactl_migrations'")
        .isEmpty)
  }

  @Test(
    "a baseline of Flyway counts the versions through it as run, and an undone version has not run",
    arguments: [
      (
        "DELETE FROM flyway_schema_history WHERE version = '1'; "
          + "UPDATE flyway_schema_history SET type = 'BASELINE' WHERE version = '2'", 4
      ),
      (
        "DELETE FROM flyway_schema_history WHERE version IS NULL; "
          + "INSERT INTO flyway_schema_history SELECT 9, version, description, 'UNDO_SQL', script, checksum, "
          + "installed_by, installed_on, 1, 1 FROM flyway_schema_history WHERE version = '3'; "
          + "DROP VIEW IF EXISTS list_titles; ALTER TABLE lists DROP COLUMN color", 2
      ),
    ])
  func flywayRows(_ change: String, _ count: Int) throws {
    let folder = try Sample("flyway")
    try folder.open().execute(change)
    let run = try folder.expect(
      0, "import", "sql", "--migrations", "manifests", "--database", "app.sqlite", "--format",
      "json")
    #expect(run.output.contains("\"applied\": \(count)"), "\(run.output)")
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--migrations", "manifests")
  }

  @Test("databases of the tool continue after a squash", arguments: [1, 2, 3])
  func squash(_ step: Int) throws {
    let folder = try Sample("dbmate")
    let undone = [
      "DROP TRIGGER items_changed; DROP TABLE items; "
        + "DELETE FROM schema_migrations WHERE version >= '202402'",
      "ALTER TABLE lists DROP COLUMN color; DELETE FROM schema_migrations WHERE version >= '202406'",
    ]
    for sql in undone[(step - 1)...].reversed() { try folder.open().execute(sql) }
    try folder.expect(0, "import", "db/migrations", "--database", "app.sqlite")
    try folder.expect(0, "squash", "--to", "20240630080000")
    let text = try folder.text("migrations/20240630080000_squash_add_list_colors.yaml")
    #expect(text.contains("  - { ledger: schema_migrations, kind: dbmate, entries: ["), "\(text)")
    if step < 3 {
      try folder.copy("migrations", to: "without")
      try folder.remove("without/squashed")
      let run = try folder.expect(
        66, "migrate", "--database", "app.sqlite", "--migrations", "without")
      #expect(
        run.errors.contains("Install the version that ends with `20240630080000_add_list_colors`"),
        "\(run.errors)")
    }
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.expect(0, "verify", "--database", "app.sqlite")
    try folder.expect(0, "migrate", "--database", "new.sqlite")
    let schema = "SELECT sql FROM sqlite_schema WHERE name IN ('lists', 'items') ORDER BY name"
    #expect(try folder.open("new.sqlite").rows(schema) == folder.open().rows(schema))
  }

  @Test("it refuses a folder with a history, and --release without a database")
  func refusals() throws {
    let folder = try Sample("dbmate")
    try folder.expect(64, "import", "db/migrations", "--release", "1.0")
    try folder.expect(66, "import", "nowhere")
    try folder.expect(0, "import", "db/migrations")
    try folder.expect(1, "import", "db/migrations")
  }
}

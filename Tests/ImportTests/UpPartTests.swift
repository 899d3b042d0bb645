import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("SQL of imported migrations")
struct UpPartTests {
  private func imported(_ sql: String, _ name: String = "001_a.sql") throws -> Sample {
    let folder = try Sample(files: ["sql/\(name)": sql])
    try folder.expect(0, "import", "sql")
    return folder
  }

  /// The statements of the single manifest.
  private func statements(_ sql: String) throws -> String {
    let folder = try imported(sql)
    return try folder.text("migrations/001_a.yaml")
  }

  @Test("statements keep every byte, without the surrounding transaction")
  func transaction() throws {
    let text = try statements(
      """
      BEGIN TRANSACTION;
      CREATE TABLE t ( -- a comment
      \ta INTEGER, b TEXT DEFAULT 'it''s; BEGIN');
      INSERT INTO t VALUES (1, 'COMMIT;');
      COMMIT;
      """)
    #expect(
      text == """
        description: Imported from 001_a.sql.
        operations:
          - sql: |-
              CREATE TABLE t ( -- a comment
              \ta INTEGER, b TEXT DEFAULT 'it''s; BEGIN');
              INSERT INTO t VALUES (1, 'COMMIT;');

        """)
  }

  @Test("a trigger whose body contains BEGIN, CASE and END stays complete")
  func trigger() throws {
    let text = try statements(
      """
      CREATE TABLE t (a);
      CREATE TRIGGER r AFTER INSERT ON t BEGIN
        UPDATE t SET a = CASE WHEN a > 1 THEN 1 ELSE a END;
        DELETE FROM t WHERE a IS NULL;
      END;
      COMMIT;
      """)
    #expect(text.contains("    END;\n") && !text.contains("COMMIT"), "\(text)")
  }

  @Test("CRLF is read as LF, as in the shell, and the last semicolon is optional")
  func lineEnds() throws {
    let text = try statements("CREATE TABLE t (a);\r\nCREATE TABLE u (\r\n  b\r\n)")
    #expect(text.contains("      CREATE TABLE u (\n        b\n      )\n"), "\(text)")
  }

  @Test("statements before the up section are listed")
  func earlyStatements() throws {
    let folder = try Sample(files: [
      "sql/1_a.sql": "SELECT 1;\n-- Up\nCREATE TABLE t (a);\n-- Down\nDROP TABLE t;\n"
    ])
    let run = try folder.expect(0, "import", "sql")
    #expect(
      run.output.contains(
        "sql/1_a.sql:1:1: note: `import` skips the statements before the up section"),
      "\(run.output)")
  }

  @Test("CRLF in a string keeps its bytes")
  func lineEndsInStrings() throws {
    let folder = try imported(
      "CREATE TABLE t (a);\r\nINSERT INTO t VALUES ('one\r\ntwo'); -- '\r\nINSERT INTO t VALUES ('\n');\r\n"
    )
    try folder.expect(0, "migrate", "--database", "new.sqlite")
    #expect(
      try folder.open("new.sqlite").rows("SELECT a FROM t") == [
        [.text("one\r\ntwo")], [.text("\n")],
      ])
  }

  @Test("marks of dbmate are its own words at the start of a line")
  func dbmateMarks() throws {
    let folder = try Sample(files: [
      "db/1_a.sql":
        "-- migrate:up\nCREATE TABLE t (a);\n-- migrate:downgrade\n  -- migrate:down\nCREATE TABLE u (a);\n"
        + "--migrate:down transaction:false\nDROP TABLE t;\n"
    ])
    try folder.expect(0, "import", "db")
    let text = try folder.text("migrations/1_a.yaml")
    #expect(text.contains("CREATE TABLE u") && !text.contains("DROP TABLE"), "\(text)")
    for (sql, position) in [
      ("SELECT 1;\n-- migrate:up\n", "1:1"), ("-- migrate:down\n\n-- migrate:up\n", "1:1"),
    ] {
      try folder.write("db/2_b.sql", sql)
      let run = try folder.expect(65, "import", "db", "--migrations", "other")
      #expect(run.errors.contains("2_b.sql:\(position): error: dbmate refuses"), "\(run.errors)")
    }
  }

  @Test("files of dbmate that only revert are not imported as migrations")
  func dbmateDown() throws {
    let folder = try Sample(files: ["db/1_a.sql": "-- migrate:down\nDROP TABLE t;\n"])
    let run = try folder.expect(65, "import", "db")
    #expect(
      run.errors.contains("db/1_a.sql: error: the line `-- migrate:up` is missing"),
      "\(run.errors)")
  }

  @Test("forbidden statements are listed with file and line")
  func notes() throws {
    let folder = try Sample(files: [
      "sql/001_a.sql": """
      PRAGMA journal_mode = WAL;
      PRAGMA foreign_keys = OFF;
      .echo on
      CREATE TABLE t (a);
      VACUUM;
      SAVEPOINT s;
      RELEASE s;
      """
    ])
    let run = try folder.expect(0, "import", "sql")
    for place in [
      "1:1: note: skipped `PRAGMA journal_mode`", "2:1: note: skipped `PRAGMA foreign_keys`",
      "3:1: note: `.echo on`",
      "5:1: note: skipped `VACUUM`", "6:1",
    ] {
      #expect(run.output.contains("sql/001_a.sql:\(place)"), "\(run.output)")
    }
    #expect(
      try folder.text("migrations/001_a.yaml").hasSuffix("- sql: |-\n      CREATE TABLE t (a);\n"))
  }

  @Test(
    "commands of the shell that change the database are refused with file and line",
    arguments: [".read other.sql", ".import data.csv t", ".quit"])
  func shellCommands(_ command: String) throws {
    let folder = try Sample(files: ["sql/001_a.sql": "CREATE TABLE t (a);\n\(command)\n"])
    let run = try folder.expect(65, "import", "sql")
    #expect(
      run.errors.contains(
        "sql/001_a.sql:2:1: error: `\(command)` is a command of the `sqlite3` shell"),
      "\(run.errors)")
    #expect(!folder.exists("migrations"))
  }

  @Test("a file without statements becomes a manifest only if a ledger has its entry")
  func emptyFiles() throws {
    let folder = try Sample(files: [
      "sql/001_a.sql": "CREATE TABLE t (a);\n", "sql/002_b.sql": "-- nothing\n",
      "db/1_a.sql": "-- migrate:up\nCREATE TABLE t (a);\n", "db/2_b.sql": "-- migrate:up\n",
    ])
    let plain = try folder.expect(0, "import", "sql", "--migrations", "plain")
    #expect(plain.output.contains("002_b.sql: note: the file runs no statement, so `import`"))
    #expect(!folder.exists("plain/002_b.yaml") && folder.exists("plain/001_a.yaml"))
    let dbmate = try folder.expect(0, "import", "db", "--migrations", "dbmate")
    #expect(dbmate.output.contains("because `schema_migrations` has its entry"))
    #expect(try folder.text("dbmate/2_b.yaml").contains("operations: []"))
  }

  @Test("a statement that changes the ledger of the tool is listed and not imported")
  func ledgerOfTheTool() throws {
    let folder = try Sample(files: [
      "db/1_a.sql": """
      -- +goose Up
      CREATE TABLE t (a);
      WITH RECURSIVE n(x) AS (SELECT 7 UNION ALL SELECT x + 1 FROM n WHERE x < 9)
        INSERT INTO goose_db_version (version_id, is_applied) SELECT x, 1 FROM n;
      """
    ])
    let run = try folder.expect(0, "import", "db")
    #expect(
      run.output.contains(
        "db/1_a.sql:3:1: note: skipped a statement that changes the ledger of goose"),
      "\(run.output)")
    #expect(try folder.text("migrations/1_a.yaml").contains("goose_db_version (") == false)
  }

  @Test("tables that a virtual table creates are left out of a dump")
  func shadowTables() throws {
    let folder = try Sample(files: [
      "db/structure.sql": """
      CREATE VIRTUAL TABLE search USING fts5(title);
      CREATE TABLE IF NOT EXISTS 'search_data'(id INTEGER PRIMARY KEY, block BLOB);
      CREATE TABLE search_more (id INTEGER PRIMARY KEY);
      INSERT INTO "schema_migrations" (version) VALUES ('20240105090000');
      """
    ])
    let run = try folder.expect(0, "import", "db")
    #expect(run.output.contains("structure.sql:2:1: note: SQLite itself creates `search_data`"))
    try folder.expect(0, "migrate", "--database", "new.sqlite")
    #expect(
      try folder.open("new.sqlite").rows(
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('search_data', 'search_more')")
        == [[.integer(2)]])
  }

  @Test("a migration of Django without a file is an error, and an empty file is listed")
  func djangoWithoutSQL() throws {
    let folder = try Sample(files: [
      "sql/plan.txt": "[X]  app.0001_initial\n[X]  app.0002_more\n[ ]  app.0003_last\n",
      "sql/app.0001_initial.sql":
        "BEGIN;\n--\n-- Create model T\n--\nCREATE TABLE \"app_t\" (\"id\" integer);\nCOMMIT;\n",
      "sql/app.0002_more.sql": "",
    ])
    let run = try folder.expect(65, "import", "sql")
    #expect(run.errors.contains("plan.txt: error: `app.0003_last` has no file"), "\(run.errors)")
    try folder.write("sql/app.0003_last.sql", "BEGIN;\nDROP TABLE \"app_t\";\nCOMMIT;\n")
    let second = try folder.expect(0, "import", "sql")
    #expect(
      second.output.contains("app.0002_more.sql: note: the file is empty"), "\(second.output)")
  }

  @Test("the transaction of a file and changes of the tool's ledger are listed with file and line")
  func removedStatements() throws {
    let folder = try Sample(files: [
      "sql/001_a.sql": "BEGIN;\nCREATE TABLE t (a);\nCOMMIT;\n",
      "up.sql": """
      CREATE TABLE alembic_version (version_num TEXT);
      -- Running upgrade  -> aa1
      CREATE TABLE a (x);
      INSERT INTO alembic_version (version_num) VALUES ('aa1');
      """,
      "db/structure.sql": """
      CREATE TABLE IF NOT EXISTS "ar_internal_metadata" ("key" varchar PRIMARY KEY);
      CREATE TABLE t (a);
      INSERT INTO "schema_migrations" (version) VALUES ('20240101000000');
      """,
    ])
    for (source, places) in [
      (
        "sql",
        [
          "sql/001_a.sql:1:1: note: skipped `BEGIN`: ",
          "sql/001_a.sql:3:1: note: skipped `COMMIT`: ",
        ]
      ),
      (
        "up.sql", ["up.sql:1:1: note: skipped a statement", "up.sql:4:1: note: skipped a"]
      ),
      ("db", ["structure.sql:1:1: note: skipped a", "structure.sql:3:1: note: skipped a"]),
    ] {
      let run = try folder.expect(0, "import", source, "--migrations", "manifests-\(source)")
      for place in places { #expect(run.output.contains(place), "\(run.output)") }
    }
  }

  @Test(
    "marks with the name of any tool after a plus sign separate the way back",
    arguments: [
      "+micrate Up", "+migrate Up notransaction", "+someTool UP",
    ])
  func marks(_ up: String) throws {
    let down = up.replacingOccurrences(of: "Up", with: "Down").replacingOccurrences(
      of: "UP", with: "DOWN")
    let text = try statements(
      "-- \(up)\n-- SQL in section 'Up' is executed\nCREATE TABLE t (a);\n-- \(down)\nDROP TABLE t;\n"
    )
    #expect(text.contains("CREATE TABLE t") && !text.contains("DROP TABLE"), "\(text)")
  }

  @Test(
    "files that begin with a version run in the order of their versions, and keep it in their id")
  func versions() throws {
    let folder = try Sample(files: [
      "sql/4.9.0_to_4.10.0.sql": "CREATE TABLE t (a);\n",
      "sql/4.10.0_to_4.11.0.sql": "ALTER TABLE t ADD COLUMN b;\n",
    ])
    try folder.expect(0, "import", "sql")
    #expect(folder.manifests == ["0001_4.9.0_to_4.10.0", "0002_4.10.0_to_4.11.0"])
  }

  @Test("a note warns of actions of foreign keys that the shell runs and the manifest does not")
  func foreignKeyActions() throws {
    let folder = try Sample(files: [
      "sql/001_a.sql": """
      CREATE TABLE t (a INTEGER PRIMARY KEY);
      CREATE TABLE u (a REFERENCES t ON DELETE CASCADE);
      PRAGMA foreign_keys = on;
      DELETE FROM t WHERE a = 1;
      """,
      "sql/002_b.sql": "PRAGMA foreign_keys = ON;\nCREATE TABLE v (a);\n",
    ])
    let run = try folder.expect(0, "import", "sql")
    #expect(run.output.contains("001_a.sql:3:1: note: `PRAGMA foreign_keys`: if it acts"))
    #expect(
      run.output.contains("002_b.sql:1:1: note: skipped `PRAGMA foreign_keys`: schemactl checks"))
  }

  @Test("Alembic may write a transaction for each revision")
  func alembicTransactions() throws {
    let folder = try Sample(files: [
      "up.sql": """
      BEGIN;
      CREATE TABLE alembic_version (version_num TEXT);
      -- Running upgrade  -> aa1
      CREATE TABLE a (x);
      COMMIT;
      BEGIN;
      -- Running upgrade aa1 -> bb2
      -- SELECT x FROM a CANNOT BE WRITTEN AS SQL
      CREATE TABLE b (x);
      COMMIT;
      """
    ])
    let run = try folder.expect(0, "import", "up.sql")
    #expect(folder.manifests == ["0001_aa1", "0002_bb2"])
    #expect(run.output.contains("up.sql:8:1: note: Python code"), "\(run.output)")
    #expect(run.output.contains("`import` skipped 1 part in a programming language"))
  }

  @Test("databases of an Alembic history with branches are adopted at their revisions, or refused")
  func alembicRevisions() throws {
    // As Alembic 1.20 writes it: b2 depends on a1, and z begins another history.
    let folder = try Sample(files: [
      "up.sql": """
      -- Running upgrade  -> r0
      CREATE TABLE base (id INTEGER PRIMARY KEY);
      INSERT INTO alembic_version (version_num) VALUES ('r0') RETURNING version_num;
      -- Running upgrade  -> z
      INSERT INTO base VALUES (1);
      INSERT INTO alembic_version (version_num) VALUES ('z') RETURNING version_num;
      -- Running upgrade r0 -> a1
      CREATE TABLE a1 (id INTEGER PRIMARY KEY);
      UPDATE alembic_version SET version_num='a1' WHERE alembic_version.version_num = 'r0';
      -- Running upgrade r0 -> b1
      CREATE TABLE b1 (id INTEGER PRIMARY KEY);
      INSERT INTO alembic_version (version_num) VALUES ('b1') RETURNING version_num;
      -- Running upgrade b1 -> b2
      CREATE TABLE b2 (id INTEGER PRIMARY KEY);
      DELETE FROM alembic_version WHERE alembic_version.version_num = 'b1';
      UPDATE alembic_version SET version_num='b2' WHERE alembic_version.version_num = 'a1';
      -- Running upgrade a1 -> a2
      UPDATE base SET id = id + 100;
      INSERT INTO alembic_version (version_num) VALUES ('a2') RETURNING version_num;
      -- Running upgrade a2, b2 -> m
      DELETE FROM alembic_version WHERE alembic_version.version_num = 'a2';
      UPDATE alembic_version SET version_num='m' WHERE alembic_version.version_num = 'b2';
      """
    ])
    try folder.expect(0, "import", "up.sql")
    #expect(
      try folder.text("migrations/0005_b2.yaml").contains("entries: [b2], parents: [b1, a1] }"))
    let tables = ["base", "a1", "b1", "b2"].map { "CREATE TABLE \($0) (id INTEGER PRIMARY KEY);" }
    let cases: [(String, Int, Int?)] = [
      ("('r0')", 1, 1), ("('r0'), ('z')", 1, 2), ("('z'), ('a1')", 2, 3),
      ("('z'), ('a1'), ('b1')", 3, 4), ("('z'), ('b2')", 4, 5), ("('z'), ('b2'), ('a2')", 4, 6),
      ("('z'), ('m')", 4, 7), ("('m')", 4, nil), ("('z'), ('b1')", 4, nil),
    ]
    for (heads, count, adopted) in cases {
      let file = "\(count)-\(adopted ?? 0).sqlite"
      try folder.open(file).execute(
        "CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES \(heads);"
          + tables.prefix(count).joined())
      let run = try folder.expect(adopted == nil ? 1 : 0, "adopt", "--database", file)
      if adopted == nil {
        #expect(run.errors.contains("which comes before"), "\(run.errors)")
      } else {
        #expect(
          try folder.open(file).rows("SELECT count(*) FROM schemactl_migrations")
            == [[.integer(Int64(adopted ?? 0))]])
      }
      try folder.remove(file)
    }
  }

  @Test("a column that only another branch of Django's history knows is not dropped silently")
  func djangoBranch() throws {
    let create = { (name: String, columns: String) in
      "CREATE TABLE \"\(name)\" (\"id\" integer NOT NULL PRIMARY KEY, \(columns));\n"
    }
    let rebuild = { (columns: String) in
      create("new__app_t", columns)
        + "DROP TABLE \"app_t\";\nALTER TABLE \"new__app_t\" RENAME TO \"app_t\";\n"
    }
    let folder = try Sample(files: [
      "sql/app.0001_a.sql": "-- Create model T\n" + create("app_t", "\"a\" text, \"zone_id\" text"),
      "sql/app.0002_b.sql": "-- Alter field a on t\n" + rebuild("\"a\" integer"),
    ])
    let run = try folder.expect(65, "import", "sql")
    #expect(
      run.errors.contains("sql/app.0002_b.sql: error: the SQL drops column `zone_id` of `app_t`"),
      "\(run.errors)")
    try folder.write(
      "sql/app.0002_b.sql", "-- Remove field zone from t\n" + rebuild("\"a\" integer"))
    try folder.expect(0, "import", "sql")
  }

  @Test("branches of Alembic that follow one another in the manifests are listed")
  func alembicBranches() throws {
    let folder = try Sample(files: [
      "up.sql": """
      -- Running upgrade  -> aa1
      CREATE TABLE a (x);
      -- Running upgrade aa1 -> bb2
      CREATE TABLE b (x);
      -- Running upgrade aa1 -> cc3
      CREATE TABLE c (x);
      -- Running upgrade bb2, cc3 -> dd4
      CREATE TABLE d (x);
      """
    ])
    let run = try folder.expect(0, "import", "up.sql")
    #expect(
      run.output.contains("up.sql:5:1: note: `cc3` is in another branch than `bb2`"),
      "\(run.output)")
    #expect(!run.output.contains("`dd4` is in another branch"))
  }

  @Test("an error points to the SQL file, and nothing is written")
  func failure() throws {
    let folder = try Sample(files: [
      "sql/001_a.sql": "CREATE TABLE t (a);\n",
      "sql/002_b.sql": "-- more\nALTER TABLE t ADD COLUMN b;\nALTER TABLE nowhere ADD COLUMN b;\n",
    ])
    let run = try folder.expect(3, "import", "sql")
    #expect(
      run.errors.contains("sql/002_b.sql:3:1: error: no such table: nowhere"), "\(run.errors)")
    #expect(!folder.exists("migrations"))
  }

  @Test("ROLLBACK, which undoes part of the migration, is refused")
  func rollback() throws {
    let folder = try Sample(files: ["sql/001_a.sql": "BEGIN;\nCREATE TABLE t (a);\nROLLBACK;\n"])
    let run = try folder.expect(65, "import", "sql")
    #expect(run.errors.contains("sql/001_a.sql:3:1: error: ROLLBACK"), "\(run.errors)")
  }

  @Test(
    "is refused with a BEGIN that stays open: the shell would undo what follows it",
    arguments: [
      "CREATE TABLE t (a);\nBEGIN;\nINSERT INTO t VALUES (1);\n",
      "BEGIN;\nCREATE TABLE t (a);\nCOMMIT;\nBEGIN;\nINSERT INTO t VALUES (1);\n",
    ])
  func openTransaction(_ sql: String) throws {
    let folder = try Sample(files: ["sql/001_a.sql": sql])
    let run = try folder.expect(65, "import", "sql")
    #expect(
      run.errors.contains("error: BEGIN has no COMMIT: the `sqlite3` shell undoes"), "\(run.errors)"
    )
    #expect(!folder.exists("migrations"))
  }

  @Test("may end the transaction of the tool, and begin another one for it")
  func toolsTransaction() throws {
    let text = try statements(
      "COMMIT TRANSACTION;\nPRAGMA foreign_keys = OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t (a);\n")
    #expect(text.hasSuffix("- sql: |-\n      CREATE TABLE t (a);\n"), "\(text)")
  }

  @Test("keeps statements that only mention the ledger of the tool")
  func mention() throws {
    let folder = try Sample(
      files: [
        "upgrade.sql":
          """
        -- Running upgrade  -> aaa
        CREATE TABLE settings (k, v);
        INSERT INTO settings VALUES ('alembic_version', 'x');
        INSERT INTO alembic_version (version_num) VALUES ('aaa');

        """
      ])
    try folder.expect(0, "import", "upgrade.sql", "--tool", "alembic")
    let text = try folder.text("migrations/" + folder.manifests[0] + ".yaml")
    #expect(text.contains("VALUES ('alembic_version', 'x')"), "\(text)")
    #expect(!text.contains("INTO alembic_version"), "\(text)")
  }

  @Test("files with the same number are renumbered in the order of the tool")
  func numbers() throws {
    let folder = try Sample(files: [
      "sql/2024-01-31-b.sql": "CREATE TABLE b (x);", "sql/2024-01-31-a.sql": "CREATE TABLE a (x);",
    ])
    try folder.expect(0, "import", "sql")
    #expect(folder.manifests == ["0001_a", "0002_b"])
  }

  @Test("a statement ends where the tool ends it, even without a semicolon")
  func separators() throws {
    let folder = try Sample(files: [
      "drizzle/0000_a.sql":
        "CREATE TABLE a (x)\n--> statement-breakpoint\nCREATE TABLE b (x);--> statement-breakpoint\nCREATE TABLE c (x)",
      "drizzle/meta/_journal.json": "{\"entries\": [{\"tag\": \"0000_a\", \"when\": 7}]}",
      "goose/1_a.sql":
        "-- +goose Up\n-- +goose StatementBegin\nCREATE TABLE a (x)\n-- +goose StatementEnd\nCREATE TABLE b (x);\n",
    ])
    for tool in ["drizzle", "goose"] {
      try folder.expect(0, "import", tool, "--migrations", "of-" + tool)
      try folder.expect(0, "migrate", "--migrations", "of-" + tool, "--database", tool + ".sqlite")
      #expect(
        try folder.open(tool + ".sqlite").rows("SELECT count(*) FROM pragma_table_info('b')") == [
          [1]
        ])
    }
  }

  @Test("files in folders of versions are sorted by version")
  func folders() throws {
    let folder = try Sample(files: [
      "sql/0.10/00__b.sql": "ALTER TABLE a ADD COLUMN y;",
      "sql/0.9/00__a.sql": "CREATE TABLE a (x);",
      "sql/0.10/01__c.sql": "ALTER TABLE a DROP COLUMN y;", "sql/V0001.X.down.sql": "DROP TABLE a",
    ])
    try folder.expect(0, "import", "sql")
    #expect(folder.manifests == ["0001_a", "0002_b", "0003_c"])
  }

  @Test("effects of PRAGMA foreign_keys on rows are the same as in the shell")
  func foreignKeys() throws {
    let folder = try Sample(files: [
      "sql/1_a.sql": """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p ON DELETE CASCADE);
      INSERT INTO p VALUES (1), (2);
      INSERT INTO c VALUES (1, 1), (2, 2);
      """,
      "sql/2_b.sql": "PRAGMA foreign_keys = ON;\nDELETE FROM p WHERE id = 1;\n",
    ])
    try folder.expect(0, "import", "sql")
    try folder.expect(0, "migrate", "--database", "new.sqlite")
    #expect(try folder.open("new.sqlite").rows("SELECT id FROM c") == [[.integer(2)]])
  }

  @Test("PRAGMA legacy_alter_table acts on one file, and with foreign keys as in the shell")
  func legacyAlterTable() throws {
    let folder = try Sample(files: [
      "sql/1_a.sql": "CREATE TABLE p (id INTEGER PRIMARY KEY);\nCREATE TABLE c (p REFERENCES p);\n",
      "sql/2_b.sql":
        "PRAGMA foreign_keys = ON;\nPRAGMA legacy_alter_table = ON;\nALTER TABLE p RENAME TO q;\n",
      "sql/3_c.sql": "ALTER TABLE q RENAME TO r;\n",
    ])
    try folder.expect(0, "import", "sql")
    try folder.expect(0, "migrate", "--database", "new.sqlite")
    #expect(
      try folder.open("new.sqlite").rows("SELECT \"table\" FROM pragma_foreign_key_list('c')")
        == [[.text("r")]])
  }

  @Test("SQL becomes operations only with --operations and if the schema is the same")
  func operations() throws {
    let folder = try Sample(files: [
      "sql/1_a.sql": """
      CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT NOT NULL DEFAULT 'x');
      CREATE INDEX t_n ON t (n);
      INSERT INTO t (n) VALUES ('a');
      """,
      "sql/2_b.sql": "ALTER TABLE t ADD COLUMN m INTEGER;\nALTER TABLE t RENAME COLUMN n TO k;\n",
      "sql/3_c.sql":
        "CREATE TABLE IF NOT EXISTS u (a CONSTRAINT c CHECK (a > 1));\nDROP INDEX t_n;\n",
    ])
    try folder.expect(0, "import", "sql", "--operations")
    let first = try folder.text("migrations/1_a.yaml")
    #expect(first.contains("- create_table:") && first.contains("- create_index:"), "\(first)")
    #expect(first.contains("- sql: INSERT INTO t") || first.contains("INSERT INTO t"), "\(first)")
    let second = try folder.text("migrations/2_b.yaml")
    #expect(second.contains("- add_column:") && second.contains("- rename_column:"), "\(second)")
    let third = try folder.text("migrations/3_c.yaml")
    #expect(third.contains("IF NOT EXISTS") && third.contains("- drop_index:"), "\(third)")
  }
}

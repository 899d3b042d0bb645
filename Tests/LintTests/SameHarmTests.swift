import SchemaLint
import SchemaQueries
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

/// Two tables whose definitions are valid under every profile.
private let base = """
  operations:
    - sql: |
        CREATE TABLE lists (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
          title TEXT
        );
        CREATE TABLE reminders (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
          title TEXT,
          listID TEXT REFERENCES lists ON DELETE CASCADE,
          isCompleted INTEGER
        );
        CREATE INDEX reminders_listID ON reminders (listID);
        CREATE VIEW titles AS SELECT title FROM lists;
        CREATE TRIGGER lists_log AFTER INSERT ON lists BEGIN
          UPDATE lists SET title = trim(title) WHERE id = NEW.id;
        END;
  """

private let columns =
  "id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), title TEXT"
  + ", listID TEXT REFERENCES lists ON DELETE CASCADE"

/// A notation, and the position of its single finding.
struct Way: Sendable, CustomStringConvertible {
  let description: String
  let steps: [String]
  let place: String

  init(_ description: String, _ place: String, _ steps: String...) {
    self.description = description
    self.steps = steps
    self.place = place
  }
}

/// Other rules report other problems of some notations.
private let removals: Set<String> = [
  "drop-column", "drop-table", "rename-column", "rename-table",
]

@Suite("Equal harm in different notations")
struct SameHarmTests {
  static let drops = [
    Way(
      "drop_column", "0002 2:38",
      "operations:\n  - drop_column: { table: reminders, column: isCompleted }"),
    Way("ALTER TABLE", "0002 3:7", sql("ALTER TABLE reminders DROP COLUMN isCompleted")),
    Way(
      "ALTER TABLE among other things", "0002 5:17",
      sql(
        """
        UPDATE reminders SET title = trim(title);
        -- ALTER TABLE lists DROP COLUMN title;
        SELECT 1; aLtEr /* now */ TABLE main."reminders" DROP [isCompleted];
        """)),
    Way(
      "move_column by RENAME", "0002 4:7",
      """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER }
            map: { 0: 0, null: null }
      """),
    Way(
      "move_column by a rebuild", "0002 4:7",
      """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to:
              { name: status, type: TEXT, not_null: { on_conflict: replace }, default: open }
            map: { 0: open, null: open }
      """),
    Way(
      "create, copy, drop, rename", "0002 5:7",
      sql(
        """
        CREATE TABLE reminders_new (\(columns));
        INSERT INTO reminders_new SELECT id, title, listID FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE reminders_new RENAME TO reminders;
        CREATE INDEX reminders_listID ON reminders (listID);
        """)),
    Way(
      "the same under odd names, quoted and commented", "0002 5:20",
      sql(
        """
        create /* a ( */ table "DROP TABLE ""x"" --" (\(columns));
        Insert Into [DROP TABLE "x" --] (listID, id, title) Select listID, id, title From `reminders`;
        /* bye */    drop table if exists main.'reminders' ; alter table [DROP TABLE "x" --] -- away
        rename to "Reminders";
        """)),
    Way(
      "rename the old table first", "0002 6:7",
      sql(
        """
        ALTER TABLE reminders RENAME TO old;
        CREATE TABLE reminders (\(columns));
        INSERT INTO reminders SELECT id, title, listID FROM old;
        DROP TABLE old;
        """)),
    Way(
      "through a common table expression", "0002 6:7",
      sql(
        """
        CREATE TABLE n (\(columns));
        WITH all_of_them AS (SELECT * FROM reminders)
        INSERT INTO n SELECT id, title, listID FROM all_of_them;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "through a view", "0002 6:7",
      sql(
        """
        CREATE VIEW kept AS SELECT id, title, listID FROM reminders;
        CREATE TABLE n (\(columns));
        INSERT INTO n SELECT * FROM kept;
        DROP TABLE reminders;
        DROP VIEW kept;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "CREATE TABLE AS SELECT", "0002 4:7",
      sql(
        """
        CREATE TABLE n AS SELECT id, title, listID FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "CREATE TABLE AS SELECT from the renamed table", "0002 5:7",
      sql(
        """
        ALTER TABLE reminders RENAME TO old;
        CREATE TABLE reminders AS SELECT id, title, listID FROM old;
        DROP TABLE old;
        """)),
    Way(
      "through a temporary table", "0002 4:7",
      sql(
        """
        CREATE TEMP TABLE backup AS SELECT * FROM reminders;
        DROP TABLE reminders;
        CREATE TABLE reminders (\(columns));
        INSERT INTO reminders SELECT id, title, listID FROM backup;
        DROP TABLE backup;
        """)),
    Way(
      "through a backup, and back", "0002 5:7",
      sql(
        """
        CREATE TABLE backup (id, title, listID);
        INSERT INTO backup SELECT id, title, listID FROM reminders;
        DROP TABLE reminders;
        CREATE TABLE reminders (\(columns));
        INSERT INTO reminders SELECT * FROM backup;
        DROP TABLE backup;
        """)),
    Way(
      "an edit of sqlite_schema", "0002 4:7",
      sql(
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, ',
        isCompleted INTEGER', '') WHERE name = 'reminders';
        PRAGMA writable_schema = OFF;
        """
      ).replacing("      isCompleted", with: "        isCompleted")),
    Way(
      "several operations", "0002 6:19",
      """
      operations:
        - sql: CREATE TABLE n (\(columns))
        - sql: |
            INSERT INTO n (id, title, listID)
            SELECT id, title, listID FROM reminders
        - drop_table: { table: reminders }
        - rename_table: { table: n, to: reminders }
      """),
    Way(
      "in two migrations: create and copy, then drop and rename", "0003 3:7",
      sql(
        """
        CREATE TABLE n (\(columns));
        INSERT INTO n SELECT id, title, listID FROM reminders;
        """), sql("DROP TABLE reminders;\nALTER TABLE n RENAME TO reminders;")),
    Way(
      "in two migrations: create, copy and drop, then rename", "0002 5:7",
      sql(
        """
        CREATE TABLE n (\(columns));
        INSERT INTO n SELECT id, title, listID FROM reminders;
        DROP TABLE reminders;
        """), sql("ALTER TABLE n RENAME TO reminders")),
    Way(
      "in two migrations: rename, create and copy, then drop what is left", "0002 3:7",
      sql(
        """
        ALTER TABLE reminders RENAME TO old;
        CREATE TABLE reminders (\(columns));
        INSERT INTO reminders SELECT id, title, listID FROM old;
        """), sql("DROP TABLE old")),
    Way(
      "in three migrations: rename and create, copy, drop", "0002 3:7",
      sql("ALTER TABLE reminders RENAME TO old;\nCREATE TABLE reminders (\(columns));"),
      sql("INSERT INTO reminders SELECT id, title, listID FROM old"), sql("DROP TABLE old")),
    Way(
      "in two migrations through a backup that stays for a while", "0002 5:7",
      sql(
        """
        CREATE TABLE backup (id TEXT PRIMARY KEY DEFAULT (uuid()), title, listID);
        INSERT INTO backup SELECT id, title, listID FROM reminders;
        DROP TABLE reminders;
        CREATE TABLE reminders (\(columns));
        INSERT INTO reminders SELECT * FROM backup;
        """), sql("DROP TABLE backup")),
    Way(
      "a rename in the same migration, then a drop", "0002 4:7",
      sql(
        """
        ALTER TABLE reminders RENAME COLUMN isCompleted TO done;
        ALTER TABLE reminders DROP COLUMN done;
        """)),
    Way(
      "a rebuild that computes a column of another name from it", "0002 5:7",
      sql(
        """
        CREATE TABLE n (\(columns), status INTEGER);
        INSERT INTO n SELECT id, title, listID, isCompleted + 1 FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "the second of two rebuilds", "0002 9:7",
      sql(
        """
        CREATE TABLE n (\(columns), isCompleted);
        INSERT INTO n SELECT * FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        CREATE TABLE m (\(columns));
        INSERT INTO m SELECT id, title, listID FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE m RENAME TO reminders;
        """)),
    Way(
      "a drop and a rename, and the copy in the next migration", "0002 3:7",
      sql(
        """
        ALTER TABLE reminders DROP COLUMN isCompleted;
        ALTER TABLE reminders RENAME TO old;
        """),
      sql(
        """
        CREATE TABLE reminders (\(columns));
        INSERT INTO reminders SELECT id, title, listID FROM old;
        DROP TABLE old;
        """)),
    Way(
      "a drop from the copy before it takes the place", "0003 3:7",
      sql(
        """
        CREATE TABLE n (\(columns), isCompleted);
        INSERT INTO n SELECT * FROM reminders;
        """),
      sql(
        """
        ALTER TABLE n DROP COLUMN isCompleted;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "a full rebuild, then a drop", "0002 7:7",
      sql(
        """
        CREATE TABLE n (\(columns), isCompleted);
        INSERT INTO n SELECT * FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        ALTER TABLE reminders DROP COLUMN isCompleted;
        """)),
  ]

  @Test("a dropped column", arguments: drops)
  func droppedColumn(_ way: Way) throws {
    let report = try lint([base] + way.steps, .additive)
    #expect(report.failure == nil)
    let found = report.findings.filter { removals.contains($0.rule) }
    #expect(found.map(\.short) == ["\(way.place) error drop-column reminders.isCompleted"])
  }

  static let tableDrops = [
    Way("drop_table", "0002 2:19", "operations:\n  - drop_table: { table: reminders }"),
    Way("DROP TABLE", "0002 3:7", sql("DROP TABLE IF EXISTS \"REMINDERS\"")),
    Way(
      "dropped and made again without a copy", "0002 3:7",
      sql("DROP TABLE reminders;\nCREATE TABLE reminders (\(columns), isCompleted)")),
    Way(
      "renamed and dropped", "0002 4:7",
      sql("ALTER TABLE reminders RENAME TO old;\nDROP TABLE old")),
    Way(
      "an edit of sqlite_schema", "0002 4:7",
      sql(
        """
        PRAGMA writable_schema = ON;
        DELETE FROM sqlite_schema WHERE tbl_name = 'reminders';
        """)),
    Way(
      "copied into another table that keeps its name", "0002 5:7",
      sql(
        """
        CREATE TABLE done (id TEXT PRIMARY KEY DEFAULT (uuid()));
        INSERT INTO done SELECT id FROM reminders;
        DROP TABLE reminders;
        """)),
  ]

  @Test("a dropped table", arguments: tableDrops)
  func droppedTable(_ way: Way) throws {
    let report = try lint([base] + way.steps, .additive)
    #expect(report.failure == nil)
    let found = report.findings.filter { removals.contains($0.rule) }
    #expect(found.map(\.short) == ["\(way.place) error drop-table reminders"])
  }

  static let renames = [
    Way(
      "rename_column", "0002 2:40 error rename-column reminders.title",
      "operations:\n  - rename_column: { table: reminders, from: title, to: name }"),
    Way(
      "ALTER TABLE RENAME COLUMN", "0002 3:7 error rename-column reminders.title",
      sql("ALTER TABLE reminders RENAME title TO name")),
    Way(
      "an edit of a column's name in sqlite_schema", "0002 4:7 error rename-column reminders.title",
      sql(
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'title', 'name') WHERE name = 'reminders';
        """)),
    Way(
      "a rename, and then a rebuild that keeps it", "0002 3:7 error rename-column reminders.title",
      sql(
        """
        ALTER TABLE reminders RENAME title TO name;
        CREATE TABLE n AS SELECT * FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "several renames of one column", "0002 5:7 error rename-column reminders.title",
      sql(
        """
        ALTER TABLE reminders RENAME title TO t;
        ALTER TABLE reminders RENAME t TO title;
        ALTER TABLE reminders RENAME title TO t;
        """)),
    Way(
      "a rebuild under another name for the column",
      "0002 5:7 error rename-column reminders.isCompleted",
      sql(
        """
        CREATE TABLE n (\(columns), status INTEGER);
        INSERT INTO n SELECT id, title, listID, isCompleted FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "the same, the old table renamed first, in another order",
      "0002 7:7 error rename-column reminders.isCompleted",
      sql(
        """
        ALTER TABLE reminders RENAME TO old;
        CREATE TABLE reminders (\(columns), status INTEGER);
        INSERT INTO reminders (status, title, id, listID)
        SELECT o."isCompleted", o.title, o.id, o.listID FROM old AS o;
        DROP TABLE old;
        """)),
    Way(
      "CREATE TABLE AS SELECT with an alias", "0002 4:7 error rename-column reminders.title",
      sql(
        """
        CREATE TABLE n AS SELECT id, title AS name, listID, isCompleted FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "CREATE TABLE AS SELECT with an alias, from the renamed table",
      "0002 5:7 error rename-column reminders.title",
      sql(
        """
        ALTER TABLE reminders RENAME TO old;
        CREATE TABLE reminders AS SELECT id, title AS name, listID, isCompleted FROM old;
        DROP TABLE old;
        """)),
    Way(
      "a rebuild through a backup, and back", "0002 5:7 error rename-column reminders.title",
      sql(
        """
        CREATE TABLE backup (a, b, c, d);
        INSERT INTO backup SELECT id, title, listID, isCompleted FROM reminders;
        DROP TABLE reminders;
        CREATE TABLE reminders (\(columns.replacing("title", with: "name")), isCompleted INTEGER);
        INSERT INTO reminders SELECT a, b, c, d FROM backup;
        DROP TABLE backup;
        """)),
    Way(
      "a rebuild through a temporary table, and back",
      "0002 4:7 error rename-column reminders.title",
      sql(
        """
        CREATE TEMPORARY TABLE backup AS SELECT * FROM reminders;
        DROP TABLE reminders;
        CREATE TABLE reminders (\(columns.replacing("title", with: "name")), isCompleted INTEGER);
        INSERT INTO reminders SELECT id, title, listID, isCompleted FROM backup;
        DROP TABLE backup;
        """)),
    Way(
      "a rebuild as SQLite's FAQ once told it", "0002 5:7 error rename-column reminders.title",
      sql(
        """
        CREATE TEMPORARY TABLE backup (a, b, c, d);
        INSERT INTO backup SELECT id, title, listID, isCompleted FROM reminders;
        DROP TABLE reminders;
        CREATE TABLE reminders (\(columns.replacing("title", with: "name")), isCompleted INTEGER);
        INSERT INTO reminders SELECT a, b, c, d FROM backup;
        DROP TABLE backup;
        """)),
    Way(
      "a rename, and a rebuild that gives yet another name",
      "0002 6:7 error rename-column reminders.isCompleted",
      sql(
        """
        ALTER TABLE reminders RENAME isCompleted TO done;
        CREATE TABLE n (\(columns), status INTEGER);
        INSERT INTO n SELECT id, title, listID, done FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "a rebuild that gives another name, and a rename",
      "0002 7:7 error rename-column reminders.isCompleted",
      sql(
        """
        CREATE TABLE n (\(columns), done INTEGER);
        INSERT INTO n SELECT * FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        ALTER TABLE reminders RENAME done TO status;
        """)),
    Way(
      "in two migrations: create and copy, then drop and rename",
      "0003 3:7 error rename-column reminders.isCompleted",
      sql(
        """
        CREATE TABLE n (\(columns), status INTEGER);
        INSERT INTO n SELECT * FROM reminders;
        """), sql("DROP TABLE reminders;\nALTER TABLE n RENAME TO reminders;")),
    Way(
      "rebuild_table", "0002 4:7 error rename-column reminders.isCompleted",
      """
      operations:
        - rebuild_table:
            table: reminders
            copy: { status: isCompleted }
            columns:
              - name: id
                type: TEXT
                primary_key: true
                not_null: { on_conflict: replace }
                default: { sql: uuid() }
              - { name: title, type: TEXT }
              - { name: listID, type: TEXT, references: { table: lists, on_delete: cascade } }
              - { name: status, type: INTEGER }
      """),
    Way(
      "rename_table", "0002 2:21 error rename-table reminders",
      "operations:\n  - rename_table: { table: reminders, to: tasks }"),
    Way(
      "ALTER TABLE RENAME TO", "0002 3:7 error rename-table reminders",
      sql("ALTER TABLE reminders RENAME TO tasks")),
    Way(
      "an edit of a table's name in sqlite_schema", "0002 4:7 error rename-table reminders",
      sql(
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET name = replace(name, 'reminders', 'tasks'),
          tbl_name = replace(tbl_name, 'reminders', 'tasks'),
          sql = replace(sql, 'reminders', 'tasks') WHERE tbl_name = 'reminders';
        """)),
    Way(
      "over a name in between", "0002 4:7 error rename-table reminders",
      sql("ALTER TABLE reminders RENAME TO x;\nALTER TABLE x RENAME TO tasks")),
  ]

  @Test("a rename", arguments: renames)
  func rename(_ way: Way) throws {
    let report = try lint([base] + way.steps, .additive)
    #expect(report.failure == nil)
    let found = report.findings.filter { removals.contains($0.rule) }
    #expect(found.map(\.short) == [way.place])
  }

  static let harmless = [
    Way(
      "a rename, and a rebuild that takes it back", "",
      sql(
        """
        ALTER TABLE reminders RENAME isCompleted TO done;
        CREATE TABLE n (\(columns), isCompleted INTEGER);
        INSERT INTO n SELECT id, title, listID, done FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "a rebuild that keeps every column", "",
      sql(
        """
        CREATE TABLE n (\(columns), isCompleted INTEGER);
        INSERT INTO n SELECT * FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """)),
    Way(
      "a rebuild over two migrations that keeps every column", "",
      sql(
        """
        CREATE TABLE n (\(columns), isCompleted INTEGER);
        INSERT INTO n SELECT * FROM reminders;
        """), sql("DROP TABLE reminders;\nALTER TABLE n RENAME TO reminders;")),
    Way(
      "rename first, over three migrations, with every column", "",
      sql(
        """
        ALTER TABLE reminders RENAME TO old;
        CREATE TABLE reminders (\(columns), isCompleted INTEGER);
        """), sql("INSERT INTO reminders SELECT * FROM old"), sql("DROP TABLE old")),
    Way(
      "a rebuild of a rebuilt table", "",
      sql(
        """
        CREATE TABLE n (\(columns), isCompleted INTEGER);
        INSERT INTO n SELECT * FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE n RENAME TO reminders;
        """),
      sql(
        """
        ALTER TABLE reminders RENAME TO old;
        CREATE TABLE reminders (\(columns), isCompleted INTEGER);
        INSERT INTO reminders SELECT * FROM old;
        DROP TABLE old;
        """)),
    Way(
      "a table that is made, renamed and dropped", "",
      sql("CREATE TABLE a (b);\nALTER TABLE a RENAME TO c;\nDROP TABLE c")),
    Way(
      "temporary tables, views and triggers", "",
      sql(
        """
        CREATE TEMP TABLE reminders (a);
        ALTER TABLE temp.reminders RENAME a TO b;
        DROP TABLE temp.reminders;
        """)),
    Way(
      "a column that is made and dropped", "",
      sql("ALTER TABLE reminders ADD COLUMN x;\nALTER TABLE reminders DROP COLUMN x")),
    Way(
      "another type by a second column", "",
      sql(
        """
        ALTER TABLE reminders ADD COLUMN other TEXT;
        UPDATE reminders SET other = isCompleted;
        ALTER TABLE reminders DROP COLUMN isCompleted;
        ALTER TABLE reminders RENAME other TO isCompleted;
        """)),
    Way(
      "a rename and back", "",
      sql("ALTER TABLE reminders RENAME title TO t;\nALTER TABLE reminders RENAME t TO title")),
    Way(
      "move_column that keeps its source", "",
      """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER }
            map: { 0: 0 }
            keep_source: true
      """),
    Way(
      "full-text search, with tables of its own", "",
      sql(
        """
        CREATE VIRTUAL TABLE search USING fts5(title);
        INSERT INTO search SELECT title FROM reminders;
        """)),
  ]

  @Test("harmless notations have no finding", arguments: oneIn(4, of: harmless))
  func nothing(_ way: Way) throws {
    let report = try lint([base] + way.steps, .sqliteData)
    #expect(report.failure == nil)
    #expect(report.findings.filter { removals.contains($0.rule) }.map(\.short) == [])
  }

  @Test("a virtual table is one table, and its shadow tables are ignored")
  func virtualTable() throws {
    let made = sql("CREATE VIRTUAL TABLE search USING fts5(title)")
    let renamed = sql("ALTER TABLE search RENAME TO found")
    let dropped = sql("DROP TABLE found")
    let report = try lint([base, made, renamed, dropped], .additive)
    #expect(report.failure == nil)
    #expect(
      report.lines == [
        "0003 3:7 error rename-table search", "0004 3:7 error drop-table found",
      ])
  }

  @Test("a dropped table is found even if other tables were filled from it")
  func normalised() throws {
    let tags = sql(
      """
      CREATE TABLE tags (id TEXT PRIMARY KEY DEFAULT (uuid()), title TEXT);
      INSERT INTO tags (title) SELECT DISTINCT title FROM reminders;
      CREATE TABLE n (\(columns), isCompleted INTEGER, tagID TEXT);
      INSERT INTO n SELECT r.*, (SELECT id FROM tags t WHERE t.title = r.title) FROM reminders r;
      DROP TABLE reminders;
      ALTER TABLE n RENAME TO reminders;
      """)
    let report = try lint([base, tags, sql("DROP TABLE tags")], .additive)
    #expect(report.failure == nil)
    #expect(
      report.findings.filter { removals.contains($0.rule) }.map(\.short) == [
        "0003 3:7 error drop-table tags"
      ])
  }

  @Test("a column that one rebuild adds is reported where a drop after the next rebuild removes it")
  func droppedAfterRebuild() throws {
    let rebuild = """
      CREATE TABLE n (\(columns), isCompleted INTEGER, x TEXT);
      INSERT INTO n SELECT r.*, NULL FROM reminders AS r;
      DROP TABLE reminders;
      ALTER TABLE n RENAME TO reminders;
      """
    let again =
      rebuild.replacing("r.*, NULL", with: "r.*") + "\nALTER TABLE reminders DROP COLUMN x;"
    let report = try lint([base, sql(rebuild), sql(again)], .additive)
    #expect(
      report.findings.filter { removals.contains($0.rule) }.map(\.short) == [
        "0003 7:7 error drop-column reminders.x"
      ])
  }

  @Test("two columns that exchange their names are both renamed")
  func exchange() throws {
    let report = try lint(
      [
        base,
        sql(
          """
          ALTER TABLE reminders RENAME title TO t;
          ALTER TABLE reminders RENAME isCompleted TO title;
          ALTER TABLE reminders RENAME t TO isCompleted;
          """),
      ], .additive)
    #expect(
      report.lines == [
        "0002 4:7 error rename-column reminders.isCompleted",
        "0002 5:7 error rename-column reminders.title",
      ])
  }

  @Test(
    "a name that returns before the release is not lost",
    arguments: [
      ("TABLE reminders RENAME TO r", "TABLE r RENAME TO reminders"),
      ("TABLE reminders RENAME title TO t", "TABLE reminders RENAME t TO title"),
    ])
  func renamedBack(_ away: String, _ back: String) throws {
    func found(_ releases: [String: Int]) throws -> [String] {
      try lint(
        [base, sql("ALTER " + away), sql("CREATE TABLE x (a)"), sql("ALTER " + back)], .additive,
        releases: releases
      ).findings.filter { removals.contains($0.rule) }.map(\.migration)
    }
    #expect(try found(["1.0": 1]) == [])
    #expect(try found(["1.0": 1, "2.0": 3]) == ["0002_step", "0004_step"])
  }

  @Test("the same column of two tables is two findings, in order")
  func two() throws {
    let tables = sql("CREATE TABLE a (x, y);\nCREATE TABLE b (x, y)")
    let drops = sql("ALTER TABLE b DROP COLUMN x;\nALTER TABLE a DROP COLUMN x")
    let report = try lint(
      [tables, drops], .local, configuration: "sync: { engine: none, local_tables: [a, b] }")
    #expect(report.failure == nil)
    #expect(
      report.lines == [
        "0002 3:7 warning drop-column b.x", "0002 4:7 warning drop-column a.x",
      ])
  }
}

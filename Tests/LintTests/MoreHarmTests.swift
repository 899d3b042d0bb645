import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaQueries
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

private let key = "id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid())"

/// Two tables without findings under any profile.
private let base = sql(
  """
  CREATE TABLE lists (\(key), title TEXT) STRICT;
  CREATE TABLE reminders (
    \(key), title TEXT COLLATE NOCASE, priority INTEGER CHECK (priority IN (0, 1, 2)),
    listID TEXT REFERENCES lists ON DELETE CASCADE
  ) STRICT;
  CREATE INDEX reminders_listID ON reminders (listID);
  CREATE INDEX reminders_title ON reminders (title);
  CREATE TRIGGER reminders_trim AFTER INSERT ON reminders WHEN NEW.title <> trim(NEW.title) BEGIN
    UPDATE reminders SET title = trim(NEW.title) WHERE id = NEW.id;
  END;
  """)

private let columns = """
  \(key), title TEXT COLLATE NOCASE, priority INTEGER CHECK (priority IN (0, 1, 2)),
  listID TEXT REFERENCES lists ON DELETE CASCADE
  """

/// Recreates the objects that the rebuilds below drop.
private let again = """
  CREATE INDEX reminders_listID ON reminders (listID);
  CREATE INDEX reminders_title ON reminders (title);
  CREATE TRIGGER reminders_trim AFTER INSERT ON reminders WHEN NEW.title <> trim(NEW.title) BEGIN
    UPDATE reminders SET title = trim(NEW.title) WHERE id = NEW.id;
  END;
  """

/// A manual rebuild of reminders.
private func rebuild(
  _ definition: String, copy: String = "INSERT INTO n SELECT * FROM reminders;",
  after: String = again
) -> String {
  sql(
    """
    CREATE TABLE n (\(definition)) STRICT;
    \(copy)
    DROP TABLE reminders;
    ALTER TABLE n RENAME TO reminders;
    \(after)
    """)
}

/// Copies the table `a` to one with other columns, which takes its name.
private func copied(to columns: String, copy: String = "SELECT * FROM a") -> String {
  sql(
    """
    CREATE TABLE n (\(columns)) STRICT;
    INSERT INTO n \(copy);
    DROP TABLE a;
    ALTER TABLE n RENAME TO a;
    """)
}

private let parent = sql(
  """
  CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT) STRICT;
  CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p) STRICT;
  CREATE INDEX c_p ON c (p);
  """)

private let converted =
  "operations:\n  - convert_primary_key: { table: p, to: uuid, uuids: per_database }\n"

struct Harm: Sendable, CustomStringConvertible {
  let description: String
  let profile: Profile
  /// All findings except notes: `loses-rows reminders`.
  let expected: [String]
  let steps: [String]

  init(
    _ description: String, _ expected: [String], _ profile: Profile = .local, _ steps: String...
  ) {
    self.description = description
    self.expected = expected
    self.profile = profile
    self.steps = steps
  }
}

@Suite("Harmful and harmless statements")
struct MoreHarmTests {
  private func check(_ harm: Harm) throws {
    let report = try lint(
      [base] + harm.steps, harm.profile,
      configuration: "lint: { rules: { if-not-exists: warning } }", functions: ["is_clean"])
    #expect(report.failure == nil)
    let found = report.findings.filter { $0.severity != .note && !$0.isSuppressed }
    #expect(found.map { "\($0.rule) \($0.object ?? "")" } == harm.expected)
  }

  @Test("the base history has no finding", arguments: Profile.allCases)
  func clean(_ profile: Profile) throws {
    let report = try lint([base], profile)
    // cr-sqlite refuses foreign keys that are enforced.
    let errors = report.findings.filter { $0.severity == .error }.map(\.rule)
    #expect(errors == (profile == .crSQLite ? ["synced-foreign-key"] : []))
  }

  @Test(
    "rows of a rebuild",
    arguments: oneIn(
      4,
      of: [
        Harm("all of them", [], .local, rebuild(columns)),
        Harm(
          "WHERE", ["loses-rows reminders"], .local,
          rebuild(columns, copy: "INSERT INTO n SELECT * FROM reminders WHERE priority > 0;")),
        Harm(
          "a WHERE that is always true", [], .local,
          rebuild(
            columns,
            copy: "INSERT INTO n SELECT * FROM reminders WHERE true ON CONFLICT DO NOTHING;")
        ),
        Harm(
          "LIMIT, in odd writing", ["loses-rows reminders"], .local,
          rebuild(
            columns, copy: "insert /* WHERE */ into \"n\" select * from [reminders] limit 10;")),
        Harm(
          "DISTINCT", [], .local,
          rebuild(columns, copy: "INSERT INTO n SELECT DISTINCT * FROM reminders;")),
        Harm(
          "an inner join", ["loses-rows reminders"], .local,
          rebuild(
            columns,
            copy: """
              INSERT INTO n SELECT r.id, r.title, r.priority, r.listID
              FROM reminders r JOIN lists l ON l.id = r.listID;
              """)),
        Harm(
          "a left join", [], .local,
          rebuild(
            columns,
            copy: """
              INSERT INTO n SELECT r.id, r.title, r.priority, r.listID
              FROM reminders r LEFT JOIN lists l ON l.id = r.listID;
              """)),
        Harm(
          "WHERE in a common table", ["loses-rows reminders"], .local,
          rebuild(
            columns,
            copy: """
              WITH some AS (SELECT * FROM reminders WHERE title <> '') INSERT INTO n SELECT * FROM some;
              """)),
        Harm(
          "WHERE on the way into a temporary table", ["loses-rows reminders"], .local,
          sql(
            """
            CREATE TEMP TABLE t AS SELECT * FROM reminders WHERE title <> '';
            DROP TABLE reminders;
            CREATE TABLE reminders (\(columns)) STRICT;
            INSERT INTO reminders SELECT * FROM t;
            DROP TABLE t;
            \(again)
            """)),
        Harm(
          "all of a table that SQLite copies entry by entry", [], .local,
          sql("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT) STRICT"),
          sql(
            """
            ALTER TABLE notes RENAME TO old;
            CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT) STRICT;
            INSERT INTO notes SELECT * FROM main."old";
            DROP TABLE old;
            """)),
        Harm(
          "two copies that share the rows", [], .local,
          rebuild(
            columns,
            copy: """
              INSERT INTO n SELECT * FROM reminders WHERE priority > 0;
              INSERT INTO n SELECT * FROM reminders WHERE priority <= 0 OR priority IS NULL;
              """)),
        Harm(
          "no copy", ["loses-rows reminders"], .local, rebuild(columns, copy: "")),
        Harm(
          "no copy, the old one renamed", ["loses-rows reminders"], .local,
          sql(
            """
            ALTER TABLE reminders RENAME TO old;
            CREATE TABLE reminders (\(columns)) STRICT;
            DROP TABLE old;
            \(again)
            """)),
        Harm(
          "INSERT OR IGNORE into a table that takes as much", [], .local,
          rebuild(columns, copy: "INSERT OR IGNORE INTO n SELECT * FROM reminders;")),
        Harm(
          "rebuild_table with a consent", [], .local,
          """
          operations:
            - rebuild_table:
                table: reminders
                sql: |
                  CREATE TABLE reminders (\(columns.replacing("\n", with: " "))) STRICT
                where: title <> ''
                rows_may_be_lost: true
          """),
      ]))
  func rows(_ harm: Harm) throws { try check(harm) }

  @Test(
    "columns of a rebuild",
    arguments: [
      Harm(
        "left out", ["loses-values reminders.priority"], .local,
        rebuild(
          columns,
          copy: "INSERT INTO n (id, title, listID) SELECT id, title, listID FROM reminders;")),
      Harm(
        "a string in its place", ["fails-on-data reminders"], .local,
        rebuild(
          columns,
          copy: "INSERT INTO n SELECT id, title, 'priority', listID FROM reminders;")),
      Harm(
        "filled later", [], .local,
        rebuild(
          columns,
          copy: """
            INSERT INTO n (id, title, listID) SELECT id, title, listID FROM reminders;
            UPDATE n SET priority = (SELECT priority FROM reminders r WHERE r.id = n.id)
            WHERE priority IS NULL;
            """)),
      Harm(
        "another order", ["loses-values reminders"], .local,
        rebuild(columns, copy: "INSERT INTO n SELECT id, listID, priority, title FROM reminders;")),
      Harm(
        "one more in the middle", ["loses-values reminders"], .local,
        rebuild(
          """
          \(key), notes TEXT, title TEXT COLLATE NOCASE,
          priority INTEGER CHECK (priority IN (0, 1, 2)),
          listID TEXT REFERENCES lists ON DELETE CASCADE
          """, copy: "INSERT INTO n SELECT *, NULL FROM reminders;")),
      Harm(
        "one more at the end, by name", [], .local,
        rebuild(
          columns.replacing("listID", with: "notes TEXT, listID"),
          copy: """
            INSERT INTO n (listID, id, title, priority) SELECT listID, id, title, priority
            FROM reminders;
            """)),
      Harm(
        "copied twice", [], .local,
        rebuild(
          columns.replacing("listID", with: "firstTitle TEXT, listID"),
          copy: """
            INSERT INTO n (id, title, priority, listID, firstTitle)
            SELECT id, upper(title), priority, listID, title FROM reminders;
            """)),
    ])
  func columnsOfRebuild(_ harm: Harm) throws { try check(harm) }

  @Test(
    "objects of a rebuilt table",
    arguments: oneIn(
      4,
      of: [
        Harm(
          "an index", ["rebuild-loses-object reminders_title"], .local,
          rebuild(
            columns,
            after: again.replacing("CREATE INDEX reminders_title ON reminders (title);", with: ""))),
        Harm(
          "an index that a new UNIQUE constraint begins with",
          ["fails-on-data reminders"], .local,
          rebuild(
            columns + ", UNIQUE (title, listID)",
            after: again.replacing("CREATE INDEX reminders_title ON reminders (title);", with: ""))),
        Harm(
          "an index that a unique one begins with", ["fails-on-data reminders"], .local,
          rebuild(
            columns,
            after: again.replacing(
              "INDEX reminders_title ON reminders (title)",
              with: "UNIQUE INDEX reminders_both ON reminders (title, listID)"))),
        Harm(
          "an index that a new UNIQUE constraint does not begin with",
          ["fails-on-data reminders", "rebuild-loses-object reminders_title"],
          .local,
          rebuild(
            columns + ", UNIQUE (priority, title)",
            after: again.replacing("CREATE INDEX reminders_title ON reminders (title);", with: ""))),
        Harm(
          "an index of a column that gets another name", ["rename-column reminders.title"], .local,
          rebuild(
            columns.replacing("title", with: "name"),
            after: again.replacing(
              "reminders_title ON reminders (title)", with: "by_name ON reminders (name)"
            )
            .replacing("NEW.title", with: "NEW.name").replacing("SET title", with: "SET name"))),
        Harm(
          "a unique index in another order and direction", [], .local,
          sql(
            "CREATE TABLE a (\(key), x TEXT, y TEXT) STRICT; CREATE UNIQUE INDEX a_xy ON a (x, y DESC)"
          ),
          sql(
            """
            CREATE TABLE n (\(key), x TEXT, y TEXT, z TEXT) STRICT;
            INSERT INTO n (id, x, y) SELECT id, x, y FROM a;
            DROP TABLE a;
            ALTER TABLE n RENAME TO a;
            CREATE UNIQUE INDEX a_xy ON a (y, x);
            """)),
        Harm(
          "a unique index over other columns, under its name",
          ["fails-on-data a"], .local,
          sql(
            "CREATE TABLE a (\(key), x TEXT, y TEXT) STRICT; CREATE UNIQUE INDEX a_x ON a (x, y)"),
          sql("DROP INDEX a_x; CREATE UNIQUE INDEX a_x ON a (x)")),
        Harm(
          "a plain index in the place of a unique one, under its name", ["drop-constraint a_x"],
          .local,
          sql("CREATE TABLE a (\(key), x TEXT) STRICT; CREATE UNIQUE INDEX a_x ON a (x)"),
          sql("DROP INDEX a_x; CREATE INDEX a_x ON a (x)")),
        Harm(
          "an index under another name, after which a column gets another name",
          ["rename-table reminders", "rename-column reminders.priority"], .local,
          sql(
            """
            ALTER TABLE reminders RENAME TO tasks;
            CREATE TABLE n (\(columns)) STRICT;
            INSERT INTO n SELECT * FROM tasks;
            DROP TABLE tasks;
            ALTER TABLE n RENAME TO tasks;
            \(again.replacing("reminders", with: "tasks"))
            ALTER TABLE tasks RENAME COLUMN priority TO urgency;
            """)),
        Harm(
          "an index under another name, in the first of two rebuilds and again in the second",
          ["rename-table reminders"], .local,
          sql(
            (["ALTER TABLE reminders RENAME TO tasks;"]
              + Array(
                repeating: """
                  CREATE TABLE n (\(columns)) STRICT;
                  INSERT INTO n SELECT * FROM tasks;
                  DROP TABLE tasks;
                  ALTER TABLE n RENAME TO tasks;
                  \(again.replacing("reminders", with: "tasks"))
                  """, count: 2)).joined(separator: "\n"))),
        Harm(
          "an index under another name", [], .local,
          rebuild(columns, after: again.replacing("INDEX reminders_title", with: "INDEX by_title"))),
        Harm(
          "everything but the text",
          [
            "rebuild-loses-object reminders_listID",
            "rebuild-loses-object reminders_title", "rebuild-loses-object reminders_trim",
          ], .local,
          rebuild(columns, after: "")),
        Harm(
          "the trigger dropped by name first", ["drop-object reminders_trim"], .additive,
          sql("DROP TRIGGER reminders_trim"),
          rebuild(
            columns,
            after: """
              CREATE INDEX reminders_listID ON reminders (listID);
              CREATE INDEX reminders_title ON reminders (title);
              """)),
        Harm(
          "COLLATE, CHECK and foreign key, when the rebuild adds a column",
          [
            "drop-constraint reminders.priority", "drop-constraint reminders.listID",
            "rebuild-loses-object reminders",
          ], .local,
          rebuild(
            "\(key), title TEXT, priority INTEGER, listID TEXT, notes TEXT",
            copy: """
              INSERT INTO n (id, title, priority, listID) SELECT id, title, priority, listID
              FROM reminders;
              """)),
        Harm(
          "a foreign key, when the rebuild is for that", ["drop-constraint reminders.listID"],
          .local,
          rebuild(columns.replacing(" REFERENCES lists ON DELETE CASCADE", with: ""))),
        Harm(
          "a UNIQUE that the table had twice", ["drop-constraint a.x"], .local,
          sql("CREATE TABLE a (\(key), x TEXT NOT NULL UNIQUE, UNIQUE (x)) STRICT"),
          copied(to: "\(key), x TEXT NOT NULL")),
        Harm(
          "ON DELETE, when the rebuild is for that", ["drop-constraint reminders.listID"], .local,
          rebuild(columns.replacing(" ON DELETE CASCADE", with: ""))),
        Harm(
          "ON DELETE, when the rebuild adds a column", ["drop-constraint reminders.listID"],
          .local,
          rebuild(
            columns.replacing(" ON DELETE CASCADE", with: ", notes TEXT"),
            copy: "INSERT INTO n SELECT *, NULL FROM reminders;")),
        Harm(
          "ON DELETE by alter_column", ["drop-constraint reminders.listID"], .local,
          "operations: [alter_column: { table: reminders, column: listID, references: { table: lists } }]"
        ),
        Harm(
          "another ON DELETE", [], .local,
          rebuild(
            columns.replacing("CASCADE", with: "SET NULL, notes TEXT"),
            copy: "INSERT INTO n SELECT *, NULL FROM reminders;")),
        Harm(
          "RESTRICT in its place", [], .local,
          rebuild(columns.replacing("CASCADE", with: "RESTRICT"))),
        Harm(
          "a foreign key by alter_column", ["drop-constraint reminders.listID"], .local,
          "operations: [alter_column: { table: reminders, column: listID, references: null }]"),
        Harm(
          "a CHECK, when the rebuild is for that and quotes everything", ["drop-constraint a.x"],
          .local,
          sql("CREATE TABLE a (\(key), x INTEGER CHECK (x > 0), y INTEGER CHECK (y > 0)) STRICT"),
          sql(
            """
            CREATE TABLE "n" (\(key), "x" INTEGER, "y" INTEGER CHECK ("y" > 0)) STRICT;
            INSERT INTO "n" ("id", "x", "y") SELECT "id", "x", "y" FROM "a";
            DROP TABLE "a";
            ALTER TABLE "n" RENAME TO "a";
            """)),
        Harm(
          "a CHECK, when the rebuild also changes the order of the columns",
          ["drop-constraint a.x"], .local,
          sql("CREATE TABLE a (\(key), x INTEGER CHECK (x > 0), y INTEGER) STRICT"),
          copied(to: "\(key), y INTEGER, x INTEGER", copy: "SELECT id, y, x FROM a")),
        Harm(
          "a CHECK by writable_schema",
          ["discouraged-statement writable_schema", "drop-constraint reminders.priority"], .local,
          sql(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, ' CHECK (priority IN (0, 1, 2))', '')
            WHERE name = 'reminders';
            """)),
        Harm(
          "an index and its column", ["drop-column reminders.title"], .local,
          rebuild(
            columns.replacing("title TEXT COLLATE NOCASE, ", with: ""),
            copy: "INSERT INTO n SELECT id, priority, listID FROM reminders;",
            after: "CREATE INDEX reminders_listID ON reminders (listID);")),
        Harm(
          "AUTOINCREMENT", ["rebuild-loses-object a"], .local,
          sql("CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT) STRICT"),
          sql(
            """
            CREATE TABLE n (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT, y TEXT) STRICT;
            INSERT INTO n (id, x) SELECT id, x FROM a;
            DROP TABLE a;
            ALTER TABLE n RENAME TO a;
            """)),
        Harm(
          "AUTOINCREMENT with its count", [], .local,
          sql("CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT) STRICT"),
          sql(
            """
            CREATE TABLE n (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT, y TEXT) STRICT;
            INSERT INTO n (id, x) SELECT id, x FROM a;
            UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'a')
            WHERE name = 'n';
            DROP TABLE a;
            ALTER TABLE n RENAME TO a;
            """)),
        Harm(
          "rename first, as SQLite did it once", ["discouraged-statement legacy_alter_table"],
          .local,
          sql(
            """
            PRAGMA legacy_alter_table = ON;
            ALTER TABLE lists RENAME TO old;
            CREATE TABLE lists (\(key), title TEXT) STRICT;
            INSERT INTO lists SELECT * FROM old;
            DROP TABLE old;
            """)),
      ]))
  func objects(_ harm: Harm) throws { try check(harm) }

  @Test(
    "failures on real data",
    arguments: oneIn(
      4,
      of: [
        Harm(
          "NOT NULL by rebuild", ["fails-on-data reminders"], .local,
          rebuild(columns.replacing("COLLATE NOCASE", with: "NOT NULL COLLATE NOCASE"))),
        Harm(
          "NOT NULL by a rebuild over two migrations", ["fails-on-data n"], .local,
          sql("CREATE TABLE a (\(key), x TEXT) STRICT"),
          sql("CREATE TABLE n (\(key), x TEXT NOT NULL) STRICT;\nINSERT INTO n SELECT * FROM a;"),
          sql("DROP TABLE a;\nALTER TABLE n RENAME TO a;")),
        Harm(
          "NOT NULL with coalesce by a rebuild over two migrations", [], .local,
          sql("CREATE TABLE a (\(key), x TEXT) STRICT"),
          sql(
            """
            CREATE TABLE n (\(key), x TEXT NOT NULL) STRICT;
            INSERT INTO n SELECT id, coalesce(x, '') FROM a;
            """),
          sql("DROP TABLE a;\nALTER TABLE n RENAME TO a;")),
        Harm(
          "a renamed NOT NULL column whose name a new column takes", ["rename-column a.x"], .local,
          sql("CREATE TABLE a (\(key), x TEXT NOT NULL) STRICT"),
          sql("ALTER TABLE a RENAME x TO y;\nALTER TABLE a ADD x TEXT;")),
        Harm(
          "NOT NULL once the rows without are deleted", [], .local,
          rebuild(columns.replacing("COLLATE NOCASE", with: "NOT NULL COLLATE NOCASE"))
            .replacing(
              "CREATE TABLE n", with: "DELETE FROM reminders WHERE [Title] IS NULL; CREATE TABLE n")
        ),
        Harm(
          "NOT NULL where other rows are deleted", ["fails-on-data reminders"], .local,
          rebuild(columns.replacing("COLLATE NOCASE", with: "NOT NULL COLLATE NOCASE")).replacing(
            "CREATE TABLE n", with: "DELETE FROM reminders WHERE priority IS NULL; CREATE TABLE n")),
        Harm(
          "a key for a table that had none", [], .local,
          sql("CREATE TABLE pairs (a TEXT NOT NULL, b TEXT NOT NULL) STRICT"),
          sql(
            """
            CREATE TABLE n (a TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a, b)) STRICT;
            INSERT INTO n SELECT * FROM pairs WHERE true ON CONFLICT (a, b) DO NOTHING;
            DROP TABLE pairs;
            ALTER TABLE n RENAME TO pairs;
            """)),
        Harm(
          "a key for a table that had none, without ON CONFLICT", ["fails-on-data a"], .local,
          sql("CREATE TABLE a (x TEXT NOT NULL, y TEXT NOT NULL) STRICT"),
          copied(to: "x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY (x, y)")),
        Harm(
          "a converted key with its children", [], .local, parent, converted),
        Harm(
          "a converted key of a table that the migration changes, too", [], .local, parent,
          converted + "  - alter_column: { table: p, column: name, default: '' }\n"),
        Harm(
          "a converted key with its children, which sync",
          [
            "synced-foreign-key c.p", "synced-primary-key c", "change-type c.p",
            "primary-key-change p",
          ], .additive, parent, converted),
        Harm(
          "a key of fewer columns", ["primary-key-change a", "fails-on-data a"], .local,
          sql("CREATE TABLE a (x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY (x, y)) STRICT"),
          copied(to: "x TEXT NOT NULL PRIMARY KEY, y TEXT NOT NULL")),
        Harm(
          "a key that compares without case", ["fails-on-data a"], .local,
          sql("CREATE TABLE a (x TEXT NOT NULL PRIMARY KEY, y TEXT) STRICT"),
          copied(to: "x TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, y TEXT")),
        Harm(
          "a key one of whose columns compares without case", ["fails-on-data a"], .local,
          sql("CREATE TABLE a (x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY (x, y)) STRICT"),
          copied(to: "x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY (x, y COLLATE NOCASE)")),
        Harm(
          "the same for a text before a number", ["fails-on-data a"], .local,
          sql("CREATE TABLE a (x TEXT NOT NULL, y INTEGER NOT NULL, PRIMARY KEY (x, y)) STRICT"),
          copied(to: "x TEXT NOT NULL, y INTEGER NOT NULL, PRIMARY KEY (x COLLATE NOCASE, y)")),
        Harm(
          "the same for the tags of a parent", ["fails-on-data a"], .local,
          sql(
            """
            CREATE TABLE a (
              x TEXT NOT NULL REFERENCES lists ON DELETE CASCADE, y TEXT NOT NULL, PRIMARY KEY (x, y)
            ) STRICT
            """),
          copied(
            to: """
              x TEXT NOT NULL REFERENCES lists ON DELETE CASCADE, y TEXT NOT NULL COLLATE NOCASE,
              PRIMARY KEY (x, y)
              """)),
        Harm(
          "a key of two columns that stays", [], .local,
          sql("CREATE TABLE a (x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY (x, y)) STRICT"),
          copied(to: "x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY (x, y)")),
        Harm(
          "the second column of the key alone", ["primary-key-change a", "fails-on-data a"], .local,
          sql("CREATE TABLE a (x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY (x, y)) STRICT"),
          copied(to: "x TEXT NOT NULL, y TEXT NOT NULL PRIMARY KEY")),
        Harm(
          "a key that was unique", ["primary-key-change a"], .local,
          sql("CREATE TABLE a (x TEXT NOT NULL UNIQUE, y TEXT NOT NULL PRIMARY KEY) STRICT"),
          copied(to: "x TEXT NOT NULL PRIMARY KEY, y TEXT NOT NULL")),
        Harm(
          "NOT NULL with coalesce", [], .local,
          rebuild(
            columns.replacing("COLLATE NOCASE", with: "NOT NULL COLLATE NOCASE"),
            copy: """
              INSERT INTO n SELECT id, coalesce(title, ''), priority, listID FROM reminders;
              """)),
        Harm(
          "NOT NULL with coalesce, through a temporary table", [], .local,
          sql(
            """
            CREATE TEMPORARY TABLE t (id, title, priority, listID);
            INSERT INTO t SELECT id, coalesce(title, ''), priority, listID FROM reminders;
            DROP TABLE reminders;
            CREATE TABLE reminders (
              \(columns.replacing("COLLATE NOCASE", with: "NOT NULL COLLATE NOCASE"))
            ) STRICT;
            INSERT INTO reminders SELECT * FROM t;
            DROP TABLE t;
            \(again)
            """)),
        Harm(
          "NOT NULL with coalesce, out of a backup", [], .local,
          sql(
            """
            CREATE TABLE backup AS SELECT * FROM reminders;
            DROP TABLE reminders;
            CREATE TABLE reminders (
              \(columns.replacing("COLLATE NOCASE", with: "NOT NULL COLLATE NOCASE"))
            ) STRICT;
            INSERT INTO reminders SELECT id, coalesce(title, ''), priority, listID FROM backup;
            DROP TABLE backup;
            \(again)
            """)),
        Harm(
          "NOT NULL by writable_schema",
          ["discouraged-statement writable_schema"], .local,
          sql(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'TEXT COLLATE', 'TEXT NOT NULL COLLATE')
            WHERE name = 'reminders';
            """)),
        Harm(
          "NOT NULL after a backfill", [], .local,
          sql("UPDATE reminders SET title = '' WHERE title IS NULL"),
          "operations: [alter_column: { table: reminders, column: title, not_null: true }]"),
        Harm(
          "a renamed column of a unique index", ["rename-column tags.title"], .local,
          sql(
            """
            CREATE TABLE tags (\(key), title TEXT NOT NULL DEFAULT '') STRICT;
            CREATE UNIQUE INDEX tags_title ON tags (title);
            """),
          sql("ALTER TABLE tags RENAME COLUMN title TO name")),
        Harm(
          "IF NOT EXISTS, even after a DROP", ["if-not-exists reminders_title"], .local,
          sql(
            """
            DROP INDEX IF EXISTS "reminders_Title";
            CREATE INDEX IF NOT EXISTS reminders_title ON reminders (title);
            """)),
        Harm(
          "a unique index", ["fails-on-data reminders"], .local,
          sql("CREATE UNIQUE INDEX reminders_unique ON reminders (title)")),
        Harm(
          "UNIQUE by rebuild", ["fails-on-data reminders"], .local,
          rebuild(
            columns.replacing("NOCASE", with: "NOCASE UNIQUE"),
            after: again.replacing("CREATE INDEX reminders_title ON reminders (title);", with: "")
          )
          .replacing("DROP TABLE", with: "DROP INDEX reminders_title; DROP TABLE")),
        Harm(
          "unique with the key in it", [], .local,
          sql("CREATE UNIQUE INDEX reminders_unique ON reminders (title, id)")),
        Harm(
          "unique on a new column", [], .local,
          sql(
            """
            ALTER TABLE reminders ADD COLUMN slug TEXT;
            CREATE UNIQUE INDEX reminders_slug ON reminders (slug);
            """)),
        Harm(
          "unique after what repeats was deleted", [], .local,
          sql(
            """
            DELETE FROM reminders WHERE rowid NOT IN (SELECT min(rowid) FROM reminders GROUP BY title);
            CREATE UNIQUE INDEX reminders_unique ON reminders (title);
            """)),
        Harm(
          "a CHECK that takes less", ["fails-on-data reminders"], .local,
          "operations: [alter_column: { table: reminders, column: priority, check: 'priority < 2' }]"
        ),
        Harm(
          "a CHECK that takes more", [], .local,
          "operations: [alter_column: { table: reminders, column: priority, check: 'priority < 9' }]"
        ),
        Harm(
          "a CHECK that takes less, where rows sync",
          ["fails-on-data reminders"], .additive,
          "operations: [alter_column: { table: reminders, column: priority, check: 'priority < 2' }]"
        ),
        Harm(
          "a CHECK on a new column", [], .local,
          sql("ALTER TABLE reminders ADD COLUMN x INTEGER CHECK (x > 0)")),
        Harm(
          "a constant in parentheses", [], .local,
          sql("ALTER TABLE reminders ADD COLUMN x INTEGER DEFAULT (-3)")),
        Harm(
          "an expression", ["fails-on-data reminders"], .local,
          sql("ALTER TABLE reminders ADD COLUMN x INTEGER DEFAULT (1 + 2)")),
        Harm(
          "an expression of a column that gets another name", ["rename-column a.x"], .local,
          sql("CREATE TABLE a (\(key), x TEXT DEFAULT CURRENT_TIMESTAMP) STRICT"),
          sql("ALTER TABLE a RENAME COLUMN x TO y")),
        Harm(
          "an expression in a table that is made anew", [], .local,
          rebuild(
            columns.replacing("listID", with: "x INTEGER DEFAULT (1 + 2), listID"),
            copy: """
              INSERT INTO n (id, title, priority, listID) SELECT id, title, priority, listID
              FROM reminders;
              """)),
        Harm(
          "a virtual column", [], .local,
          sql("ALTER TABLE reminders ADD COLUMN x INTEGER AS (length(title))")),
        Harm(
          "a text that becomes a number", ["loses-values reminders.title"], .local,
          rebuild(columns.replacing("title TEXT", with: "title INTEGER"))),
        Harm(
          "a text that is converted", ["change-type reminders.title"], .local,
          rebuild(
            columns.replacing("title TEXT", with: "title INTEGER"),
            copy: "INSERT INTO n SELECT id, unixepoch(title), priority, listID FROM reminders;")),
        Harm(
          "a CHECK that no longer fits the type", ["drop-constraint a.x", "change-type a.x"],
          .local,
          sql("CREATE TABLE a (\(key), x TEXT CHECK (x IN ('open', 'done'))) STRICT"),
          copied(
            to: "\(key), x INTEGER",
            copy: "SELECT id, CASE x WHEN 'open' THEN 0 WHEN 'done' THEN 1 END FROM a")),
        Harm(
          "a CHECK of a key that no longer fits the type",
          ["drop-constraint a.x", "primary-key-change a"], .local,
          sql("CREATE TABLE a (x TEXT NOT NULL PRIMARY KEY CHECK (length(x) = 36)) STRICT"),
          copied(to: "x BLOB NOT NULL PRIMARY KEY", copy: "SELECT CAST(x AS BLOB) FROM a")),
        Harm(
          "CAST", ["loses-values reminders.title"], .local,
          rebuild(
            columns.replacing("title TEXT", with: "title INTEGER"),
            copy:
              "INSERT INTO n SELECT id, CAST(title AS INTEGER), priority, listID FROM reminders;")
        ),
      ]))
  func realData(_ harm: Harm) throws { try check(harm) }

  @Test(
    "texts of a key that are different and become the same number",
    arguments: [
      ("x NUMERIC NOT NULL PRIMARY KEY", "x", "primary-key-change"),
      ("x TEXT NOT NULL PRIMARY KEY", "ltrim(x, '0')", "fails-on-data"),
      ("x TEXT NOT NULL PRIMARY KEY", "x", nil),
    ])
  func numericKeys(_ column: String, _ value: String, _ rule: String?) throws {
    let steps = [
      sql("CREATE TABLE a (x TEXT NOT NULL PRIMARY KEY, y TEXT)"),
      sql(
        """
        CREATE TABLE n (\(column), y TEXT);
        INSERT INTO n SELECT \(value), y FROM a;
        DROP TABLE a;
        ALTER TABLE n RENAME TO a;
        """),
    ]
    let found = try lint(steps, .local).findings.map(\.rule)
    #expect(found == [rule].compactMap(\.self))
  }

  /// A table with columns that a CHECK may compare.
  static let photos = sql(
    """
    CREATE TABLE photos (
      \(key), kind TEXT NOT NULL DEFAULT 'plain' CHECK (kind IN ('plain', 'wide')),
      width INTEGER, height INTEGER, note TEXT, CHECK (kind <> 'wide' OR width > height)
    ) STRICT
    """)

  private static func rebuiltPhotos(
    _ checks: String, columns: String = "", copy: String = "id, kind, width, height, note",
    from: String = "photos"
  ) -> String {
    sql(
      """
      CREATE TABLE n (
        \(key), kind TEXT NOT NULL DEFAULT 'plain', width INTEGER, height INTEGER, note TEXT
        \(columns), \(checks)
      ) STRICT;
      INSERT INTO n (id, kind, width, height, note) SELECT \(copy) FROM \(from);
      DROP TABLE photos;
      ALTER TABLE n RENAME TO photos;
      """)
  }

  private static let kept =
    "CHECK (kind IN ('plain', 'wide')), CHECK (kind <> 'wide' OR width > height)"

  @Test(
    "a key that stores values of another kind is another key",
    arguments: [
      ("TEXT", "BLOB", true), ("REAL", "TEXT", true), ("TEXT", "VARCHAR(10)", false),
      ("INT", "NUMERIC", false),
    ])
  func keyOfAnotherKind(_ old: String, _ new: String, _ changes: Bool) throws {
    func table(_ name: String, _ type: String) -> String {
      "CREATE TABLE \(name) (id \(type) NOT NULL PRIMARY KEY, x TEXT);"
    }
    let rebuilt = sql(
      """
      \(table("n", new))
      INSERT INTO n SELECT * FROM t;
      DROP TABLE t;
      ALTER TABLE n RENAME TO t;
      """)
    let report = try lint([sql(table("t", old)), rebuilt], .local)
    #expect(report.findings.contains { $0.rule == "primary-key-change" } == changes)
  }

  @Test(
    "CHECKs that every row passes",
    arguments: [
      Harm(
        "only NULL breaks it, and the column is NOT NULL", [], .local, photos,
        rebuiltPhotos(
          "CHECK (kind IS NOT NULL AND kind IN ('plain', 'wide')), "
            + "CHECK (kind <> 'wide' OR width > height)")),
      Harm(
        "it says NOT NULL once more", [], .local,
        sql("CREATE TABLE a (\(key), x TEXT NOT NULL) STRICT"),
        sql(
          """
          CREATE TABLE n (\(key), x TEXT NOT NULL CHECK (x IS NOT NULL)) STRICT;
          INSERT INTO n SELECT * FROM a;
          DROP TABLE a;
          ALTER TABLE n RENAME TO a;
          """)),
      Harm(
        "the key is never NULL", [], .local, sql("CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT"),
        "operations: [alter_column: { table: a, column: id, check: id IS NOT NULL }]"),
      Harm(
        "the text key of a STRICT table is never NULL", [], .local,
        sql("CREATE TABLE a (id TEXT PRIMARY KEY) STRICT"),
        "operations: [alter_column: { table: a, column: id, check: id IS NOT NULL }]"),
      Harm(
        "only NULL breaks it, and the column has been NOT NULL", [], .local,
        sql("CREATE TABLE a (\(key), x TEXT NOT NULL, y TEXT) STRICT"),
        sql(
          """
          CREATE TABLE n (\(key), x TEXT, y TEXT, CHECK (x IS NOT NULL OR y IS NOT NULL)) STRICT;
          INSERT INTO n SELECT * FROM a;
          DROP TABLE a;
          ALTER TABLE n RENAME TO a;
          """)),
      Harm(
        "another CHECK, which stays, takes less", [], .local, photos,
        rebuiltPhotos("\(kept), CHECK (length(kind) > 1)")),
      Harm(
        "the new column has a default that passes, whatever the old ones hold", [], .local,
        sql(
          """
          ALTER TABLE reminders ADD COLUMN kind TEXT NOT NULL DEFAULT 'plain'
          CHECK (kind = 'plain' OR length(title) < 9)
          """)),
      Harm(
        "the new column is NULL", [], .local,
        sql("ALTER TABLE reminders ADD COLUMN after INTEGER CHECK (priority >= after)")),
      Harm(
        "the rebuild leaves the new column out", [], .local, photos,
        rebuiltPhotos(
          "\(kept), CHECK (caption IS NULL OR length(caption) > length(note))",
          columns: ", caption TEXT")),
      Harm(
        "the copy out of a backup leaves the new column out", [], .local, photos,
        sql(
          """
          CREATE TEMP TABLE backup AS SELECT * FROM photos;
          DROP TABLE photos;
          CREATE TABLE photos (
            \(key), kind TEXT NOT NULL DEFAULT 'plain', width INTEGER, height INTEGER, note TEXT,
            caption TEXT, \(kept), CHECK (caption IS NULL OR length(caption) > length(note))
          ) STRICT;
          INSERT INTO photos (id, kind, width, height, note)
          SELECT id, kind, width, height, note FROM backup;
          DROP TABLE backup;
          """)),
      Harm(
        "the copy says NULL", [], .local, photos,
        rebuiltPhotos(
          "\(kept), CHECK (caption IS NULL OR length(caption) > length(note))",
          columns: ", caption TEXT", copy: "id, kind, width, height, note, NULL"
        ).replacing("height, note) SELECT", with: "height, note, caption) SELECT")),
      Harm(
        "three columns, and one kind more", [], .local, photos,
        rebuiltPhotos(
          "CHECK (kind IN ('plain', 'wide', 'high')), "
            + "CHECK (kind = 'high' OR kind <> 'wide' OR width > height)")),
      Harm(
        "the copy makes the values", ["loses-values photos.width"], .local, photos,
        rebuiltPhotos("\(kept), CHECK (width >= 0)", copy: "id, kind, abs(width), height, note")),
      Harm(
        "no row is left", ["without-where photos"], .local, photos,
        rebuiltPhotos("\(kept), CHECK (width >= 0)").replacing(
          "CREATE TABLE n", with: "DELETE FROM photos; CREATE TABLE n")),
      Harm(
        "the rows that break it are deleted", [], .local, photos,
        rebuiltPhotos("\(kept), CHECK (width >= 0)").replacing(
          "CREATE TABLE n", with: "DELETE FROM photos WHERE width < 0; CREATE TABLE n")),
    ])
  func passedChecks(_ harm: Harm) throws { try check(harm) }

  @Test(
    "CHECKs that some row may violate",
    arguments: [
      Harm(
        "of a column that may be NULL", ["fails-on-data photos"], .local, photos,
        rebuiltPhotos("\(kept), CHECK (width IS NOT NULL)")),
      Harm(
        "of a length that was free", ["fails-on-data photos"], .local, photos,
        rebuiltPhotos("\(kept), CHECK (note IS NULL OR length(note) <= 500)")),
      Harm(
        "of a length that is smaller than it was", ["fails-on-data a"], .local,
        sql("CREATE TABLE a (\(key), x TEXT CHECK (length(x) <= 100)) STRICT"),
        "operations: [alter_column: { table: a, column: x, check: length(x) <= 50 }]"),
      Harm(
        "of a function that lint does not know", ["fails-on-data photos"], .local,
        photos, rebuiltPhotos("\(kept), CHECK (note IS NULL OR is_clean(note))")),
      Harm(
        "of the old column, where the new one does not settle it", ["fails-on-data reminders"],
        .local,
        sql("ALTER TABLE reminders ADD COLUMN x INTEGER CHECK (x > 0 OR length(title) > 0)")),
      Harm(
        "of the old column, which the new one alone would pass", ["fails-on-data reminders"],
        .local,
        sql("ALTER TABLE reminders ADD COLUMN x INTEGER CHECK (x IS NULL AND length(title) > 0)")),
      Harm(
        "of a new column that the copy fills with the old one", ["fails-on-data photos"], .local,
        photos,
        rebuiltPhotos(
          "\(kept), CHECK (caption IS NULL OR length(caption) > length(note))",
          columns: ", caption TEXT", copy: "id, kind, width, height, note, note"
        ).replacing(
          "height, note) SELECT", with: "height, note, caption) SELECT")),
      Harm(
        "of three columns, and one kind less", ["fails-on-data photos"], .local, photos,
        rebuiltPhotos(
          "CHECK (kind IN ('plain', 'wide')), "
            + "CHECK (kind = 'plain' OR kind <> 'wide' OR width > 2 * height)")),
    ])
  func brokenChecks(_ harm: Harm) throws { try check(harm) }

  @Test(
    "effects of foreign keys",
    arguments: [
      Harm(
        "DELETE under enforced keys", ["loses-rows reminders"], .local,
        "foreign_keys: enforced\n" + sql("DELETE FROM lists WHERE title = ''")),
      Harm(
        "DROP TABLE under enforced keys",
        ["drop-table lists", "loses-rows reminders", "broken-object reminders.listID"], .local,
        "foreign_keys: enforced\n" + sql("DROP TABLE lists")),
      Harm(
        "DELETE through a view", ["loses-rows reminders"], .local,
        sql(
          """
          CREATE VIEW titles (title) AS SELECT title FROM lists;
          CREATE TRIGGER titles_gone INSTEAD OF DELETE ON titles BEGIN
            DELETE FROM lists WHERE title = OLD.title;
          END;
          """), "foreign_keys: enforced\n" + sql("DELETE FROM titles WHERE title = ''")),
      Harm(
        "DELETE of a child", [], .local,
        "foreign_keys: enforced\n" + sql("DELETE FROM reminders WHERE title = ''")),
      Harm(
        "DELETE as usual", ["fails-on-data lists"], .local,
        sql("DELETE FROM lists WHERE title = ''")),
    ])
  func reach(_ harm: Harm) throws { try check(harm) }

  @Test(
    "changes of rows",
    arguments: [
      Harm(
        "UPDATE of every row", ["without-where reminders"], .local,
        sql("UPDATE reminders SET title = trim(title)")),
      Harm(
        "UPDATE of a new column", [], .local,
        sql("ALTER TABLE reminders ADD COLUMN x TEXT;\nUPDATE reminders SET x = title")),
      Harm(
        "UPDATE of every row with its consent", [], .local,
        "operations: [update: { table: reminders, set: { title: 'trim(title)' }, all: true }]"),
      Harm(
        "an upsert", [], .local,
        sql(
          """
          INSERT INTO lists (id, title) VALUES ('inbox', 'Inbox')
          ON CONFLICT (id) DO UPDATE SET title = excluded.title;
          """)),
      Harm(
        "DELETE of every row, with a WHERE inside",
        ["fails-on-data lists", "without-where lists"], .local,
        sql("DELETE FROM lists /* WHERE */;")),
      Harm(
        "random()", ["non-deterministic-data lists"], .local,
        sql("INSERT INTO lists (id, title) SELECT hex(randomblob(16)), title FROM reminders")),
      Harm(
        "CURRENT_TIMESTAMP in an operation", ["non-deterministic-data lists"], .local,
        """
        operations:
          - insert: { table: lists, rows: [{ id: a, title: { sql: CURRENT_TIMESTAMP } }] }
        """),
      Harm(
        "a time that rows have", [], .local,
        sql("UPDATE reminders SET title = date(title) WHERE title < datetime('now')")),
      Harm(
        "a misspelt column in double quotes", ["double-quoted-string reminders"], .local,
        sql("UPDATE reminders SET title = \"titel\" WHERE title IS NULL")),
      Harm(
        "names in double quotes", [], .local,
        sql("UPDATE \"reminders\" SET \"title\" = \"priority\" WHERE \"title\" IS NULL")),
      Harm(
        "a view with a string in double quotes", ["double-quoted-string v"], .local,
        sql("CREATE VIEW v AS SELECT id FROM lists WHERE title = \"Inbox\"")),
    ])
  func written(_ harm: Harm) throws { try check(harm) }

  @Test(
    "a second change of a table that the migration rewrites first is found",
    arguments: [
      ("- alter_column: { table: t, column: n, not_null: true }", "fails-on-data t"),
      (
        "- add_column: { table: t, column: { name: m, type: INT, not_null: true } }",
        "fails-on-data t"
      ),
      ("- alter_column: { table: t, column: n, check: n > 0 }", "fails-on-data t"),
      ("- create_index: { name: t_n, table: t, columns: [n], unique: true }", "fails-on-data t"),
      ("- sql: DELETE FROM t", "without-where t"),
      ("- sql: UPDATE t SET n = 0", "without-where t"),
      ("- sql: UPDATE t SET n = 0 WHERE n = 1", ""),
    ])
  func rewritten(_ second: String, _ finding: String) throws {
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT, n INT, s TEXT)")
    for first in [
      "- alter_column: { table: t, column: x, type: INTEGER }",
      "- alter_column: { table: t, column: s, default: '1' }",
      "- move_column: { table: t, from: x, to: { name: y, type: TEXT }, using: x }",
    ] {
      let report = try lint([table, "operations:\n  \(first)\n  \(second)\n"], .local)
      #expect(report.failure == nil, "\(first)")
      let found = report.findings.filter { $0.severity != .note }.map {
        "\($0.rule) \($0.object ?? "")"
      }
      let harmful = found.filter {
        $0.hasPrefix("without-where") || $0.hasPrefix("fails-on-data")
      }
      #expect(harmful == (finding.isEmpty ? [] : [finding]), "\(first)")
    }
  }

  @Test("two new tables that exchange their rows and their name are no endless chain")
  func exchanged() throws {
    let columns = "(id INTEGER PRIMARY KEY, x TEXT)"
    let report = try lint(
      [
        sql(
          """
          CREATE TABLE a \(columns);
          CREATE TABLE b \(columns);
          INSERT INTO b SELECT * FROM a;
          ALTER TABLE a RENAME TO tmp;
          ALTER TABLE b RENAME TO a;
          INSERT INTO tmp SELECT * FROM a;
          ALTER TABLE a RENAME TO old;
          ALTER TABLE tmp RENAME TO a;
          UPDATE a SET x = 'y';
          """)
      ], .local)
    #expect(report.failure == nil)
    #expect(report.findings.filter { $0.severity != .note } == [])
  }

  @Test("each dropped constraint is reported at its operation")
  func droppedConstraints() throws {
    let tables = sql(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER CHECK (a > 0), p INTEGER REFERENCES p, b TEXT);
      """)
    let drops = """
      operations:
        - alter_column: { table: t, column: a, check: null }
        - alter_column: { table: t, column: p, references: null }
        - alter_column: { table: t, column: b, default: x }
      """
    let found = try lint([tables, drops], .local).findings.filter { $0.rule == "drop-constraint" }
    #expect(found.map(\.line) == [2, 3])
  }

  @Test(
    "values from a subquery or an upsert that differ on each device",
    arguments: [
      ("UPDATE t SET a = n.v FROM (SELECT id, random() AS v FROM t) n WHERE n.id = t.id", true),
      (
        "UPDATE t SET a = n.x FROM (SELECT id, a AS x, random() AS v FROM t) n WHERE n.id = t.id",
        false
      ),
      ("INSERT INTO t (a) SELECT v FROM (SELECT uuid() AS v FROM s)", true),
      ("INSERT INTO t (a) SELECT v FROM (SELECT 'x' AS v UNION ALL SELECT uuid())", true),
      ("WITH k (v) AS (SELECT uuid()) INSERT INTO t (a) SELECT v FROM k", true),
      ("INSERT INTO t (a, at) SELECT * FROM (SELECT id, datetime('now') FROM s)", true),
      ("INSERT INTO t (a) SELECT id FROM s UNION ALL SELECT random() FROM s", true),
      (
        "INSERT INTO t SELECT id, 1, 2 FROM s WHERE 1 ON CONFLICT (id) DO UPDATE SET at = datetime('now')",
        true
      ),
      (
        "INSERT INTO t SELECT id, 1, 2 FROM s WHERE 1 ON CONFLICT (id) DO UPDATE SET a = 1 "
          + "WHERE at < datetime('now')", false
      ),
      ("INSERT INTO t (a) SELECT id FROM s WHERE at < date('now')", false),
      ("INSERT INTO t (a) SELECT id FROM (SELECT id FROM s WHERE at < date('now'))", false),
      (
        "INSERT INTO t (a) SELECT id FROM (SELECT id, at, date('now') AS today FROM s) n "
          + "WHERE n.at < n.today", false
      ),
      // The rows get other keys.
      ("INSERT INTO t (a) SELECT id FROM s ORDER BY random()", true),
      ("DELETE FROM s WHERE random() % 2 = 0", true), ("DELETE FROM s WHERE random() > 0", true),
      ("DELETE FROM s WHERE at < datetime('now', '-30 days')", false),
      ("UPDATE s SET at = (SELECT now FROM today) WHERE at IS NULL", true),
      ("CREATE TABLE days AS SELECT now FROM today", true),
      (
        "CREATE TEMP TABLE k AS SELECT uuid() AS v; UPDATE s SET at = (SELECT v FROM k) WHERE at IS NULL; "
          + "DROP TABLE k", true
      ),
      (
        "CREATE TEMP TABLE k AS SELECT uuid() AS v; DROP TABLE k; DELETE FROM s WHERE id < 9", false
      ),
      ("INSERT INTO t (id) SELECT max(id) FROM log", false),
      ("INSERT INTO log (id) VALUES (1)", true),
      // A trigger records the time of each change.
      ("UPDATE t SET a = 1 WHERE a IS NULL", false),
    ])
  func changingValues(_ statement: String, _ differs: Bool) throws {
    let tables = sql(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a, at TEXT);
      CREATE TABLE s (id INTEGER PRIMARY KEY, at TEXT);
      CREATE TABLE log (id INTEGER PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP);
      CREATE VIEW today AS SELECT datetime('now') AS now;
      CREATE TRIGGER t_changed AFTER UPDATE OF a ON t BEGIN
        UPDATE t SET at = datetime('now') WHERE id = NEW.id;
        INSERT INTO log (id) VALUES (NULL);
      END;
      """)
    let report = try lint([tables, sql(statement)], .local)
    #expect(report.failure == nil)
    #expect(report.findings.contains { $0.rule == "non-deterministic-data" } == differs)
  }

  @Test(
    "synced tables",
    arguments: [
      Harm(
        "an UPDATE", ["data-write-on-synced-table lists"], .sqliteData,
        sql("UPDATE lists SET title = '' WHERE title IS NULL")),
      Harm(
        "a rebuild that changes values", ["data-write-on-synced-table lists"], .sqliteData,
        sql(
          """
          CREATE TABLE n (\(key), title TEXT) STRICT;
          INSERT INTO n SELECT id, coalesce(title, '') FROM lists;
          DROP TABLE lists;
          ALTER TABLE n RENAME TO lists;
          """)),
      Harm(
        "a rebuild by an operation that changes values", ["data-write-on-synced-table lists"],
        .sqliteData,
        """
        operations:
          - rebuild_table:
              table: lists
              columns:
                - name: id
                  type: TEXT
                  primary_key: true
                  not_null: { on_conflict: replace }
                  default: { sql: uuid() }
                - { name: title, type: TEXT }
              strict: true
              copy: { title: "coalesce(title, '')" }

        """),
      Harm(
        "a rebuild that keeps values", [], .sqliteData,
        sql(
          """
          CREATE TABLE n (\(key), title TEXT) STRICT;
          INSERT INTO n SELECT * FROM lists;
          DROP TABLE lists;
          ALTER TABLE n RENAME TO lists;
          """)),
      Harm(
        "an UPDATE of a view", ["data-write-on-synced-table lists"], .sqliteData,
        sql(
          """
          CREATE VIEW titles AS SELECT id, title FROM lists;
          CREATE TRIGGER titles_changed INSTEAD OF UPDATE ON titles BEGIN
            UPDATE lists SET title = NEW.title WHERE id = NEW.id;
          END;
          """), sql("UPDATE titles SET title = '' WHERE title IS NULL")),
      Harm(
        "a move that keeps its source", ["data-write-on-synced-table lists"], .sqliteData,
        """
        operations:
          - move_column:
              table: lists
              from: title
              to: { name: kind, type: TEXT }
              using: upper(title)
              keep_source: true

        """),
      Harm(
        "a move that keeps its source, by a rebuild", ["data-write-on-synced-table lists"],
        .sqliteData,
        """
        operations:
          - move_column:
              table: lists
              from: title
              to: { name: kind, type: TEXT, check: length(kind) < 9000000 }
              using: upper(title)
              keep_source: true

        """),
      Harm(
        "rows of a new table", [], .sqliteData,
        sql("CREATE TABLE tags (\(key), title TEXT) STRICT;\nINSERT INTO tags (id) VALUES ('a')")),
      Harm(
        "an UPDATE under cr-sqlite", [], .crSQLite,
        sql("UPDATE lists SET title = '' WHERE title IS NULL")),
      Harm(
        "a trigger that fills a search index", [], .crSQLite,
        sql(
          """
          CREATE VIRTUAL TABLE search USING fts5(title);
          CREATE TRIGGER lists_search AFTER INSERT ON lists BEGIN
            INSERT INTO search (rowid, title) VALUES (NEW.rowid, NEW.title);
          END;
          """)),
      Harm(
        "a trigger that asks cr-sqlite", [], .crSQLite,
        sql(
          """
          CREATE TRIGGER lists_trim AFTER INSERT ON lists WHEN crsql_internal_sync_bit() = 0 BEGIN
            UPDATE lists SET title = trim(NEW.title) WHERE id = NEW.id;
          END;
          """)),
    ])
  func synced(_ harm: Harm) throws {
    // Sync engines ignore the base's own trigger.
    let guarded = base.replacing(
      "WHEN NEW.title",
      with: "WHEN NOT sqlitedata_icloud_syncEngineIsSynchronizingChanges() AND "
        + "NEW.title")
    let report = try lint([guarded] + harm.steps, harm.profile)
    #expect(report.failure == nil)
    let found = report.findings.filter {
      $0.severity != .note && !(harm.profile == .crSQLite && $0.rule == "synced-foreign-key")
    }
    #expect(found.map { "\($0.rule) \($0.object ?? "")" } == harm.expected)
  }
}

@Suite("Statements that do not belong in a migration")
struct MisplacedTests {
  @Test("a write to a local table reaches a synced table through triggers and foreign keys")
  func reachedFromLocalTable() throws {
    let tables = sql(
      """
      CREATE TABLE folders (\(key), title TEXT) STRICT;
      CREATE TABLE notes (\(key), folder TEXT REFERENCES folders (id) ON DELETE CASCADE) STRICT;
      CREATE INDEX notes_folder ON notes (folder);
      CREATE TABLE settings (\(key), n INTEGER) STRICT;
      CREATE TRIGGER settings_changed AFTER UPDATE ON settings BEGIN
        INSERT INTO notes (folder) VALUES (NULL);
      END;
      """)
    for step in [
      "foreign_keys: enforced\n" + sql("DELETE FROM folders WHERE title = ''"),
      sql("UPDATE settings SET n = 1 WHERE n IS NULL"),
    ] {
      let report = try lint(
        [tables, step],
        configuration: "sync: { engine: sqlite-data, local_tables: [folders, settings] }")
      #expect(report.failure == nil)
      let found = report.findings.filter { $0.rule == "data-write-on-synced-table" }
      #expect(found.compactMap(\.object) == ["notes"])
    }
    let local = try lint(
      [tables, sql("UPDATE folders SET title = 'x' WHERE title = ''")],
      configuration: "sync: { engine: sqlite-data, local_tables: [folders, settings] }")
    #expect(local.findings.filter { $0.rule == "data-write-on-synced-table" }.isEmpty)
  }

  @Test(
    "a DELETE that reaches children writes a synced table, and a DROP TABLE does not",
    arguments: [("DELETE FROM lists WHERE title = ''", ["lists"]), ("DROP TABLE lists", [])])
  func reachingWrites(_ statement: String, _ tables: [String]) throws {
    let report = try lint([base, "foreign_keys: enforced\n" + sql(statement)], .sqliteData)
    #expect(report.failure == nil)
    let found = report.findings.filter { $0.rule == "data-write-on-synced-table" }
    #expect(found.compactMap(\.object) == tables)
  }

  @Test("each statement is reported at its position, and the replay continues")
  func statements() throws {
    let text = """
      PRAGMA foreign_keys = OFF;
      PRAGMA table_info(lists);
      PRAGMA user_version;
      PRAGMA legacy_alter_table = ON;
      PRAGMA writable_schema = ON;
      PRAGMA writable_schema = OFF;
      CREATE TEMP VIEW v AS SELECT 1;
      CREATE TEMP TABLE t (a);
      DROP TABLE t;
      ALTER TABLE reminders DROP COLUMN title;
      """
    let report = try lint(
      [sql("CREATE TABLE reminders (id TEXT PRIMARY KEY, title TEXT)"), sql(text)], .local)
    #expect(report.failure == nil)
    #expect(
      report.lines == [
        "0002 3:7 error discouraged-statement foreign_keys",
        "0002 6:7 error discouraged-statement legacy_alter_table",
        "0002 7:7 error discouraged-statement writable_schema",
        "0002 9:7 error discouraged-statement v", "0002 12:7 warning drop-column reminders.title",
      ])
  }

  @Test("a temporary trigger is reported with the file in which it belongs")
  func temporaryTrigger() throws {
    let report = try lint(
      [
        sql(
          """
          CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);
          CREATE TEMP TRIGGER t AFTER INSERT ON notes BEGIN SELECT 1; END;
          """)
      ], .local)
    let messages = report.findings.filter { $0.rule == "discouraged-statement" }.map(\.message)
    #expect(
      messages == [
        "the temporary trigger `t` disappears when the migration ends: objects of a connection belong in "
          + "`connection.sql`"
      ])
  }

  @Test(
    "a name in double quotes that no column has is an error in an operation",
    arguments: [
      ("update: { table: t, set: { n: '\"m\" + 1' }, all: true }", 36),
      ("update: { table: t, set: { n: n + 1 }, where: '\"m\" = 1' }", 52),
      ("delete: { table: t, where: '\"m\" = 1' }", 33),
      ("move_column: { table: t, from: n, to: { name: k, type: TEXT }, using: '\"m\"' }", 76),
    ])
  func misspeltInQuotes(_ operation: String, _ column: Int) throws {
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
    let step = "operations:\n  - \(operation)\n"
    let failure = #expect(throws: Failure.self) { try lint([table, step]) }
    #expect(failure?.status == .invalidInput)
    #expect(
      failure?.message.hasPrefix("no object here has the name `\"m\"`: SQLite would read it")
        ?? false
    )
    #expect(failure?.place?.position == Position(line: 2, column: column))
    #expect(throws: Never.self) { try lint([table, step], releases: ["1": 2]) }
    let right = step.replacing("\"m\"", with: "\"n\"")
    #expect(throws: Never.self) { try lint([table, right]) }
  }

  @Test(
    "the values of a moved column are lost if `using` does not read it", arguments: ["'x'", "m"])
  func movedWithoutValues(_ using: String) throws {
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT, m TEXT)")
    let move =
      "move_column: { table: t, from: n, to: { name: k, type: TEXT }, using: \"\(using)\" }"
    let report = try lint([table, "operations:\n  - \(move)\n"], .local)
    #expect(
      report.findings.contains {
        $0.rule == "drop-column"
          && $0.message.contains("its values are lost: `k` does not hold them")
      })
  }

  @Test("lint refuses changes of the ledger")
  func ledger() throws {
    let failure = #expect(throws: Failure.self) {
      try lint([sql("DROP TABLE schemactl_migrations")])
    }
    #expect(failure?.status == .invalidInput)
  }

  @Test("an unknown function or collation of a view is reported at the view")
  func unknownInView() throws {
    let report = try lint(
      [
        sql("CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT)"),
        sql(
          """
          CREATE VIEW v AS SELECT fold(x) AS y FROM a;
          CREATE VIEW w AS SELECT x FROM a ORDER BY x COLLATE german;
          CREATE VIEW u AS SELECT upper(x) AS y FROM a;
          """),
      ], .local)
    #expect(
      report.lines == [
        "0002 3:7 error broken-object fold", "0002 4:7 error broken-object german",
      ])
  }

  @Test("an unknown function is reported once, and lint checks the statements after it")
  func unknown() throws {
    let report = try lint(
      [
        sql("CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL DEFAULT (new_id()), x TEXT)"),
        sql(
          """
          UPDATE a SET x = fold(x) WHERE x > '';
          UPDATE a SET x = fold(x) WHERE x < '';
          CREATE INDEX a_x ON a (x COLLATE german);
          ALTER TABLE a DROP COLUMN id2;
          """.replacing("ALTER TABLE a DROP COLUMN id2;", with: "DROP INDEX a_x;")),
      ], .local)
    #expect(report.failure == nil)
    #expect(
      report.lines == [
        "0001 3:7 error broken-object new_id", "0002 3:7 error broken-object fold",
        "0002 5:7 error broken-object german",
      ])
    for (finding, key) in zip(report.findings, ["functions", "functions", "collations"]) {
      #expect(finding.help?.hasSuffix("name it under `\(key)` in `schemactl.yaml`") == true)
    }
    let declared = try lint(
      [sql("CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL DEFAULT (new_id()), x TEXT)")], .local,
      functions: ["new_id"])
    #expect(declared.lines == [])
  }
}

/// The rules that are off by default.
private let optIn =
  "lint: { rules: { missing-strict: note, if-not-exists: warning, select-star-in-view: warning } }"

@Suite("The latest schema")
struct LastSchemaTests {
  private func notes(_ text: String, configuration: String = optIn) throws -> [String] {
    try lint([sql(text)], .local, configuration: configuration).findings.map {
      "\($0.rule) \($0.object ?? "")"
    }
  }

  @Test("a foreign key needs an index that begins with its columns")
  func foreignKeys() throws {
    let parent = "CREATE TABLE p (\(key)) STRICT;"
    let child = "CREATE TABLE c (\(key), x TEXT REFERENCES p, y TEXT) STRICT;"
    #expect(try notes(parent + child) == ["foreign-key-without-index c.x"])
    for index in ["(x)", "(x, y)", "(x) WHERE x IS NOT NULL"] {
      #expect(try notes(parent + child + "CREATE INDEX i ON c \(index)") == [])
    }
    for index in ["(y, x)", "(x) WHERE y > ''"] {
      #expect(
        try notes(parent + child + "CREATE INDEX i ON c \(index)") == [
          "foreign-key-without-index c.x"
        ])
    }
  }

  @Test("an index is redundant if another one begins with its columns")
  func redundant() throws {
    let table = "CREATE TABLE t (\(key), x TEXT, y TEXT) STRICT;"
    func found(_ indexes: String) throws -> [String] { try notes(table + indexes) }
    #expect(
      try found("CREATE INDEX a ON t (x);CREATE INDEX b ON t (x, y)") == ["redundant-index a"])
    #expect(try found("CREATE INDEX a ON t (x);CREATE INDEX b ON t (x)") == ["redundant-index b"])
    #expect(try found("CREATE INDEX a ON t (id)") == ["redundant-index a"])
    #expect(try found("CREATE UNIQUE INDEX a ON t (x);CREATE INDEX b ON t (x, y)") == [])
    #expect(try found("CREATE INDEX a ON t (x) WHERE y > '';CREATE INDEX b ON t (x, y)") == [])
    #expect(try found("CREATE INDEX a ON t (x COLLATE NOCASE);CREATE INDEX b ON t (x, y)") == [])
  }

  @Test("a view with * is a warning")
  func star() throws {
    let table = "CREATE TABLE t (\(key), x TEXT) STRICT;"
    for view in [
      "SELECT * FROM t", "SELECT t.* FROM t", "SELECT id, x FROM t UNION SELECT * FROM t",
    ] {
      #expect(try notes(table + "CREATE VIEW v AS \(view)") == ["select-star-in-view v"])
    }
    for view in [
      "SELECT count(*) FROM t", "SELECT 2 * 3 AS x", "SELECT id FROM (SELECT * FROM t)",
      "SELECT id FROM t WHERE EXISTS (SELECT * FROM t)",
    ] {
      #expect(try notes(table + "CREATE VIEW v AS \(view)") == [])
    }
    // After it is dropped, it is harmless.
    #expect(try notes(table + "CREATE VIEW v AS SELECT * FROM t; DROP VIEW v") == [])
  }

  @Test("tables without STRICT are reported if SQLite supports it")
  func strict() throws {
    let table = "CREATE TABLE t (\(key), x TEXT)"
    #expect(try notes(table) == ["missing-strict t"])
    #expect(
      try notes(table, configuration: "minimum_sqlite: '3.37'\n" + optIn) == ["missing-strict t"])
    #expect(try notes(table, configuration: "minimum_sqlite: '3.36'\n" + optIn) == [])
    #expect(try notes(table, configuration: "") == [])
  }

  @Test("features newer than the oldest supported SQLite are reported")
  func newer() throws {
    let table = sql("CREATE TABLE t (\(key), x TEXT, y TEXT) STRICT")
    for (statement, version) in [
      ("ALTER TABLE t DROP COLUMN x", "3.35"), ("ALTER TABLE t RENAME COLUMN x TO z", "3.25"),
      ("CREATE VIEW v AS SELECT x ->> 'a' AS a FROM t", "3.38"),
      ("CREATE VIEW v AS SELECT iif(x, 1, 2) AS a FROM t", "3.32"),
      ("UPDATE t SET x = unixepoch(y) WHERE x = ''", "3.38"),
      ("CREATE VIEW v AS SELECT atan2(x, radians(y)) AS a FROM t", "3.35"),
      ("CREATE VIEW v AS SELECT jsonb_group_array(x) AS a FROM t", "3.45"),
      ("CREATE VIEW v AS SELECT unistr(x) AS a FROM t", "3.50"),
      ("DELETE FROM t WHERE x = '' RETURNING id", "3.35"),
      ("UPDATE t SET x = u.x FROM t AS u WHERE u.id = t.y", "3.33"),
    ] {
      let minimum = "minimum_sqlite: '3.24'"
      let found = try lint([table, sql(statement)], .local, configuration: minimum).findings.filter
      {
        $0.rule == "newer-sqlite-needed" && $0.migration == "0002_step"
      }
      #expect(found.count == 1, "\(statement)")
      #expect(found.first?.message.contains("SQLite \(version);") == true, "\(statement)")
      let enough = try lint(
        [table, sql(statement)], .local, configuration: "minimum_sqlite: '\(version)'")
      #expect(
        !enough.findings.contains {
          $0.rule == "newer-sqlite-needed" && $0.migration == "0002_step"
        }, "\(statement)")
    }
  }
}

@Suite("The baseline")
struct BaselineTests {
  private let made = sql("CREATE TABLE t (\(key), x TEXT, y TEXT, z TEXT) STRICT")
  private let drop = sql("ALTER TABLE t DROP COLUMN x;\nALTER TABLE t DROP COLUMN y")

  @Test("its findings are not reported, even if their lines move, and new ones are")
  func moved() throws {
    let text = Baseline.text(try lint([made, drop]).findings)
    #expect(text.split(separator: "\n").filter { !$0.hasPrefix("#") }.count == 2)
    let known = try lint([made, drop], baseline: text)
    #expect(known.lines == [])
    #expect(known.summary.suppressed == 2)
    #expect(known.status == .success)
    let moved = sql("\n\n-- A comment.\nALTER TABLE t DROP COLUMN y;\nALTER TABLE t DROP COLUMN x")
    #expect(try lint([made, moved], baseline: text).lines == [])
    let next = sql("ALTER TABLE t DROP COLUMN z")
    #expect(
      try lint([made, drop, next], baseline: text).lines == ["0003 3:7 error drop-column t.z"])
  }

  @Test("equal findings need one entry each")
  func alike() throws {
    let twice = sql("UPDATE t SET x = y;\nUPDATE t SET x = z")
    let once = sql("UPDATE t SET x = y")
    let text = Baseline.text(try lint([made, once], .local).findings)
    #expect(
      try lint([made, twice], .local, baseline: text).lines == [
        "0002 4:7 warning without-where t"
      ])
  }

  @Test("an entry without a finding is reported")
  func stale() throws {
    let text = Baseline.text(try lint([made, drop]).findings)
    let report = try lint([made, sql("ALTER TABLE t DROP COLUMN x")], baseline: text)
    let finding = try #require(report.findings.first { !$0.isSuppressed })
    #expect(finding.rule == "unused-suppression")
    #expect(finding.severity == .warning)
    #expect(finding.file == "lint.baseline")
    #expect(finding.line == 4)
    #expect(
      finding.message
        == "`0002_step` no longer has a finding of `drop-column` about t.y: remove the line")
    // Another profile may need the entry.
    let off = try lint(
      [made, drop], configuration: "lint: { rules: { drop-column: off } }", baseline: text)
    #expect(!off.findings.contains { $0.rule == "unused-suppression" })
  }

  @Test(
    "an entry of a rule that needs rows counts as used if a frozen migration did not run on rows")
  func untried() throws {
    let steps = [
      made,
      sql(
        "CREATE TABLE n (id INTEGER PRIMARY KEY); INSERT INTO n SELECT 1 FROM t; DROP TABLE t; "
          + "ALTER TABLE n RENAME TO t"),
    ]
    let releases = ["1.0": 2]
    let full = try lint(steps, .local, releases: releases, isFull: true)
    #expect(full.findings.contains { $0.rule == "loses-rows" || $0.rule == "loses-values" })
    let text = Baseline.text(full.findings)
    for isFull in [true, false] {
      let report = try lint(
        steps, .local, releases: releases, baseline: text, isFull: isFull)
      #expect(report.findings.filter { !$0.isSuppressed } == [], "\(isFull)")
    }
  }

  @Test("a suppression takes precedence, and an invalid line is an error at its position")
  func others() throws {
    let text = Baseline.text(try lint([made, drop]).findings)
    let suppressed = drop + "lint: { allow: [{ rule: drop-column, reason: Why. }] }\n"
    #expect(try lint([made, suppressed], baseline: text).lines.count == 2)
    let failure = #expect(throws: Failure.self) { try lint([made], baseline: "# ok\nnonsense\n") }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.place?.position?.line == 2)
  }
}

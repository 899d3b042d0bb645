import SchemaModel
import Testing

@Test(
  "hidden differences are found at the right place",
  arguments: [
    ("t(a TEXT)", "t(a TEXT COLLATE NOCASE)", "column t.a"),
    ("t(a NOT NULL)", "t(a NOT NULL ON CONFLICT REPLACE)", "column t.a"),
    ("t(a DEFAULT 'x')", "t(a DEFAULT 'X')", "column t.a"),
    ("t(a DEFAULT abc)", "t(a DEFAULT Abc)", "column t.a"),
    ("t(a DEFAULT \"abc\")", "t(a DEFAULT \"Abc\")", "column t.a"),
    ("t(a DEFAULT true)", "t(a DEFAULT \"true\")", "column t.a"),
    ("t(a DEFAULT 1 DEFAULT 2)", "t(a DEFAULT 2 DEFAULT 1)", "column t.a"),
    ("t(a DEFAULT NULL)", "t(a)", "column t.a"),
    ("t(a, b AS (a + 1))", "t(a, b AS (a + 2))", "column t.b"),
    ("t(a, b AS (a + 1))", "t(a, b AS (a + 1) STORED)", "column t.b"),
    ("t(a, b AS (a))", "t(a, b DEFAULT 'a')", "column t.b"),
    ("t(a INT PRIMARY KEY)", "t(a INTEGER PRIMARY KEY)", "column t.a"),
    ("t(a INTEGER PRIMARY KEY)", "t(a INTEGER PRIMARY KEY DESC)", "constraint t"),
    ("t(a INTEGER, PRIMARY KEY (a DESC))", "t(a INTEGER PRIMARY KEY DESC)", "constraint t"),
    ("t(a INTEGER PRIMARY KEY)", "t(a INTEGER PRIMARY KEY AUTOINCREMENT)", "constraint t"),
    ("t(a, b, PRIMARY KEY (a, b))", "t(a, b, PRIMARY KEY (b, a))", "constraint t"),
    ("t(a, b, PRIMARY KEY (a, b))", "t(a, b, PRIMARY KEY (a, b DESC))", "constraint t"),
    ("t(a, b, PRIMARY KEY (a, b))", "t(a, b, PRIMARY KEY (a, b COLLATE NOCASE))", "constraint t"),
    ("t(a PRIMARY KEY)", "t(a PRIMARY KEY ON CONFLICT REPLACE)", "constraint t"),
    ("t(a UNIQUE)", "t(a UNIQUE ON CONFLICT IGNORE)", "constraint t"),
    ("t(a, b, UNIQUE (a, b))", "t(a UNIQUE, b UNIQUE)", "constraint t,constraint t"),
    ("t(\"a,b\", a, b, UNIQUE (\"a,b\"))", "t(\"a,b\", a, b, UNIQUE (a, b))", "constraint t"),
    ("t(a, \"desc\", UNIQUE (a, \"desc\"))", "t(a, \"desc\", UNIQUE (a desc))", "constraint t"),
    ("t(a, CHECK (a > 1))", "t(a, CHECK (a > 2))", "constraint t"),
    ("t(a CHECK (a <> 'x'))", "t(a CHECK (a <> 'X'))", "constraint t"),
    ("t(a CHECK (a <> \"x\"))", "t(a CHECK (a <> \"X\"))", "constraint t"),
    ("t(a, CONSTRAINT one CHECK (a))", "t(a, CONSTRAINT two CHECK (a))", "constraint t"),
    ("t(a REFERENCES p)", "t(a REFERENCES p DEFERRABLE INITIALLY DEFERRED)", "constraint t"),
    ("t(a REFERENCES p ON DELETE CASCADE)", "t(a REFERENCES p ON UPDATE CASCADE)", "constraint t"),
    ("t(a REFERENCES p(x))", "t(a REFERENCES p(y))", "constraint t"),
    ("t(a)", "t(a NOT NULL)", "column t.a"),
    ("t(a INT)", "t(a INTEGER)", "column t.a"),
    ("t(a DEFAULT 1)", "t(a DEFAULT '1')", "column t.a"),
    ("t(a DEFAULT 1)", "t(a DEFAULT (1 + 0))", "column t.a"),
    ("t(a DEFAULT CURRENT_TIME)", "t(a DEFAULT CURRENT_DATE)", "column t.a"),
    ("t(a INT, PRIMARY KEY (a))", "t(a INT, PRIMARY KEY (a DESC))", "constraint t"),
    ("t(a, b, UNIQUE (a, b))", "t(a, b, UNIQUE (b, a))", "constraint t"),
    ("t(a, UNIQUE (a))", "t(a, UNIQUE (a COLLATE NOCASE))", "constraint t"),
    ("t(a UNIQUE)", "t(a PRIMARY KEY)", "constraint t,constraint t"),
    ("t(a CHECK (a))", "t(a CHECK (NOT a))", "constraint t"),
    ("t(a REFERENCES p)", "t(a REFERENCES q)", "constraint t"),
    (
      "t(a REFERENCES p DEFERRABLE INITIALLY IMMEDIATE)",
      "t(a REFERENCES p DEFERRABLE INITIALLY DEFERRED)", "constraint t"
    ),
    (
      "t(a REFERENCES p ON DELETE SET NULL)", "t(a REFERENCES p ON DELETE RESTRICT)",
      "constraint t"
    ),
    (
      "t(a, b, FOREIGN KEY (a, b) REFERENCES p(x, y))",
      "t(a, b, FOREIGN KEY (b, a) REFERENCES p(x, y))", "constraint t"
    ),
    ("t(a INT PRIMARY KEY) STRICT", "t(a INT PRIMARY KEY) STRICT, WITHOUT ROWID", "table t"),
    ("t(a INT) STRICT", "t(a INT)", "table t"),
    ("t(a PRIMARY KEY)", "t(a PRIMARY KEY) WITHOUT ROWID", "table t"),
    ("t(a, b)", "t(b, a)", "column-order t"),
    ("t(a, b)", "t(a, B)", "spelling t.b"),
    ("t(a)", "T(a)", "spelling t"),
    ("t(a, b UNIQUE CHECK (b))", "t(a)", "column t.b"),
    ("t(a)", "t(a, b REFERENCES p)", "column t.b"),
  ])
func hidden(expected: String, actual: String, place: String) throws {
  let found = try changes("CREATE TABLE \(expected)", "CREATE TABLE \(actual)")
  #expect(found.map { "\($0.kind.rawValue) \($0.object)" }.joined(separator: ",") == place)
  #expect(found.allSatisfy { $0.holder == "t" })
  #expect(try !changes("CREATE TABLE \(actual)", "CREATE TABLE \(expected)").isEmpty)
}

private let base = "CREATE TABLE t(a, b, c TEXT COLLATE NOCASE); CREATE TABLE u(a, status);"

@Test(
  "different indexes, views, triggers and virtual tables are reported",
  arguments: [
    ("INDEX x ON t(a, b)", "INDEX x ON t(b, a)"),
    ("INDEX x ON t(a)", "INDEX x ON t(a DESC)"),
    ("INDEX x ON t(a)", "INDEX x ON t(a COLLATE NOCASE)"),
    ("INDEX x ON t(a)", "INDEX x ON t((a + 0))"),
    ("INDEX x ON t(a)", "INDEX x ON u(a)"),
    ("INDEX x ON t(a)", "UNIQUE INDEX x ON t(a)"),
    ("INDEX x ON t(a)", "INDEX x ON t(a) WHERE a > 0"),
    ("INDEX x ON t(a) WHERE a > 'x'", "INDEX x ON t(a) WHERE a > 'X'"),
    ("INDEX x ON t(\"nosuch\")", "INDEX x ON t(\"NoSuch\")"),
    ("VIEW x AS SELECT a FROM t", "VIEW x AS SELECT b FROM t"),
    ("VIEW x AS SELECT a FROM t", "VIEW x(y) AS SELECT a FROM t"),
    ("VIEW x AS SELECT \"lit\" FROM t", "VIEW x AS SELECT \"Lit\" FROM t"),
    ("VIEW x AS SELECT \"a\" FROM t", "VIEW x AS SELECT 'a' FROM t"),
    ("VIEW x AS SELECT \"status\" FROM u", "VIEW x AS SELECT 'status' FROM u"),
    ("INDEX x ON t(a) WHERE b", "INDEX x ON t(a) WHERE NOT b"),
    ("INDEX x ON t(a, b DESC)", "INDEX x ON t(a DESC, b)"),
    ("INDEX x ON t(c)", "INDEX x ON t(c COLLATE BINARY)"),
    (
      "TRIGGER x AFTER DELETE ON t BEGIN SELECT 1; END",
      "TRIGGER x AFTER DELETE ON t BEGIN SELECT 2; END"
    ),
    (
      "TRIGGER x AFTER DELETE ON t BEGIN SELECT 1; END",
      "TRIGGER x BEFORE DELETE ON t BEGIN SELECT 1; END"
    ),
    (
      "TRIGGER x AFTER UPDATE ON t BEGIN SELECT 1; END",
      "TRIGGER x AFTER UPDATE OF a ON t BEGIN SELECT 1; END"
    ),
    (
      "TRIGGER x AFTER DELETE ON t BEGIN SELECT 1; END",
      "TRIGGER x AFTER DELETE ON t WHEN old.a BEGIN SELECT 1; END"
    ),
    ("VIRTUAL TABLE x USING fts5(a)", "VIRTUAL TABLE x USING fts5(a, prefix=2)"),
    ("VIRTUAL TABLE x USING fts5(a)", "VIRTUAL TABLE x USING fts4(a)"),
    ("VIRTUAL TABLE x USING fts5(a)", "TABLE x(a)"),
  ])
func hiddenElsewhere(expected: String, actual: String) throws {
  for (old, new) in [(expected, actual), (actual, expected)] {
    let found = try changes("\(base)CREATE \(old)", "\(base)CREATE \(new)")
    #expect(found.map(\.object) == ["x"])
    #expect(found.map(\.holder) == ["x"])
    #expect(found.map(\.change) == [.changed])
  }
}

@Test(
  "definitions that SQLite treats alike are equal",
  arguments: [
    ("TABLE y(a DEFAULT (1))", "TABLE y(a DEFAULT 1)"),
    ("TABLE y(a DEFAULT abc)", "TABLE y(a DEFAULT 'abc')"),
    ("TABLE y(a DEFAULT \"it's\")", "TABLE y(a DEFAULT 'it''s')"),
    ("TABLE y(a NULL)", "TABLE y(a)"),
    ("TABLE y(a NOT NULL NOT NULL)", "TABLE y(a NOT NULL ON CONFLICT ABORT)"),
    ("TABLE y(a DEFAULT 1 NOT NULL)", "TABLE y(a NOT NULL DEFAULT 1)"),
    ("TABLE y(a UNIQUE ON CONFLICT ABORT)", "TABLE y(a, UNIQUE ('a'))"),
    ("TABLE y(a \"INTEGER\")", "TABLE y(a INTEGER)"),
    ("TABLE y(a TEXT PRIMARY KEY DESC)", "TABLE y(a TEXT, PRIMARY KEY (a DESC))"),
    ("TABLE y(a INTEGER PRIMARY KEY ASC)", "TABLE y(a INTEGER, PRIMARY KEY ([A]))"),
    ("TABLE y(a REFERENCES p DEFERRABLE)", "TABLE y(a REFERENCES p NOT DEFERRABLE)"),
    (
      "TABLE y(a REFERENCES p NOT NULL DEFERRABLE INITIALLY DEFERRED)",
      "TABLE y(a NOT NULL, FOREIGN KEY (A) REFERENCES \"P\" DEFERRABLE INITIALLY DEFERRED)"
    ),
    (
      "TABLE y(a, b, CHECK (a), CHECK (b))",
      "TABLE y(a CHECK (\"A\"), b CHECK (y.b))".replacing("y.b", with: "b")
    ),
    ("TABLE y(a CHECK (a <> \"lit\"))", "TABLE y(a CHECK (a <> 'lit'))"),
    (
      "TABLE y(a INT PRIMARY KEY) STRICT, WITHOUT ROWID",
      "TABLE y(a INT PRIMARY KEY) without rowid, strict"
    ),
    ("TABLE y(b, a AS (1) VIRTUAL)", "TABLE y(b, a GENERATED ALWAYS AS (1))"),
    ("INDEX x ON t(a ASC)", "INDEX x ON [T](\"A\")"),
    ("INDEX x ON t('a')", "INDEX x ON t(a)"),
    ("VIEW x AS SELECT \"lit\" FROM t", "VIEW x AS SELECT 'lit' FROM T"),
    (
      "VIEW x AS SELECT a AS \"Out\" FROM t",
      "VIEW x AS SELECT \"T\".[a] AS out FROM t".replacing("\"T\".", with: "")
    ),
    ("VIEW x AS SELECT \"status\" FROM u", "VIEW x AS SELECT \"STATUS\" FROM u"),
    (
      "TRIGGER x UPDATE OF a, b ON t BEGIN SELECT 1; END",
      "TRIGGER x BEFORE UPDATE OF B, a ON T FOR EACH ROW BEGIN SELECT 1 ; END"
    ),
    ("TEMP TABLE y(a)", "TEMP VIEW y AS SELECT 1"),
  ])
func alike(expected: String, actual: String) throws {
  #expect(try changes("\(base)CREATE \(expected)", "\(base)CREATE \(actual)") == [])
  #expect(try changes("\(base)CREATE \(actual)", "\(base)CREATE \(expected)") == [])
}

/// Creates the same table by ALTER TABLE, which edits the stored text.
@Test(
  "an altered schema is equal to one that was created at once",
  arguments: [
    (
      "CREATE TABLE t(a, UNIQUE (a)); ALTER TABLE t ADD COLUMN b INT",
      "CREATE TABLE t(a UNIQUE, b INT)"
    ),
    ("CREATE TABLE t(a, b, c); ALTER TABLE t DROP COLUMN b", "CREATE TABLE t(a, c)"),
    (
      "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p); ALTER TABLE p RENAME TO q",
      "CREATE TABLE q(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES q)"
    ),
    (
      """
      CREATE TABLE t(a CHECK (a < 2)); CREATE INDEX i ON t(a) WHERE a > 0;
      CREATE VIEW v AS SELECT a, "lit" FROM t;
      CREATE TRIGGER x AFTER UPDATE OF a ON t BEGIN UPDATE t SET a = "lit" WHERE a = new.a; END;
      ALTER TABLE t RENAME COLUMN a TO "order"
      """,
      """
      CREATE TABLE t("order" CHECK ("order" < 2)); CREATE INDEX i ON t("order") WHERE [order] > 0;
      CREATE VIEW v AS SELECT "order", "lit" FROM t;
      CREATE TRIGGER x AFTER UPDATE OF "order" ON t
      BEGIN UPDATE t SET "order" = "lit" WHERE "order" = new."order"; END;
      """
    ),
    ("CREATE TABLE t AS SELECT 1 AS a, 'x' AS \"b c\"", "CREATE TABLE t(a, \"b c\")"),
  ])
func altered(first: String, second: String) throws {
  #expect(try changes(first, second) == [])
}

@Test("unusual definitions are equal to themselves and can be compared")
func oddities() throws {
  let odd = [
    "CREATE TABLE t(a CONSTRAINT n, b CONSTRAINT m CONSTRAINT k NOT NULL, CONSTRAINT e)",
    "CREATE TABLE t(\"\" INT, [ ] TEXT, `;` DEFAULT ';', 'quoted' CHECK (\"quoted\" > 0))",
    "CREATE TABLE t(a \"weird type\" (1, -2), b GENERATED ALWAYS, c FOREIGN_KEY, UNIQUE (a) CHECK (b))",
    "CREATE TABLE t(a REFERENCES p, b DEFERRABLE INITIALLY DEFERRED)",
    "CREATE TABLE t(a UNIQUE UNIQUE PRIMARY KEY, UNIQUE (a), CHECK (a), CHECK (a))",
    "CREATE TABLE t(a, FOREIGN KEY (a) REFERENCES t(a) MATCH FULL ON INSERT CASCADE)",
    "CREATE TABLE t(a); CREATE INDEX i ON t(\"nosuch\"); CREATE VIEW v AS SELECT * FROM nosuch",
    "CREATE TABLE t(a); CREATE VIRTUAL TABLE f USING fts5(a, tokenize = \"porter ascii\"); "
      + "CREATE VIRTUAL TABLE r USING rtree(id, x, y)",
    "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, rowid, oid CHECK (\"rowid\" > \"_ROWID_\"))",
    "CREATE TABLE t(a, b AS (CASE WHEN a THEN ')' ELSE \"(\" END) STORED, CHECK ((((a)))))",
  ]
  for (index, sql) in odd.enumerated() {
    #expect(try changes(sql, sql) == [], "\(sql)")
    #expect(try changes(sql, sql + " -- x\n;") == [], "\(sql)")
    let other = odd[(index + 1) % odd.count]
    #expect(try !changes(sql, other).isEmpty, "\(sql)")
  }
}

@Test("shadow tables of a virtual table belong to it")
func shadowTables() throws {
  let sql = """
    CREATE VIRTUAL TABLE Notes USING FTS5(body);
    CREATE VIRTUAL TABLE old USING fts4(body);
    CREATE VIRTUAL TABLE place USING rtree(id, x, y);
    CREATE TABLE notes_tags(a);
    """
  let whole = try schema(sql)
  let tables = Set(["Notes", "old", "place", "notes_tags"])
  let some = Schema(objects: whole.objects.filter { tables.contains($0.name) })
  #expect(some.objects.count == 4)
  #expect(compareSchemas(expected: whole, actual: some) == [])
  #expect(compareSchemas(expected: some, actual: whole) == [])
  let none = Schema(objects: some.objects.filter { $0.name != "notes_tags" })
  #expect(compareSchemas(expected: whole, actual: none).map(\.object) == ["notes_tags"])
}

@Test("differences are described in words")
func sentences() throws {
  let expected = """
    CREATE TABLE reminders(
      id INTEGER PRIMARY KEY, -- given by SQLite
      list INTEGER NOT NULL REFERENCES lists ON DELETE CASCADE,
      title TEXT NOT NULL DEFAULT '', flag INT, note, CHECK (flag IN (0, 1)));
    CREATE TABLE lists(id INTEGER PRIMARY KEY, title TEXT UNIQUE) STRICT;
    CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL);
    CREATE INDEX byList ON reminders(list)
      WHERE flag = 0;
    """
  let actual = """
    CREATE TABLE Reminders(
      id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT DEFAULT '',
      list INTEGER NOT NULL REFERENCES lists, Flag INT, colour TEXT UNIQUE);
    CREATE TABLE lists(id INTEGER PRIMARY KEY, title TEXT UNIQUE);
    CREATE INDEX byList ON reminders(list DESC);
    CREATE VIEW flagged AS SELECT * FROM reminders WHERE flag;
    """
  #expect(
    try changes(expected, actual).map(\.sentence) == [
      "the spelling of `reminders` differs: expected `reminders`, found `Reminders`",
      "column `reminders.title` differs: expected `title TEXT NOT NULL DEFAULT ''`, "
        + "found `title TEXT DEFAULT ''`",
      "the spelling of `reminders.flag` differs: expected `flag`, found `Flag`",
      "column `reminders.note` is missing: `note`",
      "column `reminders.colour` is not in the history: `colour TEXT UNIQUE`",
      "the column order of `reminders` differs: expected `id, list, title, flag`, "
        + "found `id, title, list, Flag`",
      "a constraint of `reminders` differs: expected `id: PRIMARY KEY`, "
        + "found `id: PRIMARY KEY AUTOINCREMENT`",
      "a constraint of `reminders` differs: expected `list: REFERENCES lists ON DELETE CASCADE`, "
        + "found `list: REFERENCES lists`",
      "a constraint of `reminders` is missing: `CHECK (flag IN (0, 1))`",
      "table `lists` differs: expected `STRICT`, found no table option",
      "table `tags` is missing: `CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL)`",
      "index `byList` differs: expected `CREATE INDEX byList ON reminders(list) WHERE flag = 0`, "
        + "found `CREATE INDEX byList ON reminders(list DESC)`",
      "view `flagged` is not in the history: "
        + "`CREATE VIEW flagged AS SELECT * FROM reminders WHERE flag`",
    ])
}

import SchemaLint
import SchemaTimeline
import Testing

private let key = "id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid())"

private func found(
  _ steps: [String], _ rule: String, _ profile: Profile = .local, configuration: String = ""
) throws -> [Finding] {
  let report = try lint(steps, profile, configuration: configuration)
  #expect(report.failure == nil)
  return report.findings.filter { $0.rule == rule }
}

@Suite("Problems of the latest schema are reported where they began")
struct LatestSchemaTests {
  private static let lists = sql("CREATE TABLE Lists (\(key), title TEXT) STRICT;")

  @Test(
    "a foreign key that SQLite cannot use is an error",
    arguments: [
      ("REFERENCES folders (id)", "table `folders`, which does not exist"),
      ("REFERENCES Lists (name)", "`Lists.name`, which does not exist"),
      ("REFERENCES Lists (title)", "`Lists (title)`, which is not a key"),
    ])
  func foreignKey(_ reference: String, _ problem: String) throws {
    let items = sql("CREATE TABLE items (\(key), list TEXT \(reference)) STRICT;")
    let findings = try found([Self.lists, items], "broken-object")
    #expect(findings.map(\.short) == ["0002 3:7 error broken-object items.list"])
    #expect(findings.first?.message.contains(problem) == true)
  }

  @Test(
    "a foreign key to a key, a unique column or a later table is valid",
    arguments: ["REFERENCES lists", "REFERENCES Lists (ID)", "REFERENCES later (code)"])
  func soundForeignKey(_ reference: String) throws {
    let items = sql("CREATE TABLE items (\(key), list TEXT \(reference)) STRICT;")
    let later = sql("CREATE TABLE later (code TEXT) STRICT; CREATE UNIQUE INDEX c ON later (code);")
    #expect(try found([Self.lists, items, later], "broken-object").isEmpty)
  }

  @Test(
    "a foreign key whose parent's key a draft removes is reported at the removal",
    arguments: [
      "operations:\n  - drop_index: { name: code }\n",
      sql(
        "CREATE TABLE x (id INTEGER PRIMARY KEY, code TEXT); INSERT INTO x SELECT * FROM p;"
          + "DROP TABLE p; ALTER TABLE x RENAME TO p"),
    ])
  func removedKey(draft: String) throws {
    let tables = sql(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT);
      CREATE UNIQUE INDEX code ON p (code);
      CREATE TABLE c (id INTEGER PRIMARY KEY, code TEXT REFERENCES p (code));
      """)
    #expect(try found([tables], "broken-object").isEmpty)
    #expect(try found([tables, draft], "broken-object").map(\.migration) == ["0002_step"])
  }

  @Test("a foreign key that follows a renamed parent is reported at the rename")
  func renamedParent() throws {
    let tables = sql(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p (id));
      """)
    let rebuild = sql(
      """
      ALTER TABLE p RENAME TO p_old;
      CREATE TABLE p (id INTEGER PRIMARY KEY, x TEXT);
      INSERT INTO p (id) SELECT id FROM p_old;
      DROP TABLE p_old;
      """)
    let findings = try found([tables, rebuild], "broken-object")
    #expect(findings.map(\.short) == ["0002 3:7 error broken-object c.p"])
    // The rows are generated, so their numbers mean nothing.
    let failure = try found([tables, rebuild], "fails-on-data").first?.message ?? ""
    #expect(failure.hasSuffix(" rows of `c` refer by `p` to missing rows of `p_old`"))
    #expect(findings.first?.help?.hasPrefix("RENAME TO also changes the foreign keys") == true)
  }

  @Test(
    "an object that a draft breaks by dropping another is reported at the drop",
    arguments: [
      "drop_table: { table: Lists }", "drop_column: { table: Lists, column: title }",
      "rename_table: { table: Lists, to: folders }", "drop_view: { name: titles }",
    ])
  func brokenByDraft(_ operation: String) throws {
    let views = sql(
      "CREATE VIEW titles AS SELECT title FROM lists; CREATE VIEW twice AS SELECT title FROM titles;"
    )
    // With this setting SQLite does not rename in views.
    let steps = [
      Self.lists, views,
      "operations:\n  - sql: PRAGMA legacy_alter_table = ON\n  - \(operation)\n",
    ]
    let report = try lint(steps, .local)
    let broken = report.findings.filter { $0.rule == "broken-object" }
    #expect(report.failure != nil || !broken.isEmpty)
    #expect(broken.allSatisfy { $0.migration == "0003_step" && $0.line == 3 })
  }

  @Test("a trigger that never fires again is reported at the statement that dropped its column")
  func idleTrigger() throws {
    let trigger = sql(
      "CREATE TRIGGER r UPDATE OF title ON lists BEGIN DELETE FROM lists WHERE id = ''; END;")
    let drop = sql("ALTER TABLE Lists DROP COLUMN title")
    let findings = try found([Self.lists, trigger, drop], "broken-object")
    #expect(findings.map(\.short) == ["0003 3:7 error broken-object r"])
    #expect(
      findings.first?.lines.first
        == "the trigger `r` never fires for UPDATE OF title: `lists` has no such column")
    #expect(try found([Self.lists, trigger], "broken-object").isEmpty)
  }

  @Test("UPDATE OF may name the rowid, a generated column and the columns of a view")
  func presentColumns() throws {
    let history = sql(
      """
      CREATE TABLE t (a, b AS (a) STORED); CREATE VIEW v AS SELECT a AS x FROM t;
      CREATE TRIGGER r UPDATE OF oid, "A", B ON t BEGIN SELECT 1; END;
      CREATE TRIGGER s INSTEAD OF UPDATE OF X ON v BEGIN SELECT 1; END;
      """)
    #expect(try found([history], "broken-object").isEmpty)
    let other = sql("CREATE TRIGGER w INSTEAD OF UPDATE OF a ON v BEGIN SELECT 1; END;")
    #expect(
      try found([history, other], "broken-object").map(\.short) == [
        "0002 3:7 error broken-object w"
      ])
  }

  @Test("a BLOB is reported where it was created, even if a draft rebuilds the table")
  func rebuiltBlob() throws {
    let table = sql("CREATE TABLE t (\(key), title TEXT, image BLOB) STRICT")
    let alter =
      "operations:\n  - alter_column: { table: t, column: title, not_null: true, default: '' }\n"
    #expect(
      try found([table, alter], "wide-blob").map(\.short) == ["0001 3:7 note wide-blob t.image"])
    let retyped = sql("CREATE TABLE t (\(key), title TEXT, image TEXT)")
    let widen = "operations:\n  - alter_column: { table: t, column: image, type: BLOB }\n"
    #expect(try found([retyped, widen, alter], "wide-blob").map(\.migration) == ["0002_step"])
  }

  @Test("the help for a redundant index of a draft is to remove what creates it")
  func newRedundantIndex() throws {
    let both = "CREATE INDEX b ON Lists (title, id)"
    let operation = "operations:\n  - create_index: { name: a, table: Lists, columns: [title] }\n"
    let one = try #require(try found([Self.lists, sql(both), operation], "redundant-index").first)
    #expect(one.fix == nil)
    #expect(one.help == "Remove the operation that creates `a`.")
    let two = try #require(
      try found([Self.lists, sql("CREATE INDEX a ON Lists (title); \(both)")], "redundant-index")
        .first)
    #expect(two.help == "Remove the statement that creates `a`.")
  }

  @Test("an index that a later one makes redundant is reported at the later one")
  func redundantIndex() throws {
    let first = sql("CREATE INDEX a ON Lists (title)")
    let second = sql("CREATE INDEX b ON Lists (title, id)")
    let findings = try found([Self.lists, first, second], "redundant-index")
    #expect(findings.map(\.short) == ["0003 3:7 note redundant-index a"])
    #expect(findings.first?.fix?.contains("drop_index") == true)
  }

  @Test("an index that a UNIQUE makes redundant is reported where both exist first")
  func redundantBesideUnique() throws {
    let table = sql(
      "CREATE TABLE h (\(key), a TEXT, b TEXT, UNIQUE (a, b));\nCREATE INDEX i ON h (a)")
    let column = sql("ALTER TABLE h ADD COLUMN x TEXT")
    let rebuild = sql(
      "CREATE TABLE n (\(key), a TEXT, b TEXT, x TEXT, UNIQUE (a, b));"
        + "INSERT INTO n SELECT * FROM h; DROP TABLE h; ALTER TABLE n RENAME TO h;"
        + "CREATE INDEX i ON h (a)")
    #expect(
      try found([table, column, rebuild], "redundant-index").map(\.short) == [
        "0001 4:7 note redundant-index i"
      ])
  }

  @Test(
    "dropping a redundant index, as the finding advises, is not a finding",
    arguments: [
      "CREATE INDEX a ON Lists (title); CREATE INDEX b ON Lists (title, id)",
      "CREATE INDEX a ON Lists (id)", "CREATE UNIQUE INDEX a ON Lists (id)",
      "CREATE INDEX a ON Lists (title); CREATE INDEX b ON Lists (title)",
    ])
  func dropRedundant(_ indexes: String) throws {
    let history = [Self.lists, sql(indexes)]
    let releases = ["1.0": 2]
    let finding = try #require(
      try lint(history, .local, releases: releases).findings.first { $0.rule == "redundant-index" })
    let fix = try #require(finding.fix)
    let report = try lint(
      history + ["operations:\n  \(fix)\n"], .additive, releases: releases)
    #expect(report.findings.filter { $0.migration == "0003_step" }.map(\.short) == [])
  }

  @Test("a foreign key without an index is reported where its index was dropped")
  func droppedIndex() throws {
    let items = sql("CREATE TABLE items (\(key), list TEXT REFERENCES lists) STRICT;")
    let index = sql("CREATE INDEX items_list ON items (list)")
    let drop = "operations:\n  - drop_index: { name: items_list }\n"
    let findings = try found([Self.lists, items, index, drop], "foreign-key-without-index")
    #expect(findings.map(\.migration) == ["0004_step"])
    #expect(findings.first?.message.contains("`Lists`") == true)
    #expect(
      try found([Self.lists, items], "foreign-key-without-index").map(\.migration) == ["0002_step"])
  }

  @Test(
    "under engine none, messages about data that varies do not mention devices if nothing syncs")
  func varying() throws {
    let table = sql(
      "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT DEFAULT (\n  hex(randomblob(4))\n), y TEXT);")
    let messages = try [
      "INSERT INTO a (id) VALUES (1)", "UPDATE a SET y = random() WHERE y IS NULL",
      "DELETE FROM a WHERE random() > 0",
    ].flatMap { try found([table, sql($0)], "non-deterministic-data").map(\.lines) }
    #expect(
      messages == [
        [
          "the inserted rows of `a` get `x` from its default `( hex(randomblob(4)) )`: each database "
            + "stores another value"
        ],
        ["`a.y` depends on `random()`: each database stores another value"],
        ["the rows of `a` depend on `random()`: each database keeps different rows"],
      ])
  }

  @Test("under engine none, no rule about other devices applies")
  func noDevices() throws {
    let steps = [
      sql("CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT UNIQUE, y REFERENCES a) STRICT"),
      "operations:\n  - add_column: { table: a, column: { name: n, type: TEXT, not_null: true, default: '' } }\n",
    ].map { $0.replacing("y REFERENCES a", with: "y TEXT") }
    #expect(
      try lint(steps, configuration: "sync: { engine: none }").findings.map(\.short) == [])
  }

  @Test("under sqlite-data a foreign key must spell its parent as the schema does")
  func spelling() throws {
    func items(_ parent: String) -> String {
      sql(
        """
        CREATE TABLE items (\(key), list TEXT REFERENCES \(parent) (id) ON DELETE CASCADE) STRICT;
        CREATE INDEX items_list ON items (list);
        """)
    }
    let rule = "synced-foreign-key"
    #expect(try found([Self.lists, items("Lists")], rule, .sqliteData).isEmpty)
    let findings = try found([Self.lists, items("lists")], rule, .sqliteData)
    #expect(findings.map(\.severity) == [.error])
    #expect(findings.first?.message.contains("the table has the name `Lists`") == true)
    #expect(try found([Self.lists, items("lists")], rule, .additive).isEmpty)
  }
}

@Suite("New constraints on existing values")
struct ExistingValueTests {
  private static let tables = sql(
    """
    CREATE TABLE lists (\(key)) STRICT;
    CREATE TABLE items (\(key), list TEXT, done INTEGER) STRICT;
    """)

  @Test("a new foreign key over existing values is a warning")
  func foreignKey() throws {
    let add =
      "operations:\n  - alter_column: { table: items, column: list, references: { table: lists } }\n"
    let findings = try found([Self.tables, add], "fails-on-data")
    #expect(findings.map(\.short) == ["0002 2:49 warning fails-on-data items"])
    let cleared =
      add.replacing(
        "operations:\n",
        with: "operations:\n  - update: { table: items, all: true, set: { list: 'NULL' } }\n")
    #expect(try found([Self.tables, cleared], "fails-on-data").isEmpty)
    let new = sql("ALTER TABLE items ADD COLUMN parent TEXT REFERENCES lists (id)")
    #expect(try found([Self.tables, new], "fails-on-data").isEmpty)
  }

  @Test("the message for a CHECK over several lines has one line")
  func longCheck() throws {
    let table = sql("CREATE TABLE a (id INTEGER PRIMARY KEY, x INTEGER CHECK (x >\n  0))")
    let alter = "operations:\n  - alter_column: { table: a, column: x, check: null }\n"
    #expect(
      try found([table, alter], "drop-constraint").map(\.lines) == [
        ["this drops `CHECK (x > 0)` of `a`, which then accepts values that it refused"]
      ])
  }

  @Test("a CHECK that becomes stricter is an error if rows break it, and a new CHECK a warning")
  func tightened() throws {
    let tables = sql(
      """
      CREATE TABLE tasks (
        id INTEGER PRIMARY KEY, n INTEGER CHECK (n IN (0, 1, 2)), m INTEGER
      ) STRICT
      """)
    func alter(_ column: String, _ check: String) -> String {
      "operations:\n  - alter_column: { table: tasks, column: \(column), check: \(check) }\n"
    }
    let rebuild = sql(
      """
      CREATE TABLE new (id INTEGER PRIMARY KEY, n INTEGER CHECK (n < 2), m INTEGER) STRICT;
      INSERT INTO new SELECT * FROM tasks;
      DROP TABLE tasks;
      ALTER TABLE new RENAME TO tasks;
      """)
    func severities(_ step: String) throws -> [Severity] {
      try found([tables, step], "fails-on-data").map(\.severity)
    }
    #expect(try severities(alter("n", "n < 2")) == [.error])
    #expect(try severities(rebuild) == [.error])
    #expect(try severities(alter("m", "m < 2")) == [.warning])
    #expect(try severities(alter("n", "n < 9")) == [])
  }

  @Test("a column that was filled from the old one and took its name contains no NULL")
  func replaced() throws {
    let step = sql(
      """
      ALTER TABLE items ADD COLUMN done_new INTEGER NOT NULL DEFAULT 0;
      UPDATE items SET done_new = COALESCE(done, 0);
      ALTER TABLE items DROP COLUMN done;
      ALTER TABLE items RENAME COLUMN done_new TO done;
      """)
    #expect(try found([Self.tables, step], "fails-on-data").isEmpty)
  }

  @Test("a CHECK on values that a copy maps through a join is tested on rows")
  func mapped() throws {
    let step = sql(
      """
      CREATE TABLE n (\(key), list TEXT, done INTEGER CHECK (done IN (0, 1))) STRICT;
      INSERT INTO n SELECT i.id, i.list, CASE WHEN i.done = 1 THEN 1 ELSE 0 END
      FROM items i LEFT JOIN lists l ON l.id = i.list;
      DROP TABLE items;
      ALTER TABLE n RENAME TO items;
      """)
    #expect(try found([Self.tables, step], "fails-on-data").isEmpty)
  }

  @Test("tables whose names begin with that of a virtual table are checked")
  func prefix() throws {
    let tables = sql(
      """
      CREATE VIRTUAL TABLE items USING fts5(text);
      CREATE TABLE items_tags (\(key), name TEXT) STRICT;
      CREATE TABLE lists (\(key), tag TEXT) STRICT;
      CREATE TRIGGER lists_gone AFTER DELETE ON lists BEGIN DELETE FROM items_tags; END;
      """)
    let findings = try lint([tables, sql("DELETE FROM lists WHERE id IS NOT NULL")], .local)
      .findings.filter { $0.severity == .error }
    #expect(findings.count == 1)
  }
}

@Suite("Defaults are evaluated")
struct DefaultTests {
  @Test(
    "a key whose default is equal in two rows is not unique",
    arguments: [
      ("'none'", true), ("''", true), ("(1)", true), ("(hex(zeroblob(16)))", true),
      ("CURRENT_TIMESTAMP", true), ("(datetime('now'))", true), ("(uuid())", false),
      ("(lower(hex(randomblob(16))))", false), ("(new_id())", false),
    ])
  func keys(_ value: String, _ isFound: Bool) throws {
    let table = sql(
      "CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT \(value)) STRICT")
    for profile in [Profile.additive, .sqliteData] {
      let report = try lint([table], profile, functions: ["new_id"])
      #expect(report.findings.contains { $0.rule == "synced-primary-key" } == isFound)
    }
  }

  @Test(
    "a column that an insert fills with a random or time default is a warning",
    arguments: [
      ("TEXT DEFAULT (uuid())", ["0002 warning a.x"]),
      ("TEXT DEFAULT CURRENT_TIMESTAMP", ["0002 warning a.x"]),
      ("INTEGER DEFAULT (strftime('%s'))", ["0002 warning a.x"]), ("TEXT DEFAULT 'x'", []),
      ("TEXT DEFAULT (upper('x'))", []), ("TEXT DEFAULT (datetime('2026-01-01'))", []),
    ])
  func leftOut(_ column: String, _ lines: [String]) throws {
    let table = sql("CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER, x \(column))")
    func lint(_ step: String) throws -> [String] {
      try found([table, step], "non-deterministic-data").map {
        "\($0.migration.prefix(4)) \($0.severity) \($0.object ?? "")"
      }
    }
    #expect(
      try lint("operations:\n  - insert: { table: a, rows: [{ n: 1 }, { n: 2 }] }\n") == lines)
    #expect(try lint(sql("INSERT INTO a (n) SELECT 1")) == lines)
    #expect(try lint(sql("INSERT INTO a (n) SELECT 1; INSERT INTO a (n) SELECT 2")) == lines)
    #expect(try lint(sql("INSERT INTO main.a AS b (id, n) VALUES (1, 2)")) == lines)
    #expect(try lint(sql("INSERT INTO a (n, x) VALUES (1, 2)")) == [])
    #expect(try lint(sql("INSERT INTO a VALUES (1, 2, 3)")) == [])
  }

  @Test(
    "a text default that looks like SQL is a warning in SQL",
    arguments: [
      ("'uuid()'", true), ("'datetime(''now'')'", true), ("'CURRENT_TIMESTAMP'", true),
      ("'none'", false), ("'see f(x)'", false), ("(uuid())", false), ("CURRENT_TIMESTAMP", false),
    ])
  func text(_ value: String, _ isFound: Bool) throws {
    let rule = "text-default-looks-like-sql"
    let create = sql("CREATE TABLE a (id TEXT PRIMARY KEY, x TEXT DEFAULT \(value))")
    #expect(try found([create], rule).map(\.object) == (isFound ? ["a.x"] : []))
  }

  @Test("in a manifest, a quoted default is a text on purpose")
  func quoted() throws {
    let create =
      "operations:\n  - create_table: { name: a, columns: [{ name: x, type: TEXT, default: 'uuid()' }] }\n"
    #expect(try found([create], "text-default-looks-like-sql").isEmpty)
  }

  @Test(
    "a default, a CHECK and a SELECT of CREATE TABLE may need a newer SQLite",
    arguments: [
      ("CREATE TABLE a (x DEFAULT (unixepoch()))", "3.38"),
      ("CREATE TABLE a (x CHECK (x ->> 'a' > 1))", "3.38"),
      ("CREATE TABLE a AS SELECT iif(1, 2, 3) AS x", "3.32"),
      ("CREATE TABLE a AS SELECT row_number() OVER () AS x", "3.25"),
      ("INSERT INTO t VALUES (1, 2) ON CONFLICT (x, y) DO NOTHING", "3.24"),
      ("CREATE TABLE a (x DEFAULT (datetime('now', 'subsec')))", "3.42"),
      ("CREATE VIEW a AS SELECT datetime(x, 'AUTO') AS x FROM t", "3.38"),
      ("CREATE VIEW a AS SELECT datetime(x, 'auto', 'subsec') AS x FROM t", "3.42"),
      ("CREATE VIEW a AS SELECT date(x, '+1 month', 'floor') AS x FROM t", "3.46"),
      (
        "CREATE VIEW a AS SELECT sum(x) OVER (ORDER BY y GROUPS 2 PRECEDING) AS n FROM t", "3.28"
      ),
      ("ALTER TABLE t ADD COLUMN z AS (x + y)", "3.31"),
      ("CREATE VIEW a AS SELECT count(*) FILTER (WHERE x > 1) AS n FROM t", "3.30"),
      ("CREATE VIEW a AS SELECT sum(x) OVER w AS n FROM t WINDOW w AS (ORDER BY y)", "3.25"),
      ("CREATE VIEW a AS SELECT substring(x, 2) AS n FROM t", "3.34"),
      ("CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET x = o.x FROM t AS o; END", "3.33"),
      (
        "INSERT INTO t VALUES (1, 2) ON CONFLICT (x, y) DO NOTHING ON CONFLICT DO NOTHING", "3.35"
      ),
    ])
  func newer(_ statement: String, _ version: String) throws {
    let table = sql("CREATE TABLE t (x, y, UNIQUE (x, y))")
    let findings = try found(
      [table, sql(statement)], "newer-sqlite-needed", configuration: "minimum_sqlite: '3.23'")
    #expect(findings.filter { $0.migration == "0002_step" }.count == 1)
    #expect(findings.last?.message.contains("SQLite \(version);") == true)
  }

  @Test(
    "words that other features use, too, need no newer SQLite",
    arguments: [
      "CREATE VIEW a AS SELECT count(*) over FROM t",
      "CREATE VIEW a AS SELECT y AS groups FROM t WHERE y BETWEEN 1 AND 5 GROUP BY groups",
      "CREATE VIEW a AS SELECT date(CASE WHEN x = 'auto' THEN y END) AS d FROM t",
      "CREATE TRIGGER r AFTER DELETE ON t BEGIN "
        + "INSERT INTO t VALUES (1, 2) ON CONFLICT (x, y) DO NOTHING; "
        + "INSERT INTO t VALUES (3, 4) ON CONFLICT (x, y) DO NOTHING; END",
    ])
  func older(_ statement: String) throws {
    let table = sql("CREATE TABLE t (x, y, UNIQUE (x, y))")
    let findings = try found(
      [table, sql(statement)], "newer-sqlite-needed", configuration: "minimum_sqlite: '3.24'")
    #expect(findings.isEmpty, "\(findings.map(\.message))")
  }

  @Test("a value named 'subsec' needs no newer SQLite")
  func valueLikeAModifier() throws {
    let table = sql("CREATE TABLE t (unit TEXT CHECK (unit IN ('subsec', 'day')))")
    let findings = try found(
      [table], "newer-sqlite-needed", configuration: "minimum_sqlite: '3.37'")
    #expect(findings.isEmpty)
  }

  @Test("a default that an operation changes may need a newer SQLite, too")
  func newerOperation() throws {
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER)")
    let alter =
      "operations:\n  - alter_column: { table: t, column: x, default: { sql: \"unixepoch()\" } }\n"
    let findings = try found(
      [table, alter], "newer-sqlite-needed", configuration: "minimum_sqlite: '3.37'")
    #expect(findings.map(\.migration) == ["0002_step"])
  }
}

@Suite("A rebuild that forgets its AUTOINCREMENT counter")
struct CounterTests {
  @Test("is a warning, and an error if it loses anything else")
  func severity() throws {
    let table = sql(
      "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT COLLATE NOCASE) STRICT")
    func found(_ column: String) throws -> [Severity] {
      let step = sql(
        """
        CREATE TABLE n (id INTEGER PRIMARY KEY AUTOINCREMENT, \(column), y TEXT) STRICT;
        INSERT INTO n (id, x) SELECT id, x FROM a;
        DROP TABLE a;
        ALTER TABLE n RENAME TO a;
        """)
      return try lint([table, step], .local).findings
        .filter { $0.rule == "rebuild-loses-object" }.map(\.severity)
    }
    #expect(try found("x TEXT COLLATE NOCASE") == [.warning])
    #expect(try found("x TEXT") == [.error])
  }

  @Test("is found at the new table, even if later statements change its columns")
  func position() throws {
    let table = sql("CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT, y TEXT)")
    let rebuild = sql(
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT, y TEXT);
      INSERT INTO n SELECT * FROM a;
      DROP TABLE a;
      ALTER TABLE n RENAME TO a;
      ALTER TABLE a DROP COLUMN x;
      ALTER TABLE a ADD COLUMN z TEXT;
      ALTER TABLE a RENAME COLUMN y TO w;
      """)
    #expect(
      try found([table, rebuild], "rebuild-loses-object").map(\.short) == [
        "0002 3:7 warning rebuild-loses-object a"
      ])
  }

  @Test("is found once for each table, at its last rebuild")
  func onceForEachTable() throws {
    let rebuild = sql(
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT);
      INSERT INTO n SELECT * FROM a;
      DROP TABLE a;
      ALTER TABLE n RENAME TO a;
      """)
    let table = sql("CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT)")
    let found = try lint([table, rebuild, rebuild], .local).findings
      .filter { $0.rule == "rebuild-loses-object" }.map(\.migration)
    #expect(found == ["0003_step"])
  }
}

@Suite("A foreign key that a rebuild omits")
struct OmittedForeignKeyTests {
  @Test(
    "an action that no longer acts is named",
    arguments: [("", false), (" ON DELETE RESTRICT", false), (" ON DELETE CASCADE", true)])
  func action(_ action: String, _ isNamed: Bool) throws {
    let tables = sql(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p\(action));
      """)
    let rebuild = sql(
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY, p INTEGER);
      INSERT INTO n SELECT * FROM c;
      DROP TABLE c;
      ALTER TABLE n RENAME TO c;
      """)
    let message = try found([tables, rebuild], "drop-constraint").first?.message ?? ""
    #expect(message.contains("rows may point at parents that do not exist"))
    #expect(message.contains("no longer acts") == isNamed)
  }
}

@Suite("A rebuild that widens keys")
struct WidenedKeyTests {
  @Test("a wider foreign key is no loss, and a wider unique key a warning")
  func widened() throws {
    let tables = sql(
      """
      CREATE TABLE p (name TEXT NOT NULL, space TEXT NOT NULL, UNIQUE (name), UNIQUE (space, name));
      CREATE TABLE c (id INTEGER PRIMARY KEY, name TEXT NOT NULL REFERENCES p (name));
      CREATE UNIQUE INDEX c_name ON c (name);
      """)
    let rebuild = sql(
      """
      CREATE TABLE n (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, space TEXT NOT NULL DEFAULT 'a',
        UNIQUE (space, name), FOREIGN KEY (space, name) REFERENCES p (space, name)
      );
      INSERT INTO n (id, name) SELECT id, name FROM c;
      DROP TABLE c;
      ALTER TABLE n RENAME TO c;
      """)
    let found = try lint([tables, rebuild], .local).findings
      .filter { $0.rule == "rebuild-loses-object" }.map { "\($0.severity) \($0.object ?? "")" }
    #expect(found == ["warning c_name"])
  }
}

@Suite("Objects of a table that several drafts rebuild")
struct LateRebuildTests {
  private static let table = """
    CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT, y TEXT);
    CREATE INDEX a_x ON a (x);
    CREATE TRIGGER a_trim AFTER INSERT ON a BEGIN UPDATE a SET x = trim(x) WHERE id = NEW.id; END;
    """
  private static let objects = table.split(separator: "\n").dropFirst().joined(separator: "\n")
  private static let copy = "CREATE TABLE n AS SELECT id, x, y FROM a"
  private static let away = "ALTER TABLE a RENAME TO old"
  private static let filled = "CREATE TABLE a AS SELECT id, x, y FROM old"

  private func found(_ drafts: [String], _ profile: Profile = .local) throws -> [String] {
    let report = try lint(([Self.table] + drafts).map(sql), profile, releases: ["1.0": 1])
    #expect(report.failure == nil)
    return report.findings.filter { $0.rule == "rebuild-loses-object" }
      .map { "\($0.migration.prefix(4)) \($0.object ?? "")" }
  }

  @Test(
    "are lost in the draft that drops the old table",
    arguments: [
      ([copy, "DROP TABLE a; ALTER TABLE n RENAME TO a"], "0003"),
      ([copy, "DROP TABLE a", "ALTER TABLE n RENAME TO a"], "0003"),
      ([away + ";" + filled, "DROP TABLE old"], "0003"),
      ([away, filled + "; DROP TABLE old"], "0003"), ([away, filled, "DROP TABLE old"], "0004"),
    ], [Profile.local, .sqliteData])
  func lost(_ rebuild: (drafts: [String], place: String), _ profile: Profile) throws {
    let lost = ["\(rebuild.place) a_x", "\(rebuild.place) a_trim"]
    #expect(Set(try found(rebuild.drafts, profile)) == Set(lost))
    #expect(try found(rebuild.drafts + [Self.objects], profile) == [])
    let last = rebuild.drafts.count - 1
    var drafts = rebuild.drafts
    drafts[last] +=
      ";\n" + Self.objects.replacing("a_x", with: "by_x").replacing("a_trim", with: "b")
    #expect(try found(drafts, profile) == [])
    #expect(
      try found(rebuild.drafts + [Self.objects.replacing("ON a (x)", with: "ON a (y)")]).count == 1)
  }

  @Test("do not hide that the draft fails because children have no parent")
  func failing() throws {
    let report = try lint(
      [
        Self.table + "\nCREATE TABLE c (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a);",
        Self.copy, "DROP TABLE a", "ALTER TABLE n RENAME TO a",
      ].map(sql), .local, releases: ["1.0": 1])
    let found = report.findings.filter { $0.severity == .error }.map(\.rule)
    #expect(found.contains("fails-on-data") && found.contains("rebuild-loses-object"))
  }

  @Test("are not lost by a rebuild if another table is dropped")
  func others() throws {
    #expect(
      try found([
        "DROP TABLE a", "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT)",
        "CREATE TABLE n AS SELECT * FROM a; DROP TABLE a; ALTER TABLE n RENAME TO a",
      ]) == [])
    #expect(
      try found([
        "DROP INDEX a_x; DROP TRIGGER a_trim",
        "CREATE TABLE n AS SELECT * FROM a; DROP TABLE a; ALTER TABLE n RENAME TO a",
      ]) == [])
  }
}

@Suite("Unique indexes that were dropped in an earlier step")
struct FormerUniqueTests {
  private static let tables = sql(
    """
    CREATE TABLE books (id INTEGER PRIMARY KEY, author TEXT NOT NULL);
    CREATE UNIQUE INDEX books_author ON books (author);
    """)
  private static let drop = "operations:\n  - drop_index: { name: books_author }\n"
  private static let copy = sql(
    """
    CREATE TABLE writers (name TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
    INSERT INTO writers SELECT author FROM books;
    """)

  @Test("rows repeat only if an app ran without the index")
  func released() throws {
    let steps = [Self.tables, Self.drop, Self.copy]
    func found(_ releases: [String: Int]) throws -> [String] {
      try lint(steps, .local, releases: releases).findings
        .filter { $0.rule == "fails-on-data" }.map(\.migration)
    }
    #expect(try found([:]) == [])
    #expect(try found(["1.0": 1]) == [])
    #expect(try found(["1.0": 2]) == ["0003_step"])
  }
}

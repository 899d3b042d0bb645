import Foundation
import SchemaLint
import SchemaTimeline
import Testing

private let lists = """
  CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
  CREATE TABLE items (
    id INTEGER PRIMARY KEY, list INTEGER REFERENCES lists (id) ON DELETE CASCADE, note TEXT
  ) STRICT;
  CREATE INDEX items_list ON items (list);
  """

/// The findings of lint in steps after `lists`, without notes.
private func found(_ steps: String..., functions: [String] = []) throws -> [String] {
  let report = try lint([sql(lists)] + steps, .local, functions: functions)
  #expect(report.failure == nil)
  return report.findings.filter { $0.severity != .note }.map(\.short)
}

@Suite("Migrations on generated rows")
struct SeededTests {
  @Test("a copy of NULL into NOT NULL is found at its statement")
  func copiesNull() throws {
    #expect(
      try found(
        sql(
          """
          CREATE TABLE notes (text TEXT NOT NULL) STRICT;
          INSERT INTO notes SELECT note FROM items;
          """)) == ["0002 4:7 error fails-on-data notes"])
  }

  @Test(
    "divisions by zero and updates of adjacent unique numbers are found",
    arguments: [
      ("SET r = a / b WHERE id > 0", ["fails-on-data"]), ("SET r = a / b WHERE b <> 0", []),
      ("SET r = a / 2 WHERE id > 0", []), ("SET r = a / c WHERE id > 0", []),
      ("SET position = position + 1 WHERE id > 0", ["fails-on-data"]),
      ("SET position = position + 1000 WHERE id > 0", []),
      ("SET position = -position WHERE id > 0", []),
    ])
  func computed(_ update: String, _ rules: [String]) throws {
    let table = sql(
      """
      CREATE TABLE t (
        id INTEGER PRIMARY KEY, position INTEGER NOT NULL UNIQUE, a REAL NOT NULL,
        b REAL NOT NULL, c REAL NOT NULL CHECK (c > 0), r REAL NOT NULL DEFAULT 0
      ) STRICT;
      """)
    let report = try lint([table, sql("UPDATE t \(update)")], .local)
    #expect(report.findings.map(\.rule) == rules)
    #expect(report.notes == [])
  }

  @Test(
    "an update that makes adjacent positions of a list equal is found",
    arguments: [
      ("position = position + 1", ["fails-on-data"]), ("position = -position", []),
      ("list = list", []), ("name = 'x'", []),
    ], ["UNIQUE (list, position)", "a TEXT); CREATE UNIQUE INDEX i ON t (list, position"])
  func positionsInLists(_ update: (set: String, rules: [String]), _ key: String) throws {
    let tables = """
      CREATE TABLE lists (id INTEGER PRIMARY KEY) STRICT;
      CREATE TABLE t (id INTEGER PRIMARY KEY, list INTEGER NOT NULL REFERENCES lists (id),
        position INTEGER NOT NULL, name TEXT, \(key));
      """
    let report = try lint([sql(tables), sql("UPDATE t SET \(update.set) WHERE id > 0")], .local)
    #expect(report.findings.filter { $0.severity != .note }.map(\.rule) == update.rules)
  }

  @Test("the note about a CHECK that no row meets has one line, and names only the CHECK")
  func refusedByCheck() throws {
    let steps = [
      sql("CREATE TABLE t (id INTEGER PRIMARY KEY)"),
      """
      operations:
        - rebuild_table:
            table: t
            columns:
              - { name: id, type: INTEGER, primary_key: true }
              - { name: c, type: TEXT, check: "c\\n  > 'z'" }
            copy: { c: "'x' || id" }

      """,
    ]
    let report = try lint(steps, .local)
    #expect(report.findings.map(\.rule) == ["fails-on-data"])
    #expect(
      report.notes == [
        "lint judged `0002_step` without rows: it does not run on generated rows (CHECK constraint "
          + "failed: c > 'z')"
      ])
  }

  @Test(
    "rows that refer to a rebuilt table keep their parents",
    arguments: [
      ("id INTEGER PRIMARY KEY", "id + 1000", "list", true),
      ("id INTEGER PRIMARY KEY", "id + 1000", "list + 1000", false),
      ("id INTEGER PRIMARY KEY", "id", "list", false),
      ("id TEXT PRIMARY KEY NOT NULL", "'l' || id", "list", true),
      ("id TEXT PRIMARY KEY NOT NULL", "'l' || id", "'l' || list", false),
    ])
  func changedKeys(key: String, newKey: String, reference: String, fails: Bool) throws {
    let type = key.contains("TEXT") ? "TEXT" : "INTEGER"
    let found = try found(
      sql(
        """
        CREATE TABLE x (\(key), name TEXT) STRICT;
        INSERT INTO x SELECT \(newKey), name FROM lists;
        CREATE TABLE y (id INTEGER PRIMARY KEY, list \(type) REFERENCES lists, note TEXT) STRICT;
        INSERT INTO y SELECT id, \(reference), note FROM items;
        DROP TABLE items;
        DROP TABLE lists;
        ALTER TABLE x RENAME TO lists;
        ALTER TABLE y RENAME TO items;
        CREATE INDEX items_list ON items (list);
        """))
    #expect(
      found.filter { $0.contains("fails-on-data") }
        == (fails ? ["0002 4:7 error fails-on-data lists"] : []))
  }

  @Test(
    "a rebuild that keeps the keys is not the cause of rows without parents",
    arguments: [
      (
        "DELETE FROM groups WHERE old = 1", "", ["0003 3:7 warning fails-on-data groups"]
      ),
      ("", "INSERT INTO members (g) VALUES (77)", []),
      ("", "UPDATE members SET g = g + 1 WHERE g IS NOT NULL", []),
    ])
  func keptKeys(before: String, after: String, expected: [String]) throws {
    let step = sql(
      """
      \(before);
      CREATE TABLE x (id INTEGER PRIMARY KEY, old INTEGER);
      INSERT INTO x SELECT id, coalesce(old, 0) FROM groups;
      DROP TABLE groups;
      ALTER TABLE x RENAME TO groups;
      \(after);
      """)
    let tables = sql(
      """
      CREATE TABLE groups (id INTEGER PRIMARY KEY, old INTEGER);
      CREATE TABLE members (id INTEGER PRIMARY KEY, g INTEGER REFERENCES groups);
      CREATE INDEX members_g ON members (g);
      """)
    #expect(try found(tables, step).filter { $0.contains("fails-on-data") } == expected)
  }

  @Test("an earlier draft that calls a function of the app does not stop lint")
  func calledFunction() throws {
    #expect(
      try found(
        sql("UPDATE items SET note = shout(note) WHERE id > 0"),
        sql("CREATE UNIQUE INDEX u ON items (note)"), functions: ["shout"]
      ) == ["0003 3:7 warning fails-on-data items"])
  }

  @Test("an app may have added rows to those of the history, which no statement updates")
  func addedRows() throws {
    func found(_ update: String) throws -> [String] {
      try lint(
        [
          sql(
            """
            CREATE TABLE page (id INTEGER PRIMARY KEY, title TEXT NOT NULL, a INTEGER) STRICT;
            CREATE TABLE link (id INTEGER PRIMARY KEY, page INTEGER REFERENCES page, n TEXT) STRICT;
            CREATE INDEX link_page ON link (page);
            INSERT INTO page (title, a) VALUES ('Root', 1);
            """),
          sql(
            """
            \(update)
            CREATE TABLE x (id INTEGER PRIMARY KEY, title TEXT NOT NULL, a INTEGER NOT NULL) STRICT;
            INSERT INTO x (id, title, a) SELECT id, title, a FROM page;
            DROP TABLE page;
            ALTER TABLE x RENAME TO page;
            UPDATE link SET n = CASE page WHEN 1 THEN 'one' END;
            """),
        ], .local
      ).findings.filter { $0.rule == "fails-on-data" }.map(\.short)
    }
    #expect(try found("") == ["0002 5:7 error fails-on-data page"])
    #expect(try found("UPDATE page SET a = 1 WHERE id = 1;") == [])
  }

  @Test("repeated values are found at the statement that creates the key")
  func repeats() throws {
    #expect(
      try found(
        sql(
          """
          CREATE TABLE notes (text TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
          INSERT INTO notes SELECT note FROM items WHERE note IS NOT NULL;
          """)) == ["0002 4:7 error fails-on-data notes"])
    #expect(
      try found(
        sql(
          """
          CREATE TABLE notes (text TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
          INSERT INTO notes SELECT DISTINCT note FROM items WHERE note IS NOT NULL;
          """)) == [])
  }

  @Test("an UPDATE with a value that a CHECK refuses is found")
  func check() throws {
    #expect(
      try found(
        sql("CREATE TABLE tasks (id INTEGER PRIMARY KEY, n INTEGER CHECK (n < 10)) STRICT"),
        sql("UPDATE tasks SET n = n + 9 WHERE n > 0")) == ["0003 3:7 error fails-on-data tasks"])
  }

  @Test("each failing statement is found, including those after another failing one")
  func several() throws {
    #expect(
      try found(
        sql(
          """
          CREATE TABLE a (text TEXT NOT NULL) STRICT;
          INSERT INTO a SELECT note FROM items;
          CREATE TABLE b (list INTEGER UNIQUE) STRICT;
          INSERT INTO b SELECT length(name) FROM lists;
          """)) == [
          "0002 4:7 error fails-on-data a", "0002 6:7 error fails-on-data b",
        ])
  }

  @Test("rows are generated for many kinds of CHECKs, and for foreign keys to other columns")
  func checks() throws {
    let tables = sql(
      """
      CREATE TABLE parents (
        id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE CHECK (code LIKE 'P-%')) STRICT;
      CREATE TABLE kids (
        id INTEGER PRIMARY KEY, code TEXT NOT NULL REFERENCES parents (code),
        n INTEGER NOT NULL CHECK (n BETWEEN 10 AND 20),
        day TEXT CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
        kind TEXT NOT NULL CHECK (kind IN ('red', 'blue')), body TEXT CHECK (json_valid(body))
      ) STRICT;
      CREATE INDEX kids_code ON kids (code);
      """)
    for (column, check) in [
      ("n", "a < 20"), ("day", "a IS NOT NULL"), ("day", "a IS NULL"), ("kind", "a = 'red'"),
      ("kind", "a = 'blue'"), ("body", "a IS NULL"), ("code", "a NOT LIKE 'P-%'"),
    ] {
      let made = sql(
        "CREATE TABLE made (a ANY CHECK (\(check))) STRICT; INSERT INTO made SELECT \(column) FROM kids"
      )
      #expect(
        try found(tables, made) == [
          "0003 3:\(made.firstColumn(of: "INSERT")) error fails-on-data made"
        ])
    }
  }

  @Test(
    "a new foreign key is reported at its operation, even if a later one changes the table, too")
  func placeOfForeignKey() throws {
    let operations = """
      operations:
        - alter_column: { table: items, column: note, references: { table: lists, column: id } }
        - alter_column: { table: items, column: list, default: 1 }
      """
    #expect(try found(operations).contains("0002 2:49 warning fails-on-data items"))
  }

  @Test("dropping a parent with children is found")
  func droppedParent() throws {
    #expect(
      try found("operations:\n  - drop_table: { table: lists }\n").contains(
        "0002 2:5 error fails-on-data lists"))
  }

  @Test("a new column with an invalid default for its CHECK or foreign key is found")
  func newColumns() throws {
    #expect(
      try found(sql("ALTER TABLE items ADD COLUMN n INTEGER DEFAULT 0 CHECK (n > 0)"))
        == ["0002 3:7 error fails-on-data items"])
    #expect(
      try found(sql("ALTER TABLE items ADD COLUMN owner INTEGER DEFAULT 5 REFERENCES lists (id)"))
        == ["0002 3:7 error fails-on-data items"])
    #expect(
      try found(
        sql("INSERT INTO lists VALUES (5, 'Inbox')"),
        sql("ALTER TABLE items ADD COLUMN owner INTEGER DEFAULT 5 REFERENCES lists (id)")) == [])
    // A rebuild, because UNIQUE cannot be added in place.
    let columns =
      "id INTEGER PRIMARY KEY, list INTEGER REFERENCES lists ON DELETE CASCADE, note TEXT"
    let rebuild = """
      operations:
        - rebuild_table:
            table: items
            sql: CREATE TABLE items (\(columns), owner INTEGER DEFAULT 5 REFERENCES lists (id), n TEXT UNIQUE) STRICT
      """
    #expect(try found(rebuild) == ["0002 2:5 error fails-on-data items"])
  }

  @Test("a trigger that aborts the statement is found")
  func raising() throws {
    #expect(
      try found(
        sql(
          """
          CREATE TRIGGER frozen BEFORE UPDATE ON items BEGIN
            SELECT RAISE(ABORT, 'items are frozen');
          END;
          """), sql("UPDATE items SET note = 'x' WHERE note IS NULL")) == [
          "0003 3:7 error fails-on-data items"
        ])
  }

  @Test("a trigger that deletes rows of another table is found at the statement that fires it")
  func trigger() throws {
    let trigger = sql(
      """
      CREATE TRIGGER lists_gone AFTER DELETE ON lists BEGIN
        DELETE FROM items WHERE list = old.id;
      END;
      """)
    #expect(
      try found(trigger, "operations:\n  - delete: { table: lists, where: \"name <> ''\" }\n") == [
        "0003 2:15 error loses-rows items"
      ])
    #expect(
      try found(
        trigger, "operations:\n  - update: { table: lists, set: { name: \"'a'\" }, where: id = 1 }")
        == [])
  }

  @Test("a trigger that deletes rows by their key needs no foreign key")
  func triggerWithoutKey() throws {
    let tables = sql(
      """
      CREATE TABLE boxes (id INTEGER PRIMARY KEY, name TEXT) STRICT;
      CREATE TABLE things (id INTEGER PRIMARY KEY, box INTEGER, name TEXT) STRICT;
      CREATE TRIGGER boxes_gone AFTER DELETE ON boxes BEGIN
        DELETE FROM things WHERE box = old.id;
      END;
      """)
    for delete in ["name = 'a'", "id > 3"] {
      #expect(
        try found(tables, sql("DELETE FROM boxes WHERE \(delete)")) == [
          "0003 3:7 error loses-rows things"
        ])
    }
    #expect(try found(tables, sql("UPDATE boxes SET name = 'b' WHERE name = 'a'")) == [])
    let computed = sql(
      """
      CREATE TABLE words (thing INTEGER, text TEXT) STRICT;
      CREATE TRIGGER things_renamed AFTER UPDATE OF name ON things BEGIN
        DELETE FROM words WHERE thing = old.id;
        INSERT INTO words VALUES (new.id, new.name);
      END;
      """)
    #expect(
      try found(tables, computed, sql("UPDATE things SET name = 'b' WHERE name = 'a'")) == [])
  }

  @Test(
    "removed parents leave children, whose foreign key does not act",
    arguments: [
      ("", "DELETE FROM parents WHERE true", ["warning fails-on-data parents"]),
      ("", "DELETE FROM parents WHERE id > 3", ["warning fails-on-data parents"]),
      (
        "", "DELETE FROM parents WHERE id NOT IN (SELECT min(id) FROM parents GROUP BY name)",
        ["warning fails-on-data parents"]
      ),
      ("", "UPDATE parents SET id = id + 1000 WHERE true", ["warning fails-on-data parents"]),
      (
        "ON DELETE CASCADE", "DELETE FROM parents WHERE name = 'a'",
        ["error fails-on-data parents"]
      ),
      (
        "ON DELETE SET NULL", "DELETE FROM parents WHERE name = 'a'",
        ["error fails-on-data parents"]
      ),
      // Without an action, an app may know that the row has no children.
      ("", "DELETE FROM parents WHERE name = 'a'", []),
      ("", "DELETE FROM parents WHERE id NOT IN (SELECT parent FROM kids)", []),
      (
        "ON DELETE CASCADE",
        "DELETE FROM parents WHERE NOT EXISTS (SELECT 1 FROM kids WHERE parent = parents.id)", []
      ),
      (
        "ON DELETE CASCADE",
        "DELETE FROM kids WHERE parent IN (SELECT id FROM parents WHERE name = 'a');\n"
          + "DELETE FROM parents WHERE name = 'a'", []
      ),
      ("", "UPDATE parents SET name = 'b' WHERE name = 'a'", []),
    ])
  func removedParents(_ action: String, _ statements: String, _ findings: [String]) throws {
    let tables = sql(
      """
      CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT) STRICT;
      CREATE TABLE kids (
        id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id) \(action), name TEXT) STRICT;
      CREATE INDEX kids_parent ON kids (parent);
      """)
    #expect(try found(tables, sql(statements)) == findings.map { "0003 3:7 \($0)" })
    let emptied = sql("DELETE FROM kids WHERE true")
    #expect(try found(tables, emptied, sql(statements)) == [])
  }

  @Test("REPLACE that deletes children of replaced rows is found once")
  func replacing() throws {
    let replace = "operations:\n  - sql: INSERT OR REPLACE INTO lists SELECT id, 'x' FROM lists\n"
    #expect(
      try found("foreign_keys: enforced\n" + replace) == [
        "0002 3:10 error loses-rows items"
      ])
    #expect(try found(replace) == [])
  }

  @Test(
    "a rebuild is found only if its copies together omit rows"
  )
  func rebuild() throws {
    func rebuilt(_ second: String) -> String {
      sql(
        """
        CREATE TABLE new (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
        INSERT INTO new SELECT id, name FROM lists WHERE name = 'Milk';
        INSERT INTO new SELECT id, name FROM lists WHERE \(second);
        DROP TABLE lists;
        ALTER TABLE new RENAME TO lists;
        """)
    }
    #expect(try found(rebuilt("name = 'Bread'")) == ["0002 6:7 error loses-rows lists"])
    #expect(try found(rebuilt("name <> 'Milk'")) == [])
  }

  @Test("rows that a migration deletes before a rebuild are not lost by the copy")
  func deletedBefore() throws {
    #expect(
      try found(
        sql(
          """
          DELETE FROM lists WHERE name = 'Milk';
          CREATE TABLE new (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
          INSERT INTO new SELECT id, name FROM lists;
          DROP TABLE lists;
          ALTER TABLE new RENAME TO lists;
          """)
      ).filter { $0.contains("loses-rows") } == [])
  }

  @Test("a value that a CHECK allows and the map lacks is a finding of the map")
  func map() throws {
    let history = [
      sql(
        "CREATE TABLE tasks (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n BETWEEN 0 AND 2)) STRICT"
      ),
      """
      operations:
        - move_column:
            { table: tasks, from: n, to: { name: m, type: INTEGER }, map: { 0: 0, 1: 1 }, keep_source: true }
      """,
    ]
    let report = try lint(history, .local)
    #expect(report.findings.filter { $0.severity != .note }.map(\.rule) == ["loses-values"])
    #expect(report.findings.contains { $0.message.contains("2 (integer)") })
  }

  @Test("a CHECK that names NULL allows it, and a map without NULL is found")
  func mapWithoutNull() throws {
    let history = [
      sql(
        "CREATE TABLE tasks (id INTEGER PRIMARY KEY, n INTEGER CHECK (n IS NULL OR n IN (0, 1))) STRICT"
      ),
      """
      operations:
        - move_column:
            { table: tasks, from: n, to: { name: m, type: INTEGER }, map: { 0: 0, 1: 1 }, keep_source: true }
      """,
    ]
    #expect(
      try lint(history, .local).lines.filter { $0.contains("loses-values") } == [
        "0002 3:64 error loses-values tasks.n"
      ])
  }

  @Test(
    "a finding of another rule on the same table is reported once",
    arguments: [
      "operations:\n  - alter_column: { table: items, column: note, not_null: true }\n",
      "operations:\n  - add_column: { table: items, column: { name: n, type: TEXT, not_null: true } }\n",
      "operations:\n  - create_index: { name: u, table: items, columns: [note], unique: true }\n",
      "operations:\n  - alter_column: { table: items, column: note, check: \"note = 'a'\" }\n",
      sql("ALTER TABLE items ADD COLUMN n TEXT NOT NULL"),
      sql("CREATE UNIQUE INDEX u ON items (note)"),
      sql(
        """
        CREATE TABLE new (id INTEGER PRIMARY KEY, list INTEGER, note TEXT NOT NULL) STRICT;
        INSERT INTO new SELECT id, list, note FROM items;
        DROP TABLE items;
        ALTER TABLE new RENAME TO items;
        """),
    ])
  func once(_ step: String) throws {
    let rules = try found(step).filter {
      !$0.contains("drop-") && !$0.contains("rebuild-loses-object")
    }
    #expect(rules.count == 1)
  }

  @Test("a frozen migration is tested only with --full, and its rows exist for later drafts")
  func frozen() throws {
    let copy = sql(
      """
      CREATE TABLE notes (text TEXT NOT NULL) STRICT;
      INSERT INTO notes SELECT note FROM items;
      """)
    let history = [sql(lists), copy]
    #expect(try lint(history, .local, releases: ["1": 2]).lines == [])
    #expect(
      try lint(history, .local, releases: ["1": 2], isFull: true).lines == [
        "0002 4:7 error fails-on-data notes"
      ])
    #expect(try lint(history, .local, releases: ["1": 1]).lines.count == 1)
    #expect(
      try lint(
        [
          sql(lists + " INSERT INTO lists VALUES (1, 'Inbox');"),
          sql("INSERT INTO items SELECT NULL, 1, name FROM lists"),
        ], .local, releases: ["1": 1]
      ).lines == [])
  }

  @Test(
    "a frozen rebuild that gives every row a value is no failure, though no rows run through it",
    arguments: [
      "ALTER TABLE items ADD COLUMN kind TEXT DEFAULT 'FINITE' NOT NULL; "
        + "CREATE TABLE new (id INTEGER PRIMARY KEY, list_id INTEGER, note TEXT, kind TEXT NOT NULL); "
        + "INSERT INTO new SELECT id, list_id, note, kind FROM items;",
      "CREATE TABLE new (id INTEGER PRIMARY KEY, list_id INTEGER, note TEXT, kind TEXT NOT NULL); "
        + "INSERT INTO new SELECT id, list_id, note, 'item ' || id FROM items;",
      "CREATE TABLE new (id INTEGER PRIMARY KEY, list_id INTEGER, note TEXT NOT NULL); "
        + "INSERT INTO new SELECT id, list_id, coalesce(note, '') FROM items;",
      "CREATE TABLE new (id INTEGER PRIMARY KEY, list_id INTEGER, note TEXT CHECK (note <> '')); "
        + "INSERT INTO new SELECT id, list_id, nullif(note, '') FROM items;",
    ])
  func frozenRebuild(_ copy: String) throws {
    let items = "CREATE TABLE items (id INTEGER PRIMARY KEY, list_id INTEGER, note TEXT);"
    let rebuild = sql(copy + " DROP TABLE items; ALTER TABLE new RENAME TO items;")
    #expect(
      try lint([sql(items), rebuild], .local, releases: ["1": 2]).lines.filter {
        $0.contains("fails-on-data")
      } == [])
  }

  @Test("later migrations see the rows of earlier ones")
  func rowsStay() throws {
    let emptied =
      "operations:\n  - update: { table: items, set: { note: \"''\" }, where: note IS NULL }\n"
    let made = sql(
      """
      CREATE TABLE notes (text TEXT NOT NULL) STRICT;
      INSERT INTO notes SELECT note FROM items;
      """)
    #expect(try found(made) != [])
    #expect(try found(emptied, made) == [])
  }
}

@Suite("Generated rows without false positives")
struct SeededSilenceTests {
  @Test("generated rows do not conflict with rows of migrations")
  func literals() throws {
    #expect(
      try found(
        "operations:\n  - update: { table: lists, set: { name: \"trim(name)\" }, where: name <> '' }\n",
        sql("INSERT INTO lists VALUES (1, 'Inbox'), (7001, 'x'), (7002, 'y'), (7003, 'z')"),
        sql("INSERT INTO items VALUES (7001, 7002, 'a'), (2, 1, 'b')"),
        "operations:\n  - update: { table: items, set: { note: \"trim(note)\" }, where: note <> '' }\n"
      )
        == [])
  }

  @Test(
    "merged tables collide in their keys, but not in other unique numbers",
    arguments: [("id, number", ["fails-on-data"]), ("number", [])])
  func merged(_ columns: String, _ rules: [String]) throws {
    let tables = ["a", "b", "c"].map {
      "CREATE TABLE \($0) (id INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE) STRICT;"
    }
    let copies = ["a", "b"].map { "INSERT INTO c (\(columns)) SELECT \(columns) FROM \($0);" }
    let history = [tables[0] + tables[1], tables[2] + copies.joined()].map(sql)
    #expect(try lint(history, .local).findings.map(\.rule) == rules)
  }

  @Test("a migration finds the rows that an earlier one inserted")
  func reference() throws {
    #expect(
      try found(
        sql("INSERT INTO lists VALUES (1, 'Inbox')"),
        sql("INSERT INTO items SELECT NULL, 1, name FROM lists")) == [])
  }

  @Test("a text that a function cannot parse is no evidence")
  func formats() throws {
    let days = sql("CREATE TABLE days (day TEXT NOT NULL) STRICT")
    for expression in ["date(name)", "json_extract(name, '$.a')", "strftime('%Y', name)"] {
      #expect(try found(days, sql("INSERT INTO days SELECT \(expression) FROM lists")) == [])
    }
  }

  @Test("a table whose CHECK or trigger calls a function of the app is skipped")
  func functions() throws {
    #expect(
      try found(
        sql(
          """
          CREATE TABLE coded (id INTEGER PRIMARY KEY, a TEXT CHECK (valid(a)), b TEXT) STRICT;
          CREATE TABLE codes (a TEXT NOT NULL) STRICT;
          """),
        sql("INSERT INTO codes SELECT b FROM coded"),
        sql("INSERT INTO codes SELECT encoded(name) FROM lists"),
        functions: ["valid", "encoded"]) == [])
  }

  @Test("a table stays empty without a finding if no row satisfies its CHECK")
  func impossible() throws {
    #expect(
      try found(
        sql(
          """
          CREATE TABLE odd (a TEXT NOT NULL CHECK (hex(a) = '51' || '3132' || '7A'), b TEXT) STRICT;
          CREATE TABLE kept (b TEXT NOT NULL) STRICT;
          """), sql("INSERT INTO kept SELECT b FROM odd")) == [])
  }

  @Test("a map without a CHECK is no finding")
  func map() throws {
    #expect(
      try found(
        sql("CREATE TABLE tasks (id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT"),
        """
        operations:
          - move_column:
              { table: tasks, from: n, to: { name: m, type: INTEGER }, map: { 0: 0, 1: 1 }, keep_source: true }
        """) == [])
  }

  @Test("a unique index on values that the migration makes equal is found")
  func slugs() throws {
    #expect(
      try found(
        sql("ALTER TABLE lists ADD COLUMN slug TEXT"),
        sql(
          "UPDATE lists SET slug = lower(name) WHERE id > 0; CREATE UNIQUE INDEX u ON lists (slug)")
      )
        == ["0003 3:57 error fails-on-data lists"])
  }

  @Test("a unique index on values that the migration makes distinct is no finding")
  func uuid() throws {
    #expect(
      try found(
        sql("ALTER TABLE lists ADD COLUMN code TEXT"),
        sql(
          "UPDATE lists SET code = uuid() WHERE code IS NULL; CREATE UNIQUE INDEX u ON lists (code)"
        ),
        sql("ALTER TABLE items ADD COLUMN code BLOB"),
        sql(
          "UPDATE items SET code = randomblob(16) WHERE code IS NULL; CREATE UNIQUE INDEX v ON items (code)"
        )
      )
      .filter { !$0.contains("non-deterministic-data") } == [])
  }

  @Test(
    "repeated values in a column that the migration fills before its unique index are no finding")
  func filledUnique() throws {
    let codes = sql("CREATE TABLE codes (id INTEGER PRIMARY KEY, code TEXT) STRICT")
    let filled = sql(
      "UPDATE codes SET code = 'c' || id WHERE code IS NULL; CREATE UNIQUE INDEX u ON codes (code)")
    #expect(try lint([codes, filled], .local, releases: ["1": 1]).lines == [])
  }

  @Test("a unique index is one finding if the migration renames its table later")
  func renamedAfterIndex() throws {
    let renamed = sql("CREATE UNIQUE INDEX u ON items (note); ALTER TABLE items RENAME TO things")
    #expect(
      try found(renamed).filter { $0.contains("fails-on-data") } == [
        "0002 3:7 warning fails-on-data items"
      ])
  }

  @Test(
    "a constraint that the migration or an earlier draft makes true is no finding",
    arguments: [
      [
        sql(
          """
          CREATE TABLE new (id INTEGER PRIMARY KEY, list INTEGER, note TEXT UNIQUE) STRICT;
          INSERT INTO new SELECT id, list, note || '-' || id FROM items;
          DROP TABLE items;
          ALTER TABLE new RENAME TO items;
          CREATE INDEX items_list ON items (list);
          """)
      ],
      [sql("CREATE UNIQUE INDEX u ON items (note, abs(id))")],
      [
        sql("DELETE FROM items WHERE id NOT IN (SELECT min(id) FROM items GROUP BY note)"),
        sql("CREATE UNIQUE INDEX u ON items (note)"),
      ],
      [
        sql("ALTER TABLE lists ADD COLUMN parent INTEGER"),
        sql("UPDATE lists SET parent = NULL WHERE parent NOT IN (SELECT id FROM items)"),
        "operations:\n  - alter_column: { table: lists, column: parent, references: { table: items } }\n",
      ],
      [
        sql("UPDATE items SET note = '' WHERE note IS NULL"),
        "operations:\n  - alter_column: { table: items, column: note, not_null: true }\n",
      ],
    ])
  func madeTrue(_ steps: [String]) throws {
    #expect(
      try lint([sql(lists)] + steps, .local).lines.filter { $0.contains("fails-on-data") } == [])
  }

  @Test(
    "a new constraint on existing rows is a warning at the failing statement, and NOT NULL an error",
    arguments: [
      ("CREATE UNIQUE INDEX u ON items (note)", "4:7 warning"),
      ("CREATE UNIQUE INDEX u ON items (list, note)", "4:7 warning"),
      ("CREATE UNIQUE INDEX u ON items (note) WHERE list IS NULL", "4:7 warning"),
      ("CREATE UNIQUE INDEX u ON items (note) WHERE list > 0", "4:7 warning"),
      ("ALTER TABLE items ADD COLUMN n INTEGER NOT NULL", "4:7 error"),
      ("ALTER TABLE items ADD COLUMN n INTEGER DEFAULT (abs(-1))", "4:7 error"),
      ("ALTER TABLE items ADD COLUMN n INTEGER AS (length(note)) STORED", "4:7 error"),
    ])
  func newConstraint(_ statement: String, _ finding: String) throws {
    let step = sql("CREATE TABLE other (id INTEGER PRIMARY KEY) STRICT;\n" + statement)
    #expect(try found(step) == ["0002 \(finding) fails-on-data items"])
  }

  @Test("a text key that becomes NOT NULL is found, although no generated row has NULL in it")
  func nullKeys() throws {
    func step(_ columns: String, _ options: String = "") -> String {
      sql(
        """
        CREATE TABLE new (\(columns)) \(options);
        INSERT INTO new SELECT * FROM tags;
        DROP TABLE tags;
        ALTER TABLE new RENAME TO tags;
        """)
    }
    let filled = step("id TEXT PRIMARY KEY NOT NULL, v TEXT")
    let withoutRowid = step("id TEXT PRIMARY KEY, v TEXT", "WITHOUT ROWID")
    let tags = sql("CREATE TABLE tags (id TEXT PRIMARY KEY, v TEXT)")
    for step in [filled, withoutRowid] {
      #expect(try found(tags, step) == ["0003 3:7 error fails-on-data tags.id"])
    }
    #expect(try found(tags, step("id TEXT PRIMARY KEY, v TEXT")) == [])
    let replaced = withoutRowid.replacing("*", with: "coalesce(id, 'row-' || rowid), v")
    #expect(try found(tags, replaced) == [])
    let selecting = withoutRowid.replacing("FROM tags", with: "FROM tags WHERE id IS NOT NULL")
    #expect(try found(tags, selecting) == [])
    let update = #"update: { table: tags, set: { id: "'row ' || rowid" }, where: id IS NULL }"#
    let report = try lint([sql(lists), tags, withoutRowid], .local)
    #expect(report.findings.contains { $0.fix?.contains(update) ?? false })
    #expect(try found(tags, "operations:\n  - \(update)\n", withoutRowid) == [])
    let ignoring = withoutRowid.replacing("INSERT INTO", with: "INSERT OR IGNORE INTO")
    #expect(try found(tags, ignoring) == ["0003 3:7 error fails-on-data tags.id"])
    // These keys refuse NULL without a clause, too.
    let strict = sql("CREATE TABLE tags (id TEXT PRIMARY KEY, v TEXT) STRICT")
    #expect(try found(strict, step("id TEXT PRIMARY KEY NOT NULL, v TEXT", "STRICT")) == [])
    #expect(
      try found(sql("CREATE TABLE tags (id TEXT PRIMARY KEY NOT NULL, v TEXT)"), withoutRowid) == []
    )
  }

  @Test("a copy of NULL to a NOT NULL column fails, beside the loss of that column's own values")
  func copiedNulls() throws {
    let posts = sql(
      "CREATE TABLE posts (id INTEGER PRIMARY KEY, created TEXT NOT NULL, published TEXT)")
    let step = sql(
      """
      CREATE TABLE new (id INTEGER PRIMARY KEY, created TEXT NOT NULL, published TEXT);
      INSERT INTO new SELECT id, published, published FROM posts;
      DROP TABLE posts;
      ALTER TABLE new RENAME TO posts;
      """)
    #expect(
      try found(posts, step) == [
        "0003 4:7 error fails-on-data posts", "0003 5:7 error loses-values posts.created",
      ])
  }

  @Test("the rows without NULL reach the statements after one that refuses NULL")
  func afterNull() throws {
    let step = sql(
      """
      CREATE TABLE new (id INTEGER PRIMARY KEY, list INTEGER, note TEXT NOT NULL) STRICT;
      INSERT INTO new SELECT id, list, note FROM items;
      DROP TABLE items;
      ALTER TABLE new RENAME TO items;
      CREATE INDEX items_list ON items (list);
      CREATE UNIQUE INDEX u ON items (note);
      """)
    #expect(
      try found(step).filter { $0.contains("fails-on-data") } == [
        "0002 4:7 error fails-on-data items", "0002 8:7 warning fails-on-data items",
      ])
  }

  @Test("the help of a failure shows the definition or the operation with which it passes")
  func remedies() throws {
    func fix(_ operation: String) throws -> String? {
      try lint([sql(lists), "operations:\n  - \(operation)\n"], .local).findings.first {
        $0.rule == "fails-on-data"
      }?.fix
    }
    #expect(
      try fix("add_column: { table: items, column: { name: n, type: INTEGER, not_null: true } }")
        == "{ name: n, type: INTEGER, not_null: true, default: 0 }")
    #expect(
      try fix("alter_column: { table: items, column: note, not_null: true }")?.contains(
        "note IS NULL") == true)
  }

  @Test("an assertion about a temporary table is no finding")
  func assertion() throws {
    #expect(
      try found(
        sql(
          """
          CREATE TEMP TABLE guard (n INTEGER CHECK (n = 0));
          INSERT INTO guard SELECT count(*) FROM items;
          DROP TABLE guard;
          """)) == [])
  }

  @Test("values stay unique where an earlier draft dropped the unique index")
  func droppedUnique() throws {
    #expect(
      try found(
        sql("CREATE UNIQUE INDEX u ON lists (name)"), "operations:\n  - drop_index: { name: u }\n",
        sql(
          """
          CREATE TABLE names (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
          INSERT INTO names SELECT name FROM lists;
          """)
      ).filter { $0.hasPrefix("0004") } == [])
  }

  @Test(
    "tables with cyclic references and virtual tables have no finding")
  func references() throws {
    #expect(
      try found(
        sql(
          """
          CREATE TABLE nodes (
            id INTEGER PRIMARY KEY, parent INTEGER REFERENCES nodes (id), text TEXT,
            best INTEGER REFERENCES leaves (id) DEFERRABLE INITIALLY DEFERRED) STRICT;
          CREATE TABLE leaves (
            id INTEGER PRIMARY KEY, node INTEGER NOT NULL REFERENCES nodes (id)) STRICT;
          CREATE VIRTUAL TABLE search USING fts5 (text, content='nodes', content_rowid='id');
          CREATE TRIGGER nodes_added AFTER INSERT ON nodes BEGIN
            INSERT INTO search (rowid, text) VALUES (new.id, new.text);
          END;
          CREATE TRIGGER nodes_gone AFTER DELETE ON nodes BEGIN
            INSERT INTO search (search, rowid, text) VALUES ('delete', old.id, old.text);
          END;
          CREATE INDEX a ON nodes (parent); CREATE INDEX b ON nodes (best);
          CREATE INDEX c ON leaves (node);
          """),
        sql("UPDATE nodes SET text = 'x' || text WHERE parent IS NULL"),
        sql("DELETE FROM nodes WHERE id = 5"),
        "operations:\n  - alter_column: { table: leaves, column: node, default: 1 }\n") == [])
  }

  @Test("an unreadable table is skipped")
  func broken() throws {
    let history = [
      sql(
        lists
          + """

          CREATE VIEW names AS SELECT name FROM lists; CREATE TABLE kept (a TEXT NOT NULL) STRICT;
          CREATE TRIGGER fails AFTER INSERT ON items BEGIN INSERT INTO names VALUES (1); END;
          CREATE TRIGGER ends BEFORE INSERT ON lists BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
          """),
      sql(
        "INSERT INTO kept SELECT note FROM items; INSERT INTO kept SELECT name || NULL FROM lists"),
    ]
    let report = try lint(history, .local)
    #expect(report.failure == nil)
    #expect(report.findings.filter { $0.rule == "fails-on-data" } == [])
  }

  @Test("triggers that update a search index delete no rows")
  func search() throws {
    #expect(
      try found(
        sql(
          """
          CREATE VIRTUAL TABLE search USING fts5 (note, content='items', content_rowid='id');
          CREATE TRIGGER added AFTER INSERT ON items BEGIN
            INSERT INTO search (rowid, note) VALUES (new.id, new.note);
          END;
          CREATE TRIGGER gone AFTER DELETE ON items BEGIN
            INSERT INTO search (search, rowid, note) VALUES ('delete', old.id, old.note);
          END;
          """), sql("DELETE FROM items WHERE id > 7008")) == [])
  }

  @Test("the result is deterministic")
  func deterministic() throws {
    let history = [
      sql(lists),
      sql("CREATE TABLE notes (text TEXT NOT NULL); INSERT INTO notes SELECT note FROM items"),
    ]
    #expect(
      try lint(history, .local).findings == lint(history, .local).findings)
  }
}

extension String {
  /// The column of a word in its line, counted from 1.
  fileprivate func firstColumn(of word: String) -> Int {
    guard let range = range(of: word) else { return 0 }
    let line = self[..<range.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
    return (line.last?.count ?? 0) + 1
  }
}

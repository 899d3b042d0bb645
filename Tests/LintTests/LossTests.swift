import SchemaLint
import SchemaQueries
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

/// A way to transfer values, with its losses.
struct Carrying: Sendable, CustomStringConvertible {
  let description: String
  let lost: [String]
  let steps: [String]

  init(_ description: String, _ lost: [String] = [], _ steps: String...) {
    self.description = description
    self.lost = lost
    self.steps = steps
  }

  /// Rebuilds the table manually.
  init(_ description: String, _ lost: [String] = [], columns: String = columns, copy: String) {
    self.init(description, lost, rebuilt(columns, copy))
  }
}

private let base = sql(
  """
  CREATE TABLE reminders (\(columns));
  CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  """)

private let columns =
  "id INTEGER PRIMARY KEY, title TEXT, done INTEGER NOT NULL DEFAULT 0, "
  + "listID INTEGER REFERENCES lists (id)"

private let withoutDone =
  "id INTEGER PRIMARY KEY, title TEXT, listID INTEGER REFERENCES lists (id)"

private func rebuilt(_ columns: String, _ copy: String) -> String {
  sql(
    "CREATE TABLE n (\(columns));\n\(copy);\nDROP TABLE reminders;\nALTER TABLE n RENAME TO reminders;"
  )
}

private func operations(_ text: String) -> String {
  "operations:\n"
    + text.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n") + "\n"
}

private let rebuiltWithoutDone = """
  - rebuild_table:
      table: reminders
      columns:
        - { name: id, type: INTEGER, primary_key: true }
        - { name: title, type: TEXT }
        - { name: listID, type: INTEGER, references: { table: lists } }
  """

private let done = ["loses-values reminders.done"]
private let title = ["loses-values reminders.title"]
private let rows = ["loses-rows reminders"]

@Suite("Lost values and rows")
struct LossTests {
  @Test("values remain in the old table under another name")
  func leftover() throws {
    let report = try lint(
      [
        sql("CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT NOT NULL, price INTEGER);"),
        sql(
          """
          ALTER TABLE items RENAME TO old;
          CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
          INSERT INTO items SELECT id, title FROM old;
          """),
      ], .local)
    #expect(
      report.findings.map(\.message) == [
        "this drops `items.price`: `old.price` holds a copy of its values; an older version of the app fails"
      ])
  }

  @Test("values remain in the old table until a later draft drops it")
  func laterDrop() throws {
    let report = try lint(
      [
        sql("CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT NOT NULL, price INTEGER);"),
        sql("ALTER TABLE items RENAME TO old;"),
        sql(
          """
          CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
          INSERT INTO items SELECT id, title FROM old;
          """), operations("- drop_table: { table: old }"),
      ], .local)
    #expect(
      report.findings.map(\.message) == [
        "this drops `items.price`: its values are lost; an older version of the app fails"
      ])
  }

  private func check(_ carrying: Carrying, _ profile: Profile) throws {
    let report = try lint([base] + carrying.steps, profile)
    #expect(report.failure == nil)
    #expect(report.notes.filter { $0.contains("without rows") } == [])
    let found = report.findings.filter { $0.rule == "loses-values" || $0.rule == "loses-rows" }
    #expect(found.map { "\($0.rule) \($0.object ?? "")" } == carrying.lost)
    #expect(found.allSatisfy { $0.severity == .error })
  }

  @Test(
    "a recreated column without its values is a loss",
    arguments: oneIn(
      4,
      of: [
        Carrying(
          "a new column takes the name of a dropped one", done,
          operations(
            """
            - add_column: { table: reminders, column: { name: new, type: INTEGER, default: 0 } }
            - drop_column: { table: reminders, column: done }
            - rename_column: { table: reminders, from: new, to: done }
            """)),
        Carrying(
          "the same in SQL", done,
          sql(
            """
            ALTER TABLE reminders ADD new INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE reminders DROP done;
            ALTER TABLE reminders RENAME new TO done;
            """)),
        Carrying(
          "the old column makes room, and is dropped", done,
          operations(
            """
            - rename_column: { table: reminders, from: done, to: old }
            - add_column: { table: reminders, column: { name: done, type: INTEGER, default: 0 } }
            - drop_column: { table: reminders, column: old }
            """)),
        Carrying(
          "the same in SQL, old column", done,
          sql(
            """
            ALTER TABLE reminders RENAME done TO old;
            ALTER TABLE reminders ADD done INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE reminders DROP old;
            """)),
        Carrying(
          "a rebuild without it, and added again", done,
          operations(
            rebuiltWithoutDone + """

              - add_column: { table: reminders, column: { name: done, type: INTEGER, default: 0 } }
              """)),
        Carrying(
          "the same in SQL, rebuild", done,
          sql(
            """
            CREATE TABLE n (\(withoutDone));
            INSERT INTO n SELECT id, title, listID FROM reminders;
            DROP TABLE reminders;
            ALTER TABLE n RENAME TO reminders;
            ALTER TABLE reminders ADD done INTEGER NOT NULL DEFAULT 0;
            """)),
        Carrying(
          "two rounds, the first without it", done,
          sql(
            """
            CREATE TABLE n (\(withoutDone));
            INSERT INTO n SELECT id, title, listID FROM reminders;
            DROP TABLE reminders;
            ALTER TABLE n RENAME TO reminders;
            CREATE TABLE n (\(columns));
            INSERT INTO n (id, title, listID) SELECT id, title, listID FROM reminders;
            DROP TABLE reminders;
            ALTER TABLE n RENAME TO reminders;
            """)),
        Carrying(
          "over two drafts, under its name from the second on", done,
          sql("ALTER TABLE reminders ADD new INTEGER NOT NULL DEFAULT 0"),
          sql("ALTER TABLE reminders DROP done; ALTER TABLE reminders RENAME new TO done")),
        Carrying(
          "dropped in a draft, and added in the next one", done,
          operations("- drop_column: { table: reminders, column: done }"),
          operations("- add_column: { table: reminders, column: { name: done, type: INTEGER } }")),
        Carrying(
          "copied in a draft without it, renamed in the next one", done,
          sql(
            "CREATE TABLE n (\(columns)); INSERT INTO n (id, title, listID) "
              + "SELECT id, title, listID FROM reminders"),
          sql("DROP TABLE reminders; ALTER TABLE n RENAME TO reminders")),
        Carrying(
          "dropped in a draft that keeps other columns, created again in the next one", done,
          sql(
            """
            CREATE TABLE n AS SELECT id, title, listID FROM reminders;
            DROP TABLE reminders;
            """),
          sql(
            """
            CREATE TABLE reminders (\(columns));
            INSERT INTO reminders (id, title, listID) SELECT id, title, listID FROM n;
            DROP TABLE n;
            """)),
        Carrying(
          "dropped in a draft that keeps all columns, created without it in the next one",
          done,
          sql("CREATE TABLE n AS SELECT * FROM reminders; DROP TABLE reminders"),
          sql(
            """
            CREATE TABLE reminders (\(columns));
            INSERT INTO reminders (id, title, listID) SELECT id, title, listID FROM n;
            DROP TABLE n;
            """)),
        Carrying(
          "renamed in a draft, copied without it in the next one", ["loses-values old.done"],
          sql("ALTER TABLE reminders RENAME TO old"),
          sql(
            """
            CREATE TABLE reminders (\(columns));
            INSERT INTO reminders (id, title, listID) SELECT id, title, listID FROM old;
            DROP TABLE old;
            """)),
        Carrying(
          "the same over three drafts", done,
          sql("ALTER TABLE reminders RENAME TO old"),
          sql(
            """
            CREATE TABLE reminders (\(columns));
            INSERT INTO reminders (id, title, listID) SELECT id, title, listID FROM old;
            """),
          sql("DROP TABLE old")),
        Carrying(
          "created again in the draft of the rename, copied without it, and dropped", done,
          sql("ALTER TABLE reminders RENAME TO old; CREATE TABLE reminders (\(columns))"),
          sql("INSERT INTO reminders (id, title, listID) SELECT id, title, listID FROM old"),
          sql("DROP TABLE old")),
        Carrying(
          "copied without it from the renamed table, which the next draft drops", done,
          sql(
            """
            ALTER TABLE reminders RENAME TO old;
            CREATE TABLE reminders (\(columns));
            INSERT INTO reminders (id, title, listID) SELECT id, title, listID FROM old;
            """),
          sql("DROP TABLE old")),
      ]), Profile.allCases)
  func again(_ carrying: Carrying, _ profile: Profile) throws { try check(carrying, profile) }

  @Test(
    "a table that a released rebuild left behind is a table like others",
    arguments: [
      ("DROP TABLE old", "drop-table old"), ("ALTER TABLE old DROP done", "drop-column old.done"),
    ])
  func leftover(_ statement: String, _ finding: String) throws {
    let rebuild = sql(
      """
      ALTER TABLE reminders RENAME TO old;
      CREATE TABLE reminders (\(columns));
      INSERT INTO reminders (id, title, listID) SELECT id, title, listID FROM old;
      """)
    let report = try lint(
      [base, rebuild, sql(statement)], .local, releases: ["1.0": 1, "2.0": 2])
    let found = report.findings.filter { $0.migration == "0003_step" && $0.severity == .warning }
    #expect(found.map { "\($0.rule) \($0.object ?? "")" } == [finding])
  }

  @Test(
    "no older version of the app knows a table that was not released", arguments: Profile.allCases)
  func unreleased(_ profile: Profile) throws {
    let steps = [
      base, sql("CREATE TABLE backup AS SELECT * FROM reminders"), sql("DROP TABLE backup"),
    ]
    func found(_ releases: [String: Int]) throws -> [String] {
      try lint(steps, profile, releases: releases).findings.filter { $0.rule == "drop-table" }
        .map { "\($0.severity): \($0.message)" }
    }
    #expect(
      try found(["1.0": 1]) == [
        "warning: this drops the table `backup`: its rows are lost; no release has it"
      ])
    let known = try found(["1.0": 1, "2.0": 2])
    #expect(known.count == 1)
    #expect(known.allSatisfy { $0.contains("older version") })
  }

  @Test(
    "the message about a dropped table names the tables that hold its rows",
    arguments: [
      ("INSERT INTO a SELECT id, title, kind FROM items", "`a` holds a copy of its rows"),
      (
        "INSERT INTO a SELECT id, title, kind FROM items WHERE kind = 'a'; "
          + "INSERT INTO b SELECT id, title FROM items WHERE kind = 'b'",
        "other tables hold its values"
      ),
      ("INSERT INTO b SELECT id, title FROM items", "values of `kind` are lost"),
      (
        "INSERT INTO c SELECT id, title, kind FROM items WHERE true ON CONFLICT DO NOTHING",
        "some of its rows are lost"
      ),
      ("INSERT INTO a SELECT * FROM items WHERE kind = 'a'", "some of its rows are lost"),
      (
        "INSERT INTO b (title) SELECT title FROM items WHERE kind = 'a'",
        "some of its rows and values of `id` are lost"
      ),
      ("INSERT INTO a (title, kind) SELECT title, kind FROM items", "values of `id` are lost"),
      ("DELETE FROM items", "its rows are lost"),
    ])
  func destinations(_ copy: String, _ outcome: String) throws {
    let report = try lint(
      [
        sql(
          """
          CREATE TABLE items (
            id INTEGER PRIMARY KEY, title TEXT, kind TEXT NOT NULL CHECK (kind IN ('a', 'b')));
          CREATE TABLE c (id INTEGER PRIMARY KEY, title TEXT, kind TEXT);
          """),
        sql(
          """
          CREATE TABLE a (id INTEGER PRIMARY KEY, title TEXT, kind TEXT);
          CREATE TABLE b (id INTEGER PRIMARY KEY, title TEXT);
          \(copy);
          DROP TABLE items;
          """),
      ], .local)
    #expect(
      report.findings.filter { $0.rule == "drop-table" }.map(\.message) == [
        "this drops the table `items`: \(outcome); an older version of the app fails"
      ])
  }

  @Test(
    "the message about a dropped table of pairs reports whether another table holds each pair",
    arguments: [
      ("SELECT tag FROM pairs WHERE item = items.id LIMIT 1", "some of its rows are lost"),
      ("SELECT min(tag) FROM pairs WHERE item = items.id", "some of its rows are lost"),
      (
        "SELECT json_group_array(tag) FROM pairs WHERE item = items.id",
        "other tables hold its values"
      ),
    ])
  func pairs(_ query: String, _ outcome: String) throws {
    for key in ["PRIMARY KEY (item, tag)) WITHOUT ROWID", "UNIQUE (item, tag))"] {
      let report = try lint(
        [
          sql(
            """
            CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE pairs (
              item INTEGER NOT NULL REFERENCES items, tag INTEGER NOT NULL REFERENCES tags, \(key);
            """),
          sql(
            """
            ALTER TABLE items ADD COLUMN tag;
            UPDATE items SET tag = (\(query));
            DROP TABLE pairs;
            """),
        ], .local)
      #expect(
        report.findings.filter { $0.rule == "drop-table" }.map(\.message) == [
          "this drops the table `pairs`: \(outcome); an older version of the app fails"
        ])
    }
  }

  @Test(
    "no older version of the app knows a column that was not released", arguments: Profile.allCases)
  func unreleasedColumn(_ profile: Profile) throws {
    func found(_ drafts: [String]) throws -> [String] {
      try lint([base] + drafts.map { sql($0) }, profile, releases: ["1.0": 1]).findings
        .filter { $0.rule == "drop-column" }.map { "\($0.severity): \($0.message)" }
    }
    let drop = "ALTER TABLE reminders DROP COLUMN extra"
    let added = try found(["ALTER TABLE reminders ADD COLUMN extra TEXT", drop])
    #expect(
      added == [
        "warning: this drops `reminders.extra`: its values are lost; no release has it"
      ])
    let renamed = try found(["ALTER TABLE reminders RENAME COLUMN title TO extra", drop])
    #expect(renamed.count == 1)
    #expect(renamed.allSatisfy { !$0.contains("no release has it") })
  }

  @Test(
    "a copy without a column is a loss",
    arguments: oneIn(
      4,
      of: [
        Carrying(
          "a join", done,
          copy: """
            INSERT INTO n (id, title, listID) SELECT r.id, r.title, r.listID
            FROM reminders r LEFT JOIN lists l ON l.id = r.listID
            """),
        Carrying(
          "a common table", title,
          copy: """
            WITH x AS (SELECT id, NULL AS title, done, listID FROM reminders)
            INSERT INTO n SELECT id, title, done, listID FROM x
            """),
        Carrying(
          "a subquery", done,
          copy:
            "INSERT INTO n SELECT id, title, 0, listID FROM (SELECT id, title, listID FROM reminders)"
        ),
        Carrying(
          "CREATE TABLE AS SELECT", done,
          sql(
            """
            CREATE TABLE n AS SELECT id, title, 0 AS done, listID FROM reminders;
            DROP TABLE reminders;
            ALTER TABLE n RENAME TO reminders;
            """)),
        Carrying(
          "a join that finds some values only", title,
          copy: """
            INSERT INTO n SELECT r.id, o.title, r.done, r.listID
            FROM reminders r LEFT JOIN reminders o ON o.id = r.id AND o.done = 0
            """),
        Carrying(
          "columns in another order", ["loses-values reminders"],
          columns: "id INTEGER PRIMARY KEY, done, title TEXT, listID",
          copy: "INSERT INTO n SELECT * FROM reminders"),
        Carrying(
          "rows that are deleted and inserted again without it", done,
          sql(
            """
            CREATE TEMP TABLE backup AS SELECT id, title, listID FROM reminders;
            DELETE FROM reminders;
            INSERT INTO reminders (id, title, listID) SELECT * FROM backup;
            DROP TABLE backup;
            """)),
      ]), Profile.allCases)
  func copy(_ carrying: Carrying, _ profile: Profile) throws { try check(carrying, profile) }

  @Test(
    "rows that are not copied are a loss",
    arguments: oneIn(
      4,
      of: [
        Carrying(
          "WHERE", rows, copy: "INSERT INTO n SELECT * FROM reminders WHERE title IS NOT NULL"),
        Carrying(
          "WHERE with a value", rows, copy: "INSERT INTO n SELECT * FROM reminders WHERE done = 0"),
        Carrying(
          "INNER JOIN", rows,
          copy: "INSERT INTO n SELECT r.* FROM reminders r JOIN lists l ON l.id = r.listID"),
        Carrying("LIMIT", rows, copy: "INSERT INTO n SELECT * FROM reminders LIMIT 100"),
        Carrying("GROUP BY", rows, copy: "INSERT INTO n SELECT * FROM reminders GROUP BY title"),
        Carrying(
          "OR IGNORE", rows,
          columns: columns.replacing("title TEXT", with: "title TEXT UNIQUE"),
          copy: "INSERT OR IGNORE INTO n SELECT * FROM reminders"),
        Carrying(
          "the rows have a backup, which the next draft drops", rows,
          sql(
            """
            CREATE TABLE bak AS SELECT * FROM reminders;
            DROP TABLE reminders;
            CREATE TABLE reminders (\(columns));
            INSERT INTO reminders SELECT * FROM bak WHERE done = 0;
            """),
          sql("DROP TABLE bak")),
        Carrying(
          "WHERE, and the next draft drops the old table", rows,
          sql(
            """
            ALTER TABLE reminders RENAME TO old;
            CREATE TABLE reminders (\(columns));
            INSERT INTO reminders SELECT * FROM old WHERE done = 0;
            """),
          sql("DROP TABLE old")),
        Carrying(
          "WHERE, both renamed in the next draft, and the old one dropped", rows,
          sql("CREATE TABLE n (\(columns)); INSERT INTO n SELECT * FROM reminders WHERE done = 0"),
          sql("ALTER TABLE reminders RENAME TO old; ALTER TABLE n RENAME TO reminders"),
          sql("DROP TABLE old")),
        Carrying(
          "WHERE, and the next draft renames the copy", rows,
          sql(
            """
            CREATE TABLE n (\(columns));
            INSERT INTO n SELECT * FROM reminders WHERE done = 0;
            DROP TABLE reminders;
            """),
          sql("ALTER TABLE n RENAME TO reminders")),
        Carrying("no copy", rows, copy: "SELECT 1"),
        Carrying(
          "no copy, the old table renamed", rows,
          sql(
            """
            ALTER TABLE reminders RENAME TO old;
            CREATE TABLE reminders (\(columns));
            DROP TABLE old;
            """)),
      ]), Profile.allCases)
  func behind(_ carrying: Carrying, _ profile: Profile) throws { try check(carrying, profile) }

  @Test(
    "values that become equal are a loss",
    arguments: oneIn(
      4,
      of: [
        Carrying(
          "the tail", title,
          copy: "INSERT INTO n SELECT id, substr(title, 1, 50), done, listID FROM reminders"),
        Carrying(
          "case", title, copy: "INSERT INTO n SELECT id, lower(title), done, listID FROM reminders"),
        Carrying(
          "spaces", title, copy: "INSERT INTO n SELECT id, trim(title), done, listID FROM reminders"
        ),
        Carrying(
          "division", done,
          copy: "INSERT INTO n SELECT id, title, done / 1000, listID FROM reminders"
        ),
        Carrying(
          "CAST", title,
          copy: "INSERT INTO n SELECT id, CAST(title AS INTEGER), done, listID FROM reminders"),
      ]), Profile.allCases)
  func narrowed(_ carrying: Carrying, _ profile: Profile) throws { try check(carrying, profile) }

  @Test(
    "kept values are no finding",
    arguments: oneIn(
      4,
      of: [
        Carrying("a plain copy", copy: "INSERT INTO n SELECT * FROM reminders"),
        Carrying(
          "COALESCE", [],
          sql(
            """
            ALTER TABLE reminders ADD new TEXT NOT NULL DEFAULT '';
            UPDATE reminders SET new = COALESCE(title, '');
            ALTER TABLE reminders DROP title;
            ALTER TABLE reminders RENAME new TO title;
            """)),
        Carrying(
          "a CASE over a list of values",
          copy: """
            INSERT INTO n SELECT id, title, CASE done WHEN 0 THEN 10 WHEN 1 THEN 20 ELSE 30 END, listID
            FROM reminders
            """),
        Carrying(
          "a map", [],
          operations(
            """
            - move_column:
                table: reminders
                from: done
                to: { name: status, type: INTEGER, not_null: true, default: 0 }
                map: { 0: 0, 1: 1 }
            """)),
        Carrying(
          "a table that is renamed and kept", [],
          sql("ALTER TABLE reminders RENAME TO old; CREATE TABLE reminders (\(columns))")),
        Carrying(
          "values copied to another table first", [],
          sql(
            """
            CREATE TABLE flags (reminderID INTEGER PRIMARY KEY, done INTEGER);
            INSERT INTO flags SELECT id, done FROM reminders;
            ALTER TABLE reminders DROP done;
            """)),
        Carrying(
          "rows that are deleted and inserted again", [],
          sql(
            """
            CREATE TEMP TABLE backup AS SELECT * FROM reminders;
            DELETE FROM reminders;
            INSERT INTO reminders SELECT * FROM backup;
            DROP TABLE backup;
            """)),
        Carrying(
          "dropped in a draft that keeps all columns, created again in the next one", [],
          sql("CREATE TABLE n AS SELECT * FROM reminders; DROP TABLE reminders"),
          sql(
            """
            CREATE TABLE reminders (\(columns));
            INSERT INTO reminders (id, title, done, listID) SELECT id, title, done, listID FROM n;
            DROP TABLE n;
            """)),
        Carrying(
          "copied in a draft, renamed in the next one", [],
          sql("CREATE TABLE n (\(columns)); INSERT INTO n SELECT * FROM reminders"),
          sql("DROP TABLE reminders; ALTER TABLE n RENAME TO reminders")),
        Carrying(
          "copied in a draft, both renamed in the next one, and the old one dropped", [],
          sql("CREATE TABLE n (\(columns)); INSERT INTO n SELECT * FROM reminders"),
          sql("ALTER TABLE reminders RENAME TO old; ALTER TABLE n RENAME TO reminders"),
          sql("DROP TABLE old")),
        Carrying(
          "a column filled in a draft, renamed in the next one", [],
          sql("ALTER TABLE reminders ADD new INTEGER; UPDATE reminders SET new = done"),
          sql("ALTER TABLE reminders DROP done; ALTER TABLE reminders RENAME new TO done")),
        Carrying(
          "an UPDATE of the column itself", [],
          sql("UPDATE reminders SET done = 0 WHERE title IS NULL")),
        Carrying(
          "a DELETE of the table itself", [], sql("DELETE FROM reminders WHERE title IS NULL")),
        Carrying(
          "a number that becomes a text", [],
          operations("- alter_column: { table: reminders, column: done, type: TEXT }")),
      ]), Profile.allCases)
  func kept(_ carrying: Carrying, _ profile: Profile) throws { try check(carrying, profile) }

  @Test("a join without a key loses some rows, and a missing copy loses all")
  func someRows() throws {
    func messages(_ copy: String) throws -> [String] {
      let drafts =
        [sql("CREATE TABLE n (\(columns));\n\(copy)")]
        + [sql("DROP TABLE reminders; ALTER TABLE n RENAME TO reminders")]
      return try lint([base] + drafts, .local).findings.filter { $0.rule == "loses-rows" }
        .compactMap { $0.message.split(separator: " ").first.map(String.init) }
    }
    #expect(
      try messages(
        "INSERT INTO n SELECT r.* FROM reminders r JOIN lists l ON l.name = r.title GROUP BY r.id"
      ) == ["some"])
    #expect(try messages("INSERT INTO n SELECT * FROM reminders WHERE 0") == ["all"])
  }

  @Test("the finding names the location to which a dropped column's values were copied")
  func copied() throws {
    let steps = [
      base,
      sql(
        """
        CREATE TABLE flags (reminderID INTEGER PRIMARY KEY, isDone INTEGER);
        INSERT INTO flags SELECT id, done FROM reminders;
        ALTER TABLE reminders DROP done;
        """),
    ]
    let message = try lint(steps, .local).findings.first { $0.rule == "drop-column" }?.message
    #expect(message?.contains("`flags.isDone` holds a copy") == true)
    let lost = try lint([base, sql("ALTER TABLE reminders DROP done")], .local)
      .findings.first { $0.rule == "drop-column" }?.message
    #expect(lost?.contains("its values are lost;") == true)
    let hosts = sql("CREATE TABLE hosts (id INTEGER PRIMARY KEY, host TEXT NOT NULL, port INTEGER)")
    let joined = sql(
      """
      ALTER TABLE hosts ADD COLUMN url TEXT;
      UPDATE hosts SET url = CASE WHEN host LIKE 'x%' THEN host ELSE host || ':' || port END;
      ALTER TABLE hosts DROP COLUMN port;
      """)
    let copied = try lint([hosts, joined], .local).findings.first { $0.rule == "drop-column" }
    #expect(copied?.message.contains("lost, except where the migration copies them;") == true)
  }

  @Test("a migration that fails on generated rows is checked by the schema, with a note")
  func unjudged() throws {
    let report = try lint(
      [
        base,
        sql(
          """
          CREATE TEMP TABLE guard (n INTEGER CHECK (n = 0));
          INSERT INTO guard SELECT count(*) FROM reminders;
          DROP TABLE guard;
          ALTER TABLE reminders DROP done;
          ALTER TABLE reminders ADD done INTEGER;
          """),
      ], .local)
    #expect(report.notes.contains { $0.contains("lint judged `0002_step` without rows") })
    #expect(report.findings.contains { $0.rule == "loses-values" && $0.object == "reminders.done" })
  }

  @Test("a migration with very many statements is judged in part, with a note")
  func tooManyStatements() throws {
    let columns = (1...12).map { "c\($0)" }
    let definition = "(id INTEGER PRIMARY KEY, \(columns.joined(separator: " TEXT, ")) TEXT);"
    let indexes = "CREATE INDEX s_n ON s (n); DROP INDEX s_n;\n"
    let rebuild = """
      CREATE TABLE x \(definition)
      INSERT INTO x SELECT id, \(columns.map { "lower(\($0))" }.joined(separator: ", ")) FROM t;
      DROP TABLE t;
      ALTER TABLE x RENAME TO t;
      """
    let report = try lint(
      [
        sql("CREATE TABLE s (n INTEGER);\nCREATE TABLE t \(definition)"),
        sql(String(repeating: indexes, count: 150) + rebuild),
      ], .local)
    let lossy = report.findings.filter { $0.rule == "loses-values" }.compactMap(\.object)
    #expect(lossy.first == "t.c1" && !lossy.contains("t.c12"))
    #expect(
      report.notes == [
        "lint did not check \(12 - lossy.count) columns of `0002_step` for changed values: the migration "
          + "has too many statements. Divide it"
      ])
  }

  @Test(
    "a join loses rows without a partner, even if a new foreign key would refuse them",
    arguments: ["JOIN lists l ON l.id = i.list", "WHERE list IN (SELECT id FROM lists)"])
  func partners(_ join: String) throws {
    func losses(_ type: String) throws -> [String] {
      let report = try lint(
        [
          sql(
            """
            CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE items (id INTEGER PRIMARY KEY, list INTEGER NOT NULL, title TEXT);
            """),
          sql(
            """
            CREATE TABLE x (id INTEGER PRIMARY KEY, list \(type), title TEXT);
            INSERT INTO x SELECT i.id, list, i.title FROM items i \(join);
            DROP TABLE items;
            ALTER TABLE x RENAME TO items;
            """),
        ], .local)
      return report.findings.filter { $0.rule == "loses-rows" }.map(\.message)
    }
    for type in ["INTEGER NOT NULL", "INTEGER NOT NULL REFERENCES lists (id)"] {
      #expect(
        try losses(type)
          == ["rows of `items` are lost if no row of `lists` matches their `list`"])
    }
  }

  @Test(
    "values that move to another table need a reference from their rows",
    arguments: [
      ("", "other tables hold its values, but no row refers to them"),
      (
        "UPDATE books SET genreID = (SELECT id FROM genres WHERE name = genre);",
        "other columns hold results of its values"
      ),
    ])
  func detached(_ link: String, _ expected: String) throws {
    let report = try lint(
      [
        sql("CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, genre TEXT NOT NULL)"),
        sql(
          """
          CREATE TABLE genres (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
          INSERT INTO genres (name) SELECT DISTINCT genre FROM books ORDER BY genre;
          ALTER TABLE books ADD COLUMN genreID INTEGER REFERENCES genres (id);
          \(link)
          ALTER TABLE books DROP COLUMN genre;
          """),
      ], .local)
    let messages = report.findings.filter { $0.rule == "drop-column" }.map(\.message)
    #expect(messages.count == 1 && messages[0].contains("`books.genre`: \(expected);"))
  }
}

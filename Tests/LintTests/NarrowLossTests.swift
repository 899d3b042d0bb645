import SchemaLint
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

/// A manual rebuild of `t`.
private func rebuilt(
  _ select: String, n: String = "INTEGER", name: String = "TEXT"
) -> String {
  sql(
    """
    CREATE TABLE x (id INTEGER PRIMARY KEY, name \(name), n \(n), note TEXT);
    INSERT INTO x (id, name, n, note) \(select);
    DROP TABLE t;
    ALTER TABLE x RENAME TO t;
    """)
}

private let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, note TEXT)")

/// Parents, children whose foreign key is set to NULL, and a migration with enforced foreign keys.
private func parents(_ step: String) -> [String] {
  [
    sql(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p (id) ON DELETE SET NULL);
      CREATE INDEX c_p ON c (p);
      """), "foreign_keys: enforced\n" + sql(step),
  ]
}

/// The findings about losses, without severities.
private func losses(_ history: [String]) throws -> [String] {
  let report = try lint(history, .local)
  #expect(report.failure == nil)
  #expect(!report.notes.contains { $0.contains("without rows") })
  return report.findings.filter { ["loses-values", "loses-rows"].contains($0.rule) }
    .map { "\($0.rule) \($0.object ?? "")" }
}

@Suite("Losses of few values")
struct NarrowLossTests {
  @Test(
    "an expression that makes different values equal is found once",
    arguments: oneIn(
      4,
      of: [
        "abs(n)", "max(n, 0)", "min(n, 100)", "n % 10", "n / 10",
        "CASE WHEN n > 100 THEN 100 ELSE n END", "CAST(CAST(n AS REAL) AS INTEGER)",
        "row_number() OVER (ORDER BY id)", "NULLIF(n, 0)", "n <> 0", "iif(n, 1, 0)",
        "CASE n WHEN 1 THEN 2 END", "min(n, 2)", "min(n, 3)",
        "CASE WHEN n > 3 THEN 3 ELSE n END", "min(n, 1000000000)", "max(n, -2147483648)", "n & 255",
        "CASE WHEN n <= 2147483647 THEN n END", "n & 2147483647",
      ]))
  func numbers(_ expression: String) throws {
    #expect(
      try losses([table, rebuilt("SELECT id, name, \(expression), note FROM t")])
        == ["loses-values t.n"])
  }

  @Test(
    "ranks and the values of a group replace the values",
    arguments: [
      "row_number() OVER (ORDER BY n)", "dense_rank() OVER (ORDER BY n)",
      "ntile(4) OVER (ORDER BY n)", "(SELECT count(*) FROM t AS o WHERE o.n < t.n)",
      "max(n) OVER (PARTITION BY name)", "first_value(n) OVER (PARTITION BY name ORDER BY id)",
    ])
  func ranks(_ expression: String) throws {
    let report = try lint(
      [table, rebuilt("SELECT id, name, \(expression), note FROM t")], .local)
    #expect(
      report.findings.filter { $0.rule != "missing-strict" }.map(\.short)
        == ["0002 5:7 error loses-values t.n"])
  }

  @Test(
    "new numbers in the old order keep a column whose name means a position",
    arguments: [
      ("sort_order INTEGER", false), ("listPosition INTEGER", false), ("idx INTEGER", false),
      ("position REAL", false), ("wage INTEGER", true), ("wage REAL", true),
      ("record INTEGER", true), ("phone_numbers INTEGER", true),
    ], ["", "1024 * "])
  func positions(_ column: (definition: String, isLost: Bool), _ gap: String) throws {
    let (column, isLost) = column
    let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, \(column))"
    let name = column.split(separator: " ")[0]
    let report = try lint(
      [
        "operations:\n  - sql: \(table)\n",
        """
        operations:
          - sql:
              - CREATE TABLE u (id INTEGER PRIMARY KEY, name TEXT, \(column))
              - INSERT INTO u SELECT id, name, \(gap)row_number() OVER (ORDER BY \(name)) FROM t
              - DROP TABLE t
              - ALTER TABLE u RENAME TO t

        """,
      ], .local)
    #expect(report.findings.contains { $0.rule == "loses-values" } == isLost)
  }

  @Test(
    "values in other rows are lost, and rows with a new key keep their values",
    arguments: [
      ("id, lead(name) OVER (ORDER BY name), n, note FROM t", ["loses-values t.name"]),
      (
        "id, coalesce(lead(name) OVER (ORDER BY id), (SELECT name FROM t ORDER BY id LIMIT 1)), n, note "
          + "FROM t", ["loses-values t.name"]
      ),
      (
        "a.id, b.name, a.n, a.note FROM (SELECT *, row_number() OVER (ORDER BY id) AS r FROM t) a "
          + "JOIN (SELECT name, row_number() OVER (ORDER BY name) AS r FROM t) b ON a.r = b.r",
        ["loses-values t.name"]
      ),
      (
        "a.id, b.name, a.n, a.note FROM (SELECT *, row_number() OVER (ORDER BY id) AS r FROM t) a "
          + "JOIN (SELECT name, row_number() OVER (ORDER BY id) AS r FROM t) b ON a.r = b.r", []
      ),
      ("-id, name, n, note FROM t", []), ("id, name, n, note FROM t ORDER BY name DESC", []),
    ])
  func otherRows(_ source: String, _ lost: [String]) throws {
    #expect(try losses([table, rebuilt("SELECT \(source)")]) == lost)
  }

  @Test(
    "an expression with a blank keeps different values different",
    arguments: ["name || ' ' || id", "' ' || name", "printf('%s %s', name, '\n')"])
  func blanks(_ expression: String) throws {
    #expect(try losses([table, rebuilt("SELECT id, \(expression), n, note FROM t")]) == [])
  }

  @Test(
    "truncated BLOBs and long texts are found",
    arguments: [
      "substr(b, 1, 16), c", "substr(b, 1, 4096), c", "b, substr(c, 1, 10000)", "substr(b, -50), c",
      "b, substr(c, -100)", "b, substr(c, 1, 10) || substr(c, -10)",
    ])
  func truncated(_ expressions: String) throws {
    let base = sql("CREATE TABLE w (id INTEGER PRIMARY KEY, b BLOB, c TEXT NOT NULL)")
    let step = sql(
      """
      CREATE TABLE x (id INTEGER PRIMARY KEY, b BLOB, c TEXT NOT NULL);
      INSERT INTO x SELECT id, \(expressions) FROM w;
      DROP TABLE w;
      ALTER TABLE x RENAME TO w;
      """)
    let column = expressions.hasPrefix("b") ? "c" : "b"
    #expect(try losses([base, step]) == ["loses-values w.\(column)"])
    #expect(try losses([base, sql("UPDATE w SET b = b || x'00', c = c || '!' WHERE true")]) == [])
  }

  @Test("a rounded number is found, and a change of its unit is not")
  func rounded() throws {
    let real = table.replacing("n INTEGER", with: "n REAL")
    func found(_ expression: String, _ type: String) throws -> [String] {
      try losses([real, rebuilt("SELECT id, name, \(expression), note FROM t", n: type)])
    }
    for expression in [
      "round(n, 2)", "round(n, 6)", "abs(n)", "min(n, 100.0)", "iif(n > 0, n, NULL)",
    ] {
      #expect(try found(expression, "REAL") == ["loses-values t.n"], "\(expression)")
    }
    #expect(try found("n * 2", "REAL") == [])
    #expect(try found("CAST(round(n * 100) AS INTEGER)", "INTEGER") == [])
  }

  @Test("a constant in place of NULL loses no value, whether or not the column still accepts NULL")
  func constantInPlaceOfNull() throws {
    for type in ["INTEGER", "INTEGER NOT NULL"] {
      let step = rebuilt("SELECT id, name, coalesce(n, 0), note FROM t", n: type)
      #expect(try losses([table, step]) == [])
    }
    #expect(try losses([table, sql("UPDATE t SET n = coalesce(n, 0)")]) == [])
  }

  @Test(
    "values that a CHECK restricts and that become equal are found once",
    arguments: [
      ("TEXT", "c LIKE '%@%'", "lower(c)"), ("TEXT", "c LIKE '%@%'", "trim(c)"),
      ("TEXT NOT NULL", "c LIKE '%_@_%._%'", "lower(trim(c))"),
      ("TEXT", "c = trim(c) AND instr(c, '@') > 1", "lower(c)"),
      ("TEXT NOT NULL UNIQUE", "c LIKE '%@%'", "lower(c)"),
      ("TEXT", "c LIKE 'https://%'", "lower(c)"), ("TEXT", "c GLOB '+[0-9]*'", "substr(c, 4)"),
      ("TEXT", "c LIKE '____-__-__'", "substr(c, 1, 7)"),
      ("TEXT", "c LIKE '__:__'", "substr(c, 1, 2)"),
      ("TEXT", "length(c) <= 100", "substr(c, 1, 50)"),
      ("TEXT NOT NULL", "length(c) < 65", "printf('%.20s', c)"),
      ("TEXT", "length(c) = 2 AND c = upper(c)", "substr(c, 1, 1) || 'X'"),
      ("TEXT NOT NULL", "c = upper(c) AND length(c) = 3", "substr(c, 1, 2)"),
      ("TEXT", "length(c) = 6 AND c NOT GLOB '*[^0-9]*'", "substr(c, 1, 3)"),
      ("REAL NOT NULL", "c BETWEEN 0 AND 1", "round(c, 1)"),
      ("REAL", "c >= 0.0 AND c <= 1.0", "round(c, 2)"),
      ("REAL", "c BETWEEN 0 AND 1", "CAST(c AS INTEGER)"),
      ("REAL", "c > 1000.0 AND c < 2000.0", "round(c, 1)"),
      ("REAL NOT NULL", "c BETWEEN 1000 AND 2000", "round(c, 1)"),
      ("REAL", "c >= -90 AND c <= 90", "round(c, 3)"),
    ])
  func losingRestricted(_ type: String, _ check: String, _ expression: String) throws {
    #expect(try losses(restricted(type, check, expression)) == ["loses-values t.c"])
  }

  @Test(
    "values that a CHECK restricts and that another form represents are kept",
    arguments: [
      ("TEXT", "c = lower(c) AND c LIKE '%@%'", "lower(c)"),
      ("TEXT", "c LIKE '__:__'", "c || ':00'"),
      ("REAL", "c BETWEEN 0 AND 1", "CAST(round(c * 100) AS INTEGER)"),
      ("REAL", "c BETWEEN 0 AND 1", "1 - c"),
    ])
  func keepingRestricted(_ type: String, _ check: String, _ expression: String) throws {
    #expect(try losses(restricted(type, check, expression)) == [])
  }

  private func restricted(_ type: String, _ check: String, _ expression: String) -> [String] {
    [
      sql("CREATE TABLE t (id INTEGER PRIMARY KEY, c \(type) CHECK (\(check)), note TEXT)"),
      sql(
        """
        CREATE TABLE x (id INTEGER PRIMARY KEY, c, note TEXT);
        INSERT INTO x SELECT id, \(expression), note FROM t;
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """),
    ]
  }

  @Test("values of a CHECK that a CASE does not name and that become equal are found")
  func unnamedValues() throws {
    let check = "c IN ('low', 'medium', 'high', 'urgent')"
    #expect(
      try losses(
        restricted(
          "TEXT", check, "CASE c WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END"))
        == ["loses-values t.c"])
    #expect(
      try losses(
        restricted(
          "TEXT", check,
          "CASE c WHEN 'urgent' THEN 3 WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END")) == [])
  }

  @Test("rows that the manifest deletes are not lost values, although a log keeps their keys")
  func tombstones() throws {
    func deleted(_ logged: String) throws -> [String] {
      try losses([
        sql(
          """
          CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT, body TEXT, gone INTEGER NOT NULL);
          CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT);
          CREATE TRIGGER t_gone AFTER DELETE ON t BEGIN INSERT INTO log VALUES (\(logged)); END;
          """), "operations:\n  - delete: { table: t, where: gone = 1 }\n",
      ])
    }
    #expect(try deleted("OLD.id, NULL") == [])
    // The log may be an archive, which keeps only a part of each row.
    #expect(try deleted("OLD.id, OLD.title") == ["loses-values t.body"])
  }

  @Test("a value that becomes NULL is not lost where NULL was refused")
  func nullInPlaceOfZero() throws {
    let required = table.replacing("n INTEGER", with: "n INTEGER NOT NULL")
    #expect(try losses([required, rebuilt("SELECT id, name, NULLIF(n, 0), note FROM t")]) == [])
  }

  @Test(
    "a text that is truncated or changed is found once",
    arguments: oneIn(
      4,
      of: [
        "substr(name, 1, 1)", "substr(name, 1, 100)", "upper(name)", "ltrim(name, '0')",
        "replace(name, ' ', '')", "length(name)", "instr(name, 'a')", "date(name)",
        "CASE WHEN length(name) > 10 THEN 'long' ELSE name END", "CAST(name AS INTEGER)",
        "coalesce(note, name)", "substr(name, 2)", "substr(name, 1, 1000)", "rtrim(name, '/')",
        "replace(name, '-', '')", "name || note",
        "iif(name = 'x', 'y', 'z')", "coalesce(date(name), name)", "trim(name, char(9))",
        "iif(json_valid(name), json_remove(name, '$.draft'), name)",
        "CASE WHEN instr(name, char(10)) > 0 THEN substr(name, 1, instr(name, char(10)) - 1) "
          + "ELSE name END",
        "iif(json_valid(name), name ->> '$.text', name)",
      ]))
  func texts(_ expression: String) throws {
    #expect(
      try losses([table, rebuilt("SELECT id, \(expression), n, note FROM t")])
        == ["loses-values t.name"])
  }

  @Test("texts that are truncated while their rows are deleted and inserted again are found")
  func insertedAgain() throws {
    for copy in ["TEMP TABLE x", "TABLE x"] {
      let step = """
        CREATE \(copy) AS SELECT id, substr(name, 1, 3) AS name, n, note FROM t;
        DELETE FROM t;
        INSERT INTO t SELECT id, name, n, note FROM x;
        DROP TABLE x;
        """
      #expect(try losses([table, sql(step)]) == ["loses-values t.name"])
    }
    #expect(try losses([table, sql("DELETE FROM t WHERE name <> lower(name)")]) == [])
    #expect(
      try losses([table, sql("DELETE FROM t WHERE abs(n) > 5 AND substr(name, 1, 1) = 'x'")]) == [])
  }

  @Test("a flag that becomes another flag is kept")
  func flags() throws {
    for definition in [
      "n INTEGER NOT NULL DEFAULT 0", "n BOOLEAN NOT NULL",
      "n INTEGER NOT NULL CHECK (n IN (0, 1))",
    ] {
      let flags = table.replacing("n INTEGER", with: definition)
      for expression in ["n <> 0", "1 - n", "NOT n", "CASE n WHEN 0 THEN 0 ELSE 1 END"] {
        let step = rebuilt("SELECT id, name, \(expression), note FROM t", n: "INTEGER")
        #expect(try losses([flags, step]) == [], "\(definition) \(expression)")
      }
    }
  }

  @Test("a UNION that removes equal rows loses them, unless the table gets a key")
  func union() throws {
    let tags = sql("CREATE TABLE t (name TEXT, n INTEGER)")
    func copied(_ definition: String) -> String {
      sql(
        """
        CREATE TABLE x (\(definition));
        INSERT INTO x SELECT name, n FROM t UNION SELECT name, n FROM t;
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """)
    }
    #expect(try losses([tags, copied("name TEXT, n INTEGER")]) == ["loses-rows t"])
    #expect(try losses([tags, copied("name TEXT, n INTEGER, UNIQUE (name, n)")]) == [])
  }

  @Test("a REPLACE loses the columns that it does not name")
  func replace() throws {
    #expect(
      try losses([table, sql("REPLACE INTO t (id, name) SELECT id, upper(name) FROM t")])
        == ["loses-values t.n", "loses-values t.note"])
    #expect(
      try losses([table, sql("REPLACE INTO t SELECT id, upper(name), n + 1, note FROM t")]) == [])
  }

  @Test("a REPLACE from another table loses the columns that it does not name")
  func replaceFromOther() throws {
    let others = sql("CREATE TABLE o (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, note TEXT)")
    func lost(by step: String) throws -> [String] { try losses([table, others, sql(step)]) }
    #expect(
      try lost(by: "REPLACE INTO t (id, name) SELECT id, name FROM o")
        == ["loses-values t.n", "loses-values t.note"])
    #expect(
      try lost(by: "INSERT OR REPLACE INTO t (id, name, n) SELECT o.id, o.name, 5 FROM o")
        == ["loses-values t.note"])
    for step in [
      "REPLACE INTO t (id, name, n, note) SELECT id, name, n, note FROM o",
      "REPLACE INTO t SELECT * FROM o",
      "INSERT OR IGNORE INTO t (id, name) SELECT id, name FROM o",
      "INSERT INTO t (id, name) SELECT id, name FROM o WHERE true "
        + "ON CONFLICT (id) DO UPDATE SET name = excluded.name",
    ] {
      #expect(try lost(by: step) == [], "\(step)")
    }
  }

  @Test("a member of a JSON object in place of the object loses the other members")
  func members() throws {
    #expect(
      try losses([table, rebuilt("SELECT id, json_extract(name, '$.x'), n, note FROM t")])
        == ["loses-values t.name"])
    for name in [
      "json_set(name, '$.y', 1)", "CASE WHEN json_valid(name) THEN name ELSE name END",
      "json(name)",
    ] {
      #expect(try losses([table, rebuilt("SELECT id, \(name), n, note FROM t")]) == [], "\(name)")
    }
  }

  @Test("rows that UPDATE OR REPLACE deletes are lost")
  func updateOrReplace() throws {
    let names = table.replacing("name TEXT", with: "name TEXT UNIQUE")
    #expect(
      try losses([names, sql("UPDATE OR REPLACE t SET name = lower(name) WHERE name > ''")])
        == ["loses-rows t"])
    #expect(
      try losses([names, sql("UPDATE OR REPLACE t SET name = trim(name)")]) == ["loses-rows t"])
    #expect(try losses([names, sql("UPDATE OR REPLACE t SET note = trim(note)")]) == [])
  }

  @Test("a type that cannot represent every value is found")
  func types() throws {
    let all = "SELECT id, name, n, note FROM t"
    #expect(try losses([table, rebuilt(all, n: "REAL")]) == ["loses-values t.n"])
    #expect(try losses([table, rebuilt(all, name: "INTEGER")]) == ["loses-values t.name"])
  }

  @Test(
    "a LIMIT of any size omits rows",
    arguments: ["LIMIT 5", "LIMIT 1500", "LIMIT 0, 5000", "LIMIT 100000 OFFSET 0"])
  func limit(_ limit: String) throws {
    #expect(
      try losses([table, rebuilt("SELECT id, name, n, note FROM t ORDER BY id \(limit)")])
        == ["loses-rows t"])
  }

  @Test("an unlimited LIMIT, and one in a DELETE, causes no loss")
  func noLimit() throws {
    let all = "SELECT id, name, n, note FROM t"
    #expect(try losses([table, rebuilt("\(all) LIMIT -1")]) == [])
    #expect(try losses([table, rebuilt("\(all) LIMIT 9223372036854775807")]) == [])
    #expect(
      try losses([
        table,
        sql("DELETE FROM t WHERE id NOT IN (SELECT id FROM t ORDER BY id DESC LIMIT 1000)"),
      ]) == [])
  }

  @Test(
    "copies of all parts of a table cause no loss, and a missing part does",
    arguments: [("LIMIT 500", "LIMIT -1 OFFSET 500"), ("LIMIT 0, 500", "LIMIT 500, -1")])
  func parts(_ first: String, _ rest: String) throws {
    func copied(_ limits: [String]) -> String {
      sql(
        """
        CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, note TEXT);
        \(limits.map { "INSERT INTO x SELECT id, name, n, note FROM t ORDER BY id \($0);" }
          .joined(separator: "\n"))
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """)
    }
    #expect(try losses([table, copied([first, rest])]) == [])
    #expect(try losses([table, copied([rest])]) == ["loses-rows t"])
  }

  @Test("a reference that ON DELETE SET NULL clears is found at the statement that deletes parents")
  func cleared() throws {
    #expect(try losses(parents("DELETE FROM p WHERE name IS NULL")) == ["loses-values c.p"])
    let copy = "CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO x SELECT * FROM p;"
    let report = try lint(
      parents("\(copy)\nDROP TABLE p;\nALTER TABLE x RENAME TO p;"), .local)
    #expect(
      report.lines.filter { $0.contains("loses-values") } == ["0002 5:7 error loses-values c.p"])
  }

  @Test("a copy that ignores rows which differ only in case loses them")
  func alikeButForCase() throws {
    #expect(
      try losses([
        sql("CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT UNIQUE)"),
        sql(
          """
          CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE);
          INSERT OR IGNORE INTO x SELECT id, name FROM tags;
          DROP TABLE tags;
          ALTER TABLE x RENAME TO tags;
          """),
      ]) == ["loses-rows tags"])
  }

  @Test("two tables that one draft merges lose rows with equal keys if the copy ignores them")
  func merged() throws {
    let tables = sql(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE b (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      """)
    func merging(_ rest: String) -> String {
      sql(
        """
        CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        INSERT INTO x SELECT * FROM b;
        \(rest);
        DROP TABLE a;
        ALTER TABLE x RENAME TO a;
        """)
    }
    for copy in ["x SELECT * FROM a", "x (id, name) SELECT id, name FROM a"] {
      #expect(
        try losses([tables, merging("INSERT OR IGNORE INTO \(copy)")]) == ["loses-values a.name"])
    }
  }

  @Test("rows depend on a table that the step only reads and that may be empty")
  func settings() throws {
    let tables = sql(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT);
      CREATE TABLE settings (id INTEGER PRIMARY KEY, theme TEXT NOT NULL);
      """)
    func copying(_ source: String) -> String {
      sql(
        """
        CREATE TABLE x (id INTEGER PRIMARY KEY, note TEXT, theme TEXT);
        INSERT INTO x SELECT t.id, t.note, \(source);
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """)
    }
    for source in [
      "s.theme FROM t, settings s WHERE s.id = 1",
      "s.theme FROM t JOIN (SELECT theme FROM settings LIMIT 1) s",
      "'' FROM t WHERE EXISTS (SELECT 1 FROM settings)",
    ] {
      let report = try lint([tables, copying(source)])
      #expect(
        report.findings.filter { $0.rule == "loses-rows" }.map { "\($0.line) \($0.message)" }
          == ["5 if `settings` is empty, all rows of `t` are lost"])
    }
    for source in [
      "s.theme FROM t LEFT JOIN settings s ON s.id = 1", "(SELECT theme FROM settings) FROM t",
    ] {
      #expect(try losses([tables, copying(source)]) == [])
    }
    // A migration has written the row.
    let filled = sql("INSERT INTO settings VALUES (1, 'dark')")
    #expect(
      try losses([tables, filled, copying("s.theme FROM t, settings s WHERE s.id = 1")]) == [])
  }

  @Test("flags are lost if the migration unpacks them from another bit")
  func packedFlags() throws {
    let table = sql(
      """
      CREATE TABLE t (
        id INTEGER PRIMARY KEY, a INTEGER NOT NULL CHECK (a IN (0, 1)),
        b INTEGER NOT NULL CHECK (b IN (0, 1)));
      """)
    func unpacking(_ b: String) -> String {
      sql(
        """
        ALTER TABLE t ADD COLUMN flags INTEGER NOT NULL DEFAULT 0;
        UPDATE t SET flags = a | (b << 1);
        ALTER TABLE t DROP COLUMN a;
        ALTER TABLE t DROP COLUMN b;
        ALTER TABLE t ADD COLUMN a INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE t ADD COLUMN b INTEGER NOT NULL DEFAULT 0;
        UPDATE t SET a = flags & 1, b = \(b);
        ALTER TABLE t DROP COLUMN flags;
        """)
    }
    #expect(try losses([table, unpacking("flags & 1")]) == ["loses-values t.b"])
    #expect(try losses([table, unpacking("flags >> 1")]) == [])
  }

  @Test("a copy of the first element of a JSON array loses the others")
  func elements() throws {
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, tags TEXT CHECK (json_valid(tags)))")
    func copying(_ tags: String) -> String {
      sql(
        """
        CREATE TABLE x (id INTEGER PRIMARY KEY, tags TEXT CHECK (json_valid(tags)));
        INSERT INTO x SELECT id, \(tags) FROM t;
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """)
    }
    #expect(
      try losses([table, copying("json_array(json_extract(tags, '$[0]'))")])
        == ["loses-values t.tags"])
    #expect(try losses([table, copying("json(tags)")]) == [])
  }

  @Test(
    "a rebuild from an earlier draft's copy keeps the rows although a later draft drops the copy")
  func copyOverDrafts() throws {
    #expect(
      try losses([
        table, sql("CREATE TABLE c AS SELECT * FROM t"),
        sql(
          """
          DROP TABLE t;
          CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, note TEXT);
          INSERT INTO t SELECT * FROM c;
          """), sql("DROP TABLE c"),
      ]) == [])
  }

  @Test("a column that one draft renames, the next replaces and another drops is lost")
  func replacedOverDrafts() throws {
    #expect(
      try losses([
        table, sql("ALTER TABLE t RENAME COLUMN note TO old"),
        sql("ALTER TABLE t ADD COLUMN note TEXT"), sql("ALTER TABLE t DROP COLUMN old"),
      ]) == ["loses-values t.note"])
    #expect(
      try losses([
        table, sql("ALTER TABLE t RENAME COLUMN note TO old"),
        sql("ALTER TABLE t ADD COLUMN note TEXT; UPDATE t SET note = old"),
        sql("ALTER TABLE t DROP COLUMN old"),
      ]) == [])
  }

  @Test("values that only a generated column passes on are kept")
  func generated() throws {
    let step = """
      CREATE TABLE x (id INTEGER PRIMARY KEY, doubled TEXT);
      INSERT INTO x (id, doubled) SELECT id, twice FROM t;
      DROP TABLE t;
      ALTER TABLE x RENAME TO t;
      """
    let report = try lint(
      [
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT, twice TEXT AS (note || note))"),
        sql(step),
      ], .local)
    #expect(
      report.findings.first { $0.rule == "drop-column" && $0.object == "t.note" }?.message
        .contains("results of its values") ?? false)
  }

  @Test(
    "a dropped column's values are found where an earlier draft copied them, with a rebuild between"
  )
  func copiedBeforeARebuild() throws {
    let columns = "id INTEGER PRIMARY KEY, note TEXT, name2 TEXT"
    let rebuild = """
      CREATE TABLE x (\(columns));
      INSERT INTO x (id, note, name2) SELECT id, note, name2 FROM t;
      DROP TABLE t;
      ALTER TABLE x RENAME TO t;
      """
    func fate(_ draft: String) throws -> String? {
      let report = try lint(
        ["CREATE TABLE t (\(columns))", draft, rebuild, rebuild, "ALTER TABLE t DROP COLUMN note"]
          .map(sql), .local)
      #expect(report.failure == nil)
      return report.findings.first { $0.rule == "drop-column" }?.message
        .split(separator: ": ").last?.split(separator: ";").first.map(String.init)
    }
    #expect(try fate("ALTER TABLE t ADD COLUMN name3 TEXT") == "its values are lost")
    #expect(
      try fate("UPDATE t SET name2 = note")
        == "`t.name2` holds a copy of its values")
    #expect(
      try fate(
        "CREATE TABLE kept (id INTEGER PRIMARY KEY, note TEXT);"
          + "INSERT INTO kept (id, note) SELECT id, note FROM t")
        == "`kept.note` holds a copy of its values")
    #expect(
      try fate(
        "CREATE TABLE kept (id INTEGER PRIMARY KEY, note TEXT, b); INSERT INTO kept SELECT * FROM t"
      )
        == "`kept.note` holds a copy of its values")
    // SQLite copies tables of the same form entry by entry, and reports no column.
    #expect(
      try fate("CREATE TABLE kept (\(columns)); INSERT INTO kept SELECT * FROM t")
        == "`kept.note` holds a copy of its values")
    #expect(
      try fate(
        """
        ALTER TABLE t RENAME COLUMN "note" TO old;
        UPDATE t SET name2 = old;
        ALTER TABLE t RENAME COLUMN old TO "note";
        """) == "`t.name2` holds a copy of its values")
    #expect(
      try fate(
        """
        ALTER TABLE t RENAME TO u;
        CREATE TABLE kept (id INTEGER PRIMARY KEY, note TEXT);
        INSERT INTO kept (id, note) SELECT id, note FROM u;
        ALTER TABLE u RENAME TO t;
        """) == "`kept.note` holds a copy of its values")
    // The copy of a rebuild, before it has the table's name.
    #expect(
      try fate(
        """
        CREATE TABLE kept (id INTEGER PRIMARY KEY, note TEXT);
        CREATE TABLE x (\(columns));
        INSERT INTO x (id, note, name2) SELECT id, note, name2 FROM t;
        INSERT INTO kept (id, note) SELECT id, note FROM x;
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """) == "`kept.note` holds a copy of its values")
    // Another table has a column of this name, and a CHECK reads it.
    #expect(
      try fate(
        """
        CREATE TABLE other (id INTEGER PRIMARY KEY, note TEXT);
        CREATE TABLE another AS SELECT id, note FROM other;
        CREATE TABLE x (id INTEGER PRIMARY KEY, note TEXT CHECK (note <> 'no'), name2 TEXT);
        INSERT INTO x (id, note, name2) SELECT id, note, name2 FROM t;
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """) == "its values are lost")
    #expect(
      try fate("CREATE TABLE kept AS SELECT id, note || '!' || id AS shout FROM t")
        == "other columns hold results of its values")
  }

  @Test("a dropped column's values are found where one of several drafts copied them")
  func copiedByEarlierDrafts() throws {
    let columns = "id INTEGER PRIMARY KEY, note TEXT, name2 TEXT"
    let drop = "ALTER TABLE t DROP COLUMN note"
    /// What the findings say about the values of the dropped columns, in order.
    func fates(_ drafts: String...) throws -> [String] {
      let report = try lint((["CREATE TABLE t (\(columns))"] + drafts).map(sql), .local)
      #expect(report.failure == nil)
      return report.findings.filter { $0.rule == "drop-column" }.compactMap {
        $0.message.split(separator: ": ").last?.split(separator: ";").first.map(String.init)
      }
    }
    let kept = ["`kept.note` holds a copy of its values"]
    let lost = ["its values are lost"]
    let copy = "CREATE TABLE kept AS SELECT * FROM t"

    // A view, or a trigger, reads the table for a statement that does not name it.
    let view = "CREATE VIEW v AS SELECT id, note FROM t"
    #expect(
      try fates(view, "CREATE TABLE kept AS SELECT * FROM v", "DROP VIEW v", drop) == kept)
    let trigger = """
      CREATE TABLE kept (\(columns));
      CREATE TABLE log (a);
      CREATE TRIGGER copy AFTER INSERT ON log BEGIN INSERT INTO kept SELECT * FROM t; END;
      """
    #expect(
      try fates(trigger, "INSERT INTO log VALUES (1)", "DROP TRIGGER copy", drop) == kept)
    // A draft between the copy and the loss drops an object that names the column.
    #expect(try fates("CREATE INDEX i ON t (note)", copy, "DROP INDEX i", drop) == kept)
    let generated = "ALTER TABLE t ADD g TEXT AS (note); CREATE TABLE kept (\(columns));"
    #expect(
      try fates(
        generated, "INSERT INTO kept (id, note) SELECT id, g FROM t",
        "ALTER TABLE t DROP COLUMN g", drop
      ).last == kept[0])

    #expect(
      try fates(
        """
        \(generated)
        INSERT INTO kept (id, note) SELECT id, g FROM t;
        ALTER TABLE t DROP COLUMN g;
        """, drop) == kept)

    // A later copy needs the rows of an earlier one, or only rebuilds the table.
    #expect(
      try fates(
        "CREATE TABLE kept (id INTEGER PRIMARY KEY, note TEXT); INSERT INTO kept (id) SELECT id FROM t",
        "UPDATE kept SET note = (SELECT t.note FROM t WHERE t.id = kept.id)", drop) == kept)
    #expect(
      try fates(
        copy,
        """
        CREATE TABLE x (\(columns));
        INSERT INTO x SELECT * FROM t;
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """, drop) == kept)

    // The draft that drops the column copies it into rows of an earlier one.
    #expect(
      try fates(
        "CREATE TABLE kept (id INTEGER PRIMARY KEY, note TEXT); INSERT INTO kept (id) SELECT id FROM t",
        "UPDATE kept SET note = t.note FROM t WHERE t.id = kept.id; \(drop)") == kept)
    // A rebuild leaves the old table.
    #expect(
      try fates(
        """
        ALTER TABLE t RENAME TO kept;
        CREATE TABLE t (\(columns));
        INSERT INTO t (id, note, name2) SELECT id, note, name2 FROM kept;
        """, drop) == kept)
    #expect(
      try fates("ALTER TABLE t RENAME TO kept", "CREATE TABLE t AS SELECT * FROM kept", drop)
        == kept)
    // A later draft stores the values in another form.
    let lower = "UPDATE t SET name2 = lower(note) WHERE true"
    #expect(
      try fates(lower, drop) == [
        "other columns hold results of its values, which are the same for 'Zebra abc' and 'ZEBRA ABC'"
      ])
    #expect(try fates(copy, lower, drop) == kept)

    // The table and the column had other names.
    #expect(
      try fates(
        copy, "ALTER TABLE t RENAME COLUMN note TO body", "ALTER TABLE t RENAME TO u",
        "ALTER TABLE u DROP COLUMN body") == kept)
    // Only an older column of the same name was copied.
    #expect(try fates(copy, drop, "ALTER TABLE t ADD note TEXT", drop) == kept + lost)
  }

  @Test(
    "the first element of a list does not hold the others",
    arguments: ["json_extract(tags, '$[0]')", "tags ->> 0", "tags ->> '$[0]'"])
  func firstElement(_ expression: String) throws {
    let report = try lint(
      [
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, tags TEXT NOT NULL)"),
        sql(
          """
          ALTER TABLE t ADD COLUMN tag TEXT;
          UPDATE t SET tag = \(expression) WHERE id > 0;
          ALTER TABLE t DROP COLUMN tags;
          """),
      ], .local)
    #expect(report.notes == [])
    #expect(report.findings.map(\.rule) == ["drop-column"])
    #expect(report.findings.first?.message.contains("which are the same for '[\"Milk") == true)
  }

  @Test("a key that is copied to a table with rows is in that table")
  func copiedKeys() throws {
    func drop(after copied: String) throws -> [String] {
      let start = """
        CREATE TABLE p (id INTEGER PRIMARY KEY);
        CREATE TABLE t (id INTEGER PRIMARY KEY, note INT REFERENCES p, b TEXT);
        CREATE TABLE k (id INTEGER PRIMARY KEY, note INT);
        """
      let rebuild = """
        INSERT INTO k SELECT id, \(copied) FROM t;
        CREATE TABLE x (id INTEGER PRIMARY KEY, b TEXT);
        INSERT INTO x SELECT id, b FROM t;
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """
      return try lint([sql(start), sql(rebuild)], .local).findings.compactMap {
        $0.rule == "drop-column"
          ? $0.message.split(separator: ";").first.map(String.init) : nil
      }
    }
    let kept = "this drops `t.note`: `k.note` holds a copy of its values"
    let lost = "this drops `t.note`: its values are lost"
    #expect(try drop(after: "note") == [kept])
    // The rows of both tables would collide if they had the keys that this compares.
    #expect(try drop(after: "(SELECT note FROM t AS u WHERE u.id = t.id)") == [kept])
    for other in ["NULL", "3", "(SELECT min(id) FROM p)"] {
      #expect(try drop(after: other) == [lost])
    }
    #expect(
      try drop(after: "(SELECT max(id) FROM p WHERE id < note)") == [
        "this drops `t.note`: other columns hold results of its values"
      ])
  }

  @Test("a column that a rebuild over several drafts omits is dropped where its last table is")
  func rebuiltOverDrafts() throws {
    func drops(_ drafts: String...) throws -> [String] {
      let start = "CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT, b TEXT)"
      let report = try lint(([start] + drafts).map(sql), .local)
      #expect(report.failure == nil)
      return report.findings.filter { $0.rule == "drop-column" }.compactMap {
        $0.message.split(separator: ";").first.map(String.init)
      }
    }
    let lost = "this drops `t.note`: its values are lost"
    let kept = "this drops `t.note`: `kept.note` holds a copy of its values"
    let copy = "CREATE TABLE kept AS SELECT * FROM t"
    let new = "CREATE TABLE x (id INTEGER PRIMARY KEY, b TEXT)"
    let replaced = "INSERT INTO x SELECT id, b FROM t; DROP TABLE t"
    let renamed = "ALTER TABLE x RENAME TO t"
    #expect(try drops(new, replaced, renamed) == [lost])
    #expect(try drops(copy, new, replaced, renamed) == [kept])

    let away = "ALTER TABLE t RENAME TO old"
    let shorter = "CREATE TABLE t (id INTEGER PRIMARY KEY, b TEXT)"
    let filled = "INSERT INTO t SELECT id, b FROM old"
    #expect(
      try drops(away, shorter, filled) == [
        "this drops `t.note`: `old.note` holds a copy of its values"
      ])
    #expect(try drops(away, shorter, filled, "DROP TABLE old") == [lost])
    #expect(try drops(copy, away, shorter, filled, "DROP TABLE old") == [kept])

    // The rename is no part of a later rebuild under the new name.
    #expect(
      try drops(
        "ALTER TABLE t RENAME TO u",
        """
        CREATE TABLE x (id INTEGER PRIMARY KEY, b TEXT);
        INSERT INTO x SELECT id, b FROM u;
        DROP TABLE u;
        ALTER TABLE x RENAME TO u;
        """) == ["this drops `u.note`: its values are lost"])
  }

  @Test(
    "an invertible expression is no finding",
    arguments: oneIn(
      4,
      of: [
        "-n", "n + 1", "n * 100", "n * 1000000", "n / 1000.0", "n = 1",
        "CASE n WHEN 0 THEN 10 WHEN 1 THEN 20 ELSE n END",
        "iif(n = 1, 'done', iif(n = 2, 'open', 'none'))", "datetime(n, 'unixepoch')",
        "json_array(n, note)", "CAST(n AS TEXT)",
      ]))
  func kept(_ expression: String) throws {
    #expect(
      try losses([table, rebuilt("SELECT id, name, \(expression), note FROM t", n: "")]) == [])
  }

  @Test("values that are split, packed or moved to another table are kept")
  func moved() throws {
    let steps = [
      """
      CREATE TABLE notes (t INTEGER PRIMARY KEY, note TEXT);
      INSERT INTO notes SELECT id, note FROM t;
      UPDATE t SET note = NULL WHERE note IS NOT NULL;
      """,
      """
      ALTER TABLE t ADD COLUMN first TEXT;
      ALTER TABLE t ADD COLUMN last TEXT;
      UPDATE t SET first = substr(name, 1, instr(name || ' ', ' ') - 1),
        last = substr(name, instr(name || ' ', ' ') + 1);
      ALTER TABLE t DROP COLUMN name;
      """,
      "INSERT OR REPLACE INTO t SELECT id, name, n, note FROM t;",
    ]
    for step in steps { #expect(try losses([table, sql(step)]) == []) }
  }

  @Test(
    "a step that parses dates is tested with dates",
    arguments: [
      ("INTEGER NOT NULL", "CAST(strftime('%s', at) AS INTEGER)"),
      ("INTEGER NOT NULL DEFAULT 0", "unixepoch(at)"), ("NOT NULL", "coalesce(unixepoch(at), at)"),
      ("TEXT NOT NULL", "replace(at, ' ', 'T')"), ("TEXT NOT NULL", "replace(at, 'Z', '')"),
    ])
  func dates(definition: String, expression: String) throws {
    #expect(
      try losses([
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, at TEXT NOT NULL)"),
        sql(
          """
          CREATE TABLE x (id INTEGER PRIMARY KEY, at \(definition));
          INSERT INTO x SELECT id, \(expression) FROM t;
          DROP TABLE t;
          ALTER TABLE x RENAME TO t;
          """),
      ]) == [])
  }

  @Test("a calculation with a key keeps it", arguments: ["id * 3", "1000 - id", "id + 1000000"])
  func calculatedKeys(_ expression: String) throws {
    #expect(try losses([table, rebuilt("SELECT \(expression), name, n, note FROM t")]) == [])
  }
}

import SchemaLint
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

/// A table, and a migration that copies it.
///
/// - Parameter new: the columns of the new table; nil for the same form.
private func copied(
  _ table: String, _ columns: String, as new: String? = nil, _ source: String
) -> [String] {
  [
    sql("CREATE TABLE \(table) (\(columns));"),
    sql(
      """
      CREATE TABLE x (\(new ?? columns));
      INSERT INTO x SELECT \(source);
      DROP TABLE \(table);
      ALTER TABLE x RENAME TO \(table);
      """),
  ]
}

private func found(
  _ history: [String], _ rules: Set<String> = ["loses-values", "loses-rows", "fails-on-data"],
  _ profile: Profile = .local
) throws -> [String] {
  let report = try lint(history, profile)
  #expect(report.failure == nil)
  return report.findings.filter { rules.contains($0.rule) }
    .map { "\($0.rule) \($0.object ?? "")" }
}

@Suite("Generated rows meet the conditions of a step")
struct GeneratedRowTests {
  @Test(
    "two conditions hold in the same row",
    arguments: [
      ("* FROM t WHERE status <> 'done' OR doneAt >= '2025-01-01'", "loses-rows t"),
      ("* FROM t WHERE NOT (status = 'done' AND kind = 'private')", "loses-rows t"),
      ("* FROM t WHERE NOT (status = 'done' AND doneAt IS NULL)", "loses-rows t"),
      ("* FROM t WHERE note <> 'Untitled' OR doneAt IS NOT NULL", "loses-rows t"),
      (
        "id, status, kind, doneAt, CASE WHEN status = 'done' AND kind = 'private' THEN NULL ELSE note END FROM t",
        "loses-values t.note"
      ),
    ])
  func combined(_ source: String, _ finding: String) throws {
    let columns = """
      id INTEGER PRIMARY KEY, status TEXT NOT NULL DEFAULT 'open',
      kind TEXT NOT NULL DEFAULT 'task', doneAt TEXT, note TEXT
      """
    #expect(try found(copied("t", columns, source)) == [finding])
  }

  @Test(
    "NULL in one column and a value in another, at any distance", arguments: oneIn(4, of: 3...13))
  func nulls(_ distance: Int) throws {
    let names = (0...distance).map { "c\($0)" }
    let values = names.dropLast().joined(separator: ", ")
    #expect(
      try found(
        copied(
          "t", "id INTEGER PRIMARY KEY, " + names.map { "\($0) TEXT" }.joined(separator: ", "),
          "id, \(values), CASE WHEN c0 IS NOT NULL THEN c\(distance) END FROM t"))
        == ["loses-values t.c\(distance)"])
  }

  @Test(
    "two columns are NULL and a third one has a value",
    arguments: [("a", "b"), ("a", "c"), ("a", "d"), ("b", "e"), ("a", "f")])
  func twoNulls(_ one: String, _ other: String) throws {
    #expect(
      try found(
        copied(
          "t",
          "id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT, status TEXT NOT NULL, d TEXT, e TEXT, f TEXT",
          "* FROM t WHERE NOT (\(one) IS NULL AND \(other) IS NULL AND status = 'new')"))
        == ["loses-rows t"])
  }

  @Test("a column that a copy omits is lost, although the copy selects rows by it")
  func omittedAndCompared() throws {
    let message = try lint(
      [
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, a TEXT)"),
        sql(
          """
          CREATE TABLE x (id INTEGER PRIMARY KEY, n INTEGER, a TEXT);
          INSERT INTO x (id, a) SELECT id, a FROM t WHERE n > 0 OR n IS NULL;
          DROP TABLE t;
          ALTER TABLE x RENAME TO t;
          """),
      ], .local
    ).findings.first { $0.rule == "loses-values" }?.message
    #expect(message?.contains("values of `t.n` are lost") == true, "\(message ?? "")")
  }

  @Test("a cross join of the parents does not hold the rows that a DELETE names")
  func crossJoin() throws {
    let tables = """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE q (id INTEGER PRIMARY KEY);
      CREATE TABLE j (p INTEGER REFERENCES p, q INTEGER REFERENCES q, PRIMARY KEY (p, q));
      CREATE TABLE pairs (p INTEGER, q INTEGER);
      """
    let step = "INSERT INTO pairs SELECT p.id, q.id FROM p, q; DELETE FROM j WHERE p > 0"
    #expect(try found([tables, step].map(sql), ["loses-values", "loses-rows"]) == [])
  }

  @Test("small changes of numbers do not look like values of other rows", arguments: 1...3)
  func nearNumbers(_ distance: Int) throws {
    let columns = "id INTEGER PRIMARY KEY, list INTEGER, n INTEGER, UNIQUE (list, n)"
    let history = ["CREATE TABLE t (\(columns))", "UPDATE t SET n = n + \(distance) WHERE id > 0"]
    #expect(try found(history.map(sql), ["loses-values", "loses-rows"]) == [])
  }

  @Test("each column that becomes NOT NULL is a finding with its own fix")
  func manyNotNull() throws {
    let names = (1...12).map { "c\($0)" }
    func columns(_ type: String) -> String {
      "id INTEGER PRIMARY KEY, " + names.map { "\($0) \(type)" }.joined(separator: ", ")
    }
    let rebuild = """
      operations:
        - rebuild_table: { table: s, sql: "CREATE TABLE s (\(columns("TEXT NOT NULL")))" }
      """
    for history in [
      copied("s", columns("TEXT"), as: columns("TEXT NOT NULL"), "* FROM s"),
      [sql("CREATE TABLE s (\(columns("TEXT")))"), rebuild],
    ] {
      let fixes = try lint(history, .local).findings.filter { $0.rule == "fails-on-data" }
        .map { $0.fix ?? "" }
      #expect(
        fixes
          == names.map { "- update: { table: s, set: { \($0): \"''\" }, where: \($0) IS NULL }" })
    }
  }

  @Test(
    "each column that becomes NOT NULL is found, although a CHECK refuses a value in place of its NULL"
  )
  func notNullUnderCheck() throws {
    func columns(_ type: String) -> String {
      "id INTEGER PRIMARY KEY, a TEXT\(type), b TEXT, c TEXT\(type), d TEXT\(type)"
    }
    let old = "CREATE TABLE t (\(columns("")), CHECK (a IS NULL OR b IS NULL))"
    let new = "CREATE TABLE n (\(columns(" NOT NULL")))"
    let copy = "INSERT INTO n SELECT * FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t"
    let found = try lint([sql(old), sql("\(new); \(copy)")], .local).findings
      .filter { $0.rule == "fails-on-data" }.compactMap(\.fix)
    #expect(found.count == 3, "\(found)")
  }

  @Test("no value is suggested for a foreign key that becomes NOT NULL")
  func requiredReference() throws {
    func columns(_ end: String) -> String {
      "id INTEGER PRIMARY KEY, p INTEGER \(end) REFERENCES p, n INTEGER \(end)"
    }
    let parent = sql("CREATE TABLE p (id INTEGER PRIMARY KEY)")
    let found = try lint(
      [parent] + copied("s", columns(""), as: columns("NOT NULL"), "* FROM s"), .local
    ).findings.filter { $0.rule == "fails-on-data" }
    #expect(found.map { $0.fix?.contains("set: { n: ") } == [nil, true])
    #expect(found.first?.help?.hasPrefix("change or delete the rows in question first") == true)
    let reference = "{ name: p, type: INTEGER, not_null: true, references: { table: p } }"
    let added = try lint(
      [parent, sql("CREATE TABLE s (id INTEGER PRIMARY KEY)")]
        + ["operations:\n  - add_column: { table: s, column: \(reference) }\n"], .local
    ).findings.filter { $0.rule == "fails-on-data" }
    #expect(added.map(\.fix) == [nil])
  }

  @Test("one column is NULL, another one is not, and a third one has a value")
  func nullBesideValue() throws {
    #expect(
      try found(
        copied(
          "t", "id INTEGER PRIMARY KEY, title TEXT, due TEXT, done INTEGER NOT NULL, note TEXT",
          "* FROM t WHERE NOT (due IS NULL AND note IS NOT NULL AND done = 5)"))
        == ["loses-rows t"])
  }

  @Test("several rows have NULL in the only column that accepts it")
  func nullableUnique() throws {
    let columns = "id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT NOT NULL"
    #expect(try found(copied("t", columns, "* FROM t GROUP BY email")) == ["loses-rows t"])
    #expect(
      try found(copied("t", columns, "id, coalesce(email, ''), name FROM t"))
        == ["fails-on-data t"])
    #expect(try found(copied("t", columns, "* FROM t GROUP BY email, id")) == [])
  }

  @Test(
    "a condition reads a member of a JSON object",
    arguments: [
      "meta ->> 'hidden' IS NOT 1", "json_extract(meta, '$.hidden') IS NOT 1",
      "coalesce(meta ->> '$.kind', '') <> 'draft'", "meta ->> 'kind' NOT IN ('draft', 'old')",
    ])
  func members(_ condition: String) throws {
    for columns in ["meta TEXT", "meta TEXT NOT NULL CHECK (json_valid(meta))"] {
      #expect(
        try found(copied("t", "id INTEGER PRIMARY KEY, \(columns)", "* FROM t WHERE \(condition)"))
          == ["loses-rows t"])
    }
  }

  @Test("a member is removed from JSON objects, or added to them")
  func removedMember() throws {
    let columns = "id INTEGER PRIMARY KEY, meta TEXT"
    #expect(
      try found(copied("t", columns, "id, json_remove(meta, '$.hidden') FROM t"))
        == ["loses-values t.meta"])
    #expect(
      try found(copied("t", columns, "id, json_set(meta, '$.hidden', 0) FROM t")) == [])
  }

  @Test(
    "numbers of a small range become equal",
    arguments: [
      ("0 AND 6", "n % 6"), ("0 AND 23", "n % 12"), ("0 AND 100", "min(n, 50)"),
    ])
  func smallRange(_ range: String, _ value: String) throws {
    let columns = "id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n BETWEEN \(range))"
    #expect(try found(copied("t", columns, "id, \(value) FROM t")) == ["loses-values t.n"])
    #expect(try found(copied("t", columns, "id, 6 - n FROM t"), ["loses-values"]) == [])
  }

  @Test("a new CHECK accepts none of the marks")
  func newCheck() throws {
    func rebuilt(_ title: String) -> [String] {
      [
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, title TEXT NOT NULL);"),
        sql(
          """
          CREATE TABLE x (
            id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n BETWEEN 1 AND 5), title TEXT NOT NULL);
          INSERT INTO x SELECT id, n, \(title) FROM t;
          DROP TABLE t;
          ALTER TABLE x RENAME TO t;
          """),
      ]
    }
    #expect(
      try found(rebuilt("lower(title)"), ["loses-values", "loses-rows"])
        == ["loses-values t.title"])
    #expect(try found(rebuilt("title"), ["loses-values", "loses-rows"]) == [])
  }

  @Test(
    "a copy converts the values that a new CHECK forbids",
    arguments: [
      ("n BETWEEN 0 AND 100", "min(max(n, 0), 100)", []),
      ("n IN (0, 1)", "n <> 0", []), ("n >= 0", "abs(n)", []),
      ("n >= 0", "n / 10", ["loses-values t.n"]),
    ])
  func forbidden(_ check: String, _ value: String, _ findings: [String]) throws {
    #expect(
      try found(
        [
          sql("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL);"),
          sql(
            """
            CREATE TABLE x (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (\(check)));
            INSERT INTO x SELECT id, \(value) FROM t;
            DROP TABLE t;
            ALTER TABLE x RENAME TO t;
            """),
        ], ["loses-values", "loses-rows"]) == findings)
  }

  @Test(
    "a new CHECK accepts only texts of one form",
    arguments: ["date(day) IS day", "length(day) = 10", "json_valid(day)", "day LIKE '%@%'"])
  func newForm(_ check: String) throws {
    func rebuilt(_ title: String) -> [String] {
      [
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, day TEXT NOT NULL, title TEXT NOT NULL);"),
        sql(
          """
          CREATE TABLE x (
            id INTEGER PRIMARY KEY, day TEXT NOT NULL CHECK (\(check)), title TEXT NOT NULL);
          INSERT INTO x SELECT id, day, \(title) FROM t;
          DROP TABLE t;
          ALTER TABLE x RENAME TO t;
          """),
      ]
    }
    let lost = try lint(rebuilt("upper(title)"), .local)
    #expect(lost.findings.map(\.rule) == ["fails-on-data", "loses-values"])
    let kept = try lint(rebuilt("title"), .local)
    #expect(kept.findings.map(\.rule) == ["fails-on-data"])
    #expect((lost.notes + kept.notes).filter { $0.contains("without rows") } == [])
  }

  @Test(
    "two rows get the same key",
    arguments: [
      "UPDATE OR REPLACE t SET kind = 'list' WHERE kind = 'folder'",
      "UPDATE OR REPLACE t SET name = 'a' WHERE name IN ('b', 'c')",
      """
      CREATE TABLE x (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (kind, name));
      INSERT OR IGNORE INTO x
        SELECT id, CASE kind WHEN 'folder' THEN 'list' ELSE kind END, name FROM t;
      DROP TABLE t;
      ALTER TABLE x RENAME TO t
      """,
    ])
  func mergedKeys(_ step: String) throws {
    let table = sql(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (kind, name));"
    )
    #expect(try found([table, sql(step)]) == ["loses-rows t"])
  }

  @Test("columns become the key of a table without one")
  func newKey() throws {
    func rebuilt(_ copy: String) -> [String] {
      [
        sql("CREATE TABLE t (day TEXT NOT NULL, item TEXT NOT NULL, n REAL NOT NULL);"),
        sql(
          """
          CREATE TABLE x (day TEXT NOT NULL, item TEXT NOT NULL, n REAL NOT NULL, PRIMARY KEY (day, item));
          INSERT \(copy) FROM t;
          DROP TABLE t;
          ALTER TABLE x RENAME TO t;
          """),
      ]
    }
    #expect(try found(rebuilt("OR IGNORE INTO x SELECT *")) == ["loses-rows t"])
    #expect(try found(rebuilt("INTO x SELECT *")) == ["fails-on-data t"])
  }

  @Test(
    "a table becomes STRICT, with and without a conversion of its values",
    arguments: [
      ("id, CAST(n AS INTEGER), CAST(title AS TEXT)", []),
      ("id, iif(typeof(n) = 'integer', n, 0), CAST(title AS TEXT)", []),
      ("id, CAST(n AS INTEGER), title", ["fails-on-data t"]), ("*", ["fails-on-data t"]),
      (
        "id, CASE typeof(n) WHEN 'text' THEN 0 ELSE n END, CAST(title AS TEXT)", ["fails-on-data t"]
      ),
    ])
  func strict(_ copy: String, _ findings: [String]) throws {
    #expect(
      try found([
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, title TEXT NOT NULL);"),
        sql(
          """
          CREATE TABLE x (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, title TEXT NOT NULL) STRICT;
          INSERT INTO x SELECT \(copy) FROM t;
          DROP TABLE t;
          ALTER TABLE x RENAME TO t;
          """),
      ]) == findings)
  }

  @Test(
    "a condition on the type of a value omits rows, and a conversion does not",
    arguments: [
      ("id, n, title FROM t WHERE typeof(n) IN ('integer', 'null')", ["loses-rows t"]),
      ("id, n, title FROM t WHERE typeof(title) = 'text' OR title IS NULL", ["loses-rows t"]),
      ("id, CASE typeof(n) WHEN 'integer' THEN n ELSE CAST(n AS INTEGER) END, title FROM t", []),
      ("id, n, title FROM t WHERE typeof(id) = 'integer'", []),
    ])
  func types(_ source: String, _ findings: [String]) throws {
    #expect(
      try found(copied("t", "id INTEGER PRIMARY KEY, n INTEGER, title TEXT", source)) == findings)
  }

  @Test("rows without a partner lose their reference")
  func orphans() throws {
    let lists = sql("CREATE TABLE lists (id INTEGER PRIMARY KEY);")
    func rebuilt(_ list: String) -> [String] {
      [lists]
        + copied(
          "items", "id INTEGER PRIMARY KEY, list INTEGER",
          as: "id INTEGER PRIMARY KEY, list INTEGER REFERENCES lists (id)",
          "id, \(list) FROM items")
    }
    let partner = "CASE WHEN list IN (SELECT id FROM lists) THEN list END"
    #expect(try found(rebuilt(partner)) == [])
    #expect(try found(rebuilt("NULL")) == ["loses-values items.list"])
  }

  @Test(
    "rows without a parent in their own table lose their reference",
    arguments: ["folders", "folders AS f"])
  func ownOrphans(_ parents: String) throws {
    func rebuilt(_ parent: String) -> [String] {
      copied(
        "folders", "id INTEGER PRIMARY KEY, parentID INTEGER, name TEXT",
        as: "id INTEGER PRIMARY KEY, parentID INTEGER REFERENCES folders (id), name TEXT",
        "id, \(parent), name FROM folders")
    }
    let partner = "CASE WHEN parentID IN (SELECT id FROM \(parents)) THEN parentID END"
    #expect(try found(rebuilt(partner)) == [])
    #expect(try found(rebuilt("NULL")) == ["loses-values folders.parentID"])
  }

  @Test(
    "a copy numbers the rows again in their order",
    arguments: [
      "row_number() OVER (PARTITION BY list ORDER BY position, id) - 1",
      "(SELECT count(*) FROM items AS o WHERE (o.position, o.id) < (items.position, items.id))",
    ])
  func renumbered(_ position: String) throws {
    func rebuilt(_ position: String) -> [String] {
      copied(
        "items", "id INTEGER PRIMARY KEY, list INTEGER NOT NULL, position INTEGER",
        as: "id INTEGER PRIMARY KEY, list INTEGER NOT NULL, position INTEGER NOT NULL",
        "id, list, \(position) FROM items")
    }
    let rules: Set = ["loses-values"]
    #expect(try found(rebuilt(position), rules) == [])
    for lost in ["row_number() OVER (ORDER BY id)", "ifnull(position / 10, 0)"] {
      #expect(try found(rebuilt(lost), rules) == ["loses-values items.position"])
    }
  }

  @Test(
    "a statement deletes the rows of a group, and the key that distinguished them goes later",
    arguments: ["min", "max"])
  func deletedDuplicates(_ kept: String) throws {
    func steps(_ delete: String) -> [String] {
      [
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, phone TEXT NOT NULL);"),
        sql(
          """
          \(delete)
          CREATE TABLE x (phone TEXT PRIMARY KEY NOT NULL);
          INSERT OR IGNORE INTO x SELECT phone FROM t;
          DROP TABLE t;
          ALTER TABLE x RENAME TO t;
          """),
      ]
    }
    let delete = "DELETE FROM t WHERE id NOT IN (SELECT \(kept)(id) FROM t GROUP BY phone);"
    #expect(try found(steps(delete), ["loses-rows"]) == [])
    #expect(try found(steps(""), ["loses-rows"]) == ["loses-rows t"])
  }

  @Test("rows of a table with a unique key are replaced by rows with the same key")
  func sameUnique() throws {
    #expect(
      try found([
        sql("CREATE TABLE settings (key TEXT NOT NULL UNIQUE, value TEXT);"),
        sql("INSERT OR REPLACE INTO settings (key, value) VALUES ('schema', '2');"),
      ]) == [])
  }

  @Test(
    "an earlier draft corrects the values that a later CHECK refuses",
    arguments: [
      "UPDATE t SET stars = NULL WHERE stars NOT BETWEEN 1 AND 5;",
      "DELETE FROM t WHERE stars NOT BETWEEN 1 AND 5;",
    ])
  func correctedBefore(_ step: String) throws {
    let check =
      "operations:\n- alter_column: { table: t, column: stars, check: stars BETWEEN 1 AND 5 }\n"
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, stars INTEGER);")
    #expect(try found([table, sql(step), check]) == [])
    #expect(try found([table, check]) == ["fails-on-data t"])
    let released = try lint([table, sql(step), check], .local, releases: ["1.0": 2])
    #expect(released.findings.map(\.rule) == ["fails-on-data"])
  }

  @Test(
    "a rebuild that renames the old table first fails if rows repeat a new key",
    arguments: [
      ("id INTEGER PRIMARY KEY, a TEXT UNIQUE", "id, a", ["fails-on-data t"]),
      ("key TEXT PRIMARY KEY NOT NULL, a TEXT", "'a', a", ["fails-on-data t"]),
      ("id INTEGER PRIMARY KEY, a TEXT", "id, a", []),
    ])
  func renamedFirst(_ columns: String, _ values: String, _ findings: [String]) throws {
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);")
    let rebuild = sql(
      """
      ALTER TABLE t RENAME TO old;
      CREATE TABLE t (\(columns));
      INSERT INTO t SELECT \(values) FROM old;
      DROP TABLE old;
      """)
    #expect(try found([table, rebuild], ["fails-on-data"]) == findings)
  }

  @Test("columns of the type STRING hold texts, although SQLite stores digits in them as numbers")
  func strings() throws {
    let accounts = sql(
      "CREATE TABLE accounts (id INTEGER PRIMARY KEY, email STRING NOT NULL UNIQUE)")
    let lower = sql("UPDATE accounts SET email = lower(email) WHERE email <> lower(email)")
    #expect(try found([accounts, lower], ["fails-on-data"]) == ["fails-on-data accounts"])
    #expect(try found(copied("t", "id INTEGER PRIMARY KEY, code STRING", "id, code FROM t")) == [])
    #expect(
      try found(copied("t", "id INTEGER PRIMARY KEY, code STRING", "id, trim(code) FROM t"))
        == ["loses-values t.code"])
  }

  @Test(
    "a NULL that a function of dates returns again is refused by NOT NULL",
    arguments: [
      ("at TEXT", "strftime('%s', at)", ["fails-on-data logs"]),
      ("at DATETIME", "strftime('%s', at)", ["fails-on-data logs"]),
      // The app may only write texts that the function can parse.
      ("at TEXT NOT NULL", "strftime('%s', at)", []),
      ("at TEXT", "coalesce(strftime('%s', at), 0)", []),
    ])
  func nullDates(_ column: String, _ value: String, _ findings: [String]) throws {
    let history = copied(
      "logs", "id INTEGER PRIMARY KEY, \(column)",
      as: "id INTEGER PRIMARY KEY, at INTEGER NOT NULL",
      "id, \(value) FROM logs")
    #expect(try found(history, ["fails-on-data"]) == findings)
  }

  @Test("no claim is made about the rows of a table that accepts no generated row")
  func unfilled() throws {
    let tables = sql(
      """
      CREATE TABLE s (
        id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER NOT NULL,
        CHECK (a * a - b * b = 15129 AND b > 4000));
      CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT);
      """)
    let step = sql("DELETE FROM t WHERE x = ''; DROP TABLE s;")
    let report = try lint([tables, step], .local)
    #expect(report.notes.contains("lint judged `0002_step` without rows: no row fits `s`"))
    let drop = report.findings.first { $0.rule == "drop-table" }
    #expect(drop?.message.contains("this drops the table `s`") == true)
    #expect(drop?.message.contains("lost") == false)
  }

  @Test(
    "a migration writes the same key of a missing row to all rows",
    arguments: [
      ("INSERT INTO kinds VALUES (5, 'open'); UPDATE t SET kind = 1 WHERE title <> '';", true),
      ("UPDATE t SET kind = 99999 WHERE title <> '';", true),
      ("INSERT INTO kinds VALUES (1, 'open'); UPDATE t SET kind = 1 WHERE title <> '';", false),
      (
        "INSERT INTO kinds SELECT id, title FROM t; UPDATE t SET kind = id WHERE title <> '';",
        false
      ),
    ])
  func constantKey(_ writes: String, _ isFound: Bool) throws {
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT NOT NULL);")
    let step = sql(
      """
      CREATE TABLE kinds (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      ALTER TABLE t ADD COLUMN kind INTEGER REFERENCES kinds (id);
      \(writes)
      """)
    #expect(try found([table, step], ["fails-on-data"]) == (isFound ? ["fails-on-data t"] : []))
  }

  @Test("all failures of a draft are found after an earlier draft has run on the rows")
  func severalFailures() throws {
    #expect(
      try found([
        sql(
          "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT); CREATE TABLE b (id INTEGER PRIMARY KEY, x TEXT);"
        ),
        sql("UPDATE a SET x = 'x' WHERE id > 500; UPDATE b SET x = 'x' WHERE id > 500;"),
        """
        operations:
        - create_index: { name: i, table: a, columns: [x], unique: true }
        - create_index: { name: j, table: b, columns: [x], unique: true }

        """,
      ]) == ["fails-on-data a", "fails-on-data b"])
  }

  @Test("an earlier draft drops a table of the rows")
  func droppedBefore() throws {
    #expect(
      try found([
        sql(
          "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT); CREATE TABLE b (id INTEGER PRIMARY KEY, x TEXT);"
        ),
        sql("UPDATE a SET x = (SELECT x FROM b WHERE b.id = a.id) WHERE id > 500; DROP TABLE b;"),
        "operations:\n- create_index: { name: i, table: a, columns: [x], unique: true }\n",
      ]) == ["fails-on-data a"])
  }

  @Test("an earlier draft deletes the rows that a later one refuses")
  func cleanedBefore() throws {
    #expect(
      try found([
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, url TEXT);"),
        sql("DELETE FROM t WHERE url IS NULL OR url NOT LIKE 'http%';"),
        "operations:\n- alter_column: { table: t, column: url, not_null: true }\n",
      ]) == [])
  }

  @Test("a number without an exact type keeps its values as a floating-point number")
  func decimal() throws {
    #expect(
      try found([
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, price DECIMAL(10,2) NOT NULL);"),
        "operations:\n- alter_column: { table: t, column: price, type: REAL }\n",
      ]) == [])
  }

  @Test(
    "values that a CHECK accepts become equal",
    arguments: [
      ("date(v) IS v", "date(v, 'start of month')"), ("length(v) = 36", "lower(v)"),
      ("length(v) = 3", "upper(v)"), ("time(v) IS v", "strftime('%H:%M:00', v)"),
      ("length(v) BETWEEN 15 AND 34", "replace(v, ' ', '')"),
      (
        "v LIKE 'https://%'",
        "CASE WHEN instr(v, '?') > 0 THEN substr(v, 1, instr(v, '?') - 1) ELSE v END"
      ),
    ])
  func checked(_ check: String, _ value: String) throws {
    let columns = "id INTEGER PRIMARY KEY, v TEXT NOT NULL CHECK (\(check))"
    #expect(try found(copied("t", columns, "id, \(value) FROM t")) == ["loses-values t.v"])
    #expect(try found(copied("t", columns, "id, v FROM t")) == [])
  }

  @Test(
    "rows of a group become one",
    arguments: [
      ("day, sum(n) FROM t GROUP BY day", ["loses-rows t"]),
      ("day, count(*) + total(n) FROM t GROUP BY 1", ["loses-rows t"]),
      ("day, n + 1 FROM t", []),
      ("lower(day), sum(n) FROM t GROUP BY rowid", ["loses-values t.day"]),
    ])
  func grouped(_ source: String, _ findings: [String]) throws {
    #expect(try found(copied("t", "day TEXT NOT NULL, n INTEGER NOT NULL", source)) == findings)
  }

  @Test("a row has NULL in one column of a composite foreign key")
  func composite() throws {
    let sheets = sql(
      "CREATE TABLE sheets (book TEXT NOT NULL, no INTEGER NOT NULL, PRIMARY KEY (book, no));")
    func join(_ columns: String) -> [String] {
      [sheets]
        + copied(
          "cells",
          columns + ", FOREIGN KEY (book, sheet) REFERENCES sheets (book, no) ON DELETE CASCADE",
          "c.* FROM cells c JOIN sheets s ON s.book = c.book AND s.no = c.sheet")
    }
    #expect(
      try found(join("id INTEGER PRIMARY KEY, book TEXT NOT NULL, sheet INTEGER"))
        == ["loses-rows cells"])
    #expect(
      try found(
        join(
          """
          book TEXT NOT NULL, sheet INTEGER NOT NULL, ref TEXT NOT NULL, \
          PRIMARY KEY (book, sheet, ref)
          """)) == [])
  }

  @Test("a parent of a parent is not empty if there are rows")
  func ancestors() throws {
    let tables = sql(
      """
      CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE orders (
        id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers (id));
      """)
    #expect(
      try found(
        [tables]
          + copied(
            "lines",
            "id INTEGER PRIMARY KEY, \"order\" INTEGER NOT NULL REFERENCES orders (id), sku TEXT",
            """
            l.* FROM lines l JOIN orders o ON o.id = l."order" \
            JOIN customers c ON c.id = o.customer
            """)) == [])
  }

  @Test("rows refer to another parent before their own is deleted")
  func duplicates() throws {
    #expect(
      try found([
        sql(
          """
          CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
          CREATE TABLE notes (
            id INTEGER PRIMARY KEY, tag INTEGER REFERENCES tags (id) ON DELETE CASCADE);
          """),
        sql(
          """
          UPDATE notes SET tag = (SELECT min(t.id) FROM tags t JOIN tags s ON s.name = t.name
            WHERE s.id = notes.tag) WHERE tag IS NOT NULL;
          DELETE FROM tags WHERE id NOT IN (SELECT min(id) FROM tags GROUP BY name);
          """),
      ]) == [])
  }

  @Test("a date as the number of seconds keeps its precision")
  func seconds() throws {
    #expect(
      try found(
        copied(
          "t", "id INTEGER PRIMARY KEY, createdAt REAL NOT NULL",
          "id, createdAt + 978307200 FROM t")) == [])
  }

  @Test(
    "a row that REPLACE deletes had another key, or other values",
    arguments: [
      ("INSERT OR REPLACE INTO lists (name, color) VALUES ('Inbox', 'blue')", ["loses-rows lists"]),
      ("REPLACE INTO lists (id, name) VALUES (1, 'Inbox')", ["loses-rows lists"]),
      (
        "INSERT INTO lists (name) VALUES ('Inbox') ON CONFLICT (name) DO UPDATE SET color = 'blue'",
        []
      ),
    ])
  func replaced(_ statement: String, _ findings: [String]) throws {
    let lists = sql(
      "CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, color TEXT);")
    #expect(try found([lists, sql(statement)], ["loses-rows"]) == findings)
  }

  @Test(
    "a column that the table's own trigger maintains may change in an UPDATE",
    arguments: [
      ("dirty = 1", []), ("modified = lower(NEW.title)", []),
      ("title = NULL", ["loses-values items.title"]),
      ("modified = datetime('now')", ["loses-values items.modified"]),
      ("modified = strftime('%s', 'now')", ["loses-values items.modified"]),
    ])
  func maintained(assignment: String, _ findings: [String]) throws {
    let items = sql(
      """
      CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, price INTEGER, modified TEXT, dirty INTEGER);
      CREATE TRIGGER touch AFTER UPDATE OF price ON items BEGIN
        UPDATE items SET \(assignment) WHERE id = NEW.id;
      END
      """)
    let update = sql("UPDATE items SET price = 0 WHERE price IS NULL")
    #expect(try found([items, update], ["loses-values"]) == findings)
  }

  @Test("a trigger may count the rows of another table")
  func counter() throws {
    let tables = sql(
      """
      CREATE TABLE lists (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, list INTEGER);
      CREATE TRIGGER items_gone AFTER DELETE ON items BEGIN
        UPDATE lists SET n = (SELECT count(*) FROM items WHERE list = OLD.list)
        WHERE id = OLD.list;
      END;
      """)
    #expect(try found([tables, sql("DELETE FROM items WHERE title = ''")]) == [])
  }

  @Test("a statement that does not end on generated rows is a note, not a finding")
  func endless() throws {
    let items = sql("CREATE TABLE items (id INTEGER PRIMARY KEY, price INTEGER)")
    let update = sql(
      "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k) "
        + "UPDATE items SET price = (SELECT count(*) FROM k) WHERE price IS NULL")
    let report = try lint([items, update], .local)
    #expect(report.findings.filter { $0.rule == "fails-on-data" }.map(\.message) == [])
    #expect(
      report.notes.contains(
        "lint judged `0002_step` without rows: its runs exceed 100 million instructions of SQLite"))
  }

  @Test("a count in a row that a migration repeats is not a finding")
  func repeatedByCount() throws {
    let scenes = sql(
      "CREATE TABLE scenes (id INTEGER PRIMARY KEY, plays INTEGER NOT NULL DEFAULT 0)")
    let views = sql(
      """
      CREATE TABLE views (scene INTEGER NOT NULL);
      WITH RECURSIVE numbers (n) AS (
        SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < (SELECT max(plays) FROM scenes))
      INSERT INTO views SELECT id FROM scenes JOIN numbers WHERE n <= plays;
      """)
    #expect(try found([scenes, views]) == [])
  }

  @Test("an upsert of all keys of another table keeps the keys of the rows that exist")
  func upsertedKeys() throws {
    let tables = sql(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL); "
        + "CREATE TABLE s (id INTEGER PRIMARY KEY, x TEXT);")
    let upsert = "INSERT INTO t SELECT id, 1 FROM s WHERE 1 ON CONFLICT (id) DO UPDATE SET n = 1"
    #expect(try found([tables, sql("\(upsert) WHERE n < 5")], ["loses-values"]) == [])
  }

  @Test("a migration inserts the only row of a table, which may exist")
  func onlyRow() throws {
    let settings = sql(
      "CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), theme TEXT DEFAULT 'light');")
    let insert = "INTO settings (id) VALUES (1)"
    let report = try lint([settings, sql("INSERT \(insert)")], .local, releases: ["1.0": 1])
    #expect(report.findings.map(\.rule) == ["fails-on-data"])
    #expect(report.findings.map(\.severity) == [.warning])
    #expect(report.findings.first?.help?.contains("ON CONFLICT DO NOTHING") == true)
    let ignoring = sql("INSERT OR IGNORE \(insert)")
    #expect(try lint([settings, ignoring], .local, releases: ["1.0": 1]).findings.isEmpty)
    // No database has the row if no release has the table.
    #expect(try found([settings, sql("INSERT \(insert)")]) == [])
    #expect(
      try found([
        sql("CREATE TABLE kinds (id INTEGER PRIMARY KEY, name TEXT);"),
        sql("INSERT INTO kinds VALUES (1, 'a')"),
      ]) == [])
  }

  @Test("a CHECK is reported at its own operation, not at one that shares its rewrite")
  func sharedCheck() throws {
    let report = try lint(
      [
        sql(
          "CREATE TABLE items (id INTEGER PRIMARY KEY, price INTEGER NOT NULL, title TEXT CHECK (title <> ''));"
        ),
        """
        operations:
        - alter_column: { table: items, column: price, check: price >= 0 }
        - alter_column: { table: items, column: title, default: none }
        - alter_column: { table: items, column: title, check: null }

        """,
      ], .local)
    let failures = report.findings.filter { $0.rule == "fails-on-data" }
    #expect(failures.map { "\($0.line) \($0.severity)" } == ["2 warning"])
  }

  @Test("narrowed values return under the old name in a later draft")
  func narrowedOverDrafts() throws {
    let table = sql("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);")
    func drafts(_ value: String) -> [String] {
      [
        table,
        sql(
          """
          ALTER TABLE users ADD COLUMN name2 TEXT;
          UPDATE users SET name2 = \(value);
          ALTER TABLE users DROP COLUMN name;
          """), sql("ALTER TABLE users RENAME COLUMN name2 TO name;"),
      ]
    }
    #expect(try found(drafts("lower(name)")) == ["loses-values users.name"])
    #expect(try found(drafts("name")) == [])
  }

  @Test("rows of two tables have the same keys")
  func equalKeys() throws {
    let tables = sql(
      """
      CREATE TABLE photos (id INTEGER PRIMARY KEY, path TEXT NOT NULL);
      CREATE TABLE videos (id INTEGER PRIMARY KEY, path TEXT NOT NULL);
      """)
    func merged(_ key: String) -> String {
      sql(
        """
        CREATE TABLE media (id INTEGER PRIMARY KEY, path TEXT NOT NULL);
        INSERT INTO media SELECT id, path FROM photos;
        INSERT INTO media SELECT \(key), path FROM videos;
        DROP TABLE photos;
        DROP TABLE videos;
        """)
    }
    #expect(try found([tables, merged("id")]) == ["fails-on-data media"])
    #expect(try found([tables, merged("id + 1000000")]) == [])
  }

  @Test(
    "an operation fails although a later one changes the same table",
    arguments: [
      "alter_column: { table: items, column: title, default: x }",
      "add_column: { table: items, column: { name: z, type: TEXT } }",
      "rename_column: { table: items, from: title, to: name }",
      "sql: ALTER TABLE items ADD COLUMN z TEXT",
    ])
  func changedAgain(_ later: String) throws {
    let report = try lint(
      [
        sql("CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT NOT NULL, note TEXT);"),
        "operations:\n- alter_column: { table: items, column: note, not_null: true }\n- \(later)\n",
      ], .local)
    let failures = report.findings.filter { $0.rule == "fails-on-data" }
    #expect(failures.map { "\($0.line) \($0.object ?? "")" } == ["2 items"])
  }

  @Test(
    "a search index that the migration creates again is a finding if nothing fills it",
    arguments: Profile.allCases)
  func searchIndex(_ profile: Profile) throws {
    func history(_ fill: String) -> [String] {
      [
        sql(
          """
          CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
          CREATE VIRTUAL TABLE search USING fts5 (title, content='notes', content_rowid='id');
          """),
        sql(
          """
          DROP TABLE search;
          CREATE VIRTUAL TABLE search USING fts5 (
            title, content='notes', content_rowid='id', tokenize='porter');
          \(fill)
          """),
      ]
    }
    let fills = [
      "INSERT INTO search (search) VALUES ('rebuild');",
      """
      CREATE TRIGGER notes_u AFTER UPDATE ON notes BEGIN
        INSERT INTO search (rowid, title) VALUES (NEW.id, NEW.title);
      END;
      UPDATE notes SET title = title;
      """,
    ]
    for fill in fills {
      #expect(try found(history(fill), ["drop-table"], profile) == [])
    }
    for noFill in ["", "DELETE FROM search WHERE rowid = 1;"] {
      #expect(try found(history(noFill), ["drop-table"], profile) == ["drop-table search"])
    }
    let renamed = sql(
      """
      CREATE VIRTUAL TABLE other USING fts5 (title, content='notes', content_rowid='id');
      INSERT INTO other (other) VALUES ('rebuild');
      DROP TABLE search;
      ALTER TABLE other RENAME TO search;
      """)
    #expect(try found([history("")[0], renamed], ["drop-table", "loses-rows"], profile) == [])
  }

  @Test("SQLite refuses rows of several columns for one reason: one finding")
  func oneReason() throws {
    let history = [
      sql(
        """
        CREATE TABLE items (
          id INTEGER PRIMARY KEY, title TEXT, state TEXT NOT NULL DEFAULT 'open'
            CHECK (state IN ('open', 'done')), note TEXT, amount INTEGER);
        """),
      """
      operations:
      - alter_column: { table: items, column: state, check: null }
      - alter_column: { table: items, column: state, default: new }

      """,
    ]
    let report = try lint(history, .additive, releases: ["1.0": 1])
    #expect(
      report.findings.filter { $0.rule == "two-devices" }.map(\.object) == ["items.state"])
  }

  @Test("generated values of numeric keys are numbers", arguments: ["'home', 'mobile'", ""])
  func numericKeys(_ kinds: String) throws {
    let check = kinds.isEmpty ? "" : "CHECK (kind IN (\(kinds)))"
    #expect(
      try found([
        sql(
          """
          CREATE TABLE phones (
            contact INTEGER NOT NULL, kind TEXT NOT NULL \(check), number TEXT NOT NULL,
            PRIMARY KEY (contact, kind)
          )
          """),
        sql(
          """
          CREATE TABLE contacts (id INTEGER PRIMARY KEY, home TEXT, mobile TEXT);
          INSERT INTO contacts SELECT contact, max(CASE kind WHEN 'home' THEN number END),
            max(CASE kind WHEN 'mobile' THEN number END) FROM phones GROUP BY contact;
          DROP TABLE phones;
          """),
      ]) == [])
  }
}

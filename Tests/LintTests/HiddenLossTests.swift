import SchemaLint
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

/// A step over tables of its own, with its losses.
private struct Step: Sendable, CustomStringConvertible {
  let description: String
  let lost: [String]
  let tables: String
  let text: String

  init(_ description: String, _ lost: [String] = [], tables: String, _ text: String) {
    self.description = description
    self.lost = lost
    self.tables = sql(tables)
    self.text = text
  }

  /// Copies a table with a column `c` and replaces it with the copy.
  init(
    _ description: String, _ lost: [String] = [], column: String, after: String? = nil, copy: String
  ) {
    self.init(
      description, lost, tables: "CREATE TABLE w (id INTEGER PRIMARY KEY, \(column), k TEXT);",
      sql(
        """
        CREATE TABLE x (id INTEGER PRIMARY KEY, \(after ?? column), k TEXT);
        INSERT INTO x SELECT \(copy);
        DROP TABLE w;
        ALTER TABLE x RENAME TO w;
        """))
  }
}

private let parents = """
  CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p (id), v TEXT);
  """

private let notes = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, note TEXT);"

private let users = "CREATE TABLE u (id TEXT PRIMARY KEY NOT NULL, v TEXT);"

private let values = ["loses-values w.c"]
private let rows = ["loses-rows w"]

@Suite("Losses that few rows show")
struct HiddenLossTests {
  private func losses(_ step: Step) throws -> [Finding] {
    let report = try lint([step.tables, step.text], .local)
    #expect(report.failure == nil)
    #expect(report.notes.filter { $0.contains("without rows") } == [])
    return report.findings.filter { $0.rule == "loses-values" || $0.rule == "loses-rows" }
  }

  private func check(_ step: Step) throws {
    #expect(try losses(step).map { "\($0.rule) \($0.object ?? "")" } == step.lost)
  }

  @Test(
    "a key may lose its end",
    arguments: [
      ("token TEXT PRIMARY KEY NOT NULL, v TEXT", "substr(token, 1, 16), v", "token"),
      ("token TEXT PRIMARY KEY NOT NULL, v TEXT", "substr(token, 1, 100), v", "token"),
      (
        "v TEXT NOT NULL, token INTEGER NOT NULL, PRIMARY KEY (v, token)", "v, token / 1000",
        "token"
      ),
      ("token TEXT PRIMARY KEY NOT NULL, v TEXT", "'t-' || token, v", nil),
    ])
  func narrowedKeys(columns: String, copy: String, lost: String?) throws {
    try check(
      Step(
        "key", lost.map { ["loses-values d.\($0)"] } ?? [], tables: "CREATE TABLE d (\(columns));",
        sql(
          """
          CREATE TABLE x (\(columns));
          INSERT INTO x SELECT \(copy) FROM d;
          DROP TABLE d;
          ALTER TABLE x RENAME TO d;
          """)))
  }

  @Test(
    "the first rows of each group are not all rows",
    arguments: [
      (
        "SELECT *, row_number() OVER (PARTITION BY name ORDER BY n DESC) AS r FROM t", "r <= 20",
        true
      ),
      ("SELECT *, rank() OVER (PARTITION BY name ORDER BY n) AS r FROM t", "r < 11", true),
      ("SELECT *, row_number() OVER (ORDER BY n) AS r FROM t", "r > 0", false),
      (
        "SELECT *, row_number() OVER w r FROM t WINDOW w AS (ORDER BY n)",
        """
        r <= 5 UNION ALL
        SELECT id, name, n, note FROM (
          SELECT *, row_number() OVER w r FROM t WINDOW w AS (ORDER BY n)
        ) WHERE r > 5
        """, false
      ),
      (
        "SELECT *, row_number() OVER (ORDER BY n) AS r FROM t",
        "n < 1000000 OR n >= 1000000 OR n IS NULL", false
      ),
    ])
  func firstRows(query: String, condition: String, isLost: Bool) throws {
    try check(
      Step(
        "rank", isLost ? ["loses-rows t"] : [], tables: notes,
        sql(
          """
          CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, note TEXT);
          INSERT INTO x SELECT id, name, n, note FROM (\(query)) WHERE \(condition);
          DROP TABLE t;
          ALTER TABLE x RENAME TO t;
          """)))
  }

  @Test("a sum in another table does not keep the values of a column that a copy forgets")
  func summed() throws {
    let columns = "id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p, n INTEGER DEFAULT 0"
    func found(_ copied: String) throws -> [String] {
      try lint(
        [
          sql("CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE t (\(columns))"),
          sql(
            """
            ALTER TABLE p ADD COLUMN total INTEGER;
            UPDATE p SET total = (SELECT sum(n) FROM t WHERE t.p = p.id) WHERE id > 0;
            CREATE TABLE x (\(columns));
            INSERT INTO x (\(copied)) SELECT \(copied) FROM t;
            DROP TABLE t;
            ALTER TABLE x RENAME TO t;
            """),
        ], .local
      ).findings.filter { $0.severity == .error }.map { "\($0.rule) \($0.object ?? "")" }
    }
    #expect(try found("id, p") == ["loses-values t.n"])
    #expect(try found("id, p, n") == [])
  }

  @Test("rows that move to a table with keys of its own are not lost")
  func archived() throws {
    let columns = "id INTEGER PRIMARY KEY, subject TEXT NOT NULL, body TEXT"
    let old = "CREATE TABLE inbox (\(columns), read INTEGER NOT NULL CHECK (read IN (0, 1)))"
    let archive = """
      CREATE TABLE archive (\(columns));
      INSERT INTO archive (subject, body) SELECT subject, body FROM inbox WHERE read = 1;
      """
    let rebuild = """
      CREATE TABLE n (\(columns), read INTEGER NOT NULL CHECK (read IN (0, 1)), star INTEGER);
      INSERT INTO n SELECT *, 0 FROM inbox WHERE read = 0;
      DROP TABLE inbox;
      ALTER TABLE n RENAME TO inbox;
      """
    func found(_ step: String) throws -> [String] {
      try lint([sql(old), sql(archive + "\n" + step)], .local).findings
        .filter { $0.severity == .error }.map { "\($0.rule) \($0.object ?? "")" }
    }
    #expect(try found(rebuild) == ["loses-values inbox.id"])
    #expect(try found("DELETE FROM inbox WHERE read = 1") == [])
  }

  @Test("a CHECK beside a rank keeps its limits")
  func checkBesideRank() throws {
    try check(
      Step(
        "rank", ["loses-values t.name"], tables: notes,
        sql(
          """
          CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT CHECK (length(name) < 20000), r INTEGER);
          INSERT INTO x SELECT id, upper(name), row_number() OVER (ORDER BY n) AS r FROM t;
          ALTER TABLE t DROP COLUMN name;
          ALTER TABLE t ADD COLUMN name TEXT;
          UPDATE t SET name = (SELECT name FROM x WHERE x.id = t.id) WHERE true;
          """)))
  }

  @Test("rows with equal values may not be merged, unless the step counts them")
  func equalRows() throws {
    func step(_ columns: String, _ query: String, _ lost: [String]) -> Step {
      Step(
        query, lost, tables: "CREATE TABLE w (day TEXT NOT NULL, ml INTEGER NOT NULL);",
        sql(
          """
          CREATE TABLE x (\(columns));
          INSERT INTO x \(query);
          DROP TABLE w;
          ALTER TABLE x RENAME TO w;
          """))
    }
    let keyed = "id INTEGER PRIMARY KEY, day TEXT NOT NULL, ml INTEGER NOT NULL"
    try check(step(keyed, "(day, ml) SELECT DISTINCT day, ml FROM w", rows))
    try check(step(keyed, "(day, ml) SELECT day, ml FROM w", []))
    let counted = "day TEXT NOT NULL, ml INTEGER NOT NULL, n INTEGER NOT NULL"
    try check(step(counted, "SELECT day, ml, count(*) FROM w GROUP BY day, ml", []))
  }

  @Test(
    "a copy of the newest versions loses the older ones, unless another table gets them",
    arguments: [false, true], [("=", ["loses-rows docs"]), ("<", [])])
  func versions(isNew: Bool, _ archived: (comparison: String, lost: [String])) throws {
    let columns =
      "(id INTEGER NOT NULL, version INTEGER NOT NULL, body TEXT, PRIMARY KEY (id, version))"
    func versions(_ comparison: String) -> String {
      "SELECT * FROM docs d WHERE version \(comparison) (SELECT max(version) FROM docs e WHERE e.id = d.id)"
    }
    let archive = "CREATE TABLE archive \(columns);"
    try check(
      Step(
        "versions", archived.lost,
        tables: "CREATE TABLE docs \(columns);\n\(isNew ? "" : archive)",
        sql(
          """
          \(isNew ? archive : "")
          INSERT INTO archive \(versions(archived.comparison));
          CREATE TABLE x (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, body TEXT);
          INSERT INTO x \(versions("="));
          DROP TABLE docs;
          ALTER TABLE x RENAME TO docs;
          """)))
  }

  @Test(
    "references follow keys that become random",
    arguments: [
      Step(
        "convert_primary_key", tables: parents,
        "operations:\n  - convert_primary_key: { table: p, to: uuid, uuids: per_database }\n"),
      Step(
        "without references", tables: notes,
        "operations:\n  - convert_primary_key: { table: t, to: uuid, uuids: per_database }\n"),
      Step(
        "by hand", tables: parents,
        sql(
          """
          ALTER TABLE p ADD COLUMN uuid TEXT;
          UPDATE p SET uuid = lower(hex(randomblob(16))) WHERE uuid IS NULL;
          CREATE TABLE c2 (id INTEGER PRIMARY KEY, p TEXT, v TEXT);
          INSERT INTO c2 SELECT c.id, (SELECT uuid FROM p WHERE p.id = c.p), v FROM c;
          CREATE TABLE p2 (id TEXT PRIMARY KEY NOT NULL, name TEXT);
          INSERT INTO p2 SELECT uuid, name FROM p;
          DROP TABLE c; DROP TABLE p;
          ALTER TABLE p2 RENAME TO p; ALTER TABLE c2 RENAME TO c;
          """)),
      Step(
        "a new random key of the same type", ["loses-values u.id"], tables: users,
        sql(
          """
          CREATE TABLE x (id TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(16)))), v TEXT);
          INSERT INTO x (v) SELECT v FROM u;
          DROP TABLE u;
          ALTER TABLE x RENAME TO u;
          """)),
      Step(
        "references that keep the old keys", ["loses-values p.id"], tables: parents,
        sql(
          """
          CREATE TABLE x (id TEXT PRIMARY KEY NOT NULL, name TEXT);
          INSERT INTO x (id, name) SELECT lower(hex(randomblob(16))), name FROM p;
          DROP TABLE p;
          ALTER TABLE x RENAME TO p;
          """)),
    ])
  fileprivate func randomKeys(_ step: Step) throws {
    try check(step)
  }

  @Test(
    "a column whose name is a keyword is compared with the values of the step",
    arguments: ["key", "action", "first", "row", "query", "match", "plan"])
  func keywords(_ name: String) throws {
    try check(
      Step(
        name, rows, tables: "CREATE TABLE w (id INTEGER PRIMARY KEY, \(name) TEXT NOT NULL);",
        sql(
          """
          CREATE TABLE x (id INTEGER PRIMARY KEY, \(name) TEXT NOT NULL);
          INSERT INTO x SELECT id, \(name) FROM w WHERE \(name) <> 'beta';
          DROP TABLE w;
          ALTER TABLE x RENAME TO w;
          """)))
  }

  @Test("a log without a key that is copied in a draft and replaced in the next one is no loss")
  func unkeyed() throws {
    let report = try lint(
      [
        sql("CREATE TABLE log (at TEXT, msg TEXT)"),
        sql(
          """
          CREATE TABLE log2 (at TEXT, msg TEXT, level INTEGER);
          INSERT INTO log2 (at, msg) SELECT at, msg FROM log;
          """),
        sql("DROP TABLE log; ALTER TABLE log2 RENAME TO log"),
      ], .local)
    #expect(report.findings.filter { $0.rule.hasPrefix("loses-") }.map(\.message) == [])
  }

  private static let levels = """
    CREATE TABLE f (id INTEGER PRIMARY KEY, a TEXT NOT NULL CHECK (a IN ('lo', 'mid', 'hi')),
      b TEXT NOT NULL CHECK (b IN ('lo', 'mid', 'hi')));
    """

  @Test(
    "columns with the same few values differ in some rows",
    arguments: [
      Step(
        "one is copied over the other", ["loses-values f.b"], tables: levels,
        sql(
          """
          CREATE TABLE g (id INTEGER PRIMARY KEY, a TEXT NOT NULL CHECK (a IN ('lo', 'mid', 'hi')),
            b TEXT NOT NULL CHECK (b IN ('lo', 'mid', 'hi')));
          INSERT INTO g SELECT id, a, a FROM f;
          DROP TABLE f;
          ALTER TABLE g RENAME TO f;
          """)),
      Step(
        "they change places", ["loses-values f"], tables: levels,
        sql(
          """
          CREATE TABLE g (id INTEGER PRIMARY KEY, b TEXT NOT NULL CHECK (b IN ('lo', 'mid', 'hi')),
            a TEXT NOT NULL CHECK (a IN ('lo', 'mid', 'hi')));
          INSERT INTO g SELECT * FROM f;
          DROP TABLE f;
          ALTER TABLE g RENAME TO f;
          """)),
    ])
  fileprivate func sameValues(_ step: Step) throws { try check(step) }

  private static let flags = """
    CREATE TABLE f (id INTEGER PRIMARY KEY, a INTEGER NOT NULL CHECK (a IN (0, 1)),
      b INTEGER NOT NULL CHECK (b IN (0, 1)), size TEXT CHECK (size IN ('S', 'M', 'L')));
    """

  @Test(
    "columns of few values that change places are a loss",
    arguments: [
      Step(
        "a copy in another order", ["loses-values f"], tables: flags,
        sql(
          """
          CREATE TABLE g (id INTEGER PRIMARY KEY, b INTEGER NOT NULL CHECK (b IN (0, 1)),
            a INTEGER NOT NULL CHECK (a IN (0, 1)), size TEXT CHECK (size IN ('S', 'M', 'L')));
          INSERT INTO g SELECT * FROM f;
          DROP TABLE f;
          ALTER TABLE g RENAME TO f;
          """)),
      Step(
        "a copy with both names", tables: flags,
        sql(
          """
          CREATE TABLE g (id INTEGER PRIMARY KEY, b INTEGER NOT NULL CHECK (b IN (0, 1)),
            a INTEGER NOT NULL CHECK (a IN (0, 1)), size TEXT CHECK (size IN ('S', 'M', 'L')));
          INSERT INTO g (id, a, b, size) SELECT * FROM f;
          DROP TABLE f;
          ALTER TABLE g RENAME TO f;
          """)),
      Step("an UPDATE that exchanges them", tables: flags, sql("UPDATE f SET a = b, b = a")),
      Step(
        "an UPDATE that changes both", tables: flags, sql("UPDATE f SET a = 1 - a, b = 1 - b")),
      Step(
        "columns that exchange their names", tables: flags,
        sql(
          """
          ALTER TABLE f RENAME a TO c;
          ALTER TABLE f RENAME b TO a;
          ALTER TABLE f RENAME c TO b;
          """)),
    ])
  fileprivate func exchanged(_ step: Step) throws { try check(step) }

  @Test(
    "a value that a CHECK refuses does not hide others",
    arguments: [
      Step(
        "positive", rows, column: "c INTEGER NOT NULL CHECK (c > 0)", copy: "* FROM w WHERE c <> 7"),
      Step(
        "not empty", rows, column: "c TEXT NOT NULL CHECK (trim(c) <> '')",
        copy: "* FROM w WHERE c <> 'spam'"),
      Step(
        "a colour", values, column: "c TEXT CHECK (c GLOB '#[0-9a-f][0-9a-f][0-9a-f]')",
        copy: "id, '#abc', k FROM w"),
      Step(
        "a date", values, column: "c TEXT NOT NULL CHECK (date(c) IS c)",
        copy: "id, '2024-01-02', k FROM w"),
      Step(
        "JSON", values, column: "c TEXT CHECK (json_type(c) = 'array')", copy: "id, NULL, k FROM w"),
      Step(
        "bytes", values, column: "c BLOB CHECK (length(c) = 16)", copy: "id, NULL, k FROM w"),
      Step(
        "a short text", values, column: "c TEXT NOT NULL CHECK (length(c) <= 20)",
        copy: "id, substr(c, 1, 10), k FROM w"),
      Step(
        "a rating", values, column: "c INTEGER CHECK (c BETWEEN 1 AND 10)",
        after: "c INTEGER CHECK (c BETWEEN 1 AND 5)", copy: "id, (c + 1) / 2, k FROM w"),
      Step(
        "a latitude", values, column: "c REAL CHECK (c BETWEEN -90 AND 90)",
        copy: "id, round(c, 2), k FROM w"),
      Step(
        "milliseconds", values, column: "c INTEGER NOT NULL CHECK (c > 1000000000000)",
        after: "c INTEGER NOT NULL", copy: "id, c / 1000, k FROM w"),
      Step(
        "a colour that remains", column: "c TEXT CHECK (c GLOB '#[0-9a-f][0-9a-f][0-9a-f]')",
        copy: "id, c, k FROM w"),
      Step(
        "a list of values", column: "c TEXT NOT NULL CHECK (c IN ('low', 'high'))",
        copy: "id, CASE c WHEN 'low' THEN 'high' ELSE 'low' END, k FROM w"),
    ])
  fileprivate func limitedValues(_ step: Step) throws {
    try check(step)
  }

  @Test(
    "a parent with rows does not hide the rows of its children",
    arguments: [("date(v)", ["loses-values c.v"]), ("datetime(v)", []), ("v", [])],
    [("", []), ("lower(a)", ["loses-values p.a"])])
  func parentWithRows(
    _ child: (value: String, lost: [String]), _ parent: (value: String, lost: [String])
  ) throws {
    let parents = "(id INTEGER PRIMARY KEY, a TEXT, b TEXT);"
    let children =
      "(id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p (id), v TEXT NOT NULL);"
    func copy(_ columns: String, _ query: String, _ table: String) -> String {
      """
      CREATE TABLE x \(columns)
      INSERT INTO x SELECT \(query) FROM \(table);
      DROP TABLE \(table);
      ALTER TABLE x RENAME TO \(table);
      """
    }
    let rebuilds = [
      copy(children, "id, p, \(child.value)", "c"), copy(parents, "id, \(parent.value), b", "p"),
    ]
    try check(
      Step(
        "\(child.value), \(parent.value)", child.lost + parent.lost,
        tables: "CREATE TABLE p \(parents)\nCREATE TABLE c \(children)",
        sql(rebuilds.prefix(parent.value.isEmpty ? 1 : 2).joined(separator: "\n"))))
  }

  @Test(
    "keys that become equal lose rows",
    arguments: [
      ("REPLACE", "lower(id)", ""), ("IGNORE", "trim(id)", ""), ("IGNORE", "id", " COLLATE NOCASE"),
      ("REPLACE", "id", " COLLATE NOCASE"),
    ])
  func equalKeys(_ conflict: String, _ key: String, _ collation: String) throws {
    try check(
      Step(
        key, ["loses-rows u"], tables: users,
        sql(
          """
          CREATE TABLE x (id TEXT PRIMARY KEY NOT NULL\(collation), v TEXT);
          INSERT OR \(conflict) INTO x SELECT \(key), v FROM u;
          DROP TABLE u;
          ALTER TABLE x RENAME TO u;
          """)))
  }

  @Test(
    "only dates and prices that lose a part that apps use are a loss",
    arguments: [
      Step("fractions are seldom used", column: "c TEXT", copy: "id, datetime(c), k FROM w"),
      Step(
        "seconds", values, column: "c TEXT", copy: "id, strftime('%Y-%m-%d %H:%M', c), k FROM w"),
      Step("days", values, column: "c TEXT", copy: "id, time(c), k FROM w"),
      Step(
        "cents", values, column: "c REAL NOT NULL", after: "c INTEGER",
        copy: "id, CAST(c * 100 AS INTEGER), k FROM w"),
      Step(
        "rounded cents", column: "c REAL NOT NULL", after: "c INTEGER",
        copy: "id, CAST(round(c * 100) AS INTEGER), k FROM w"),
    ])
  fileprivate func lessExactValues(_ step: Step) throws {
    try check(step)
  }

  @Test(
    "only some texts, or some texts only, are lost",
    arguments: [
      Step("short ones", values, column: "c TEXT", copy: "id, iif(length(c) > 5, c, ''), k FROM w"),
      Step(
        "shorter ones", values, column: "c TEXT",
        copy: "id, CASE WHEN length(c) >= 3 THEN c END, k FROM w"),
      Step(
        "padded ones", column: "c TEXT",
        copy: "id, CASE WHEN length(c) = 1 THEN '0' || c ELSE c END, k FROM w"),
      Step(
        "named ones", column: "c TEXT", copy: "id, CASE c WHEN 5 THEN 'five' ELSE c END, k FROM w"),
      Step("a rest", values, column: "c INTEGER", copy: "id, c % 7, k FROM w"),
    ])
  fileprivate func someTexts(_ step: Step) throws { try check(step) }

  private static let categories = """
    CREATE TABLE w (id INTEGER PRIMARY KEY, c TEXT, k TEXT);
    CREATE TABLE kinds (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    """

  private static func joined(_ value: String, type: String = "TEXT") -> String {
    sql(
      """
      CREATE TABLE x (id INTEGER PRIMARY KEY, c \(type), k TEXT);
      INSERT INTO x SELECT w.id, \(value), k FROM w LEFT JOIN kinds ON kinds.name = w.c;
      DROP TABLE w;
      ALTER TABLE x RENAME TO w;
      """)
  }

  @Test(
    "a key without a foreign key may lack its parent in a LEFT JOIN",
    arguments: [
      Step("the name of the parent", values, tables: categories, joined("kinds.name")),
      Step(
        "the key of the parent", values, tables: categories, joined("kinds.id", type: "INTEGER")),
      Step(
        "the key of the parent, as a foreign key", tables: categories,
        joined("kinds.name", type: "TEXT REFERENCES kinds (name)")),
      Step("the key itself", tables: categories, joined("w.c")),
      Step("one of both", tables: categories, joined("coalesce(kinds.name, w.c)")),
      Step(
        "names that become parents first", tables: categories,
        sql("INSERT OR IGNORE INTO kinds (name) SELECT c FROM w WHERE c IS NOT NULL;\n")
          + joined("kinds.id", type: "INTEGER").split(separator: "\n").dropFirst()
          .joined(separator: "\n") + "\n"),
    ])
  fileprivate func withoutParent(_ step: Step) throws { try check(step) }

  @Test("a merge of two tables keeps the keys of rows that hold nothing else")
  func merged() throws {
    let report = try lint(
      [
        sql(
          """
          CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
          CREATE TABLE profiles (
            user INTEGER NOT NULL UNIQUE REFERENCES users, bio TEXT, site TEXT
          );
          """),
        sql(
          """
          ALTER TABLE users ADD COLUMN bio TEXT;
          ALTER TABLE users ADD COLUMN site TEXT;
          UPDATE users SET bio = p.bio, site = p.site FROM profiles p WHERE p.user = users.id;
          DROP TABLE profiles;
          """),
      ], .local)
    let messages = report.findings.filter { $0.rule == "drop-table" }.map(\.message)
    #expect(messages.count == 1 && messages[0].contains("other tables hold its values"))
  }

  @Test("the copy that a rebuild left may be dropped when the next rebuild leaves another one")
  func formerCopies() throws {
    func rebuilt(_ columns: String, _ copied: String) -> String {
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY, name TEXT, \(columns));
      INSERT INTO n (\(copied)) SELECT \(copied) FROM t;
      ALTER TABLE t RENAME TO t_old;
      ALTER TABLE n RENAME TO t;
      """
    }
    let report = try lint(
      [
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)"),
        sql(rebuilt("w TEXT", "id, name")),
        sql("DROP TABLE IF EXISTS t_old;\n" + rebuilt("w TEXT, h TEXT", "id, name, w")),
      ], .local)
    #expect(report.findings.filter { $0.severity != .note } == [])
  }

  @Test(
    "a table that is renamed and then rebuilt in one migration is tested",
    arguments: [
      ("id, name, n, note", "SELECT * FROM tt", []),
      ("id, name, n", "SELECT id, name, n FROM tt", ["loses-values t.note"]),
      ("id, name, n, note", "SELECT * FROM tt WHERE n > 0", ["loses-rows t"]),
    ])
  func rebuiltAfterRename(_ columns: String, _ copy: String, _ lost: [String]) throws {
    let step = Step(
      copy, lost, tables: notes,
      sql(
        """
        ALTER TABLE t RENAME TO tt;
        CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, note TEXT);
        INSERT INTO x (\(columns)) \(copy);
        DROP TABLE tt;
        ALTER TABLE x RENAME TO tt;
        """))
    try check(step)
    #expect(
      try lint([step.tables, step.text], .local).findings.contains { $0.rule == "rename-table" })
  }

  @Test("a column that gets a constant loses all its values, not only NULL")
  func constant() throws {
    let step = Step("", column: "c TEXT", copy: "id, 'x', k FROM w")
    #expect(
      try losses(step).map(\.message) == [
        "the values of `w.c` are lost: with other values there, the database is the same after the "
          + "migration"
      ])
  }

  @Test("the two values of a message show their difference")
  func difference() throws {
    let step = Step("", column: "c TEXT", copy: "id, substr(c, 1, 10), k FROM w")
    #expect(
      try losses(step).map(\.message) == [
        "different values of `w.c` become the same: '…braZebraZebraZebra' and '…braZebraZebraZebrk'"
      ])
  }

  @Test("a copy that leaves rows with NULL out does not fail on them")
  func omittedNulls() throws {
    let report = try lint(
      [
        sql(notes),
        sql(
          """
          CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT NOT NULL, n INTEGER, note TEXT);
          INSERT OR IGNORE INTO x SELECT * FROM t;
          DROP TABLE t;
          ALTER TABLE x RENAME TO t;
          """),
      ], .local)
    #expect(report.findings.filter { $0.severity == .error }.map(\.rule) == ["loses-rows"])
  }
}

import SchemaApply
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// A change of one column of a table whose rows are older than its last columns.
struct Alteration: Sendable, CustomTestStringConvertible {
  let change: String
  var strategy: Strategy = .schemaEdit
  var create =
    "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, /* the title */ title VARCHAR(20), "
    + "n INTEGER DEFAULT 3, other TEXT DEFAULT 'x', CHECK (length(other) < 9))"
  var testDescription: String { change }

  static let all = [
    Alteration(change: "column: title, not_null: true"),
    Alteration(change: "column: title, not_null: { on_conflict: replace }, default: ''"),
    Alteration(change: "column: n, not_null: true, default: 0, check: \"n >= 0\""),
    Alteration(change: "column: title, type: TEXT"),
    Alteration(change: "column: title, default: Untitled"),
    Alteration(change: "column: n, default: null"),
    Alteration(change: "column: n, default: { sql: \"1 + 1\" }"),
    Alteration(change: "column: title, collate: NOCASE"),
    Alteration(change: "column: n, references: { table: parents, on_delete: set_null }"),
    Alteration(change: "column: added, default: new"),
    Alteration(change: "column: added, default: new, not_null: true"),
    Alteration(change: "column: other, check: \"other <> ''\""),
    Alteration(
      change: "column: title, not_null: false",
      create: "CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT CONSTRAINT must NOT NULL "
        + "DEFAULT 'x' CHECK (title <> ''), n INT)"),
    Alteration(
      change: "column: title, check: null, default: null, collate: null",
      create: "CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT 'x' "
        + "CHECK (title <> '') COLLATE NOCASE, n INT) "),
    Alteration(
      change: "column: n, references: null",
      create: "CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT, n INT REFERENCES parents(id) "
        + "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED)"),
    Alteration(change: "column: n, type: TEXT", strategy: .rewrite),
    Alteration(change: "column: n, type: REAL, default: 1.5", strategy: .rewrite),
    Alteration(change: "column: other, collate: NOCASE", strategy: .rewrite),
    Alteration(
      change: "column: n, generated: null", strategy: .rewrite,
      create: "CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT, n INT AS (id * 2) STORED)"),
    Alteration(
      change: "column: n, generated: { as: \"id * 3\" }", strategy: .rewrite,
      create: "CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT, n INT AS (id * 2))"),
    Alteration(
      change: "column: n, default: 9", strategy: .rewrite,
      create: "CREATE TABLE t (id TEXT PRIMARY KEY, title TEXT, n INT DEFAULT 4) WITHOUT ROWID"),
    Alteration(
      change: "column: title, default: a, not_null: true",
      create: "CREATE TABLE t (title TEXT, n INT, id INT UNIQUE) STRICT"),
  ]

  /// Creates a database with the original table.
  func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_table",
      """
      CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT);
      \(create);
      CREATE INDEX by_n ON t (n);
      CREATE TABLE logged (what TEXT);
      CREATE TRIGGER t_logs AFTER UPDATE ON t BEGIN INSERT INTO logged VALUES ('update'); END;
      CREATE TRIGGER t_logs_too AFTER DELETE ON t BEGIN INSERT INTO logged VALUES ('delete'); END;
      CREATE VIEW v AS SELECT title, n FROM t;
      CREATE TABLE children (t INTEGER REFERENCES t (id) ON DELETE CASCADE);
      """)
    try sandbox.addSQL(
      "0002_later",
      """
      ALTER TABLE t ADD COLUMN added TEXT DEFAULT 'old';
      """)
    try sandbox.migrate(to: "1")
    let isComputed = create.contains("AS (")
    try sandbox.run(
      """
      WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 50)
      INSERT INTO t (id, title\(isComputed ? "" : ", n"))
        SELECT i * 3, iif(i % 7, 'Title ' || i, 'title')\(isComputed ? "" : ", i % 4") FROM i;
      INSERT INTO parents (id) VALUES (0), (1), (2), (3);
      INSERT INTO children SELECT id FROM t;
      """)
    try sandbox.migrate(to: "2")
    try sandbox.run(
      "INSERT INTO t (id, title, added) VALUES (1000, 'new', 'given'), (1001, 'newer', NULL)"
        .replacing("NULL", with: "'also'"))
    return try sandbox.add("0003_alter", "operations:\n- alter_column: { table: t, \(change) }\n")
  }
}

/// The observable content of a database.
private struct Content: Equatable, CustomStringConvertible {
  let schema: [String]
  let rows: [String: [[Value]]]
  let problems: [[Value]]

  init(_ sandbox: Sandbox) throws {
    let connection = try sandbox.open()
    schema = try Schema(of: connection).objects.map { "\($0.name): \($0.sql ?? "")" }.sorted()
    var rows: [String: [[Value]]] = [:]
    for table in ["parents", "t", "logged", "children", "sqlite_sequence"] {
      let hasRowid = try Schema(of: connection).table(table)?.sql?.contains("WITHOUT") == false
      rows[table] = try? connection.rows(
        "SELECT \(hasRowid ? "rowid, " : "")*, (SELECT group_concat(typeof(n), '') FROM t) "
          + "FROM \(table) ORDER BY 1")
    }
    self.rows = rows
    problems =
      try connection.rows("PRAGMA integrity_check") + connection.rows("PRAGMA foreign_key_check")
  }

  var description: String { schema.joined(separator: "\n") + "\n\(rows)\n\(problems)" }
}

@Suite("alter_column")
struct AlterColumnTests {
  @Test(
    "the cheapest strategy has the same schema and rows as a rebuild",
    arguments: oneIn(2, of: Alteration.all))
  func strategies(_ alteration: Alteration) throws {
    let sandbox = try alteration.sandbox()
    let before = try sandbox.rows(
      "SELECT rowid, title, added FROM t ORDER BY id".replacing(
        "rowid, ", with: alteration.create.contains("WITHOUT") ? "" : "rowid, "))
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure.map { "\($0)" } ?? "")")
    #expect(report.applied.first?.strategies == [alteration.strategy])
    let content = try Content(sandbox)
    #expect(content.problems == [["ok"]])
    #expect(content.rows["logged"]?.isEmpty == true, "no trigger of the user has fired")
    #expect(
      try sandbox.rows(
        "SELECT rowid, title, added FROM t ORDER BY id".replacing(
          "rowid, ", with: alteration.create.contains("WITHOUT") ? "" : "rowid, ")) == before)

    let rebuilt = try alteration.sandbox()
    try rebuilt.replaceLastMigration(rebuilding: "t", as: sandbox)
    let other = try rebuilt.migrate()
    #expect(other.failure == nil, "\(other.failure.map { "\($0)" } ?? "")")
    #expect(other.applied.first?.strategies == [.rewrite])
    #expect(try Content(rebuilt) == content)
  }

  @Test("unchanged parts of the table's text remain byte for byte")
  func text() throws {
    let sandbox = try Alteration(
      change: "column: n, not_null: true, default: 7",
      create: """
        CREATE TABLE t (
          id INTEGER PRIMARY KEY, -- the key
          title TEXT  ,n  INT /* how many */ DEFAULT  (3)   CHECK ( n<9 ),
          CONSTRAINT "c;" CHECK (title <> ';')
        )
        """
    ).sandbox()
    try sandbox.migrate()
    #expect(
      try sandbox.schema().table("t")?.sql == """
        CREATE TABLE t (
          id INTEGER PRIMARY KEY, -- the key
          title TEXT  ,n  INT NOT NULL /* how many */ DEFAULT 7   CHECK ( n<9 ), added TEXT DEFAULT 'old',
          CONSTRAINT "c;" CHECK (title <> ';')
        )
        """)
  }

  @Test(
    "rows that violate the new definition refuse the change",
    arguments: [
      ("column: title, not_null: true", "UPDATE t SET title = NULL WHERE id = 6", "holds NULL"),
      ("column: n, check: \"n < 3\"", "", "do not meet the new CHECK"),
      ("column: n, references: { table: parents }", "DELETE FROM parents WHERE id = 2", "parents"),
      ("column: other, type: INTEGER", "UPDATE t SET other = '007' WHERE id = 6", "'007'"),
      (
        "column: other, type: NUMERIC", "UPDATE t SET other = '1e3' WHERE id = 6",
        "would store as another value"
      ),
      ("column: n, default: null, generated: { as: \"id\" }", "", "would be lost"),
    ])
  func refused(change: String, damage: String, message: String) throws {
    let sandbox = try Alteration(change: change).sandbox()
    if !damage.isEmpty { try sandbox.run("PRAGMA recursive_triggers = ON; " + damage) }
    let before = try Content(sandbox)
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed, "\(failure)")
    #expect(failure.message.contains(message), "\(failure.message)")
    #expect(try Content(sandbox) == before)
  }

  @Test(
    "a type or an expression with additional SQL is refused",
    arguments: [
      "column: n, type: \"INT NOT NULL\"", "column: n, type: \"INT, extra TEXT\"",
      "column: n, type: \"INT) --\"", "column: n, check: \"1) CHECK (0\"",
      "column: id, type: TEXT", "column: n, default: { sql: \"1), (2\" }",
    ])
  func smuggling(change: String) throws {
    let sandbox = try Alteration(change: change).sandbox()
    #expect(sandbox.failure()?.status == .invalidInput)
    #expect(try sandbox.ledger.count == 2)
  }

  @Test("lossless conversions to another type happen: '9' becomes 9, and 9 becomes '9'")
  func conversions() throws {
    let sandbox = try Alteration(change: "column: other, type: INTEGER, check: null").sandbox()
    try sandbox.run("UPDATE t SET other = id")
    try sandbox.migrate()
    #expect(try sandbox.rows("SELECT DISTINCT typeof(other) FROM t") == [["integer"]])
  }

  /// With `writable_schema`, SQLite ignores such a CHECK, and every other connection refuses to read the schema.
  @Test(
    "a CHECK that SQLite does not accept is refused",
    arguments: ["n IN (SELECT 1)", "EXISTS (SELECT 1 FROM o WHERE x = n)", "n <> ?", "n <> :a"],
    ["", ", not_null: true"])
  func refusedCheck(check: String, more: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_table", "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT); CREATE TABLE o (x)")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (1, 2)")
    try sandbox.add(
      "0002_check",
      "operations:\n- alter_column: { table: t, column: n, check: \"\(check)\"\(more) }\n")
    #expect(try sandbox.migrate().status == .migrationFailed)
    #expect(try sandbox.rows("SELECT * FROM t") == [[1, 2]])
  }

  @Test("a failure after the edit restores the schema, in memory too")
  func rolledBack() throws {
    let sandbox = try Alteration(change: "column: title, not_null: true").sandbox()
    try sandbox.addSQL("0004_more", "CREATE TABLE more (a)")
    try sandbox.add(
      "0003_alter",
      """
      operations:
      - alter_column: { table: t, column: title, not_null: true }
      - assert: { query: "SELECT 1", equals: 2 }
      """)
    let before = try Content(sandbox)
    #expect(try sandbox.migrate().failure?.status == .migrationFailed)
    #expect(try Content(sandbox) == before)
    try sandbox.run("INSERT INTO t (title) VALUES (NULL)")
  }
}

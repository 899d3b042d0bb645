import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaSQLite
import SchemaTestSupport
import Testing

/// Operations that change columns, with the expected rows for every strategy.
struct Change: Sendable, CustomStringConvertible {
  let testDescription: String
  let base: String
  let rows: String
  let operations: [String]
  let question: String
  let answer: [[Value]]
  var description: String { testDescription }

  static let all = [
    Change(
      testDescription: "a computed column that is moved",
      base: "CREATE TABLE t (id INTEGER PRIMARY KEY, net REAL, gross REAL AS (net * 2) STORED)",
      rows: "INSERT INTO t (id, net) VALUES (1, 10), (2, 20)",
      operations: [
        "move_column: { table: t, from: gross, using: gross, "
          + "to: { name: total, type: REAL, not_null: true, default: 0 } }"
      ],
      question: "SELECT net, total FROM t",
      answer: [[.real(10), .real(20)], [.real(20), .real(40)]]),
    Change(
      testDescription: "a computed column that is moved by a map, with what mentions it",
      base: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, isBig INTEGER AS (a > 5));
        CREATE VIEW v AS SELECT isBig FROM t;
        """,
      rows: "INSERT INTO t (id, a) VALUES (1, 1), (2, 9)",
      operations: [
        "move_column: { table: t, from: isBig, dependents: rename, map: { 0: small, 1: big }, "
          + "to: { name: size, type: TEXT } }"
      ],
      question: "SELECT a, size FROM t", answer: [[1, "small"], [9, "big"]]),
    Change(
      testDescription: "a computed column that is moved beside another one",
      base: "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER AS (a + 1), c TEXT)",
      rows: "INSERT INTO t (id, a, c) VALUES (1, 1, 'x'), (2, 9, 'y')",
      operations: [
        "move_column: { table: t, from: b, using: b, to: { name: bb, type: TEXT } }",
        "alter_column: { table: t, column: c, type: BLOB }",
      ],
      question: "SELECT a, bb, c FROM t", answer: [[1, "2", "x"], [9, "10", "y"]]),
    Change(
      testDescription: "a trigger that mentions a column that is moved beside another one",
      base: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, isDone INTEGER, x INTEGER);
        CREATE TABLE log (what);
        CREATE TRIGGER done AFTER INSERT ON t WHEN NEW.isDone = 1 BEGIN INSERT INTO log VALUES (1); END;
        CREATE TRIGGER other AFTER INSERT ON log BEGIN UPDATE t SET isDone = isDone; END;
        """,
      rows: "INSERT INTO t VALUES (1, 0, 1), (2, 0, 2)",
      operations: [
        "move_column: { table: t, from: isDone, dependents: rename, map: { 0: open, 1: done }, "
          + "to: { name: state, type: TEXT } }",
        "move_column: { table: t, from: x, using: x, to: { name: y, type: TEXT } }",
      ],
      question: "INSERT INTO t VALUES (3, '1', 1) RETURNING state", answer: [["1"]]),
    Change(
      testDescription:
        "names in double quotes that mention a column that is moved beside another one",
      base: """
        CREATE TABLE people (id INTEGER PRIMARY KEY, "mail" TEXT, "age" TEXT);
        CREATE UNIQUE INDEX byMail ON people ("mail");
        CREATE VIEW mails AS SELECT "mail" AS m FROM people WHERE "mail" <> '';
        """,
      rows: "INSERT INTO people VALUES (1, 'a', '1'), (2, 'b', '2')",
      operations: [
        "alter_column: { table: people, column: age, type: INTEGER }",
        "move_column: { table: people, from: mail, dependents: rename, using: upper(mail), "
          + "to: { name: email, type: TEXT } }",
      ],
      question: "SELECT m, age FROM mails JOIN people ON email = m", answer: [["A", 1], ["B", 2]]),
    Change(
      testDescription: "an expression over a computed column whose source changes before it",
      base: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, b INTEGER, c INTEGER, g INTEGER AS (b * 10) STORED,
          h INTEGER AS (g + 1))
        """,
      rows: "INSERT INTO t (id, b, c) VALUES (1, 1, 0), (2, 2, 0)",
      operations: [
        "move_column: { table: t, from: b, using: b + 1, dependents: rename, "
          + "to: { name: bb, type: TEXT } }",
        "move_column: { table: t, from: c, using: h, to: { name: cc, type: TEXT } }",
      ],
      question: "SELECT bb, cc FROM t", answer: [["2", "21"], ["3", "31"]]),
    Change(
      testDescription: "an expression over the type of a column that changes before it",
      base: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, b TEXT, c TEXT, kind TEXT AS (typeof(b)));
        """,
      rows: "INSERT INTO t (id, b, c) VALUES (1, '1', 0), (2, '2', 0)",
      operations: [
        "alter_column: { table: t, column: b, type: INTEGER }",
        "move_column: { table: t, from: c, using: kind, to: { name: cc, type: BLOB } }",
      ],
      question: "SELECT b, cc FROM t", answer: [[1, "integer"], [2, "integer"]]),
    Change(
      testDescription: "an expression that asks a view of the table",
      base: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, b TEXT, c TEXT);
        CREATE VIEW v AS SELECT id, typeof(b) AS kind FROM t;
        """,
      rows: "INSERT INTO t (id, b, c) VALUES (1, '1', 0), (2, '2', 0)",
      operations: [
        "alter_column: { table: t, column: b, type: INTEGER }",
        "move_column: { table: t, from: c, using: \"(SELECT kind FROM v WHERE v.id = t.id)\", "
          + "to: { name: cc, type: BLOB } }",
      ],
      question: "SELECT b, cc FROM t", answer: [[1, "integer"], [2, "integer"]]),
    Change(
      testDescription: "a new column that has the name of the rowid",
      base: "CREATE TABLE t (k TEXT, a INTEGER, d TEXT)",
      rows: "INSERT INTO t VALUES ('x', 1, 'd'), ('y', 2, 'd'); DELETE FROM t WHERE k = 'x'",
      operations: [
        "alter_column: { table: t, column: a, type: TEXT }",
        "add_column: { table: t, column: { name: rowid, type: TEXT, default: none } }",
        "drop_column: { table: t, column: d }",
      ],
      question: "SELECT _rowid_, k, a, rowid FROM t", answer: [[2, "y", "2", "none"]]),
    Change(
      testDescription: "a new column that has the name of the rowid, between drops",
      base: "CREATE TABLE t (k TEXT, a INTEGER, d TEXT)",
      rows: "INSERT INTO t VALUES ('x', 1, 'd'), ('y', 2, 'd'); DELETE FROM t WHERE k = 'x'",
      operations: [
        "drop_column: { table: t, column: a }",
        "add_column: { table: t, column: { name: RowId, type: TEXT, default: none } }",
        "drop_column: { table: t, column: d }",
      ],
      question: "SELECT _rowid_, k, rowid FROM t", answer: [[2, "y", "none"]]),
  ]
}

@Suite("Changes of values in several columns")
struct ValuesTests {
  private func sandbox(_ change: Change, sharesRewrites: Bool = true) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_base", change.base)
    try sandbox.migrate()
    try sandbox.run(change.rows)
    try sandbox.add(
      "0002_change", "operations:\n" + change.operations.map { "  - \($0)\n" }.joined())
    sandbox.application.plansOperationsAlone = !sharesRewrites
    return sandbox
  }

  @Test("one rewrite has the same result as separate ones", arguments: Change.all)
  func values(_ change: Change) throws {
    let sandbox = try sandbox(change)
    let failure = try sandbox.migrate().failure
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    #expect(try sandbox.project().verify(database: sandbox.database, timeout: 1).status == .success)
    #expect(try sandbox.rows(change.question) == change.answer)
    let alone = try self.sandbox(change, sharesRewrites: false)
    #expect(try alone.migrate().failure == nil)
    func texts(_ sandbox: Sandbox) throws -> [String] {
      try sandbox.schema().objects.filter { !$0.isOf(.usual) }.compactMap(\.sql).sorted()
    }
    #expect(try texts(sandbox) == texts(alone))
  }

  @Test(
    "a value that a dropped column does not accept fails the migration", arguments: [true, false])
  func refused(sharesRewrites: Bool) throws {
    let change = Change(
      testDescription: "", base: "CREATE TABLE t (id INTEGER PRIMARY KEY, o TEXT, a TEXT)",
      rows: "INSERT INTO t VALUES (1, NULL, 'x')",
      operations: [
        "move_column: { table: t, from: o, using: o, "
          + "to: { name: o2, type: TEXT, not_null: true, default: q } }",
        "move_column: { table: t, from: a, using: a, to: { name: a2, type: BLOB } }",
        "drop_column: { table: t, column: o2 }",
      ], question: "", answer: [])
    let sandbox = try sandbox(change, sharesRewrites: sharesRewrites)
    #expect(try sandbox.migrate().failure?.status == .migrationFailed)
    #expect(try sandbox.rows("SELECT o, a FROM t") == [[.null, "x"]])
  }
}

import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaSQLite
import SchemaTestSupport
import Testing

/// Checks of rows that `plan` makes, because `migrate` would fail on these rows.
@Suite("A plan asks the rows of the database")
struct PlanAgainstRowsTests {
  private func sandbox(_ yaml: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base",
      "CREATE TABLE lists (id INTEGER PRIMARY KEY); "
        + "CREATE TABLE items (id INTEGER PRIMARY KEY, list INTEGER);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO lists VALUES (1); INSERT INTO items VALUES (1, 1), (2, 7)")
    return try sandbox.add("0002_step", yaml)
  }

  private static let reference =
    "operations:\n- alter_column: { table: items, column: list, references: { table: lists } }\n"

  @Test("whether a new foreign key finds its parents")
  func reference() throws {
    let sandbox = try sandbox(Self.reference)
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.status == .migrationFailed)
    #expect(plan.failure?.message.contains("found 1 row: id = 2, list = 7") == true)
    #expect(try sandbox.migrate().status == .migrationFailed)
    try sandbox.run("DELETE FROM items WHERE id = 2")
    let repaired = try sandbox.project().dryRun(sandbox.options())
    #expect(repaired.status == .success)
    #expect(repaired.answers.map(\.isAsked) == [true])
    #expect(try sandbox.migrate().status == .success)
  }

  @Test("whether a foreign key to another table finds its parents")
  func otherParent() throws {
    let sandbox = try sandbox(Self.reference)
    try sandbox.run("DELETE FROM items WHERE id = 2")
    try sandbox.migrate()
    try sandbox.addSQL(
      "0003_folders",
      "CREATE TABLE folders (id INTEGER PRIMARY KEY); INSERT INTO folders VALUES (99)")
    try sandbox.migrate()
    try sandbox.add(
      "0004_other",
      "operations:\n- alter_column: { table: items, column: list, references: { table: folders } }\n"
    )
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.failure?.message.contains("missing rows of `folders`") == true)
    #expect(try sandbox.migrate().status == .migrationFailed)
  }

  @Test(
    "whether an assertion holds",
    arguments: [
      "before: [{ query: SELECT count(*) FROM items, equals: 3, message: three items }]\n"
        + "operations: [{ sql: SELECT 1 }]\n",
      "operations: [{ assert: { query: SELECT count(*) FROM items, equals: 3, message: three items } }]\n",
      "operations: [{ sql: CREATE TABLE other (id) }]\n"
        + "after: [{ query: SELECT count(*) FROM items, equals: 3, message: three items }]\n",
      "operations: [{ assert: { query: SELECT count(*) FROM items, equals: 3, message: three items } }, "
        + "{ add_column: { table: items, column: { name: x } } }]\n",
    ])
  func assertion(_ yaml: String) throws {
    let sandbox = try sandbox(yaml)
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.failure?.message == "three items: expected 3, found 2")
    #expect(try sandbox.migrate().failure?.lines.first == plan.failure?.lines.first)
    try sandbox.run("INSERT INTO items VALUES (3, 1)")
    #expect(try sandbox.project().dryRun(sandbox.options()).failure == nil)
  }

  @Test(
    "but not an assertion on rows or tables that the migration changes before",
    arguments: [
      "operations:\n- insert: { table: items, rows: [{ id: 3 }] }\n"
        + "- assert: { query: SELECT count(*) FROM items, equals: 3 }\n",
      "operations:\n- rename_table: { table: items, to: old }\n- sql: CREATE TABLE items (id)\n"
        + "- assert: { query: SELECT count(*) FROM items, equals: 0 }\n",
      "operations:\n- sql: CREATE TABLE other (id)\n"
        + "after: [{ query: SELECT count(*) FROM other, equals: 0 }]\n",
      "operations:\n- insert: { table: items, rows: [{ id: 3 }] }\n"
        + "- assert: { query: SELECT changes(), equals: 1 }\n",
      "operations:\n- insert: { table: items, rows: [{ id: 3 }] }\n"
        + "- assert: { query: SELECT last_insert_rowid(), equals: 3 }\n",
    ])
  func later(_ yaml: String) throws {
    let sandbox = try sandbox(yaml)
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.failure == nil)
    #expect(plan.answers.last?.isAsked == false)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test(
    "but not about a column that has another column's name before the plan",
    arguments: [
      """
      operations:
      - rename_column: { table: items, from: list, to: old }
      - add_column: { table: items, column: { name: list, type: INTEGER, default: 0 } }
      - alter_column: { table: items, column: list, not_null: true }
      """,
      """
      operations:
      - rename_column: { table: items, from: list, to: old }
      - add_column: { table: items, column: { name: list, type: INTEGER } }
      - alter_column: { table: items, column: list, not_null: true }
      """,
    ])
  func renamed(_ yaml: String) throws {
    let sandbox = try sandbox(yaml)
    try sandbox.run("UPDATE items SET list = NULL")
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.status == .success)
    #expect(plan.answers.map(\.isAsked) == [false])
    let hasDefault = yaml.contains("default")
    #expect(try sandbox.migrate().status == (hasDefault ? .success : .migrationFailed))
  }

  @Test("nor about such a reference to a dropped table")
  func renamedReference() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base", "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INTEGER);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)")
    try sandbox.add(
      "0002_rename",
      """
      operations:
      - rename_column: { table: c, from: p, to: old }
      - add_column: { table: c, column: { name: p, type: INTEGER, references: { table: p } } }
      """)
    try sandbox.addSQL("0003_drop", "DROP TABLE p")
    #expect(try sandbox.project().dryRun(sandbox.options()).status == .success)
    #expect(try sandbox.migrate().status == .success)
  }

  @Test(
    "and whether a new generated column meets its constraints",
    arguments: [
      "not_null: true, generated: { as: \"nullif(list, 7)\" }",
      "check: g < 7, generated: { as: list }",
    ])
  func generatedColumn(_ column: String) throws {
    let sandbox = try sandbox(
      "operations:\n- add_column: { table: items, column: { name: g, \(column) } }\n")
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.failure?.message.contains("found 1 row: id = 2") == true)
    #expect(try sandbox.migrate().status == .migrationFailed)
    try sandbox.run("DELETE FROM items WHERE id = 2")
    #expect(try sandbox.project().dryRun(sandbox.options()).answers.map(\.obstacle) == [nil])
    #expect(try sandbox.migrate().status == .success)
  }
}

/// Operations that fail because of rows in the database.
@Suite("A plan finds the rows that stop a migration")
struct PlanFailureTests {
  private static let key = "{ name: id, type: INTEGER, primary_key: true }"
  private static let title = "{ name: title, type: TEXT }"

  private func sandbox(_ operation: String, _ rows: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base",
      "CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, n INTEGER CHECK (n < 100)); "
        + "CREATE TABLE parents (id INTEGER PRIMARY KEY); INSERT INTO parents VALUES (1)")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO items VALUES \(rows)")
    return try sandbox.add("0002_step", "operations:\n- \(operation)\n")
  }

  @Test(
    "before anything is written",
    arguments: [
      "rebuild_table: { table: items, columns: [\(key), { name: title, type: TEXT, not_null: true }] }",
      "rebuild_table: { table: items, columns: [{ name: title, type: TEXT, primary_key: true, not_null: true }] }",
      "rebuild_table: { table: items, columns: [{ name: title, type: TEXT, primary_key: true }], without_rowid: true }",
      "rebuild_table: { table: items, columns: [\(key), \(title), { name: k, type: INTEGER, not_null: true }] }",
      "rebuild_table: { table: items, columns: [\(key), \(title), { name: n, type: INTEGER, check: n > 0 }] }",
      "rebuild_table: { table: items, columns: [\(key), \(title), { name: n, type: INTEGER }], checks: [id > n] }",
      "rebuild_table: { table: items, columns: [\(key), { name: title, type: TEXT, unique: true }] }",
      "rebuild_table: { table: items, columns: [\(key), \(title), { name: n, type: BLOB }], strict: true }",
      "add_column: { table: items, column: { name: k, type: INTEGER, check: n > 0 } }",
      "add_column: { table: items, column: { name: k, default: { sql: datetime() } } }",
      "add_column: { table: items, column: { name: k, generated: { as: n, stored: true } } }",
      "add_column: { table: items, column: { name: k, type: INTEGER, default: 3, check: n > k } }",
      "move_column: { table: items, from: n, to: { name: k, type: INTEGER, check: k > 0 }, using: n * 2 }",
      "move_column: { table: items, from: n, to: { name: k, type: INTEGER, check: k < 100 }, using: n + 98 }",
      "move_column: { table: items, from: n, to: { name: k, type: INTEGER, check: k < 9 }, using: n * 2, keep_source: true }",
      "update: { table: items, set: { n: n + 98 }, where: id = 1 }",
      "move_column: { table: items, from: title, to: { name: k, type: TEXT, unique: true }, using: title || 'x' }",
      "move_column: { table: items, from: title, to: { name: k, unique: true }, map: { a: 1, null: null } }",
      "move_column: { table: items, from: n, to: { name: k, type: INTEGER, references: { table: parents, column: id } }, "
        + "using: n * 2 }",
      "rebuild_table: { table: items, columns: [\(key), \(title), { name: k, type: INTEGER }], unique: [[title, k]], "
        + "copy: { k: abs(id) > 0 } }",
      "rebuild_table: { table: items, columns: [\(key), \(title), { name: k, type: INTEGER, "
        + "references: { table: parents, column: id } }], copy: { k: id + 1 } }",
      "insert: { table: items, rows: [{ id: 9 }, { id: '2', title: b }] }",
      "rebuild_table: { table: items, columns: [\(key), \(title)], copy: { id: 1 } }",
      "rebuild_table: { table: items, columns: [\(key), \(title)], copy: { id: \"'k' || id\" } }",
      "rebuild_table: { table: items, columns: [\(key), { name: n, type: INTEGER }], strict: true, copy: { n: title } }",
      "rebuild_table: { table: items, columns: [\(key), { name: k, not_null: true }], unique: [[k]] }",
      "rebuild_table: { table: items, columns: [\(key), { name: k, default: 5 }], unique: [[k]] }",
      "rebuild_table: { table: items, columns: [\(key), { name: k, default: 5, references: { table: parents } }] }",
      "add_column: { table: items, column: { name: k, type: INT, default: 5, references: { table: parents } } }",
    ])
  func found(_ operation: String) throws {
    let sandbox = try sandbox(operation, "(1, 'a', 5), (2, NULL, -3), (3, 'a', NULL)")
    let failure = try sandbox.project().dryRun(sandbox.options()).failure
    #expect(failure?.status == .migrationFailed)
    #expect(failure?.message.contains(" row") == true, "\(failure?.message ?? "")")
    #expect(try sandbox.migrate().status == .migrationFailed)
  }

  @Test(
    "and no others",
    arguments: [
      "rebuild_table: { table: items, columns: [\(key), { name: title, type: TEXT, not_null: true }], "
        + "copy: { title: \"coalesce(title, '')\" } }",
      "rebuild_table: { table: items, columns: [\(key), { name: n, type: INTEGER, check: n > 0 }], "
        + "where: n > 0, rows_may_be_lost: true }",
      "add_column: { table: items, column: { name: k, type: TEXT, not_null: true, default: '7', check: k = '7' } }",
      "alter_column: { table: items, column: title, collate: NOCASE, check: \"title = 'A'\" }",
      "update: { table: items, set: { n: n + 98 }, where: n < 0 }",
      "move_column: { table: items, from: title, to: { name: k, type: TEXT, unique: true }, using: title || id }",
      "move_column: { table: items, from: n, to: { name: k, type: INTEGER, references: { table: parents, column: id } }, "
        + "using: abs(n) > 0 }",
      "insert: { table: items, rows: [{ id: 4, title: a }, { title: a }, { id: { sql: 1 + 6 } }] }",
      "rebuild_table: { table: items, columns: [\(key), \(title), { name: k }], unique: [[k]], copy: { id: id + 1 } }",
      "add_column: { table: items, column: { name: k, type: INT, default: 1, references: { table: parents } } }",
      "create_table: { name: tags, columns: [\(key), \(title)] }\n"
        + "- create_index: { name: tags_title, table: tags, columns: [title], unique: true }\n"
        + "- insert: { table: tags, rows: [{ id: 1, title: a }] }",
    ])
  func permitted(_ operation: String) throws {
    let sandbox = try sandbox(operation, "(1, 'a', 5), (2, NULL, -3), (3, 'a', NULL)")
    let report = try sandbox.project().dryRun(sandbox.options())
    #expect(report.failure == nil)
    #expect(report.answers.filter { !$0.isAsked }.isEmpty)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test(
    "whether a STRICT column accepts its new values, but only values that are not constant",
    arguments: [
      ("alter_column: { table: s, column: title, type: INTEGER }", 1),
      (
        "rebuild_table: { table: s, columns: [\(key), { name: k, type: INT, default: 5 }], strict: true }",
        0
      ),
      (
        "rebuild_table: { table: s, columns: [\(key), \(title)], strict: true, copy: { title: id + 1 } }",
        1
      ),
      ("add_column: { table: s, column: { name: k, type: INT, default: 5 } }", 0),
      ("move_column: { table: s, from: n, to: { name: k, type: INT }, map: { 5: 1 } }", 0),
      ("move_column: { table: s, from: n, to: { name: k, type: INT }, using: title }", 1),
      ("move_column: { table: s, from: n, to: { name: k, type: INT }, using: n * 2 }", 1),
      ("update: { table: s, set: { n: \"-1\" }, all: true }", 0),
      ("update: { table: s, set: { n: title }, all: true }", 1),
    ])
  func strictTypes(_ operation: String, _ count: Int) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base", "CREATE TABLE s (id INTEGER PRIMARY KEY, title TEXT, n INTEGER) STRICT")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO s VALUES (1, '7', 5)")
    try sandbox.add("0002_step", "operations:\n- \(operation)\n")
    let answers = try sandbox.project().dryRun(sandbox.options()).answers
    #expect(answers.count { $0.question.contains(" accepts every ") } == count, "\(answers)")
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test(
    "also rows that have the key of an inserted row",
    arguments: [
      (
        "id INTEGER PRIMARY KEY, a INT, name TEXT COLLATE NOCASE UNIQUE", "{ name: A }",
        "`name` (NOCASE)"
      ),
      ("a INT, name TEXT, PRIMARY KEY (name, a)", "{ a: 1, name: a }", "`name`, `a`"),
      ("a INT, name TEXT, UNIQUE (a) ON CONFLICT REPLACE", "{ a: 1, name: a }", "`a`"),
      ("a INT, name TEXT, UNIQUE (a, name)", "{ a: null, name: a }", nil),
      ("a INT DEFAULT 2, name TEXT, UNIQUE (a, name)", "{ name: a }", nil),
    ] as [(String, String, String?)])
  func takenKey(_ columns: String, _ row: String, _ key: String?) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_base", "CREATE TABLE t (\(columns))")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t (a, name) VALUES (1, 'a')")
    try sandbox.add("0002_step", "operations:\n- insert: { table: t, rows: [\(row)] }\n")
    let failure = try sandbox.project().dryRun(sandbox.options()).failure
    #expect(failure?.lines.first == key.map { "rows of `t` already have these values in \($0)" })
    #expect(try sandbox.migrate().status == (key == nil ? .success : .migrationFailed))
  }

  private func parentAndChild(_ sql: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, p INT REFERENCES p); "
        + "CREATE TABLE d (p INT REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1), (2, NULL), (3, 9)")
    return try sandbox.addSQL("0002_step", sql)
  }

  @Test("also rows that refer to a table that the migration drops")
  func droppedParent() throws {
    let sandbox = try parentAndChild("DROP TABLE p")
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(
      plan.failure?.lines.prefix(2) == [
        "rows of `c` refer by `p` to `p`, which this migration drops: set `p` to NULL or delete the rows first",
        "found 1 row: id = 1, p = 1",
      ], "\(plan.failure?.message ?? "")")
    #expect(try sandbox.migrate().status == .migrationFailed)
    try sandbox.run("DELETE FROM c WHERE p = 1")
    #expect(try sandbox.project().dryRun(sandbox.options()).failure == nil)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test(
    "but not rows that the migration also changes",
    arguments: [
      "UPDATE c SET p = NULL WHERE p = 1; DROP TABLE p", "DROP TABLE p; DELETE FROM c",
      "DROP TABLE p; DROP TABLE c",
      "CREATE TABLE q (id INTEGER PRIMARY KEY, n); INSERT INTO q (id) SELECT id FROM p; DROP TABLE p; "
        + "ALTER TABLE q RENAME TO p",
      "ALTER TABLE p RENAME TO q",
    ])
  func changedChild(_ sql: String) throws {
    let sandbox = try parentAndChild(sql)
    #expect(try sandbox.project().dryRun(sandbox.options()).failure == nil)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test(
    "a foreign key must match a key of its parent",
    arguments: [
      "rebuild_table: { table: p, columns: [{ name: id, type: INTEGER, primary_key: true }, { name: code }, { name: tag }] }",
      "alter_column: { table: c, column: x, references: { table: p, column: name } }",
      "sql: CREATE TABLE e (x REFERENCES p (name))", "drop_index: { name: p_tag }",
      "sql: DROP INDEX p_tag; CREATE INDEX p_tag ON p (tag)",
    ])
  func mismatch(_ operation: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base",
      "CREATE TABLE p (id INTEGER PRIMARY KEY, code UNIQUE, name, tag); "
        + "CREATE UNIQUE INDEX p_tag ON p (tag); CREATE TABLE f (p REFERENCES p (tag)); "
        + "CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p (code), x); "
        + "CREATE TABLE d (p REFERENCES p (code))")
    try sandbox.migrate()
    try sandbox.add("0002_step", "operations:\n- \(operation)\n")
    let failure = try sandbox.project().dryRun(sandbox.options()).failure
    #expect(failure?.message.contains("foreign key mismatch") == true)
    #expect(try sandbox.migrate().failure?.message == failure?.message)
  }

  @Test("and a foreign key that the migration removes does not count")
  func removedKey() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); "
        + "CREATE TABLE c (id INTEGER PRIMARY KEY, a REFERENCES p, b REFERENCES p)")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1, NULL)")
    try sandbox.add(
      "0002_step",
      "operations:\n- alter_column: { table: c, column: a, references: null }\n- drop_table: { table: p }\n"
    )
    #expect(try sandbox.project().dryRun(sandbox.options()).failure == nil)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test(
    "NULL in a column that joins a key",
    arguments: [
      (
        "CREATE TABLE t (a TEXT NOT NULL PRIMARY KEY, b TEXT) WITHOUT ROWID",
        "rebuild_table: { table: t, columns: [{ name: a, type: TEXT, not_null: true }, { name: b, type: TEXT }], "
          + "primary_key: [a, b], without_rowid: true }"
      ),
      (
        "CREATE TABLE t (a TEXT, b TEXT PRIMARY KEY)",
        "rebuild_table: { table: t, columns: [{ name: a, type: TEXT }, { name: b, type: TEXT, primary_key: true }], "
          + "strict: true }"
      ),
    ])
  func newKey(_ table: String, _ operation: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_base", table)
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES ('x', NULL)")
    try sandbox.add("0002_step", "operations:\n- \(operation)\n")
    #expect(
      try sandbox.project().dryRun(sandbox.options()).failure?.message.hasPrefix(
        "`t.b` would hold NULL in some rows") == true)
    #expect(try sandbox.migrate().status == .migrationFailed)
    try sandbox.run("UPDATE t SET b = 'y'")
    #expect(try sandbox.project().dryRun(sandbox.options()).failure == nil)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test("and a foreign key may stay violated")
  func oldViolation() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, p INT REFERENCES p)"
    )
    try sandbox.migrate()
    try sandbox.run("INSERT INTO c VALUES (1, 9)")
    try sandbox.add(
      "0002_step",
      "operations:\n- move_column: { table: c, from: p, using: p, "
        + "to: { name: q, type: INT, references: { table: p } } }\n")
    #expect(try sandbox.project().dryRun(sandbox.options()).failure == nil)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test("and a STRICT table accepts the values that it converts")
  func strict() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_base", "CREATE TABLE t (i INTEGER, r REAL, s TEXT, a ANY, b BLOB)")
    try sandbox.migrate()
    try sandbox.add(
      "0002_strict",
      "operations:\n- rebuild_table: { table: t, strict: true, columns: [{ name: i, type: INTEGER }, "
        + "{ name: r, type: REAL }, { name: s, type: TEXT }, { name: a, type: ANY }, "
        + "{ name: b, type: BLOB }] }\n")
    let project = try sandbox.project()
    let values = ["NULL", "1", "2.0", "2.5", "'3'", "'3.0'", "'3.5'", "'x'", "x'00'"]
    for column in ["i", "r", "s", "a", "b"] {
      for value in values {
        try sandbox.run("DELETE FROM t; INSERT INTO t (\(column)) VALUES (\(value))")
        let strict = try Connection(path: nil)
        try strict.execute(
          "CREATE TABLE t (i INTEGER, r REAL, s TEXT, a ANY, b BLOB) STRICT")
        let stored = try sandbox.rows("SELECT quote(\(column)) FROM t")[0][0].text ?? ""
        let isAccepted =
          (try? strict.execute("INSERT INTO t (\(column)) VALUES (\(stored))")) != nil
        let failure = try project.dryRun(sandbox.options()).failure
        #expect((failure == nil) == isAccepted, "\(column) = \(value): \(failure?.message ?? "")")
      }
    }
  }

  @Test("and asks for the result only if no value stops the operation before")
  func order() throws {
    let sandbox = try sandbox(
      "move_column: { table: items, from: n, to: { name: k, type: INTEGER, not_null: true }, map: { 5: 1 } }",
      "(1, 'a', 5), (2, 'b', 6)")
    let report = try sandbox.project().dryRun(sandbox.options())
    #expect(report.failure?.message.contains("`map` does not name: 6") == true)
    #expect(report.answers.map(\.question) == ["`map` names every value of `items.n`"])
  }

  @Test("but not where SQLite may convert a value before the CHECK reads it")
  func doubtful() throws {
    let sandbox = try sandbox(
      "rebuild_table: { table: items, columns: [\(Self.key), { name: title, type: INTEGER, check: title < 9 }] }",
      "(1, 'x', 1)")
    let report = try sandbox.project().dryRun(sandbox.options())
    #expect(report.failure == nil)
    #expect(report.answers.map(\.isAsked) == [true, false])
    #expect(try sandbox.migrate().status == .migrationFailed)
  }
}

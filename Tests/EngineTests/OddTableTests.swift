import SchemaApply
import SchemaHistory
import SchemaModel
import SchemaSQLite
import SchemaTestSupport
import Testing

/// A table with an unusual feature, and an operation on it.
struct OddTable: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let create: String
  let operation: String

  init(_ description: String, _ create: String, _ operation: String) {
    testDescription = description
    self.create = create
    self.operation = operation
  }

  static let all = [
    OddTable(
      "a hidden name of the rowid",
      "CREATE TABLE t (rowid TEXT, n INT DEFAULT 3); INSERT INTO t (_rowid_, rowid) VALUES (7, 'a')",
      "alter_column: { table: t, column: n, default: 4 }"),
    OddTable(
      "all names of the rowid hidden behind its alias",
      """
      CREATE TABLE t (rowid INT, oid INT, _rowid_ INT, id INTEGER PRIMARY KEY, n INT);
      INSERT INTO t VALUES (1, 1, 1, 9, 2), (1, 1, 1, 8, 2)
      """,
      "alter_column: { table: t, column: n, default: 4 }"),
    OddTable(
      "a key that is no rowid",
      "CREATE TABLE t (id TEXT, k INT, n INT, PRIMARY KEY (k DESC, id)) WITHOUT ROWID;"
        + "INSERT INTO t VALUES ('a', 1, 5), ('b', 1, 6)",
      "alter_column: { table: t, column: n, check: n > 1 }"),
    OddTable(
      "STRICT",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, any ANY) STRICT;"
        + "INSERT INTO t VALUES (1, 2, '007'), (2, 3, 7), (3, 4, x'00')",
      "alter_column: { table: t, column: n, not_null: true, default: 3 }"),
    OddTable(
      "computed columns, before and after",
      """
      CREATE TABLE t (v AS (n * 2), id INTEGER PRIMARY KEY, n INT, s INT AS (n + v) STORED UNIQUE);
      INSERT INTO t (id, n) VALUES (5, 1), (3, 2)
      """,
      "alter_column: { table: t, column: n, not_null: true }"),
    OddTable(
      "names with quotes in them",
      """
      CREATE TABLE t ("a""b" INT, [c]]d] INT, `e``f` INT, 'g''h' INT, n INT);
      CREATE INDEX "i""x" ON t ("a""b", "g'h" DESC) WHERE `e``f` > 0;
      INSERT INTO t VALUES (1, 2, 3, 4, 5)
      """.replacing("[c]]d]", with: "[c d]"),
      "alter_column: { table: t, column: \"a\\\"b\", default: 4, not_null: true }"),
    OddTable(
      "comments in odd places",
      """
      CREATE /* a */ TABLE -- t (
      t /* ( */ ( id /* , */ INTEGER -- )
      PRIMARY KEY, n /* DEFAULT 2 */ INT DEFAULT /* 3 */ 4 -- NOT NULL
      , /* , */ m TEXT /* ) */ -- end
      ); INSERT INTO t (id) VALUES (1)
      """,
      "alter_column: { table: t, column: n, not_null: true, default: 5 }"),
    OddTable(
      "a CHECK that names the table",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT CHECK (t.n > 0), CHECK (\"t\".id < 9));"
        + "INSERT INTO t VALUES (1, 1)",
      "alter_column: { table: t, column: n, not_null: true, check: t.n < 5 }"),
    OddTable(
      "references to itself",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, up INT REFERENCES t ON DELETE CASCADE, n INT);
      INSERT INTO t VALUES (1, 1, 1), (2, 1, 1), (3, 2, 1)
      """,
      "alter_column: { table: t, column: up, default: 1, references: { table: t, column: id } }"),
    OddTable(
      "AUTOINCREMENT beyond its last row",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, n INT); INSERT INTO t VALUES (99, 1), (1, 2);
      DELETE FROM t WHERE id = 99
      """,
      "alter_column: { table: t, column: n, not_null: true }"),
    OddTable(
      "AUTOINCREMENT without a row",
      "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, n INT)",
      "alter_column: { table: t, column: n, not_null: true }"),
    OddTable(
      "indexes with conditions and expressions",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, a TEXT);
      CREATE UNIQUE INDEX partial ON t (a COLLATE NOCASE) WHERE n > 1;
      CREATE INDEX computed ON t (abs(n), a || 'x');
      INSERT INTO t VALUES (1, 1, 'a'), (2, -2, 'A'), (3, 5, 'b'); ANALYZE
      """,
      "alter_column: { table: t, column: n, not_null: true, default: 0 }"),
    OddTable(
      "an index whose column is written as a string and whose values change",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX quoted ON t ('a');
      INSERT INTO t VALUES (1, '1'), (2, '10'), (3, '2')
      """,
      "alter_column: { table: t, column: a, type: INTEGER }"),
    OddTable(
      "an index whose column is written as a string and whose order changes",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX quoted ON t ('a');
      INSERT INTO t VALUES (1, 'a'), (2, 'B'), (3, 'A')
      """,
      "alter_column: { table: t, column: a, collate: NOCASE }"),
    OddTable(
      "a key whose column is written as a string and whose order changes",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, UNIQUE ('a'));
      INSERT INTO t VALUES (1, 'a'), (2, 'B'), (3, 'c')
      """,
      "alter_column: { table: t, column: a, collate: NOCASE }"),
    OddTable(
      "a conflict that replaces",
      """
      CREATE TABLE t (a INT UNIQUE ON CONFLICT REPLACE, n INT NOT NULL ON CONFLICT IGNORE, m TEXT);
      INSERT INTO t VALUES (1, 1, 'a'), (NULL, 2, 'b'), (NULL, 3, 'c')
      """,
      "alter_column: { table: t, column: m, not_null: { on_conflict: replace }, default: x }"),
    OddTable(
      "values that their type would not store",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, a); INSERT INTO t VALUES (1, 'x', '1'), (2, x'31', 1.0)",
      "alter_column: { table: t, column: n, default: 2 }"),
  ]

  func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_table", create)
    try sandbox.addSQL("0002_later", "ALTER TABLE t ADD COLUMN later TEXT DEFAULT 'old'")
    try sandbox.add("0003_change", "operations:\n- \(operation)\n")
    return sandbox
  }
}

@Suite("Unusual tables")
struct OddTableTests {
  private func dump(_ sandbox: Sandbox) throws -> [[Value]] {
    let schema = try sandbox.schema()
    let hidden = schema.table("t")?.sql ?? ""
    let rowid =
      hidden.contains("WITHOUT ROWID") || hidden.contains("oid INT")
      ? "0" : hidden.contains("(rowid") ? "oid" : "rowid"
    return try sandbox.rows("SELECT \(rowid), * FROM t ORDER BY 1, 2, 3")
      + sandbox.rows(
        "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'schemactl%' ORDER BY 1")
      + ((try? sandbox.rows("SELECT * FROM sqlite_sequence")) ?? [])
      + ((try? sandbox.rows("SELECT * FROM sqlite_stat1 ORDER BY 1, 2")) ?? [])
      + sandbox.rows("PRAGMA integrity_check") + sandbox.rows("PRAGMA foreign_key_check")
  }

  @Test("a schema edit and a rewrite have the same result", arguments: OddTable.all)
  func edits(_ table: OddTable) throws {
    let edited = try table.sandbox()
    var report = try edited.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    let rebuilt = try table.sandbox()
    try rebuilt.migrate(to: "2")
    try rebuilt.replaceLastMigration(rebuilding: "t", as: edited)
    report = try rebuilt.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    let found = try dump(edited)
    #expect(found == (try dump(rebuilt)))
    #expect(found.contains(["ok"]))
  }

  @Test(
    "a column that hides a name of the rowid moves, and rows keep their rowids and index entries",
    arguments: ["rowid", "_rowid_", "oid"], [false, true])
  func movedRowidName(name: String, isParanoid: Bool) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_table",
      "CREATE TABLE t (\(name) INT, a TEXT, g AS (\(name) || '!')); CREATE INDEX i ON t (a)")
    try sandbox.migrate()
    let free = name == "oid" ? "rowid" : "oid"
    try sandbox.run("INSERT INTO t (\(free), \(name), a) VALUES (1, 2, 'x'), (2, 1, 'y')")
    try sandbox.add(
      "0002_move",
      "operations: [{ move_column: { table: t, from: \(name), to: { name: s, type: INTEGER }, "
        + "map: { 1: 10, 2: 20 }, dependents: rename } }]")
    let failure = try sandbox.migrate { $0.isParanoid = isParanoid }.failure
    #expect(failure == nil, "\(failure?.message ?? "")")
    #expect(
      try sandbox.rows("SELECT \(free), s, a, g FROM t ORDER BY 1")
        == [[1, 20, "x", "20!"], [2, 10, "y", "10!"]])
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test("texts that look like numbers remain when a table with ANY is no longer STRICT")
  func any() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_table",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v ANY) STRICT; INSERT INTO t VALUES (1, '007')")
    try sandbox.migrate()
    try sandbox.add(
      "0002_rebuild",
      """
      operations:
      - rebuild_table: { table: t, columns: [
          { name: id, type: INTEGER, primary_key: true }, { name: v, type: ANY }] }
      """)
    let failure = try sandbox.migrate().failure
    #expect(failure?.status == .migrationFailed)
    #expect(failure?.message.contains("'007'") == true, "\(failure?.message ?? "")")
    #expect(try sandbox.rows("SELECT v FROM t") == [["007"]])
  }

  @Test("a key by which a full-text table finds its rows is not converted")
  func searchedKey() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_tables",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT);
      CREATE VIRTUAL TABLE words USING fts5(body, content=t, content_rowid='id');
      """)
    try sandbox.migrate()
    try sandbox.run(
      "INSERT INTO t VALUES (5, 'oak'); INSERT INTO words (words) VALUES ('rebuild')")
    let convert = "convert_primary_key: { table: t, to: uuid, uuids: from_integer }"
    try sandbox.add("0002_key", "operations: [{ \(convert) }]")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains("virtual table `words` reads `t.id`") == true)
    try sandbox.add(
      "0002_key",
      """
      operations:
      - drop_virtual_table: { name: words }
      - \(convert)
      - create_virtual_table: { name: words, using: fts5, arguments: [body, content=t, "content_rowid='rowid'"] }
      - sql: INSERT INTO words (words) VALUES ('rebuild')
      """)
    #expect(try sandbox.migrate().failure == nil)
    #expect(
      try sandbox.rows(
        "SELECT t.rowid, t.body FROM words JOIN t ON t.rowid = words.rowid WHERE words MATCH 'oak'")
        == [[5, "oak"]])
  }

  @Test("converting a key keeps objects that mention its table")
  func surroundedKey() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_tables",
      """
      CREATE TABLE new_t (id INTEGER PRIMARY KEY CHECK (new_t.id IS NOT NULL), up INTEGER REFERENCES new_t,
        tag AS (name || '!') STORED, name TEXT, UNIQUE (up, name DESC));
      CREATE TABLE t (a INTEGER, b TEXT, c INTEGER REFERENCES new_t ON DELETE CASCADE
        DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY (b, a DESC)) STRICT, WITHOUT ROWID;
      CREATE TABLE log (what);
      CREATE VIEW v AS SELECT t.b, new_t.name FROM t JOIN new_t ON new_t.id = t.c;
      CREATE VIEW w (x) AS SELECT name FROM v;
      CREATE TRIGGER v_insert INSTEAD OF INSERT ON v BEGIN INSERT INTO log VALUES (new.name); END;
      CREATE TRIGGER t_gone AFTER DELETE ON t BEGIN DELETE FROM new_t WHERE id = old.c; END;
      CREATE TRIGGER n_gone BEFORE DELETE ON new_t WHEN old.id IS NOT NULL BEGIN
        INSERT INTO log VALUES (old.id); SELECT raise(IGNORE); END;
      CREATE INDEX i ON new_t (abs(up IS NULL), name COLLATE NOCASE) WHERE up IS NOT NULL;
      """)
    try sandbox.migrate()
    try sandbox.run(
      """
      INSERT INTO new_t (id, up, name) VALUES (7, NULL, 'seven'), (3, 7, 'three'), (90, 3, 'x');
      DELETE FROM log; INSERT INTO t VALUES (1, 'b', 7), (2, 'b', 3), (1, 'a', 90), (4, 'n', NULL);
      """)
    let question = """
      SELECT t.a, t.b, n.name, u.name, n.rowid FROM t LEFT JOIN new_t n ON n.id = t.c
      LEFT JOIN new_t u ON u.id = n.up ORDER BY 1, 2
      """
    let others =
      "SELECT name, sql FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL ORDER BY 1"
    let (rows, objects) = (try sandbox.rows(question), try sandbox.rows(others))
    try sandbox.add(
      "0002_key",
      "operations:\n- convert_primary_key: { table: new_t, to: uuid, uuids: from_integer }\n")
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    #expect(try sandbox.rows(question) == rows)
    #expect(try sandbox.rows(others) == objects)
    #expect(try sandbox.rows("SELECT count(*) FROM log") == [[0]])
    #expect(try sandbox.rows("SELECT x FROM w ORDER BY 1") == [["seven"], ["three"], ["x"]])
    #expect(try sandbox.rows("SELECT count(*) FROM new_t WHERE tag = name || '!'") == [[3]])
    #expect(try sandbox.rows("PRAGMA foreign_key_check") == [])
  }

  @Test(
    "a key can be converted in tables whose rows it identifies",
    arguments: [
      "CREATE TABLE c (p INTEGER REFERENCES t, tag TEXT, PRIMARY KEY (p, tag)) WITHOUT ROWID",
      "CREATE TABLE c (p INTEGER REFERENCES t(id), tag TEXT UNIQUE ON CONFLICT REPLACE)",
      "CREATE TABLE c (rowid TEXT, p INT REFERENCES t ON UPDATE CASCADE, tag TEXT) ",
      "CREATE TABLE c (p INTEGER PRIMARY KEY DESC REFERENCES \"t\" ON DELETE SET NULL, tag TEXT)",
    ])
  func keys(child: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_tables",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, up INTEGER REFERENCES t, name TEXT);
      \(child);
      CREATE INDEX by_tag ON c (tag, p) WHERE p IS NOT NULL;
      INSERT INTO t VALUES (5, 9, 'five'), (9, 5, 'nine');
      INSERT INTO c (p, tag) VALUES (9, 'a'), (5, 'b');
      """)
    try sandbox.migrate()
    try sandbox.add(
      "0002_key",
      "operations:\n- convert_primary_key: { table: t, to: uuid, uuids: from_integer }\n")
    let report = try sandbox.migrate { $0.isParanoid = true }
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    #expect(
      try sandbox.rows(
        "SELECT c.tag, t.name, u.name, typeof(c.p) FROM c JOIN t ON t.id = c.p "
          + "JOIN t u ON u.id = t.up ORDER BY 1")
        == [["a", "nine", "five", "text"], ["b", "five", "nine", "text"]])
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
    #expect(try sandbox.rows("PRAGMA foreign_key_check") == [])
  }
}

import Foundation
import SchemaApply
import SchemaAuthoring
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import SchemaYAML
import Testing

/// One letter in its two Unicode normal forms. To SQLite and to a file system they are two names.
private let composed = "\u{E9}"
private let decomposed = "e\u{301}"

/// A migration with both forms of one letter as names or values. In the texts, `C` stands for the composed
/// letter and `D` for the decomposed one.
struct NormalFormCase: Sendable, CustomStringConvertible {
  let description: String
  let base: String
  let operation: String
  let question: String
  let answer: [[String]]

  init(
    _ description: String, _ base: String, _ operation: String, _ question: String,
    _ answer: [[String]]
  ) {
    self.description = description
    self.base = Self.spelt(base)
    self.operation = Self.spelt(operation)
    self.question = Self.spelt(question)
    self.answer = answer.map { $0.map(Self.spelt) }
  }

  static func spelt(_ text: String) -> String {
    text.replacing("‹C›", with: composed).replacing("‹D›", with: decomposed)
  }

  private static let table = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, ‹C› INTEGER, ‹D› INTEGER);
    INSERT INTO t VALUES (1, 10, 20), (2, 11, 21);
    """
  private static let tables = """
    CREATE TABLE ‹C› (id INTEGER PRIMARY KEY, a INTEGER);
    CREATE TABLE ‹D› (id INTEGER PRIMARY KEY, a INTEGER);
    INSERT INTO ‹C› VALUES (1, 10);
    INSERT INTO ‹D› VALUES (1, 20);
    """
  private static let objects = """
    SELECT name FROM sqlite_schema WHERE name NOT LIKE 'schemactl%' AND sql IS NOT NULL ORDER BY name
    """

  static let all: [NormalFormCase] = [
    .init(
      "create_table", "CREATE TABLE ‹C› (a)",
      "create_table: { name: ‹D›, columns: [{ name: ‹C›, type: INTEGER }, { name: ‹D› }], unique: [[‹D›]] }",
      "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
        + "WHERE m.name IN ('‹C›', '‹D›') ORDER BY 1, 2",
      [["‹D›", "‹D›"], ["‹D›", "‹C›"], ["‹C›", "a"]]),
    .init("drop_table", tables, "drop_table: { table: ‹D› }", "SELECT a FROM ‹C›", [["10"]]),
    .init(
      "rename_table", tables, "rename_table: { table: ‹D›, to: u }",
      "SELECT u.a, c.a FROM u, ‹C› AS c", [["20", "10"]]),
    .init(
      "rename_table to the other form", "CREATE TABLE ‹C› (a); INSERT INTO ‹C› VALUES (10);",
      "rename_table: { table: ‹C›, to: ‹D› }", "SELECT a FROM ‹D›", [["10"]]),
    .init(
      "add_column", "CREATE TABLE t (‹C› INTEGER); INSERT INTO t VALUES (10);",
      "add_column: { table: t, column: { name: ‹D›, type: INTEGER, default: 20 } }",
      "SELECT ‹C›, ‹D› FROM t", [["10", "20"]]),
    .init(
      "add_column to one of two tables", tables,
      "add_column: { table: ‹D›, column: { name: b, type: INTEGER, default: 3 } }",
      "SELECT d.*, c.* FROM ‹D› d, ‹C› c", [["1", "20", "3", "1", "10"]]),
    .init(
      "drop_column", table, "drop_column: { table: t, column: ‹D› }", "SELECT * FROM t",
      [["1", "10"], ["2", "11"]]),
    .init(
      "drop_column of the other form", table, "drop_column: { table: t, column: ‹C› }",
      "SELECT * FROM t", [["1", "20"], ["2", "21"]]),
    .init(
      "rename_column", table, "rename_column: { table: t, from: ‹D›, to: x }",
      "SELECT id, ‹C›, x FROM t", [["1", "10", "20"], ["2", "11", "21"]]),
    .init(
      "rename_column to the other form", "CREATE TABLE t (‹C›); INSERT INTO t VALUES (10);",
      "rename_column: { table: t, from: ‹C›, to: ‹D› }", "SELECT ‹D› FROM t", [["10"]]),
    .init(
      "move_column with a map", table,
      "move_column: { table: t, from: ‹D›, to: { name: x, type: TEXT }, map: { 20: low, 21: high } }",
      "SELECT id, ‹C›, x FROM t", [["1", "10", "low"], ["2", "11", "high"]]),
    .init(
      "move_column with using", table,
      "move_column: { table: t, from: ‹C›, to: { name: x, type: INTEGER }, using: ‹C› + ‹D› }",
      "SELECT id, x, ‹D› FROM t", [["1", "30", "20"], ["2", "32", "21"]]),
    .init(
      "move_column to the other form", "CREATE TABLE t (‹C› INTEGER); INSERT INTO t VALUES (1);",
      "move_column: { table: t, from: ‹C›, to: { name: ‹D›, type: TEXT }, map: { 1: one } }",
      "SELECT ‹D› FROM t", [["one"]]),
    .init(
      "move_column that keeps its source",
      "CREATE TABLE t (‹C› INTEGER); INSERT INTO t VALUES (1);",
      "move_column: { table: t, from: ‹C›, to: { name: ‹D›, type: TEXT }, map: { 1: one }, keep_source: true }",
      "SELECT ‹C›, ‹D› FROM t", [["1", "one"]]),
    .init(
      "move_column with a mirror",
      "CREATE TABLE t (‹C› INTEGER NOT NULL DEFAULT 0); INSERT INTO t VALUES (1);",
      "move_column: { table: t, from: ‹C›, to: { name: ‹D›, type: TEXT, not_null: true, default: ‹C› }, "
        + "map: { 0: ‹C›, 1: ‹D› }, map_back: { ‹C›: 0, ‹D›: 1 }, keep_source: true, mirror: true }",
      "SELECT ‹C›, ‹D› FROM t", [["1", "‹D›"]]),
    .init(
      "the values of a map",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, '‹C›'), (2, '‹D›');",
      "move_column: { table: t, from: a, to: { name: b, type: INTEGER }, map: { ‹C›: 1, ‹D›: 2 } }",
      "SELECT id, b FROM t", [["1", "1"], ["2", "2"]]),
    .init(
      "alter_column", table, "alter_column: { table: t, column: ‹D›, type: TEXT }",
      "SELECT ‹C›, typeof(‹C›), ‹D›, typeof(‹D›) FROM t",
      [["10", "integer", "20", "text"], ["11", "integer", "21", "text"]]),
    .init(
      "alter_column, a CHECK and a default", table,
      "alter_column: { table: t, column: ‹D›, not_null: true, default: 7, check: ‹D› > ‹C› }",
      "SELECT name, dflt_value FROM pragma_table_info('t') WHERE \"notnull\"", [["‹D›", "7"]]),
    .init(
      "rebuild_table", table,
      "rebuild_table: { table: t, columns: [{ name: id, type: INTEGER, primary_key: true }, "
        + "{ name: ‹D›, type: INTEGER }, { name: ‹C›, type: INTEGER }], copy: { ‹C›: ‹C› + 100 } }",
      "SELECT id, ‹D›, ‹C› FROM t", [["1", "20", "110"], ["2", "21", "111"]]),
    .init(
      "rebuild_table of one of two tables", tables,
      "rebuild_table: { table: ‹D›, columns: [{ name: id, type: INTEGER, primary_key: true }, "
        + "{ name: a, type: TEXT }] }",
      "SELECT typeof(d.a), typeof(c.a), d.a, c.a FROM ‹D› d, ‹C› c",
      [["text", "integer", "20", "10"]]),
    .init(
      "convert_primary_key", tables,
      "convert_primary_key: { table: ‹D›, to: uuid, uuids: from_integer }",
      "SELECT typeof(d.id), d.a, typeof(c.id), c.a FROM ‹D› d, ‹C› c",
      [["text", "20", "integer", "10"]]),
    .init(
      "convert_primary_key with a child of each parent",
      tables + """
        CREATE TABLE k (id INTEGER PRIMARY KEY, c INTEGER REFERENCES ‹C› (id), d INTEGER REFERENCES ‹D› (id));
        INSERT INTO k VALUES (1, 1, 1);
        """,
      "convert_primary_key: { table: ‹D›, to: uuid, uuids: from_integer }",
      "SELECT typeof(k.c), typeof(k.d), d.a FROM k JOIN ‹D› d ON d.id = k.d",
      [["integer", "text", "20"]]),
    .init(
      "create_index", table + "CREATE INDEX ‹C› ON t (‹C›);",
      "create_index: { name: ‹D›, table: t, columns: [‹D›] }",
      "SELECT m.name, i.name FROM sqlite_schema m, pragma_index_info(m.name) i WHERE m.type = 'index' AND m.sql NOT NULL "
        + "ORDER BY 1", [["‹D›", "‹D›"], ["‹C›", "‹C›"]]),
    .init(
      "drop_index", table + "CREATE INDEX ‹C› ON t (‹C›); CREATE INDEX ‹D› ON t (‹D›);",
      "drop_index: { name: ‹D› }", objects, [["t"], ["‹C›"]]),
    .init(
      "create_view", table + "CREATE VIEW ‹C› AS SELECT ‹C› AS a FROM t;",
      "create_view: { name: ‹D›, sql: \"CREATE VIEW ‹D› AS SELECT ‹D› AS a FROM t\" }",
      "SELECT d.a, c.a FROM ‹D› d, ‹C› c LIMIT 1", [["20", "10"]]),
    .init(
      "drop_view", table + "CREATE VIEW ‹C› AS SELECT 1; CREATE VIEW ‹D› AS SELECT 2;",
      "drop_view: { name: ‹D› }", objects, [["t"], ["‹C›"]]),
    .init(
      "create_trigger", table + "CREATE TRIGGER ‹C› AFTER INSERT ON t BEGIN SELECT 1; END;",
      "create_trigger: { name: ‹D›, sql: \"CREATE TRIGGER ‹D› AFTER INSERT ON t BEGIN SELECT 2; END\" }",
      objects, [["‹D›"], ["t"], ["‹C›"]]),
    .init(
      "drop_trigger",
      table + """
        CREATE TRIGGER ‹C› AFTER INSERT ON t BEGIN SELECT 1; END;
        CREATE TRIGGER ‹D› AFTER INSERT ON t BEGIN SELECT 2; END;
        """,
      "drop_trigger: { name: ‹D› }", objects, [["t"], ["‹C›"]]),
    .init(
      "create_virtual_table", "CREATE VIRTUAL TABLE ‹C› USING fts5(a);",
      "create_virtual_table: { name: ‹D›, using: fts5, arguments: [b] }",
      "SELECT name FROM pragma_table_list WHERE type = 'virtual' ORDER BY name", [["‹D›"], ["‹C›"]]),
    .init(
      "drop_virtual_table",
      "CREATE VIRTUAL TABLE ‹C› USING fts5(a); CREATE VIRTUAL TABLE ‹D› USING fts5(a);",
      "drop_virtual_table: { name: ‹D› }",
      "SELECT name FROM pragma_table_list WHERE type = 'virtual'", [["‹C›"]]),
    .init(
      "insert", table, "insert: { table: t, rows: [{ id: 3, ‹C›: 12, ‹D›: 22 }] }",
      "SELECT * FROM t WHERE id = 3", [["3", "12", "22"]]),
    .init(
      "insert into one of two tables", tables, "insert: { table: ‹D›, rows: [{ id: 2, a: 21 }] }",
      "SELECT (SELECT count(*) FROM ‹C›), (SELECT count(*) FROM ‹D›)", [["1", "2"]]),
    .init(
      "update", table, "update: { table: t, set: { ‹C›: \"1\", ‹D›: \"2\" }, where: ‹C› = 10 }",
      "SELECT * FROM t", [["1", "1", "2"], ["2", "11", "21"]]),
    .init(
      "delete", table, "delete: { table: t, where: ‹D› = 20 }", "SELECT * FROM t",
      [["2", "11", "21"]]),
    .init(
      "sql", table, "sql: ALTER TABLE t DROP COLUMN ‹D›", "SELECT * FROM t",
      [["1", "10"], ["2", "11"]]),
    .init(
      "assert", "CREATE TABLE t (a); INSERT INTO t VALUES ('‹C›');",
      "assert: { query: SELECT a FROM t, equals: ‹C› }", "SELECT a FROM t", [["‹C›"]]),
  ]
}

@Suite("Both Unicode forms of a letter")
struct NormalFormTests {
  private func spelt(_ text: String) -> String { NormalFormCase.spelt(text) }

  private func rows(_ sql: String, on connection: Connection) throws -> [[Value]] {
    try connection.rows(spelt(sql)).map { row in
      try row.map { try connection.rows("SELECT CAST(?1 AS TEXT)", [$0])[0][0] }
    }
  }

  @Test(
    "they are two names and two values for every operation",
    arguments: oneIn(2, of: NormalFormCase.all))
  func operation(_ one: NormalFormCase) throws {
    for isParanoid in [false, true] {
      let sandbox = try Sandbox()
      try sandbox.addSQL("0001_base", one.base)
      try sandbox.migrate()
      try sandbox.add("0002_change", "operations:\n  - \(one.operation)\n")
      try sandbox.migrate { $0.isParanoid = isParanoid }
      #expect(try rows(one.question, on: sandbox.open()) == one.answer.map { $0.map(Value.text) })
      let project = try sandbox.project()
      #expect(
        compareSchemas(
          expected: try project.schema(through: nil),
          actual: project.comparable(
            try sandbox.schema(), with: try project.schema(through: nil))
        ).isEmpty)
    }
  }

  @Test(
    "an operation on a missing form fails, and the other form remains",
    arguments: [
      "drop_table: { table: ‹D› }", "drop_column: { table: t, column: ‹D› }",
      "rename_column: { table: t, from: ‹D›, to: x }", "rename_table: { table: ‹D›, to: u }",
      "alter_column: { table: t, column: ‹D›, type: TEXT }", "drop_index: { name: i‹D› }",
      "drop_view: { name: v‹D› }", "drop_trigger: { name: r‹D› }",
      "move_column: { table: t, from: ‹D›, to: { name: x }, map: { 1: 1 } }",
      "convert_primary_key: { table: ‹D›, to: uuid, uuids: per_database }",
      "rebuild_table: { table: ‹D›, columns: [{ name: id }] }",
      "update: { table: ‹D›, set: { id: \"1\" }, all: true }", "delete: { table: ‹D›, all: true }",
      "insert: { table: t, rows: [{ ‹D›: 1 }] }",
      "assert: { query: SELECT ‹C› FROM t, equals: ‹D› }",
      "move_column: { table: t, from: ‹C›, to: { name: x }, map: { ‹D›: 1 } }",
    ])
  func missing(_ operation: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base",
      spelt(
        """
        CREATE TABLE ‹C› (id INTEGER PRIMARY KEY);
        CREATE TABLE t (id INTEGER PRIMARY KEY, ‹C› TEXT);
        CREATE INDEX i‹C› ON t (id);
        CREATE VIEW v‹C› AS SELECT 1;
        CREATE TRIGGER r‹C› AFTER INSERT ON t BEGIN SELECT 1; END;
        INSERT INTO ‹C› VALUES (1);
        INSERT INTO t VALUES (1, '‹C›');
        """))
    try sandbox.migrate()
    let before = try DatabaseContent(sandbox.open())
    try sandbox.add("0002_change", "operations:\n  - \(spelt(operation))\n")
    let failure = try sandbox.migrate().failure
    #expect(
      [.invalidInput, .migrationFailed].contains(failure?.status), "\(failure?.message ?? "")")
    #expect(before.differences(from: try DatabaseContent(sandbox.open())) == [])
  }

  @Test("a map that contains both forms of a value has two entries")
  func mapKeys() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_base", spelt("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('‹C›'), ('‹D›');"))
    try sandbox.add(
      "0002_move",
      spelt(
        "operations:\n  - move_column: { table: t, from: a, to: { name: b }, map: { ‹C›: 1 } }\n"))
    #expect(try sandbox.migrate().failure?.status == .migrationFailed)
  }

  @Test("a schema transition adds and drops the different form, and keeps the rows of the other")
  func transition() throws {
    let tables = [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, ‹C› INTEGER)",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, ‹C› INTEGER, ‹D› INTEGER)",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, ‹D› INTEGER)",
    ].map(spelt)
    for (old, new) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
      let sandbox = try Sandbox()
      try sandbox.addSQL("0001_base", tables[old])
      let wanted = try Connection(path: nil)
      try wanted.execute(tables[new])
      let operations = try SchemaTransition.operations(
        from: try sandbox.project().schema(through: nil), to: try Schema(of: wanted), renaming: [],
        sandbox.application)
      try sandbox.migrate()
      let kept = old == 2 || new == 2 ? decomposed : composed
      try sandbox.run("INSERT INTO t (\(kept)) VALUES (7)")
      try sandbox.add(
        "0002_next", manifestText(operations))
      try sandbox.migrate()
      #expect(try sandbox.rows("SELECT \(kept) FROM t") == [[7]])
      #expect(
        compareSchemas(
          expected: try Schema(of: wanted), actual: try sandbox.project().schema(through: nil)
        ).isEmpty)
    }
  }

  @Test("a column, table, index, view or trigger in the other form is drift")
  func drift() throws {
    func schema(_ letter: String) throws -> Schema {
      let connection = try Connection(path: nil)
      try connection.execute(
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, \(letter) TEXT DEFAULT 'a');
        CREATE TABLE \(letter) (a);
        CREATE INDEX i\(letter) ON t (id);
        CREATE VIEW v\(letter) AS SELECT 1;
        CREATE TRIGGER r\(letter) AFTER INSERT ON t BEGIN SELECT 1; END;
        CREATE VIEW w AS SELECT '\(letter)' AS a;
        """)
      return try Schema(of: connection)
    }
    let changes = compareSchemas(expected: try schema(composed), actual: try schema(decomposed))
    #expect(changes.count { $0.change == .missing } == 5)
    #expect(changes.count { $0.change == .unexpected } == 5)
    #expect(changes.contains { $0.object == "w" && $0.change == .changed })
    #expect(try schema(composed).fingerprint() != schema(decomposed).fingerprint())
  }

  @Test("a frozen file renamed to the other form is renamed, and its ledger row unknown")
  func renamedFile() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_\(composed)", "CREATE TABLE t (a);")
    try sandbox.freeze()
    try sandbox.migrate()
    let folder = sandbox.folder + "/migrations/"
    try FileManager.default.moveItem(
      atPath: folder + "0001_\(composed).yaml", toPath: folder + "0001_\(decomposed).yaml")
    let project = try sandbox.project()
    let entries = project.folder.compare(project.migrations, with: project.lock)
    #expect(entries.map(\.state).contains(.renamed))
    #expect(!entries.map(\.state).contains(.unchanged))
    #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(try sandbox.ledger.map { Array($0.utf8) } == [Array("0001_\(composed)".utf8)])
  }

  @Test("a change from one form to the other is an edit, in SQL, in names and in values")
  func edited() throws {
    for text in [
      "operations:\n  - sql: CREATE TABLE ‹C› (a)\n",
      "operations:\n  - create_table: { name: ‹C›, columns: [{ name: a }] }\n",
      "operations:\n  - create_table: { name: t, columns: [{ name: a, default: ‹C› }] }\n",
    ] {
      let sandbox = try Sandbox()
      try sandbox.add("0001_a", spelt(text))
      try sandbox.freeze()
      try sandbox.add("0001_a", text.replacing("‹C›", with: decomposed))
      let project = try sandbox.project()
      #expect(
        project.folder.compare(project.migrations, with: project.lock).map(\.state) == [.edited])
    }
  }
}

import Foundation
import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPreview
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import SchemaYAML
import Testing

/// Consecutive operations on one table, and their strategies.
struct Run: Sendable, CustomTestStringConvertible {
  let name: String
  let operations: [String]
  let strategies: [Strategy]
  var create = wide
  var more = ""
  /// Whether rows violate a CHECK. SQLite's own DROP COLUMN does not evaluate it, but a rebuild does.
  var bypassesCheck = false
  var testDescription: String { name }

  /// A table with all kinds of constraints, for rows of every storage class that are older than some columns.
  static let wide = """
    CREATE TABLE t (
      id INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER /* goes */, title TEXT NOT NULL COLLATE NOCASE,
      b REAL DEFAULT 1.5, n INTEGER CHECK (n < 1000), r REAL, twice INTEGER AS (n * 2),
      kept TEXT AS (title || n) STORED, c ANY, UNIQUE (title, n) ON CONFLICT REPLACE
    )
    """
  static let drops = ["a", "b", "c"].map { "drop_column: { table: t, column: \($0) }" }

  static let all = [
    Run(
      name: "three drops", operations: drops,
      strategies: [.rewrite, .rewrite, .rewrite], bypassesCheck: true),
    Run(
      name: "drops, and the indexes and the trigger in their way",
      operations: [
        "drop_index: { name: by_a }", drops[0], "drop_trigger: { name: t_reads_c }",
        "drop_index: { name: by_b }", drops[1], drops[2],
      ],
      strategies: [.native, .rewrite, .native, .native, .rewrite, .rewrite],
      more: """
        CREATE INDEX by_a ON t (a);
        CREATE INDEX by_b ON t (title) WHERE b > 1;
        CREATE TRIGGER t_reads_c AFTER UPDATE ON t BEGIN INSERT INTO logged VALUES (new.c); END;
        """),
    Run(
      name: "drops, and a column that comes between them",
      operations: [
        drops[0], "add_column: { table: T, column: { name: later, type: INTEGER, default: '7' } }",
        drops[2],
      ], strategies: [.rewrite, .rewrite, .rewrite]),
    Run(
      name: "drops, and a column that comes and goes",
      operations: [
        drops[0], "add_column: { table: t, column: { name: x, default: 1 } }",
        "drop_column: { table: t, column: x }", drops[0].replacing(": a", with: ": C"),
      ], strategies: [.rewrite, .rewrite, .rewrite, .rewrite]),
    Run(
      name: "drops, and a column of the same name after",
      operations: [
        drops[0], "add_column: { table: t, column: { name: a, type: TEXT, default: new } }",
        drops[1],
      ], strategies: [.rewrite, .rewrite, .rewrite]),
    Run(
      name: "a definition that needs no pass, between drops",
      operations: [
        drops[0], "alter_column: { table: t, column: n, not_null: true, default: 4 }", drops[1],
      ], strategies: [.rewrite, .rewrite, .rewrite]),
    Run(
      name: "a computed column between others",
      operations: [
        "drop_column: { table: t, column: twice }", drops[0],
        "drop_column: { table: t, column: kept }",
      ], strategies: [.native, .rewrite, .rewrite]),
    Run(
      name: "a table whose key is no rowid",
      operations: drops, strategies: [.rewrite, .rewrite, .rewrite],
      create: """
        CREATE TABLE t (
          id TEXT PRIMARY KEY, a ANY, b ANY, "rowid" INT, title TEXT, n REAL, c ANY, r REAL
        ) STRICT
        """),
    Run(
      name: "a table without rowid",
      operations: drops, strategies: [.native, .native, .native],
      create: "CREATE TABLE t (id TEXT PRIMARY KEY, a, b, title, n, c, r) WITHOUT ROWID"),
    Run(
      name: "a table whose columns hide the rowid",
      operations: drops, strategies: [.native, .native, .native],
      create: "CREATE TABLE t (id UNIQUE, a, b, title, n, rowid, oid, _rowid_, c, r)"),
    Run(
      name: "another type, and a drop",
      operations: [drops[0], "alter_column: { table: t, column: r, type: TEXT }"],
      strategies: [.rewrite, .rewrite]),
    Run(
      name: "a move, another type, a drop and a new column",
      operations: [
        "move_column: { table: t, from: c, using: typeof(c), "
          + "to: { name: kind, type: TEXT, not_null: true, default: none } }",
        "add_column: { table: t, column: { name: later, default: 1 } }", drops[0],
        "alter_column: { table: t, column: b, type: BLOB }",
      ], strategies: [.rewrite, .rewrite, .rewrite, .rewrite]),
    Run(
      name: "a computed column that is to be stored, and one that is to be computed",
      operations: [
        "alter_column: { table: t, column: twice, generated: null }",
        "alter_column: { table: t, column: kept, generated: { as: \"title || n\" } }", drops[0],
      ], strategies: [.rewrite, .rewrite, .rewrite]),
    Run(
      name: "a table without rowid that is made anew",
      operations: [drops[0], "alter_column: { table: t, column: n, type: TEXT }"],
      strategies: [.rewrite, .rewrite],
      create: "CREATE TABLE t (id TEXT PRIMARY KEY, a, b, title, n INT, c, r) WITHOUT ROWID"),
    Run(
      name: "operations with something between them",
      operations: [drops[0], "sql: SELECT 1", drops[1], "assert: { query: SELECT 1, equals: 1 }"],
      strategies: [.native, .sql, .native, .assertion]),
    Run(
      name: "operations on two tables in turn",
      operations: [drops[0], "drop_column: { table: other, column: b }", drops[1]],
      strategies: [.native, .native, .native]),
    Run(
      name: "an expression over what an operation before has made",
      operations: [
        drops[0], "add_column: { table: t, column: { name: x, type: INTEGER, default: 1 } }",
        "move_column: { table: t, from: c, to: { name: y, type: TEXT }, using: \"x || typeof(c)\" }",
      ], strategies: [.native, .native, .rewrite]),
    Run(
      name: "two changes of one column",
      operations: [
        "alter_column: { table: t, column: r, type: TEXT }",
        "alter_column: { table: t, column: r, type: BLOB }",
      ], strategies: [.rewrite, .rewrite]),
  ]

  func sandbox(_ prepare: (Sandbox) throws -> Void = { _ in }) throws -> Sandbox {
    let sandbox = try Sandbox()
    try prepare(sandbox)
    try sandbox.addSQL(
      "0001_tables",
      """
      \(create);
      CREATE INDEX by_n ON t (n DESC, title);
      CREATE INDEX some ON t (r) WHERE n > 2;
      CREATE TABLE logged (what);
      CREATE TABLE children (t REFERENCES t (id) ON DELETE CASCADE);
      CREATE TABLE other (a, b);
      CREATE TRIGGER t_logs AFTER UPDATE OF title ON t BEGIN INSERT INTO logged VALUES (1); END;
      CREATE TRIGGER t_goes BEFORE DELETE ON t BEGIN INSERT INTO logged VALUES (old.title); END;
      CREATE VIEW v AS SELECT title, n FROM t;
      \(more)
      """)
    let hasShortRows = !create.contains("WITHOUT")
    try sandbox.addSQL("0002_short", "ALTER TABLE t ADD COLUMN added REAL DEFAULT '5'")
    try sandbox.migrate(to: hasShortRows ? "1" : "2")
    let key = create.contains("id INTEGER") ? "i * 3" : "'key ' || (i * 3)"
    try sandbox.run(
      """
      WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 400)
      INSERT INTO t (id, a, title, b, n, c, r)
        SELECT \(key), i, 'Title ' || i, i / 3.0, i % 7,
          CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN i / 7.0 WHEN 3 THEN 'text ' || i
            ELSE zeroblob(i * 20) END, iif(i % 2, i, i / 4.0) FROM i;
      DELETE FROM t WHERE a % 11 = 0 OR a > 390;
      DELETE FROM logged;
      INSERT INTO children SELECT id FROM t;
      INSERT INTO other VALUES (1, 2);
      ANALYZE;
      """)
    if bypassesCheck {
      try sandbox.run("PRAGMA ignore_check_constraints = ON; UPDATE t SET n = 5000 WHERE a = 17")
    }
    try sandbox.migrate(to: "2")
    try sandbox.run(
      "INSERT INTO t (id, a, title, b, n, c, r, added) VALUES "
        + "(\(create.contains("id INTEGER") ? "2000" : "'last'"), 1, 'last', 1.0, 8, 1, 1, 2)")
    return try sandbox.add(
      "0003_run", "operations:\n" + operations.map { "  - \($0)\n" }.joined())
  }
}

/// The observable content of a database, including rowids and storage classes.
private struct Content: Equatable {
  let schema: [String]
  let rows: [String: [[Value]]]
  let problems: [[Value]]

  init(_ sandbox: Sandbox) throws {
    let connection = try sandbox.open()
    let schema = try Schema(of: connection)
    self.schema = schema.objects.map { object in
      let tokens = TokenizedSQL(object.sql ?? "").normalTokens
      return "\(object.kind) \(object.name) \(object.table): "
        + tokens.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }.sorted()
    var rows: [String: [[Value]]] = [:]
    for table in schema.tables where !table.name.hasPrefix("schemactl") {
      let columns = try connection.rows(
        "SELECT name FROM pragma_table_xinfo(?1)", [.text(table.name)]
      ).compactMap { $0[0].text }
      let hasRowid =
        table.sql?.contains("WITHOUT") == false && !columns.contains("_rowid_")
        // A rebuild restores the rows of SQLite's own tables.
        && !table.isInternal
      let values = columns.map { "typeof(\"\($0)\"), \"\($0)\"" }.joined(separator: ", ")
      rows[table.name] = try connection.rows(
        "SELECT \(hasRowid ? "_rowid_" : "0"), \(values) FROM \"\(table.name)\" NOT INDEXED "
          + "ORDER BY 1, 3\(columns.count > 1 ? ", 5" : "")")
    }
    self.rows = rows
    problems = try connection.rows("PRAGMA foreign_key_check")
  }
}

@Suite("Several changes of one table")
struct SharedRewriteTests {
  @Test(
    "they share one rewrite if that is cheaper, with the same result as separate ones",
    arguments: oneIn(9, of: Run.all))
  func equal(_ run: Run) throws {
    let sandbox = try run.sandbox()
    let structure = try sandbox.rows("PRAGMA integrity_check")
    let shell = try Sandbox()
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: shell.database)
    let script = try sandbox.project().plan(sandbox.options(), database: sandbox.database).script
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure.map { "\($0)" } ?? "")")
    #expect(report.applied.first?.strategies == run.strategies)
    let content = try Content(sandbox)
    #expect(content.rows["logged"]?.isEmpty == true, "no trigger of the user has fired")
    #expect(content.rows["t"]?.count == 356)
    #expect(try sandbox.rows("PRAGMA integrity_check") == structure)

    let alone = try run.sandbox()
    alone.application.plansOperationsAlone = true
    #expect(try alone.migrate().failure == nil)
    #expect(try alone.rows("SELECT DISTINCT 1 FROM pragma_integrity_check") == [[1]])
    #expect(try Content(alone) == content)
    #expect(
      try sandbox.schema().objects.map(\.sql).contains(alone.schema().table("t")?.sql),
      "to the byte")
    #expect(try sandbox.project().verify(database: alone.database, timeout: 1).status == .success)

    let ended = try SchemaTestPrograms.run(
      "/usr/bin/env", ["sqlite3", shell.database], input: script)
    #expect(ended.code == 0, "\(ended.errors)")
    #expect(try Content(shell) == content)
  }

  /// Uses random columns in any order and rows that are older than some columns, and adds, drops and alters
  /// columns. A combination may be refused only if a single change is refused too.
  @Test(
    "any combination has the same result as separate changes", arguments: seeds(4, of: 120))
  func generated(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }
    let key = pick(["id INTEGER PRIMARY KEY", "id TEXT PRIMARY KEY", "id INT UNIQUE"])
    let kinds = [
      "", "INTEGER", "REAL DEFAULT 2", "TEXT DEFAULT 'd'", "BLOB", "NUMERIC CHECK (1)",
      "DATE COLLATE NOCASE", "ANY REFERENCES u (a)",
    ]
    let computed = ["AS (id)", "INTEGER AS (id + 1) STORED", "AS (typeof(o0))"]
    var definitions = (0..<8).map {
      "o\($0) \(pick($0 == 0 || $0 > 5 ? kinds : kinds + computed))"
    }
    definitions.insert(key, at: pick([0, 4, 6]))
    let later = definitions.count - pick([0, 1, 2])
    let free = definitions[..<later].filter { $0.hasPrefix("o") && !$0.contains("AS (") }
      .map { $0.prefix(2) }
    let values = ["NULL", "i", "i / 2.0", "'t' || i", "zeroblob(i % 50)", "'7'", "i * 1.0"]
    let rows = free.map { _ in pick(values) }
    let isText = key.contains("TEXT")
    var operations = (0..<Int.random(in: 2...5, using: &random)).map { _ in
      "drop_column: { table: t, column: o\(Int.random(in: 0..<8, using: &random)) }"
    }
    operations = operations.indices.filter { operations.firstIndex(of: operations[$0]) == $0 }
      .map { operations[$0] }
    let more = [
      "add_column: { table: t, column: { name: x, type: REAL, default: 4 } }",
      "alter_column: { table: t, column: o1, default: 8 }",
      "alter_column: { table: t, column: o2, type: BLOB }", "drop_index: { name: i1 }",
      "alter_column: { table: t, column: o0, type: TEXT }",
      "move_column: { table: t, from: o3, using: \"coalesce(o3, 'none')\", "
        + "to: { name: m3, type: TEXT }, dependents: rename }",
      "move_column: { table: t, from: o4, using: o5, to: { name: m4, type: BLOB } }",
      "move_column: { table: t, from: o6, using: o5, to: { name: m6 } }",
    ]
    let readers = pick([
      "", "CREATE VIEW v AS SELECT \"o3\" AS o FROM t WHERE \"o3\" IS NOT NULL;",
      "CREATE TRIGGER g AFTER INSERT ON u BEGIN UPDATE t SET o3 = o3; END;",
      "CREATE INDEX i3 ON t (\"o3\") WHERE id > 1;",
    ])
    for operation in more where Bool.random(using: &random) {
      operations.insert(operation, at: Int.random(in: 1...operations.count, using: &random))
    }
    var contents: [Content] = []
    var failures: [String?] = []
    for shares in [true, false] {
      let sandbox = try Sandbox()
      try sandbox.addSQL(
        "0001_table",
        """
        CREATE TABLE u (a PRIMARY KEY);
        CREATE TABLE t (\(definitions[..<later].joined(separator: ", ")));
        CREATE INDEX i1 ON t (o0);
        """)
      try sandbox.addSQL(
        "0002_later",
        definitions[later...].map { "ALTER TABLE t ADD COLUMN \($0);" }.joined(separator: "\n")
          + "\nCREATE INDEX i2 ON t (id);\n\(readers)")
      try sandbox.migrate(to: "1")
      try sandbox.run(
        """
        WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 3 FROM i WHERE i < 200)
        INSERT INTO t (\((["id"] + free.map(String.init)).joined(separator: ", ")))
          SELECT \(([isText ? "'k' || i" : "i"] + rows).joined(separator: ", ")) FROM i
        """)
      try sandbox.migrate(to: "2")
      try sandbox.add("0003_run", "operations:\n" + operations.map { "  - \($0)\n" }.joined())
      sandbox.application.plansOperationsAlone = !shares
      do {
        failures.append(try sandbox.migrate().failure?.message)
      } catch let failure as Failure {
        failures.append(failure.message)
      }
      contents.append(try Content(sandbox))
    }
    #expect(failures[0] == failures[1])
    #expect(contents[0] == contents[1], "\(definitions) \(operations)")
  }

  @Test(
    "they share a rewrite with every file format and journal mode",
    arguments: [
      "PRAGMA journal_mode = WAL", "PRAGMA auto_vacuum = FULL", "PRAGMA auto_vacuum = INCREMENTAL",
      "PRAGMA page_size = 512", "PRAGMA encoding = 'UTF-16'",
    ])
  func formats(pragma: String) throws {
    let run = Run.all[1]
    let sandbox = try run.sandbox {
      try $0.run("\(pragma); CREATE TABLE gone (a); DROP TABLE gone")
    }
    let alone = try run.sandbox()
    alone.application.plansOperationsAlone = true
    // With `--paranoid`, every table is checked.
    #expect(try sandbox.migrate { $0.isParanoid = true }.failure == nil)
    #expect(try alone.migrate().failure == nil)
    #expect(try Content(sandbox) == Content(alone))
  }

  @Test("they delete no child row if foreign keys are enforced", arguments: Run.all.prefix(8))
  func enforced(_ run: Run) throws {
    let sandbox = try run.sandbox()
    let children = try sandbox.rows("SELECT * FROM children")
    let path = sandbox.folder + "/migrations/0003_run.yaml"
    try sandbox.add(
      "0003_run", "foreign_keys: enforced\n" + String(contentsOfFile: path, encoding: .utf8))
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT * FROM children") == children)
    #expect(try sandbox.rows("PRAGMA foreign_key_check").isEmpty)
  }

  /// Each object prevents only the second or the third drop.
  @Test(
    "a refusal has the same message as for the single change",
    arguments: [
      "CREATE INDEX in_the_way ON t (c)", "CREATE VIEW in_the_way AS SELECT c FROM t",
      "CREATE TRIGGER in_the_way AFTER INSERT ON t BEGIN INSERT INTO logged VALUES (new.c); END",
      "CREATE VIEW in_the_way AS SELECT b FROM t",
    ])
  func refusals(obstacle: String) throws {
    var failures: [[String?]] = []
    for shares in [true, false] {
      let sandbox = try Run(
        name: "", operations: Run.drops, strategies: [], more: obstacle + ";"
      ).sandbox()
      let before = try Content(sandbox)
      sandbox.application.plansOperationsAlone = !shares
      let failure = try #require(sandbox.failure())
      failures.append([
        failure.message, "\(failure.place?.position as Any)", failure.migration?.operation,
        failure.migration?.statement,
      ])
      #expect(try Content(sandbox) == before)
    }
    #expect(Set(failures).count == 1, "\(failures)")
  }

  @Test("a failing check of rows stops at its operation before any write")
  func questions() throws {
    let run = Run(
      name: "",
      operations: [
        Run.drops[0], "alter_column: { table: t, column: c, not_null: true }", Run.drops[1],
      ], strategies: [])
    let sandbox = try run.sandbox()
    let before = try Content(sandbox)
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.message.contains("`t.c` holds NULL in some rows"))
    #expect(failure.place?.position?.line == 3)
    #expect(try Content(sandbox) == before)
  }

  @Test("a plan lists all of them, and the last one does the work")
  func plan() throws {
    let sandbox = try Run.all[0].sandbox()
    let plan = try sandbox.project().plan(sandbox.options(), database: sandbox.database)
    let operations = try #require(plan.migrations.last).operations.map(\.plan)
    #expect(operations.dropLast().allSatisfy { $0.steps.isEmpty })
    #expect(
      operations.map(\.explanation) == [
        "rewrite: done by the rewrite of a following operation",
        "rewrite: done by the rewrite of a following operation",
        "rewrite: writes every row once",
      ])
  }

  @Test(
    "they share a rewrite from the second drop on, and keep every index",
    arguments: [1, 2, 3], [0, 2, 5])
  func choice(drops: Int, indexes: Int) throws {
    let connection = try Connection(path: nil)
    try connection.execute("CREATE TABLE t (id TEXT PRIMARY KEY, a, b, c, d, e)")
    for index in 0..<indexes { try connection.execute("CREATE INDEX i\(index) ON t (d, e)") }
    let yaml = "operations:\n" + Run.drops.prefix(drops).map { "- \($0)\n" }.joined()
    let manifest = try decodeManifest(Array(yaml.utf8), file: "m.yaml")
    let plans = try Planner(connection: connection, application: Application())
      .plan(manifest.operations[...])
    #expect(
      plans.map(\.strategy) == Array(repeating: drops == 1 ? .native : .rewrite, count: drops))
    let makesIndexes = plans.flatMap(\.steps).contains { step in
      guard case .statement(let sql, _) = step else { return false }
      return sql.hasPrefix("CREATE INDEX") || sql.hasPrefix("REINDEX")
    }
    #expect(!makesIndexes)
  }

  @Test("a user's table with the name of their temporary table is kept")
  func nameTaken() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a, b, c);")
    try sandbox.migrate()
    try sandbox.run("CREATE TABLE t_rewritten (z); INSERT INTO t VALUES (1, 2, 3)")
    try sandbox.add(
      "0002_drop",
      "operations: [{ drop_column: { table: t, column: a } }, { drop_column: { table: t, column: b } }]"
    )
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT * FROM t") == [[3]])
    #expect(try sandbox.rows("SELECT count(*) FROM t_rewritten") == [[0]])
  }

  @Test(
    "a failing shared rewrite changes nothing",
    arguments: [
      (
        "1", "a", "using: \"iif(a = 1, NULL, a)\"",
        "NOT NULL constraint failed: t_rewritten.d\n`t_rewritten` is `t` in its new form"
      ),
      ("2", "c", "using: \"iif(c = 3, NULL, c)\"", "NOT NULL constraint failed: t_rewritten.d"),
      ("2", "c", "using: \"json(c || '{')\"", "malformed JSON"),
    ])
  func fails(number: String, from: String, using: String, message: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_t", "CREATE TABLE t (a, b, c);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (1, 2, 3)")
    let move =
      "move_column: { table: t, from: \(from), to: { name: d, type: INTEGER, not_null: true }, \(using) }"
    let first = number == "1" ? move : "alter_column: { table: t, column: a, type: TEXT }"
    let second = number == "2" ? move : "alter_column: { table: t, column: c, type: TEXT }"
    try sandbox.add(
      "0002_pass",
      "operations:\n- \(first)\n- \(second)\n- alter_column: { table: t, column: b, type: TEXT }\n")
    let failure = try #require(sandbox.failure())
    #expect(failure.status == .migrationFailed)
    #expect(failure.message.contains(message), "\(failure.message)")
    #expect(try sandbox.rows("SELECT * FROM t") == [[1, 2, 3]])
  }

}

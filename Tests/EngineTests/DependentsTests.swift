import SchemaApply
import SchemaAuthoring
import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaReplay
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Objects that depend on a moved column")
struct DependentsTests {
  private func sandbox(
    _ sql: String, dependents: Bool = false, to: String = "{ name: status, type: INTEGER }"
  )
    throws -> Sandbox
  {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", sql)
    try sandbox.add(
      "0002_move",
      """
      operations:
        - move_column:
            table: t
            from: flag
            to: \(to)
            map: { 0: 0, 1: 1 }
            \(dependents ? "dependents: rename" : "")
      """)
    return sandbox
  }

  @Test(
    "a column may not shadow or reveal the rowid while a partial index reads it",
    arguments: [
      ("t (a, b)", "add_column: { table: t, column: { name: _rowid_ } }"),
      ("t (a, b)", "rename_column: { table: t, from: b, to: _RowID_ }"),
      ("t (a, _rowid_)", "drop_column: { table: t, column: _rowid_ }"),
    ])
  func rowidName(table: String, operation: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE \(table); CREATE INDEX i ON t (a) WHERE _rowid_ > 1; INSERT INTO t VALUES (1, 0), (2, 5)"
    )
    try sandbox.migrate()
    try sandbox.add("0002_change", "operations: [ \(operation) ]")
    let failure = try #require(sandbox.failure())
    #expect(failure.status == .invalidInput)
    #expect(failure.message.hasPrefix("the index `i` reads `_"), "\(failure.message)")
    try sandbox.add(
      "0002_change",
      """
      operations:
        - drop_index: { name: i }
        - \(operation)
        - create_index: { name: i, table: t, columns: [a], where: _rowid_ > 1 }
      """)
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test(
    "a constraint that prevents dropping a column is reported with a remedy",
    arguments: [
      ("id, flag, UNIQUE (id, flag)", "error in table t after drop column: no such column: flag"),
      (
        "id, flag, CONSTRAINT c CHECK (flag <> id)",
        "error in table t after drop column: no such column: flag"
      ),
      (
        "id PRIMARY KEY, flag, FOREIGN KEY (FLAG) REFERENCES t (id)",
        "error in table t after drop column: unknown column \"FLAG\" in foreign key definition"
      ),
      ("id, flag, PRIMARY KEY (id, [flag])", "cannot drop PRIMARY KEY column: \"flag\""),
      ("id, flag UNIQUE", "cannot drop UNIQUE column: \"flag\""),
      (
        "id, flag, twice AS (flag * 2)", "error in table t after drop column: no such column: flag"
      ),
      (
        "id, flag, n CHECK (n > flag)", "error in table t after drop column: no such column: flag"
      ),
    ])
  func dropping(columns: String, problem: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create", "CREATE TABLE t (\(columns)); CREATE VIEW v AS SELECT id FROM t")
    try sandbox.add("0002_drop", "operations: [ drop_column: { table: t, column: flag } ]")
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed)
    #expect(failure.place?.position?.line == 1)
    #expect(
      failure.message
        == problem + ". SQLite cannot drop a column that a constraint or a generated column uses: "
        + "use `rebuild_table` with the columns and constraints that remain")
  }

  @Test(
    "an object that prevents dropping a column is named",
    arguments: [
      ("CREATE INDEX i ON t (flag)", "index `i`"), ("CREATE INDEX i ON t ('flag')", "index `i`"),
      ("CREATE VIEW v AS SELECT flag FROM t", "view `v`"),
      (
        "CREATE VIEW v AS SELECT \"t\".\"id\", \"flag\" FROM \"t\"; "
          + "CREATE VIEW w AS SELECT \"a text\", \"id\" FROM t", "view `v`"
      ),
      (
        "CREATE TRIGGER r AFTER DELETE ON t BEGIN DELETE FROM t WHERE \"flag\" = 1; END",
        "trigger `r`"
      ),
      (
        "CREATE TRIGGER r AFTER INSERT ON t WHEN NEW.flag BEGIN SELECT 1; END; "
          + "CREATE INDEX i ON t (flag)", "index `i`, trigger `r`"
      ),
      (
        "CREATE TRIGGER r AFTER UPDATE OF id, FLAG ON t BEGIN UPDATE t SET id = 1; END; "
          + "CREATE TRIGGER s UPDATE OF flag ON t BEGIN SELECT NEW.flag; END",
        "trigger `s`, trigger `r`"
      ),
    ])
  func mentioned(sql: String, names: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (id, flag); \(sql)")
    try sandbox.add("0002_drop", "operations: [ drop_column: { table: t, column: flag } ]")
    let failure = try #require(sandbox.failure())
    #expect(failure.status == .invalidInput)
    #expect(
      failure.message
        == "these objects mention `t.flag`: \(names). Drop these objects first, and create those "
        + "that you still need again afterwards")
  }

  @Test("a released migration may have dropped a column that a trigger names in UPDATE OF")
  func releasedDrop() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE t (id, flag, other); "
        + "CREATE TRIGGER r UPDATE OF flag ON t BEGIN SELECT 1; END")
    try sandbox.addSQL("0002_drop", "CREATE TABLE other (x)")
    try sandbox.freeze(through: "0002")
    let drop = "operations: [ drop_column: { table: t, column: flag } ]"
    try sandbox.add("0002_drop", drop)
    let lock = try sandbox.project().accepting("0002_drop", reason: "as an operation").0
    try sandbox.project().folder.write(lock)
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT name FROM pragma_table_info('t')") == [["id"], ["other"]])
  }

  @Test("a UNIQUE column is not added, and the message names `create_index`")
  func uniqueAddition() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (id)")
    try sandbox.add(
      "0002_add", "operations: [ add_column: { table: t, column: { name: u, unique: true } } ]")
    let failure = try #require(sandbox.failure())
    #expect(failure.status == .invalidInput)
    #expect(failure.message.contains("create a unique index with `create_index`"))
  }

  @Test("a column with constraints of its own, or as a text in a CHECK, can be dropped")
  func droppable() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create", "CREATE TABLE t (id PRIMARY KEY, flag CHECK (flag > 0) REFERENCES t (id))")
    try sandbox.add("0002_drop", "operations: [ drop_column: { table: t, column: flag } ]")
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test(
    "a dependent object stops the operation and is named",
    arguments: [
      (
        "CREATE TABLE t (id, flag INTEGER); CREATE VIEW done AS SELECT id FROM t WHERE flag;",
        "view `done`"
      ),
      (
        """
        CREATE TABLE t (id, flag INTEGER); CREATE TABLE u (a);
        CREATE TRIGGER tr AFTER INSERT ON u BEGIN UPDATE t SET flag = 1; END;
        """, "trigger `tr`"
      ),
      ("CREATE TABLE t (id, flag INTEGER); CREATE INDEX i ON t (flag);", "index `i`"),
      ("CREATE TABLE t (id, flag INTEGER); CREATE INDEX p ON t (id) WHERE flag = 1;", "index `p`"),
      ("CREATE TABLE t (id, flag INTEGER, g AS (flag + 1));", "generated column `g`"),
      ("CREATE TABLE t (id, flag INTEGER, n INTEGER CHECK (n > flag));", "column `n`"),
      ("CREATE TABLE t (id, flag INTEGER, CHECK (flag <= 1));", "CHECK (flag <= 1)"),
      ("CREATE TABLE t (id, flag INTEGER, UNIQUE (id, flag));", "UNIQUE (id, flag)"),
      (
        "CREATE TABLE u (a PRIMARY KEY); CREATE TABLE t (id, flag INTEGER, FOREIGN KEY (flag) REFERENCES u (a));",
        "FOREIGN KEY (flag)"
      ),
      (
        "CREATE TABLE t (id, flag INTEGER UNIQUE); CREATE TABLE c (x REFERENCES t (flag));",
        "table `c`"
      ),
      (
        "CREATE TABLE t (id, flag INTEGER); CREATE VIEW a AS SELECT * FROM t; CREATE VIEW b AS SELECT flag FROM a;",
        "view `b`"
      ),
    ])
  func refused(sql: String, named: String) throws {
    let sandbox = try sandbox(sql)
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains(named) == true, "\(failure?.message ?? "")")
    #expect(failure?.message.contains("dependents: rename") == true)
  }

  @Test(
    "with dependents: rename SQLite rewrites them, both by RENAME and by a rebuild",
    arguments: [
      "{ name: status, type: INTEGER }",
      "{ name: status, type: INTEGER, not_null: true, default: 0 }",
    ])
  func rewritten(to: String) throws {
    let sandbox = try sandbox(
      """
      CREATE TABLE t (id TEXT, flag INTEGER, g AS (flag + 1), CHECK (flag <= 1));
      CREATE VIEW done AS SELECT id FROM t WHERE flag = 1;
      CREATE INDEX i ON t (flag);
      CREATE TRIGGER tr AFTER UPDATE OF id ON t BEGIN UPDATE t SET flag = 0 WHERE rowid = new.rowid; END;
      """, dependents: true, to: to)
    try sandbox.migrate(to: "1")
    try sandbox.run("INSERT INTO t (rowid, id, flag) VALUES (7, 'a', 0), (9, 'b', 1)")
    let report = try sandbox.migrate()
    #expect(report.failure == nil)
    #expect(
      try sandbox.rows("SELECT rowid, id, status, g FROM t") == [[7, "a", 0, 1], [9, "b", 1, 2]])
    #expect(try sandbox.rows("SELECT id FROM done") == [["b"]])
    try sandbox.run("UPDATE t SET id = 'c' WHERE id = 'b'")
    #expect(try sandbox.rows("SELECT status FROM t WHERE id = 'c'") == [[0]])
    #expect(
      try sandbox.rows(
        "SELECT name FROM sqlite_schema WHERE sql LIKE '%flag%' AND name <> 'schemactl_migrations'"
      ).isEmpty)
  }

  @Test(
    "a view that a rename would break is not reported as broken",
    arguments: ["SELECT id, flag FROM t", "SELECT * FROM t"])
  func brokenByRename(first: String) throws {
    let views = ["CREATE VIEW v AS \(first)", "CREATE VIEW w AS SELECT id FROM v WHERE flag = 0"]
    let above = "CREATE VIEW x AS SELECT * FROM w"
    let sandbox = try sandbox(
      "CREATE TABLE t (id, flag INTEGER); \((views + [above]).joined(separator: ";\n"));",
      dependents: true)
    let message =
      "renaming `t.flag` would break view `w`, view `x` (no such column: flag): SQLite does not "
      + "rewrite objects that read the column from another view or by USING. Drop them "
      + "first, and create them again afterwards"
    let rename = "rename_column: { table: t, from: flag, to: status }"
    for operation in [nil, rename] {
      if let operation { try sandbox.add("0002_move", "operations: [{ \(operation) }]") }
      let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
      #expect(failure?.status == .invalidInput)
      #expect(failure?.message == message)
    }
    try sandbox.addSQL("0002_move", "ALTER TABLE t RENAME COLUMN flag TO status")
    #expect(
      try sandbox.migrate().failure?.message
        == "error in view w after rename: no such column: flag. Drop it first, and create it "
        + "again afterwards")
    try sandbox.add(
      "0002_move",
      """
      operations:
        - drop_view: { name: x }
        - drop_view: { name: w }
        - \(rename)
        - create_view: { name: w, sql: CREATE VIEW w AS SELECT id FROM v WHERE status = 0 }
        - create_view: { name: x, sql: \(above) }
      """)
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test("a view that was broken before is reported, even if a rename would break another")
  func brokenBefore() throws {
    let sandbox = try sandbox(
      """
      CREATE TABLE t (id, flag INTEGER); CREATE VIEW a AS SELECT id, flag FROM t;
      CREATE VIEW b AS SELECT flag FROM a; CREATE VIEW c AS SELECT flag FROM gone;
      """, dependents: true)
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.message.contains("because of the broken view `c`. Drop or repair") == true)
  }

  @Test("a refusal lists all possible remedies and no impossible one")
  func waysOn() throws {
    func message(_ sql: String, _ map: String) throws -> String? {
      let sandbox = try Sandbox()
      try sandbox.addSQL("0001_create", sql)
      try sandbox.add(
        "0002_move",
        "operations: [{ move_column: { table: t, from: flag, to: { name: status }, \(map) } }]")
      return #expect(throws: Failure.self) { try sandbox.migrate() }?.message
    }
    let view = "CREATE TABLE t (id, flag); CREATE VIEW v AS SELECT id FROM t WHERE flag;"
    let check = "CREATE TABLE t (id, flag, CHECK (flag IN (0, 1)));"
    let drop = "Drop these objects first and create them again afterwards"
    let anew = "Rebuild the table with `rebuild_table` and `copy`"
    for (sql, mentioned, way) in [
      (view, "view `v`", drop), (check, "CHECK (flag IN (0, 1))", anew),
    ] {
      let start = "these objects mention `t.flag`: \(mentioned). \(way), "
      #expect(
        try message(sql, "map: { 0: 0, 1: 1 }") == start
          + "keep the column with `keep_source: true`, or let SQLite rewrite it with "
          + "`dependents: rename`")
      for map in ["map: { 0: open, 1: done }", "using: flag + 1"] {
        #expect(
          try message(sql, map) == start
            + "or keep the column with `keep_source: true`; `dependents: rename` changes only "
            + "the name, not comparisons with the old values")
      }
    }
  }

  @Test("both remedies of the refusal work for a CHECK of the table")
  func pastCheck() throws {
    for operation in [
      """
      rebuild_table:
            table: t
            columns: [ { name: id }, { name: status, type: TEXT } ]
            checks: [ "status IN ('open', 'done')" ]
            copy: { status: "CASE flag WHEN 0 THEN 'open' ELSE 'done' END" }
      """,
      """
      move_column:
            { table: t, from: flag, to: { name: status, type: TEXT }, map: { 0: open, 1: done }, keep_source: true }
      """,
    ] {
      let sandbox = try Sandbox()
      try sandbox.addSQL("0001_create", "CREATE TABLE t (id, flag, CHECK (flag IN (0, 1)));")
      try sandbox.migrate()
      try sandbox.run("INSERT INTO t VALUES (1, 0), (2, 1)")
      try sandbox.add("0002_move", "operations:\n  - \(operation)")
      let failure = try sandbox.migrate().failure
      #expect(failure == nil, "\(failure?.message ?? "")")
      #expect(try sandbox.rows("SELECT id, status FROM t") == [[1, "open"], [2, "done"]])
    }
  }

  @Test("the column's own CHECK is dropped with it")
  func ownCheck() throws {
    let sandbox = try sandbox("CREATE TABLE t (id, flag INTEGER CHECK (flag IN (0, 1)), z);")
    #expect(try sandbox.migrate().failure == nil)
    try sandbox.run("INSERT INTO t (status) VALUES (2)")
  }

  @Test("a text in double quotes elsewhere remains unchanged")
  func doubleQuotedString() throws {
    let sandbox = try sandbox(
      "CREATE TABLE t (id, flag INTEGER); CREATE VIEW v AS SELECT \"literal\" AS x FROM t;")
    let report = try sandbox.migrate()
    #expect(report.failure == nil)
    #expect(report.applied.last?.strategies == [.rewrite])
    #expect(
      try sandbox.rows("SELECT sql FROM sqlite_schema WHERE name = 'v'")
        == [["CREATE VIEW v AS SELECT \"literal\" AS x FROM t"]])
  }

  @Test("a broken view elsewhere, which blocks every RENAME, does not prevent the move")
  func brokenView() throws {
    let sandbox = try sandbox(
      "CREATE TABLE t (id, flag INTEGER); CREATE VIEW v AS SELECT 1 FROM gone;")
    let report = try sandbox.migrate()
    #expect(report.failure == nil)
    #expect(report.applied.last?.strategies == [.rewrite])
  }

  /// SQLite keeps the old name in the full-text table, and an error would occur only in a later search.
  @Test(
    "a column that a full-text table reads by name is neither dropped nor renamed",
    arguments: [
      "rebuild_table: { table: items, columns: [{ name: id, type: INTEGER, primary_key: true }, { name: title }], where: id > 1, rows_may_be_lost: true }",
      "rebuild_table: { table: items, columns: [{ name: id, type: INTEGER, primary_key: true }, { name: title }], copy: { title: upper(title) } }",
      "drop_table: { table: items }", "rename_table: { table: items, to: things }",
      "drop_column: { table: items, column: title }",
      "rename_column: { table: items, from: title, to: headline }",
    ])
  func readByFullText(operation: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, other TEXT); "
        + "CREATE VIRTUAL TABLE f USING fts5(title, content=items, content_rowid=id);")
    try sandbox.migrate()
    try sandbox.add("0002_more", "operations: [{ \(operation) }]")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains("the virtual table `f` reads `items") == true)
    try sandbox.add(
      "0002_more",
      "operations: [{ drop_column: { table: items, column: other } }, "
        + "{ drop_virtual_table: { name: f } }, { \(operation) }]")
    #expect(try sandbox.migrate().failure == nil)
  }

  @Test("a rebuild keeps the rowids by which a full-text table finds the rows")
  func rowidsOfFullText() throws {
    for (columns, isKept) in [
      ("[{ name: title }]", true), ("[{ name: title }, { name: more }]", true),
      ("[{ name: id, type: INTEGER, primary_key: true }, { name: title }]", false),
    ] {
      let sandbox = try Sandbox()
      try sandbox.addSQL(
        "0001_create",
        "CREATE TABLE items (title TEXT); "
          + "CREATE VIRTUAL TABLE f USING fts5(title, content=items); "
          + "INSERT INTO items (rowid, title) VALUES (5, 'apple'), (9, 'pear'); "
          + "INSERT INTO f (f) VALUES ('rebuild');")
      try sandbox.migrate()
      try sandbox.add(
        "0002_more", "operations: [{ rebuild_table: { table: items, columns: \(columns) } }]")
      if isKept {
        #expect(try sandbox.migrate().failure == nil)
      } else {
        let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
        #expect(failure?.status == .invalidInput)
      }
      #expect(try sandbox.rows("SELECT rowid, title FROM f WHERE f MATCH 'pear'") == [[9, "pear"]])
    }
  }

  @Test("a foreign key in a table constraint is not changed at its column")
  func tablesReference() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); "
        + "CREATE TABLE c (p INTEGER, q INTEGER REFERENCES p (id), FOREIGN KEY (p) REFERENCES p (id));"
    )
    try sandbox.migrate()
    for (column, isRefused) in [("p", true), ("q", false)] {
      try sandbox.add(
        "0002_more",
        "operations: [{ alter_column: { table: c, column: \(column), references: null } }]")
      if isRefused {
        let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
        #expect(failure?.message.contains("is a table constraint") == true)
      } else {
        #expect(try sandbox.migrate().failure == nil)
        #expect(try sandbox.rows("SELECT count(*) FROM pragma_foreign_key_list('c')") == [[1]])
      }
    }
  }
}

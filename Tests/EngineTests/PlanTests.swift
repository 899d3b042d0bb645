import Foundation
import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaPlanning
import SchemaPreview
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Plans as scripts for the sqlite3 shell")
struct PlanScriptTests {
  private func plan(_ sandbox: Sandbox) throws -> String {
    try sandbox.project().plan(sandbox.options(), database: sandbox.database).script
  }

  private func shell(_ sandbox: Sandbox, _ script: String) throws -> Finished {
    try run("/usr/bin/env", ["sqlite3", sandbox.database], input: script)
  }

  @Test(
    "a script has the effect of migrate, from an empty database and from 1.0",
    arguments: [false, true])
  func equalsMigrate(hasRows: Bool) throws {
    let byShell = try Sandbox.reminders()
    let byMigrate = try Sandbox.reminders()
    if hasRows {
      try byMigrate.makeRelease1()
      try FileManager.default.copyItem(atPath: byMigrate.database, toPath: byShell.database)
    }
    let ended = try shell(byShell, try plan(byShell))
    #expect(ended.code == 0, "\(ended.errors)")
    #expect(ended.errors.isEmpty)
    try byMigrate.migrate()
    #expect(try Dump(byShell.open()) == Dump(byMigrate.open()))
    let report = try byShell.project().verify(database: byShell.database, timeout: 1)
    #expect(report.status == .success)
  }

  @Test(
    "a script accepts violated foreign keys that existed before",
    arguments: [
      "rename_table: { table: c, to: d }", "rename_table: { table: p, to: d }",
      "add_column: { table: c, column: { name: b, type: INTEGER, references: { table: p } } }",
    ])
  func oldViolations(_ operation: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_tables",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, a REFERENCES p)"
    )
    try sandbox.migrate()
    try sandbox.run("INSERT INTO c VALUES (1, 9)")
    try sandbox.add("0002_step", "operations:\n- \(operation)\n")
    let script = try plan(sandbox)
    let ended = try shell(sandbox, ".bail on\n" + script)
    #expect(ended.code == 0 && ended.errors.isEmpty, "\(ended.errors)")
    let report = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(report.status == .success)
  }

  @Test(
    "a script ignores an old foreign key that matches no key",
    arguments: [
      "sql: UPDATE c SET code = upper(code)", "rename_table: { table: c, to: d }",
      "drop_table: { table: c }",
      "sql: CREATE TABLE e (p REFERENCES p); ALTER TABLE e RENAME TO f",
      "create_index: { name: i, table: p, columns: [code], unique: true }",
    ])
  func mismatches(_ operation: String) throws {
    for reference in ["", "REFERENCES p (code)"] {
      let sandbox = try Sandbox()
      try sandbox.addSQL(
        "0001_tables",
        "CREATE TABLE p (id INTEGER PRIMARY KEY, code TEXT); CREATE TABLE c (code TEXT \(reference))"
      )
      try sandbox.migrate()
      try sandbox.run("INSERT INTO p VALUES (1, 'A'); INSERT INTO c VALUES ('A')")
      try sandbox.add("0002_step", "operations:\n- \(operation)\n")
      #expect(try sandbox.project().verify(nil).status == .success)
      let ended = try shell(sandbox, ".bail on\n" + (try plan(sandbox)))
      #expect(ended.code == 0 && ended.errors.isEmpty, "\(ended.errors)")
      let report = try sandbox.project().verify(database: sandbox.database, timeout: 1)
      #expect(report.status == .success)
    }
  }

  @Test(
    "a script has the same meaning in the shell as in SQLite, whatever a line contains",
    arguments: ["/", "go", " GO  ", "\t/ -- divided", "/ /* divided */", "Go /* a\n */"])
  func lines(line: String) throws {
    let isName = line.lowercased().contains("go")
    let sandbox = try Sandbox()
    let expression = isName ? "a +\n\(line)\n+ b" : "a\n\(line)\nb"
    try sandbox.addSQL(
      "0001_lines",
      """
      CREATE TABLE t (a, b, go);
      INSERT INTO t VALUES (6, 2, 1), (8, 4, 1);
      CREATE TABLE texts (x);
      INSERT INTO texts VALUES ('first
      \(line)
      .quit
      # last'), (
      -- .quit
      /* open
      /
      .quit */ 2);
      CREATE VIEW v AS SELECT \(expression) AS "name
      \(line)
      " FROM t;
      CREATE TRIGGER r AFTER UPDATE ON t BEGIN
      INSERT INTO texts SELECT \(expression) FROM t;
      END;
      DELETE FROM texts WHERE x = (SELECT \(expression) FROM t WHERE a = 6)
      """)
    try sandbox.add(
      "0002_operations",
      """
      operations:
        - add_column: { table: t, column: { name: c, check: \(quoted("c >\n" + expression)) } }
        - update: { table: t, set: { b: \(quoted(expression)) }, all: true }
        - create_view: { name: w, sql: \(quoted("CREATE VIEW w AS SELECT \(expression) AS x FROM t /* open")) }

      """)
    let ended = try shell(sandbox, try plan(sandbox))
    #expect(ended.code == 0 && ended.errors.isEmpty, "\(ended.errors)")
    let byMigrate = try Sandbox()
    try FileManager.default.removeItem(atPath: byMigrate.folder + "/migrations")
    try FileManager.default.copyItem(
      atPath: sandbox.folder + "/migrations", toPath: byMigrate.folder + "/migrations")
    #expect(try byMigrate.migrate().failure == nil)
    for table in ["t", "texts", "v", "w"] {
      #expect(
        try sandbox.rows("SELECT * FROM \(table)") == byMigrate.rows("SELECT * FROM \(table)"))
    }
    let report = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(report.status == .success, "\(report.drift ?? [])")
  }

  /// Returns the text as a double-quoted YAML scalar.
  private func quoted(_ text: String) -> String {
    "\"" + text.replacing("\n", with: "\\n").replacing("\t", with: "\\t") + "\""
  }

  @Test("a script stops without changes at a value that the map does not name")
  func guarded() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.run("UPDATE reminders SET isCompleted = 2 WHERE id = 'r7'")
    let before = try Dump(sandbox.open())
    let ended = try shell(sandbox, try plan(sandbox))
    #expect(ended.code != 0)
    #expect(ended.errors.contains("`reminders.isCompleted` holds a value that `map` does not name"))
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test("a script checks the foreign keys of more tables than a compound SELECT has terms")
  func manyChildren() throws {
    let sandbox = try Sandbox()
    let children = (1...501).map { "CREATE TABLE c\($0) (p REFERENCES p);" }
    try sandbox.addSQL(
      "0001_create", (["CREATE TABLE p (id INTEGER PRIMARY KEY, f);"] + children).joined())
    let created = try shell(sandbox, try plan(sandbox))
    #expect(created.code == 0, "\(created.errors)")
    try sandbox.run("INSERT INTO p VALUES (1, 0), (2, 0); INSERT INTO c7 VALUES (2), (9)")
    try sandbox.add(
      "0002_move",
      "operations: [{ move_column: { table: p, from: f, to: { name: g, type: TEXT }, "
        + "map: { 0: x } } }]")
    let moved = try shell(sandbox, try plan(sandbox))
    #expect(moved.code == 0, "\(moved.errors)")
    try sandbox.add("0003_delete", "operations: [{ delete: { table: p, where: id = 2 } }]")
    let deleted = try shell(sandbox, try plan(sandbox))
    #expect(deleted.errors.contains("this migration breaks foreign keys"), "\(deleted.errors)")
    #expect(try sandbox.rows("SELECT id, g FROM p") == [[1, "x"], [2, "x"]])
  }

  @Test("a script refuses a new broken foreign key in a WITHOUT ROWID table that has broken ones")
  func brokenWithoutRowid() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (k TEXT PRIMARY KEY, p REFERENCES p, q REFERENCES p) WITHOUT ROWID;
      """)
    #expect(try sandbox.migrate().failure == nil)
    try sandbox.run("INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES ('a', 1, 1), ('b', 9, 2)")
    try sandbox.add("0002_delete", "operations: [{ delete: { table: p, where: id = 1 } }]")
    let deleted = try shell(sandbox, try plan(sandbox))
    #expect(deleted.errors.contains("this migration breaks foreign keys"), "\(deleted.errors)")
    #expect(try sandbox.rows("SELECT id FROM p") == [[1], [2]])
    try sandbox.add("0002_delete", "operations: [{ delete: { table: c, where: k = 'b' } }]")
    let repaired = try shell(sandbox, try plan(sandbox))
    #expect(repaired.code == 0, "\(repaired.errors)")
  }

  @Test("a script works for every strategy, including hostile names")
  func strategies() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      """
      CREATE TABLE "a;b" (id INTEGER PRIMARY KEY AUTOINCREMENT, "f""g", n INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE c (p REFERENCES "a;b" (id) ON DELETE CASCADE);
      CREATE TRIGGER "t
      r" AFTER UPDATE ON "a;b" BEGIN DELETE FROM c; END;
      INSERT INTO "a;b" ("f""g") VALUES (0), (1), (NULL);
      INSERT INTO c VALUES (1), (2), (3);
      """)
    try sandbox.add(
      "0002_moves",
      """
      operations:
        - move_column:
            table: "a;b"
            from: "f\\"g"
            to: { name: "s's", type: INTEGER, not_null: true, default: 0 }
            map: { 0: 0, 1: 1, null: 2 }
        - move_column:
            table: "a;b"
            from: n
            to: { name: m, type: INTEGER, not_null: true, default: 0 }
            map: { 0: 5 }
            keep_source: true
      """)
    let copy = try Sandbox()
    for id in ["0001_create", "0002_moves"] {
      try FileManager.default.copyItem(
        atPath: "\(sandbox.folder)/migrations/\(id).yaml",
        toPath: "\(copy.folder)/migrations/\(id).yaml")
    }
    let ended = try shell(copy, try plan(copy))
    #expect(ended.code == 0, "\(ended.errors)")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try Dump(copy.open()) == Dump(sandbox.open()))
    #expect(try sandbox.rows("SELECT \"s's\", m FROM \"a;b\"") == [[0, 5], [1, 5], [2, 5]])
    #expect(try sandbox.rows("SELECT count(*) FROM c") == [[3]])
  }

  @Test("the script of the status move is stable")
  func golden() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    let script = try sandbox.project().plan(sandbox.options(), database: "reminders.sqlite").script
    #expect(script.hasPrefix("-- 7 migrations for reminders.sqlite\n.bail on\n"))
    let live = try plan(sandbox)
    let lines = live.split(separator: "\n").map(String.init)
    #expect(lines.contains("--   (move_column, update: writes no row)"))
    #expect(
      lines.contains(#"ALTER TABLE main."reminders" RENAME COLUMN "isCompleted" TO "status";"#))
    #expect(lines.contains("BEGIN IMMEDIATE;"))
    #expect(lines.last == "COMMIT;")
  }
}

@Suite("Dry runs")
struct DryRunTests {
  @Test("a dry run checks the rows of the database and writes nothing")
  func asks() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    let good = try sandbox.project().dryRun(sandbox.options())
    #expect(good.status == .success)
    #expect(
      good.answers.map(\.question) == ["`map` names every value of `reminders.isCompleted`"])
    #expect(good.answers.allSatisfy { $0.isAsked && $0.obstacle == nil })
    try sandbox.run("UPDATE reminders SET isCompleted = 2 WHERE id = 'r7'")
    let before = try Dump(sandbox.open())
    let bad = try sandbox.project().dryRun(sandbox.options())
    #expect(bad.status == .migrationFailed)
    #expect(bad.answers.first?.obstacle?.contains("2 (integer) in 1 row") == true)
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test("a dry run detects rows that violate a unique index or a NOT NULL column")
  func foresees() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a, b);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (1, NULL), (1, NULL)")
    try sandbox.add(
      "0002_index",
      "operations: [{ create_index: { name: i, table: t, columns: [b], unique: true } }]")
    #expect(try sandbox.project().dryRun(sandbox.options()).status == .success)
    try sandbox.add(
      "0003_index",
      "operations: [{ create_index: { name: j, table: t, columns: [a], unique: true } }]")
    #expect(try sandbox.project().dryRun(sandbox.options(to: "3")).status == .migrationFailed)
    try sandbox.add(
      "0003_index",
      "operations: [{ add_column: { table: t, column: { name: c, not_null: true } } }]")
    #expect(try sandbox.project().dryRun(sandbox.options()).status == .migrationFailed)
  }

  static let asked = [
    "alter_column: { table: t, column: a, not_null: true }",
    "alter_column: { table: t, column: a, not_null: true, default: 1 }",
    "alter_column: { table: t, column: b, check: \"b < 9\" }",
    "alter_column: { table: t, column: b, generated: { as: a + 1, stored: true } }",
    "alter_column: { table: t, column: b, default: 7 }",
    "add_column: { table: t, column: { name: d, not_null: true } }",
    "convert_primary_key: { table: p, to: uuid, uuids: per_database }",
    "move_column: { table: t, from: b, to: { name: d }, map: { 5: 6 } }",
  ]

  @Test(
    "a dry run reports the same row errors as migrate", arguments: oneIn(2, of: asked),
    [false, true])
  func agrees(operation: String, isFixed: Bool) throws {
    let rows = [
      "INSERT INTO t VALUES (1, 2, 1)", "INSERT INTO t VALUES (NULL, 9, 1)",
      "INSERT INTO t VALUES (4, 5, 6)", "DELETE FROM t",
    ]
    for row in rows {
      let sandbox = try Sandbox()
      try sandbox.addSQL(
        "0001_create",
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE t (a, b, c REFERENCES p);")
      try sandbox.migrate()
      try sandbox.run("INSERT INTO p VALUES (1); \(row)")
      let fix = isFixed ? "{ sql: \"UPDATE t SET a = 4, b = 5, c = 1\" }, " : ""
      try sandbox.add("0002_change", "operations: [\(fix){ \(operation) }]")
      let report = try sandbox.project().dryRun(sandbox.options())
      let migrated = try sandbox.migrate()
      // Values that an earlier operation writes cannot be checked yet.
      let isAsked = report.answers.allSatisfy(\.isAsked)
      #expect(isAsked || isFixed, "\(row)")
      #expect(report.status == (isAsked ? migrated.status : .success), "\(row)")
      if let message = report.failure?.message {
        #expect(migrated.failure?.message.contains(message) == true)
      }
    }
  }

  @Test(
    "a plan refuses a migration that calls a function of the application, like migrate",
    arguments: [
      "sql: UPDATE t SET a = ours(a)",
      "alter_column: { table: t, column: a, check: ours(a) > 1 }",
    ])
  func calledFunction(_ operation: String) throws {
    let sandbox = try Sandbox()
    sandbox.application.declaredFunctions = [DeclaredFunction(name: "ours", arguments: 1)]
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    try sandbox.migrate()
    try sandbox.add("0002_call", "operations: [{ \(operation) }]")
    let failure = #expect(throws: Failure.self) {
      try sandbox.project().dryRun(sandbox.options())
    }
    #expect(failure?.status == .invalidInput)
    #expect(sandbox.failure()?.status == .invalidInput)
  }

  @Test("a dry run of a missing database does not create it, and reports skipped checks")
  func missing() throws {
    let sandbox = try Sandbox.reminders()
    let report = try sandbox.project().dryRun(sandbox.options())
    #expect(report.status == .success)
    #expect(report.plan.migrations.count == 7)
    #expect(try DatabaseFile.exists(sandbox.database) == false)
  }
}

@Suite("Names that need quoting")
struct HostileNameTests {
  static let names = [
    "a\"b", "a;b", "a'b", "[a]", "a`b", "a\nb", "select", "a--b", "a/*b", "ünï", "a b", "0a", "%s",
  ]

  @Test("every operation supports them", arguments: names)
  func everyOperation(name: String) throws {
    let quoted = "\"" + name.replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_create",
      """
      operations:
        - create_table:
            name: \(quoted)
            columns:
              - { name: id, type: INTEGER, primary_key: true }
              - { name: \(quoted), type: TEXT, not_null: true, default: \(quoted), collate: NOCASE }
              - { name: parent, type: INTEGER, references: { table: \(quoted), column: id, on_delete: set_null } }
            unique: [[\(quoted), parent]]
        - create_index: { name: \(quoted.dropLast())i", table: \(quoted), columns: [{ column: \(quoted), order: desc }] }
        - insert: { table: \(quoted), rows: [{ \(quoted): \(quoted) }] }
        - update: { table: \(quoted), set: { \(quoted): "'x'" }, all: true }
        - add_column: { table: \(quoted), column: { name: flag, type: INTEGER, not_null: true, default: 1 } }
        - move_column: { table: \(quoted), from: flag, to: { name: \(quoted.dropLast())s", type: TEXT }, map: { 1: one } }
        - rename_column: { table: \(quoted), from: \(quoted.dropLast())s", to: plain }
        - rename_table: { table: \(quoted), to: \(quoted.dropLast())2" }
        - drop_index: { name: \(quoted.dropLast())i" }
        - drop_column: { table: \(quoted.dropLast())2", column: plain }
        - delete: { table: \(quoted.dropLast())2", where: "0" }
      """)
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(String(describing: report.failure))")
    let table = Quoting.quoted(name + "2")
    #expect(try sandbox.rows("SELECT \(Quoting.quoted(name)) FROM \(table)") == [["x"]])
    #expect(try sandbox.project().verify(database: sandbox.database, timeout: 1).status == .success)
    try sandbox.add("0002_drop", "operations: [{ drop_table: { table: \(quoted.dropLast())2\" } }]")
    #expect(try sandbox.migrate().failure == nil)
  }
}

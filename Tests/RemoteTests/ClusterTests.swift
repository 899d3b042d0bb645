import Foundation
import SchemaApply
import SchemaAuthoring
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPreview
import SchemaRemote
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Migrating a dqlite cluster", .needsDqlite, .serialized)
struct ClusterTests {
  @Test("migrations run and are verified on the leader, whichever node is addressed")
  func migrates() throws {
    let cluster = try TestCluster()
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_create_items",
      """
      operations:
        - create_table:
            name: items
            columns:
              - { name: id, type: INTEGER, primary_key: true }
              - { name: title, type: TEXT, not_null: true }
        - insert: { table: items, rows: [{ title: one }, { title: "it's" }] }
      """)
    try sandbox.addSQL(
      "0002_add_notes",
      """
      PRAGMA foreign_keys = OFF;
      CREATE TABLE notes (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id), data BLOB);
      INSERT INTO notes (item, data) VALUES (1, x'00ff'), (2, NULL);
      """)
    try sandbox.add(
      "0003_drop_columns",
      """
      operations:
        - add_column: { table: notes, column: { name: a, type: TEXT } }
        - add_column: { table: notes, column: { name: b, type: INTEGER, default: 1, not_null: true } }
        - drop_column: { table: notes, column: a }
        - drop_column: { table: notes, column: b }
      """)
    let remote = try cluster.cluster()
    let report = try sandbox.project().migrate(sandbox.options(), on: remote)
    #expect(report.failure?.message == nil)
    #expect(
      report.applied.map(\.id) == ["0001_create_items", "0002_add_notes", "0003_drop_columns"])
    // On a busy machine the leader may have changed.
    let rows = try remote.ask { (leader) throws(DatabaseError) in
      try leader.rows(
        "SELECT title, data, 1.5 FROM items JOIN notes ON item = items.id ORDER BY items.id")
    }
    #expect(rows == [["one", .blob([0, 255]), .real(1.5)], ["it's", .null, .real(1.5)]])

    let tool = programs.appendingPathComponent("schemactl").path
    for command in ["status", "verify", "diff", "plan", "migrate"] {
      let ran = try run(
        tool,
        [
          command, "--database", "dqlite://\(cluster.nodes[2])/app.db", "--migrations",
          sandbox.folder + "/migrations", "--timeout", "60",
        ])
      #expect(ran.code == 0, "\(command): \(ran.errors)")
    }
    #expect(cluster.hasAllNodes)
  }

  @Test("the database of another tool continues where its ledger says")
  func adopts() throws {
    let cluster = try TestCluster()
    let leader = try cluster.leader()
    let steps = [
      "CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT)", "CREATE TABLE items (list, n)",
    ]
    try leader.execute("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    for (index, step) in steps.enumerated() {
      try leader.execute(step)
      try leader.execute("INSERT INTO grdb_migrations VALUES ('v\(index + 1)')")
    }
    try leader.execute("INSERT INTO lists (title) VALUES ('mine')")
    let sandbox = try Sandbox()
    for (index, step) in steps.enumerated() {
      try sandbox.add(
        "000\(index + 1)_step",
        "operations:\n  - sql: \(step)\n"
          + "replaces:\n  - { ledger: grdb_migrations, entries: [v\(index + 1)] }\n")
    }
    try sandbox.addSQL("0003_color", "ALTER TABLE lists ADD COLUMN color TEXT")
    let remote = try cluster.cluster()
    let script = try sandbox.project().plan(sandbox.options(), on: remote).script
    #expect(script.components(separatedBy: "INSERT INTO schemactl_migrations").count == 4)
    let report = try sandbox.project().migrate(sandbox.options(), on: remote)
    #expect(report.failure?.message == nil)
    #expect(report.adopted == ["0001_step", "0002_step"])
    #expect(report.applied.map(\.id) == ["0003_color"])
    let copy = try ClusterCopy(of: remote, for: sandbox.project())
    #expect(try sandbox.project().verify(copy.readable).status == .success)
    let again = try sandbox.project().migrate(sandbox.options(), on: remote)
    #expect(again.adopted.isEmpty && again.applied.isEmpty)
    let rows = try remote.ask { (leader) throws(DatabaseError) in
      try leader.rows("SELECT title, color FROM lists")
    }
    #expect(rows == [["mine", .null]])
  }

  @Test("a database without a ledger is refused, and continues once a table says what it has run")
  func tellsByTable() throws {
    let cluster = try TestCluster()
    let leader = try cluster.leader()
    try leader.execute("CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT)")
    let sandbox = try Sandbox()
    let step = "operations:\n  - sql: CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT)\n"
    try sandbox.add("0001_lists", step)
    try sandbox.addSQL("0002_color", "ALTER TABLE lists ADD COLUMN color TEXT")
    let remote = try cluster.cluster()
    let failure = #expect(throws: Failure.self) {
      try sandbox.project().migrate(sandbox.options(), on: remote)
    }
    #expect(failure?.status == .finding)
    #expect(failure?.message.contains("holds `lists`, but no ledger") == true)
    #expect(failure?.remedy?.contains("adopt") == false)
    #expect(failure?.remedy?.contains("`replaces`") == true)
    try leader.execute("CREATE TABLE applied (id TEXT PRIMARY KEY)")
    try leader.execute("INSERT INTO applied VALUES ('0001_lists')")
    try sandbox.add(
      "0001_lists",
      step + "replaces:\n  - { ledger: applied, column: id, entries: [0001_lists] }\n")
    let report = try sandbox.project().migrate(sandbox.options(), on: remote)
    #expect(report.failure?.message == nil)
    #expect(report.adopted == ["0001_lists"])
    #expect(report.applied.map(\.id) == ["0002_color"])
  }

  @Test("a database that has run some of the migrations that a squash replaces continues")
  func squash() throws {
    let cluster = try TestCluster()
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (n INTEGER)")
    try sandbox.addSQL("0002_b", "CREATE TABLE b (n INTEGER)")
    try sandbox.addSQL("0003_c", "CREATE TABLE c (n INTEGER)")
    let remote = try cluster.cluster()
    #expect(
      try sandbox.project().migrate(sandbox.options(to: "1"), on: remote).failure == nil)
    try sandbox.project().squashing(through: "2").write()
    let report = try sandbox.project().migrate(sandbox.options(), on: remote)
    #expect(report.failure?.message == nil)
    #expect(report.applied.map(\.id) == ["0002_b", "0003_c"])
    let copy = try ClusterCopy(of: remote, for: sandbox.project())
    #expect(try sandbox.project().verify(copy.readable).status == .success)
  }

  @Test("plan reports the order of the statements, key ranges, and all migrations that are refused")
  func plan() throws {
    let cluster = try TestCluster()
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_items", "CREATE TABLE items (id INTEGER PRIMARY KEY, n INTEGER)")
    let remote = try cluster.cluster()
    #expect(try sandbox.project().migrate(sandbox.options(), on: remote).failure == nil)
    try cluster.leader().execute(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) "
        + "INSERT INTO items SELECT i, i FROM n")
    try sandbox.add(
      "0002_more", "operations:\n  - update: { table: items, set: { n: n + 1 }, all: true }\n")
    try sandbox.addSQL("0003_select", "SELECT 1")
    try sandbox.addSQL("0004_small", "CREATE TABLE small (a)")
    try sandbox.addSQL("0005_pragma", "PRAGMA legacy_alter_table = ON")

    func plan(_ words: String...) throws -> Finished {
      try run(
        programs.appendingPathComponent("schemactl").path,
        ["plan", "--database", cluster.url(), "--timeout", "60", "--migrations"]
          + [sandbox.folder + "/migrations"] + words)
    }
    let text = try plan()
    #expect(text.code == 65)
    #expect(text.output.hasPrefix("0002_more\n"))
    #expect(text.errors.contains("its row in the ledger, its statements, then the checks"))
    #expect(
      text.errors.contains("0002_more: schemactl changes the 6,000 rows of `items` in key ranges"))
    #expect(text.errors.contains("0003_select"))
    #expect(
      text.errors.contains(
        "0005_pragma: this cannot run on dqlite: dqlite does not allow `PRAGMA legacy_alter_table`")
    )

    let sql = try plan("--sql").output
    let order = [
      "BEGIN IMMEDIATE;", "INSERT INTO schemactl_migrations",
      "-- in key ranges, from rowid ?1 to rowid ?2:", "WHERE rowid BETWEEN ?1 AND ?2;",
      "-- asked here: the schema, and foreign keys", "UPDATE main.schemactl_migrations", "COMMIT;",
    ]
    let places = order.map { sql.range(of: $0)?.lowerBound ?? sql.endIndex }
    #expect(places == places.sorted() && places.allSatisfy { $0 < sql.endIndex }, "\(sql)")
    // A script with a hole would be another history.
    #expect(!sql.contains("small"))
    let json = try plan("--format", "json")
    #expect(json.output.contains("key ranges"))
  }

  @Test("a command for files names the commands that support clusters")
  func otherCommands() throws {
    let ran = try run(
      programs.appendingPathComponent("schemactl").path,
      ["inspect", "--database", "dqlite://127.0.0.1:1/app.db"])
    #expect(ran.code == ExitStatus.usage.rawValue)
    #expect(ran.errors.contains("migrate"))
  }
}

@Suite("Unsupported operations on dqlite", .needsDqlite)
struct RemoteRefusalTests {
  @Test(
    "they are refused with the reason",
    arguments: [
      ("INSERT INTO items (title) VALUES ('a') RETURNING id", "returns rows"),
      ("SELECT 1", "returns rows"),
      ("PRAGMA legacy_alter_table = ON", "PRAGMA legacy_alter_table"),
      ("INSERT INTO items (title) VALUES (uuid())", "uuid"),
      ("CREATE TABLE t (id TEXT DEFAULT (uuid()), a); INSERT INTO t (a) VALUES (1)", "uuid"),
      ("CREATE TABLE t (a CHECK (uuid() > a)); UPDATE t SET a = 1", "uuid"),
      ("CREATE TEMP TABLE t (a)", "temporary"),
      (
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) "
          + "INSERT INTO items (title) SELECT i FROM n", "lose its leadership"
      ),
    ])
  func refuses(_ sql: String, _ reason: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create_items", "CREATE TABLE items (id INTEGER PRIMARY KEY, title)")
    try sandbox.addSQL("0002_change", sql)
    let project = try sandbox.project()
    let plan = try project.plan(sandbox.options(), database: nil)
    #expect {
      for planned in plan.migrations { _ = try RemotePlan(planned, project.application) }
    } throws: { error in
      let failure = error as? Failure
      return failure?.status == .invalidInput && failure?.message.contains(reason) ?? false
    }
  }

  @Test("a column called uuid and a default that is not needed are not refused")
  func usesNoFunction() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create_items",
      "CREATE TABLE items (uuid TEXT DEFAULT (uuid()), n);\nCREATE INDEX items_uuid ON items (uuid);"
    )
    try sandbox.addSQL(
      "0002_change", "INSERT INTO items (uuid) VALUES ('a'); UPDATE items SET n = 1, uuid = 'b'")
    let project = try sandbox.project()
    let plan = try project.plan(sandbox.options(), database: nil)
    for planned in plan.migrations { _ = try RemotePlan(planned, project.application) }
  }

  @Test("a conversion that would fire a trigger of its own migration is refused")
  func ownTrigger() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create_items", "CREATE TABLE items (id INTEGER PRIMARY KEY, n INTEGER)")
    try sandbox.add(
      "0002_change",
      """
      operations:
        - sql: CREATE TRIGGER r AFTER UPDATE ON items BEGIN DELETE FROM items; END
        - move_column:
            { table: items, from: n, to: { name: m, type: INTEGER }, using: n + 1, keep_source: true }
        - sql: DROP TRIGGER r
      """)
    let project = try sandbox.project()
    let plan = try project.plan(sandbox.options(), database: nil)
    #expect {
      for planned in plan.migrations { _ = try RemotePlan(planned, project.application) }
    } throws: { ($0 as? Failure)?.message.contains("drop the trigger `r` first") ?? false }
  }

  @Test("an operation that edits sqlite_schema is refused")
  func schemaEdit() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create_items", "CREATE TABLE items (id INTEGER PRIMARY KEY, title)")
    try sandbox.add(
      "0002_require_title",
      "operations:\n  - alter_column: { table: items, column: title, not_null: true }\n")
    let project = try sandbox.project()
    let plan = try project.plan(sandbox.options(), database: nil)
    #expect {
      for planned in plan.migrations { _ = try RemotePlan(planned, project.application) }
    } throws: { ($0 as? Failure)?.status == .invalidInput }
  }
}

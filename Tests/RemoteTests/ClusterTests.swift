import Foundation
import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaRemote
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
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

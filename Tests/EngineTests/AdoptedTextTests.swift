import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Tables of an adopted database in another style")
struct AdoptedTextTests {
  private static let parents = "CREATE TABLE p (id TEXT PRIMARY KEY);"

  /// The same table: with constraints of columns, with constraints of the table, and with names.
  private static let texts = [
    """
    CREATE TABLE t (id INTEGER PRIMARY KEY,
      a TEXT NOT NULL DEFAULT 'x' CHECK (a <> 'q') REFERENCES p (id), b TEXT UNIQUE, c TEXT)
    """,
    """
    create table "t" ([id] integer, `a` text default 'x' not null, "b" text, c text, primary key (id),
      check (a <> 'q'), foreign key (a) references p (id), unique (b))
    """,
    """
    CREATE TABLE t (id INTEGER /* key */ PRIMARY KEY, -- the key
      a TEXT CHECK (a <> 'q') NOT NULL REFERENCES p (id) DEFAULT ('x'), b TEXT, c TEXT, UNIQUE (b))
    """,
  ]

  private static let operations = [
    "alter_column: { table: t, column: a, check: null }",
    "alter_column: { table: t, column: a, check: a <> 'z' }",
    "alter_column: { table: t, column: a, references: null }",
    "alter_column: { table: t, column: a, not_null: false, default: null }",
    "alter_column: { table: t, column: b, type: INTEGER }",
    "add_column: { table: t, column: { name: d, type: TEXT, default: \"a,b)\" } }",
    "drop_column: { table: t, column: a }", "drop_column: { table: t, column: b }",
    "move_column: { table: t, from: b, to: { name: n, type: INTEGER, unique: true }, "
      + "map: { '1': 10, '2': 20 } }",
    "rename_column: { table: t, from: a, to: z }", "rename_table: { table: p, to: parents }",
    "sql: ALTER TABLE t DROP COLUMN c",
  ]

  /// A database with this table and some rows, at the first migration of a history with another text.
  private func sandbox(_ operation: String, _ text: String, isAdopted: Bool) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_tables", Self.parents + text)
    if isAdopted { try sandbox.run(Self.parents + Self.texts[0]) } else { try sandbox.migrate() }
    try sandbox.run(
      """
      INSERT INTO p VALUES ('x'), ('y');
      INSERT INTO t (id, a, b, c) VALUES (1, 'x', '1', 'C'), (5, 'y', '2', NULL);
      """)
    if isAdopted {
      _ = try sandbox.project().adopt(sandbox.database, at: nil, timeout: 1)
    }
    try sandbox.add("0002_change", "operations:\n- \(operation)\n")
    return sandbox
  }

  private func content(_ sandbox: Sandbox) throws -> [[Value]] {
    try sandbox.rows(
      "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'schemactl%' ORDER BY 1")
      + sandbox.rows("SELECT * FROM t") + sandbox.rows("PRAGMA integrity_check")
  }

  @Test(
    "each operation has the same result as on a new database, also by the script of the plan",
    arguments: oneIn(2, of: operations), texts)
  func sameResult(operation: String, text: String) throws {
    let new = try sandbox(operation, text, isAdopted: false)
    let expected = new.failure()?.status
    let scripted = try sandbox(operation, text, isAdopted: true)
    let adopted = try sandbox(operation, text, isAdopted: true)
    let failure = adopted.failure()
    #expect(failure?.status == expected, "\(failure?.message ?? "")")
    guard expected == nil else { return }
    #expect(try content(adopted) == content(new))
    #expect(try content(new).contains(["ok"]))
    let plan = try scripted.project().plan(scripted.options(), database: scripted.database)
    #expect(plan.failure == nil)
    let ended = try run("/usr/bin/env", ["sqlite3", scripted.database], input: plan.script)
    #expect(ended.code == 0, "\(ended.errors)")
    #expect(try content(scripted) == content(new))
  }
}

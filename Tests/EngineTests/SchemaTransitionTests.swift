import SchemaApply
import SchemaAuthoring
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import SchemaYAML
import Testing

/// Returns the schema after some SQL.
private func schema(_ sql: String) throws -> Schema {
  let connection = try Connection(path: nil)
  try connection.execute(sql)
  return try Schema(of: connection)
}

/// Returns the schema after some operations.
private func result(of operations: [WrittenOperation], on base: Schema = Schema()) throws -> Schema
{
  let text = Array(manifestText(operations).utf8)
  let manifest = try decodeManifest(text, file: "written")
  let scratch = try ScratchDatabase(Application(), from: base)
  _ = try scratch.apply(
    Migration(id: "0001_written", file: "written", bytes: text, manifest: manifest))
  return scratch.schema
}

@Suite("Schemas as operations")
struct SchemaOperationsTests {
  @Test("the operations recreate any schema", arguments: seeds(15, of: 60))
  func generated(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let wanted = try schema(GeneratedSchema(using: &generator).plain)
    let made = try result(of: wanted.operations)
    #expect(compareSchemas(expected: wanted, actual: made) == [], "seed \(seed)")
  }

  @Test(
    "parts that no key of an operation supports are recreated, too",
    arguments: [
      "CREATE TABLE t (a INTEGER PRIMARY KEY DESC, b CONSTRAINT c NOT NULL, CONSTRAINT d UNIQUE (a, b))",
      "CREATE TABLE t (a UNIQUE ON CONFLICT IGNORE, b INT NULL, c DEFAULT CURRENT_TIMESTAMP)",
      "CREATE TABLE t (\"a\"\"b\" [x y], 'c' DEFAULT 'it''s', d DEFAULT -5, e DEFAULT +5.0e3)",
      "CREATE TABLE t (a, b, PRIMARY KEY (b DESC, a COLLATE NOCASE) ON CONFLICT REPLACE)",
      "CREATE VIEW v (x, y) AS\n  SELECT 1, 'two' -- the end",
      "CREATE TABLE t (a);\nCREATE TRIGGER g AFTER INSERT ON t\nBEGIN\n\n  SELECT 1;\tSELECT 2;\nEND",
      "CREATE VIRTUAL TABLE f USING fts5(a, b UNINDEXED, tokenize = 'porter ascii', prefix='2 3')",
      "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, +note)",
      "CREATE TABLE [y: no] (\"# null\" TEXT DEFAULT 'true', \"- a\" INT DEFAULT '07')",
      "CREATE TABLE t (a); CREATE INDEX i ON t (\"nosuch\", a)",
      "CREATE TABLE t (a DEFAULT word, b DEFAULT \"two words\", c DEFAULT true, d DEFAULT current_time)",
      "CREATE TABLE t (a INT REFERENCES p MATCH FULL ON DELETE SET NULL NOT DEFERRABLE)",
    ])
  func odd(sql: String) throws {
    let wanted = try schema(sql)
    let made = try result(of: wanted.operations)
    #expect(compareSchemas(expected: wanted, actual: made) == [])
    #expect(compareSchemas(expected: made, actual: wanted) == [])
  }

  @Test("the operations look hand-written")
  func text() throws {
    let wanted = try schema(
      """
      CREATE TABLE lists (id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), title TEXT);
      CREATE TABLE items (
        id INTEGER PRIMARY KEY AUTOINCREMENT, list TEXT NOT NULL REFERENCES lists (id) ON DELETE CASCADE,
        rank REAL DEFAULT 0 CHECK (rank >= 0), UNIQUE (list, rank)) STRICT;
      CREATE INDEX items_by_list ON items (list, rank DESC) WHERE rank > 0;
      CREATE VIEW first AS
        SELECT min(rank) FROM items;
      """)
    #expect(
      manifestText(description: "All of it", wanted.operations) == """
        description: All of it
        operations:
          - create_table:
              name: lists
              columns:
                - { name: id, type: TEXT, primary_key: true, not_null: { on_conflict: replace }, default: { sql: "uuid()" } }
                - { name: title, type: TEXT }
          - create_table:
              name: items
              columns:
                - { name: id, type: INTEGER, primary_key: true, autoincrement: true }
                - { name: list, type: TEXT, not_null: true, references: { table: lists, column: id, on_delete: cascade } }
                - { name: rank, type: REAL, default: 0, check: "rank >= 0" }
              unique:
                - [list, rank]
              strict: true
          - create_index:
              name: items_by_list
              table: items
              columns: [list, { column: rank, order: desc }]
              where: "rank > 0"
          - create_view:
              name: first
              sql: |-
                CREATE VIEW first AS
                  SELECT min(rank) FROM items

        """)
  }
}

@Suite("From one schema to another")
struct SchemaTransitionTests {
  @Test(
    "operations lead from any schema to any other",
    arguments: seeds(8, of: 60))
  func generated(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let old = try schema(GeneratedSchema(using: &generator).plain)
    let new = try schema(GeneratedSchema(using: &generator).plain)
    let operations = try SchemaTransition.operations(from: old, to: new, Application())
    #expect(
      compareSchemas(expected: new, actual: try result(of: operations, on: old)) == [],
      "seed \(seed)")
    #expect(try SchemaTransition.operations(from: new, to: new, Application()).isEmpty)
  }

  @Test("a CHECK is added to a table without rowid whose key is not its first column")
  func checkWithoutRowid() throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_t", "operations:\n  - sql: CREATE TABLE t (a, k PRIMARY KEY) WITHOUT ROWID\n")
    #expect(try sandbox.migrate().failure == nil)
    try sandbox.open().execute("INSERT INTO t (k) VALUES ('x')")
    let operations = try SchemaTransition.operations(
      from: sandbox.schema().ours { $0.hasPrefix("schemactl_") },
      to: schema("CREATE TABLE t (a, k PRIMARY KEY, b CHECK (b > 0)) WITHOUT ROWID"),
      Application())
    try sandbox.add("0002_b", manifestText(operations))
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT a, k, b FROM t") == [[.null, .text("x"), .null]])
  }

  @Test(
    "each change uses the simplest operation",
    arguments: [
      ("", "CREATE TABLE t (a INTEGER PRIMARY KEY)", ["create_table"]),
      ("CREATE TABLE t (a)", "", ["drop_table"]),
      (
        "CREATE TABLE t (a)", "CREATE TABLE t (a, b TEXT DEFAULT 'x', c)",
        ["add_column", "add_column"]
      ),
      ("CREATE TABLE t (a, b, c)", "CREATE TABLE t (a, c)", ["drop_column"]),
      ("CREATE TABLE t (a, b TEXT)", "CREATE TABLE t (a, b TEXT NOT NULL)", ["alter_column"]),
      ("CREATE TABLE t (a, b)", "CREATE TABLE t (b, a)", ["rebuild_table"]),
      ("CREATE TABLE t (a)", "CREATE TABLE t (a, CONSTRAINT c UNIQUE (a))", ["rebuild_table"]),
      (
        "CREATE TABLE t (a); CREATE VIEW v AS SELECT a FROM t",
        "CREATE TABLE t (a, b); CREATE VIEW v AS SELECT a, b FROM t",
        ["drop_view", "add_column", "create_view"]
      ),
      (
        "CREATE TABLE t (a, b); CREATE INDEX i ON t (b)", "CREATE TABLE t (a)",
        ["drop_index", "drop_column"]
      ),
      (
        "CREATE TABLE t (a); CREATE INDEX i ON t (a)",
        "CREATE TABLE t (a); CREATE UNIQUE INDEX i ON t (a)", ["drop_index", "create_index"]
      ),
    ])
  func plainest(old: String, new: String, names: [String]) throws {
    let operations = try SchemaTransition.operations(
      from: schema(old), to: schema(new), Application())
    let found = operations.map { $0.lines[0].dropFirst(2).prefix { $0 != ":" } }.map(String.init)
    #expect(found == names)
  }

  @Test("with a stated rename no column is dropped")
  func renaming() throws {
    let old = try schema("CREATE TABLE t (a, b TEXT); CREATE VIEW v AS SELECT a FROM t")
    let new = try schema("CREATE TABLE u (z, b TEXT); CREATE VIEW v AS SELECT z FROM u")
    let renaming = ["t.a=z", "t=u"].compactMap { SchemaRenaming($0) }
    let operations = try SchemaTransition.operations(
      from: old, to: new, renaming: renaming, Application())
    #expect(
      operations.flatMap(\.lines) == [
        "- drop_view: { name: v }", "- rename_column: { table: t, from: a, to: z }",
        "- rename_table: { table: t, to: u }", "- create_view:", "    name: v",
        "    sql: |-", "      CREATE VIEW v AS SELECT z FROM u",
      ])
    #expect(throws: Failure.self) {
      try SchemaTransition.operations(
        from: old, to: new, renaming: [SchemaRenaming("x=y")].compactMap { $0 }, Application())
    }
    for text in ["", "a", "a=", "=a", "a.b.c=d", ".a=b", "a=b=c"] {
      #expect(SchemaRenaming(text) == nil, "\(text)")
    }
  }
}

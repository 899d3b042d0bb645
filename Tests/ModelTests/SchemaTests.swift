import SchemaModel
import SchemaSQLText
import SchemaSQLite
import Testing

private let all = """
  CREATE TABLE "Notes"(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE);
  CREATE INDEX byA ON Notes(a);
  CREATE VIEW v AS SELECT 1;
  CREATE TRIGGER x AFTER DELETE ON notes BEGIN SELECT 1; END;
  CREATE VIRTUAL TABLE f USING fts5(b);
  """

@Test("a schema contains every row of sqlite_schema in order")
func reading() throws {
  let connection = try Connection(path: nil)
  try connection.execute(all + "; ANALYZE; CREATE TEMP TABLE other(a)")
  let schema = try Schema(of: connection)
  let rows = try connection.rows("SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema")
  #expect(
    schema.objects.map {
      [
        .text($0.kind.rawValue), .text($0.name), .text($0.table), $0.sql.map { .text($0) } ?? .null,
        .integer($0.rootPage),
      ]
    } == rows)
  #expect(schema.object(.index, "BYA")?.table == "Notes")
  #expect(schema.table("NOTES")?.name == "Notes")
  #expect(schema.table("byA") == nil)
  #expect(schema.objects(.trigger, on: "nOTES").map(\.name) == ["x"])
  #expect(schema.table("other") == nil)
}

@Test("objects of SQLite and of other tools are excluded")
func ours() throws {
  let schema = try schema(
    all + "; CREATE TABLE foreign_a(b UNIQUE); CREATE INDEX mine ON foreign_a(b)")
  #expect(
    schema.ours { $0.hasPrefix("f") }.objects.map(\.name) == ["Notes", "byA", "v", "x"])
  for name in ["sqlite_sequence", "SQLite_Stat1", "sqlite_autoindex_t_1"] {
    #expect(SchemaObject(kind: .table, name: name, table: name, sql: nil).isInternal)
  }
  for name in ["sqliteX", "sqlite", "_sqlite_", "\u{17F}qlite_x"] {
    #expect(!SchemaObject(kind: .table, name: name, table: name, sql: nil).isInternal)
  }
}

@Test("two Unicode forms of one character are two names")
func unicodeNames() throws {
  let (composed, decomposed) = ("\u{E9}", "e\u{301}")
  let schema = try schema("CREATE TABLE \(composed)(a); CREATE TABLE \(decomposed)(b)")
  #expect(schema.table(composed)?.sql == "CREATE TABLE \(composed)(a)")
  #expect(
    schema.table(decomposed)?.sql?.utf8.elementsEqual("CREATE TABLE \(decomposed)(b)".utf8) == true)
  #expect(SchemaDelta(from: Schema(), to: schema).after.count == 2)
  let one = Schema(objects: [schema.objects[0]])
  #expect(compareSchemas(expected: schema, actual: one).map(\.change) == [.missing])
  #expect(SchemaDelta(from: schema, to: one).before.count == 1)
  #expect(schema.fingerprint() != one.fingerprint())
}

@Test("texts with different Unicode forms in a string differ")
func unicodeStrings() throws {
  let old = try schema("CREATE TABLE t(a DEFAULT '\u{E9}')")
  let new = try schema("CREATE TABLE t(a DEFAULT 'e\u{301}')")
  #expect(!SchemaDelta(from: old, to: new).isEmpty)
  #expect(compareSchemas(expected: old, actual: new).map(\.object) == ["t.a"])
}

// MARK: Foreign keys

@Test("a graph determines the tables in which a change can violate a foreign key")
func foreignKeyGraph() throws {
  let old = try schema(
    """
    CREATE TABLE Parent(id INTEGER PRIMARY KEY, up REFERENCES parent);
    CREATE TABLE inlined(p REFERENCES "PARENT" ON DELETE CASCADE, q REFERENCES other);
    CREATE TABLE grouped(p, q, FOREIGN KEY (p, q) REFERENCES [parent](id, up));
    CREATE TABLE alone(a DEFAULT 'references', "references" CHECK ("references" > 0));
    CREATE TABLE Other(id INTEGER PRIMARY KEY);
    """)
  var graph = ForeignKeyGraph(old)
  #expect(graph.affected(by: ["PARENT"]) == ["grouped", "inlined", "Parent"])
  #expect(graph.affected(by: ["other"]) == ["inlined"])
  #expect(graph.affected(by: ["Grouped"]) == ["grouped"])
  #expect(graph.affected(by: ["alone", "nosuch"]) == [])
  #expect(graph.affected(by: []) == [])

  let connection = try Connection(path: nil)
  for object in old.objects { try connection.execute(object.sql ?? "") }
  try connection.execute(
    """
    DROP TABLE inlined; ALTER TABLE grouped RENAME TO renamed;
    CREATE TABLE new(a REFERENCES alone); ALTER TABLE alone ADD COLUMN o REFERENCES other;
    """)
  graph.apply(SchemaDelta(from: old, to: try Schema(of: connection)))
  #expect(graph.affected(by: ["parent"]) == ["Parent", "renamed"])
  #expect(graph.affected(by: ["alone"]) == ["alone", "new"])
  #expect(graph.affected(by: ["other"]) == ["alone"])
}

@Test("applying deltas one by one or all at once gives the same schema")
func deltas() throws {
  let connection = try Connection(path: nil)
  var schema = Schema()
  var oneByOne = Schema()
  var deltas: [SchemaDelta] = []
  for sql in [
    "CREATE TABLE a (x); CREATE TABLE b (x); CREATE INDEX i ON a (x); CREATE VIEW v AS SELECT 1",
    "ALTER TABLE a ADD COLUMN y", "INSERT INTO a VALUES (1, 2)", "DROP INDEX i",
    "CREATE TABLE c (x); DROP TABLE b", "DROP VIEW v; CREATE VIEW v AS SELECT 2",
    "ALTER TABLE a RENAME TO b", "DROP TABLE c; CREATE TABLE c (z)", "ALTER TABLE c ADD COLUMN x",
  ] {
    try connection.execute(sql)
    let next = try Schema(of: connection, knowing: schema)
    deltas.append(SchemaDelta(from: schema, to: next))
    schema = next
    oneByOne = deltas[deltas.count - 1].applied(to: oneByOne)
    let atOnce = Schema(applying: deltas)
    #expect(atOnce.objects.map(\.sql) == oneByOne.objects.map(\.sql), "\(sql)")
    #expect(Set(atOnce.objects.map(\.sql)) == Set(schema.objects.map(\.sql)), "\(sql)")
  }
  #expect(deltas[1].keys.map(\.name) == ["a"])
  #expect(deltas[2].isEmpty)
}

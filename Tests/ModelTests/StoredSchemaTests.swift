import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// A random statement over few names, so that many statements affect the same objects.
private func statement(_ generator: inout SeededGenerator) -> String {
  func name() -> String {
    ["a", "B", "\"c d\"", "add", "e"].randomElement(using: &generator) ?? "a"
  }
  func qualified() -> String {
    (["", "main.", "temp.", "main . "].randomElement(using: &generator) ?? "") + name()
  }
  let column = "x\(Int.random(in: 1...4, using: &generator))"
  let choices = [
    "CREATE TABLE \(qualified()) (x1 INTEGER PRIMARY KEY AUTOINCREMENT, x2 UNIQUE)",
    "CREATE TABLE IF NOT EXISTS \(qualified()) (x1 PRIMARY KEY, x3 UNIQUE) WITHOUT ROWID",
    "CREATE TABLE \(name()) AS SELECT 1 AS x1, 2 AS x2",
    "CREATE TEMP TABLE \(name()) (x1, x2)",
    "CREATE INDEX \(name())_i ON \(name()) (x1)".replacing("\"_", with: "_")
      .replacing("INDEX \"", with: "INDEX "),
    "CREATE VIEW \(column)_v AS SELECT x1 FROM \(name())",
    "CREATE TRIGGER \(column)_t AFTER INSERT ON \(name()) BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE \(name()) USING fts5 (x1)",
    "/* one */ ALTER -- two\n TABLE \(qualified()) ADD \(column) TEXT DEFAULT 'a'",
    "ALTER TABLE \(qualified()) ADD COLUMN \(column)",
    "alter table \(qualified()) add \(column)",
    "ALTER TABLE \(qualified()) RENAME TO \(name())",
    "ALTER TABLE \(name()) RENAME COLUMN \(column) TO \(column)n",
    "ALTER TABLE \(name()) DROP COLUMN \(column)",
    "DROP TABLE \(qualified())", "DROP VIEW \(column)_v", "DROP TRIGGER \(column)_t",
    "DROP INDEX e_i", "DROP INDEX IF EXISTS main.a_i", "drop view if exists \(column)_v", "ANALYZE",
    "REINDEX", "INSERT INTO \(name()) (x1) VALUES (1)",
    "; CREATE TABLE \(name()) (x1)",
  ]
  return choices.randomElement(using: &generator) ?? ""
}

@Test(
  "reading only the affected objects gives the whole schema", arguments: seeds(15, of: 40))
func following(seed: UInt64) throws {
  var generator = SeededGenerator(seed: seed)
  let connection = try Connection(path: nil)
  // A dropped object then changes the root page of another one.
  try connection.execute("PRAGMA auto_vacuum = \(seed % 2)")
  var stored = try StoredSchema(of: connection)
  var reach = SchemaInvalidation()
  var changes = 0
  for _ in 0..<150 {
    try connection.execute("SAVEPOINT s")
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let sql = statement(&generator)
      reach.note(TokenizedSQL(sql))
      try? connection.execute(sql)
    }
    if Int.random(in: 0..<5, using: &generator) == 0 { try connection.execute("ROLLBACK TO s") }
    try connection.execute("RELEASE s")
    if Int.random(in: 0..<5, using: &generator) == 0 {
      connection.set(.defensive, to: false)
      connection.set(.writableSchema, to: true)
      reach.spread()
      let version = try connection.value("PRAGMA schema_version")?.integer ?? 0
      try connection.execute(
        """
        UPDATE sqlite_schema SET sql = sql || ' ' WHERE type = 'table' AND sql LIKE 'CREATE TABLE%';
        PRAGMA schema_version = \(version + 1)
        """)
      connection.set(.writableSchema, to: false)
      connection.set(.defensive, to: true)
    }
    if try stored.refresh(on: connection, after: reach) { changes += 1 }
    reach = SchemaInvalidation()
    #expect(stored.schema == (try Schema(of: connection)), "seed \(seed)")
  }
  #expect(changes > 20)
}

@Test("a change that was not reported is noticed")
func unnoted() throws {
  let connection = try Connection(path: nil)
  try connection.execute("CREATE TABLE a (x); CREATE TABLE b (y)")
  var stored = try StoredSchema(of: connection)
  var reach = SchemaInvalidation()
  let noted = "CREATE TABLE c (z)"
  reach.note(TokenizedSQL(noted))
  try connection.execute("DROP TABLE a; \(noted)")
  #expect(try stored.refresh(on: connection, after: reach))
  #expect(stored.schema.objects.map(\.name) == ["b", "c"])
}

@Test("a new row before the last one is noticed")
func beforeTheLast() throws {
  let connection = try Connection(path: nil)
  try connection.execute("CREATE TABLE a (x)")
  connection.set(.defensive, to: false)
  connection.set(.writableSchema, to: true)
  try connection.execute("UPDATE sqlite_schema SET rowid = \(Int64.max)")
  connection.set(.writableSchema, to: false)
  connection.set(.defensive, to: true)
  var stored = try StoredSchema(of: connection)
  var reach = SchemaInvalidation()
  let noted = "CREATE TABLE b (y)"
  reach.note(TokenizedSQL(noted))
  try connection.execute(noted)
  #expect(try stored.refresh(on: connection, after: reach))
  #expect(stored.schema.objects.map(\.name) == ["b", "a"])
}

@Test(
  "a statement without a name may change any row",
  arguments: ["DROP", "DROP INDEX", "ALTER TABLE", ";"])
func unfinished(sql: String) throws {
  let connection = try Connection(path: nil)
  try connection.execute("CREATE TABLE a (x); CREATE INDEX i ON a (x)")
  var stored = try StoredSchema(of: connection)
  var reach = SchemaInvalidation()
  reach.note(TokenizedSQL(sql))
  try connection.execute("DROP INDEX i")
  #expect(try stored.refresh(on: connection, after: reach))
  #expect(stored.schema.objects.map(\.name) == ["a"])
}

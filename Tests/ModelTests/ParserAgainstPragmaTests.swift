import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("The parser compared with SQLite's PRAGMAs")
struct ParserAgainstPragmaTests {
  @Test("they agree on generated schemas", arguments: oneIn(20, of: 0..<60 as Range<UInt64>))
  func generated(seed: UInt64) throws {
    let connection = try Connection(path: nil)
    let old = VariedSchema(seed: seed)
    for version in [old, VariedSchema(after: old)] {
      let connection = try Connection(path: nil)
      for statement in version.whole { try connection.execute(statement) }
      let found = try parserDisagreements(with: connection)
      #expect(found.isEmpty, "seed \(seed): \(found)")
    }
    var generator = SeededGenerator(seed: seed)
    let generated = GeneratedSchema(using: &generator)
    try connection.execute(generated.respelled(using: &generator))
    let found = try parserDisagreements(with: connection)
    #expect(found.isEmpty, "seed \(seed): \(found)")
  }

  @Test(
    "they agree on unusual definitions",
    arguments: [
      "CREATE TABLE t (a INT PRIMARY KEY, b INTEGER)",
      "CREATE TABLE t (a INTEGER PRIMARY KEY DESC)",
      "CREATE TABLE t (a INTEGER, PRIMARY KEY (a DESC))",
      "CREATE TABLE t (a \"INTEGER\" PRIMARY KEY, b [INT], c 'x y')",
      "CREATE TABLE t (a, b, c, PRIMARY KEY (c, a COLLATE NOCASE DESC, c)) WITHOUT ROWID",
      "CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)",
      "CREATE TABLE t (a INTEGER, PRIMARY KEY (a AUTOINCREMENT))",
      "CREATE TABLE t (a TEXT COLLATE NOCASE COLLATE RTRIM NOT NULL NULL, b DEFAULT 1 DEFAULT 'two')",
      "CREATE TABLE t (a REFERENCES t, b REFERENCES p (x) ON DELETE CASCADE, FOREIGN KEY (a, b) REFERENCES q)",
      "CREATE TABLE t (a REFERENCES t ON UPDATE SET DEFAULT ON DELETE RESTRICT REFERENCES t (b), b)",
      "CREATE TABLE t (a, b AS (a) , c INT GENERATED ALWAYS AS (a + 1) STORED, d AS (1) VIRTUAL)",
      "CREATE TABLE t (a DEFAULT (1 + (2)), b DEFAULT -1.5e3, c DEFAULT CURRENT_TIME, d DEFAULT abc, e DEFAULT 'it''s')",
      "CREATE TABLE t (a DECIMAL(10, -2), b double precision, c VARCHAR ( 255 ) NOT NULL ON CONFLICT FAIL)",
      "CREATE TABLE t (a, b); CREATE UNIQUE INDEX i ON t (b DESC, a COLLATE nocase, a + b) WHERE a > 1",
      "CREATE TABLE t (a); CREATE INDEX i ON t ('a', \"a\", [a], (a))",
      "CREATE VIEW v (\"x y\", z) AS SELECT 1, 2; CREATE TRIGGER g INSTEAD OF DELETE ON v BEGIN SELECT 1; END",
      "CREATE VIRTUAL TABLE f USING fts5(a, content='')",
      "CREATE TABLE t (a INT NOT NULL, b ANY, c TEXT) STRICT; ALTER TABLE t ADD COLUMN d INT REFERENCES t /* x */",
      "CREATE TABLE \"a;b\" (\"c\"\"d\" INT, [e f] INT)",
      "CREATE TABLE t AS SELECT 1 AS a, 'x' AS \"b c\"",
    ])
  func odd(sql: String) throws {
    let connection = try Connection(path: nil)
    try connection.execute(sql)
    let found = try parserDisagreements(with: connection)
    #expect(found.isEmpty, "\(found)")
  }

  @Test("the comparison finds wrong facts")
  func harness() throws {
    let connection = try Connection(path: nil)
    try connection.execute("CREATE TABLE t (a INT, b INTEGER PRIMARY KEY)")
    connection.set(.defensive, to: false)
    // The stored text differs from the schema that SQLite has in memory.
    try connection.execute(
      "PRAGMA writable_schema = ON; "
        + "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a TEXT COLLATE NOCASE, b INT PRIMARY KEY)'"
    )
    let found = try parserDisagreements(with: connection)
    #expect(found.contains { $0.contains("types") })
    #expect(found.contains { $0.contains("rowid alias") })
    #expect(found.contains { $0.contains("collations") })
  }
}

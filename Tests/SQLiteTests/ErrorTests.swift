import SchemaCSQLite
import SchemaSQLite
import Testing

private let schema = """
  CREATE TABLE tags(id INTEGER PRIMARY KEY);
  CREATE TABLE t(
    id INTEGER PRIMARY KEY, k TEXT UNIQUE, n TEXT NOT NULL DEFAULT '', p INT CHECK (p < 10),
    tag INT REFERENCES tags);
  CREATE TRIGGER five BEFORE INSERT ON t WHEN new.p = 5
  BEGIN SELECT RAISE(ABORT, 'Reminders can have a maximum of 5 tags.'); END;
  INSERT INTO t(id, k) VALUES(1, 'a');
  """

@Test(
  "a constraint violation has its extended code and SQLite's message",
  arguments: [
    ("p) VALUES(5", SQLITE_CONSTRAINT | 7 << 8, "Reminders can have a maximum of 5 tags."),
    ("p) VALUES(10", SQLITE_CONSTRAINT | 1 << 8, "CHECK constraint failed: p < 10"),
    ("n) VALUES(NULL", SQLITE_CONSTRAINT | 5 << 8, "NOT NULL constraint failed: t.n"),
    ("tag) VALUES(7", SQLITE_CONSTRAINT | 3 << 8, "FOREIGN KEY constraint failed"),
    ("k) VALUES('a'", SQLITE_CONSTRAINT | 8 << 8, "UNIQUE constraint failed: t.k"),
    ("id) VALUES(1", SQLITE_CONSTRAINT | 6 << 8, "UNIQUE constraint failed: t.id"),
  ])
func constraints(columns: String, code: Int32, message: String) throws {
  let folder = try TemporaryFolder()
  for place in Place.allCases {
    let connection = try place.open(in: folder)
    try connection.execute(schema)
    connection.set(.foreignKeys, to: true)
    let sql = "INSERT INTO t(\(columns))"
    let statement = try connection.prepare(sql)
    // The second time, the statement starts again after its error.
    for _ in 1...2 {
      let error = try databaseError { try statement.run() }
      #expect(error.code == .constraint)
      #expect(error.extendedCode == code)
      #expect(error.message == message)
      #expect(error.sql == sql)
      #expect(error.offset == nil)
      #expect(error.description == "\(message) (SQLite \(code))")
      statement.reset()
    }
    try connection.execute("DROP TABLE t; DROP TABLE tags")
  }
}

@Test(
  "a compilation error has a byte offset",
  arguments: [
    ("SELECT nosuch FROM sqlite_schema", "no such column: nosuch", 7),
    ("SELECT 'ü', nosuch", "no such column: nosuch", 13),
    ("SELEC 1", "near \"SELEC\": syntax error", 0),
    ("SELECT 1 FROM", "incomplete input", nil),
    ("SELECT * FROM nosuch", "no such table: nosuch", nil),
    ("SELECT 'open", "unrecognized token: \"'open\"", 7),
    ("SELECT nosuch(1)", "no such function: nosuch", 7),
  ] as [(String, String, Int?)])
func offsets(sql: String, message: String, offset: Int?) throws {
  let connection = try Connection(path: nil)
  let error = try databaseError { try connection.execute(sql) }
  #expect(error.code == .error)
  #expect(error.message == message)
  #expect(error.offset == offset)
  #expect(sql.hasPrefix(try #require(error.sql)))
}

@Test("an error of running does not keep the offset of an earlier compilation error")
func staleOffset() throws {
  let connection = try Connection(path: nil)
  try connection.execute("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES(1)")
  let insert = try connection.prepare("INSERT INTO t VALUES(1)")
  _ = try databaseError { try connection.execute("SELECT nosuch") }
  let error = try databaseError { try insert.run() }
  #expect(error.offset == nil)
  #expect(error.message == "UNIQUE constraint failed: t.a")
}

@Test("RAISE(ROLLBACK) ends the transaction, and the connection reports it")
func endedTransaction() throws {
  let connection = try Connection(path: nil)
  try connection.execute(
    """
    CREATE TABLE t(a);
    CREATE TRIGGER x BEFORE DELETE ON t BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
    INSERT INTO t VALUES(1);
    BEGIN; SAVEPOINT s;
    """)
  #expect(connection.isInTransaction)
  let error = try databaseError { try connection.execute("DELETE FROM t") }
  #expect(error.message == "no")
  #expect(!connection.isInTransaction)
}

@Test("texts without a statement and with two statements are refused")
func oneStatement() throws {
  let connection = try Connection(path: nil)
  for empty in ["", " ", ";", "-- nothing", "/* nothing */;;"] {
    #expect(try databaseError { _ = try connection.prepare(empty) }.message == "no statement")
  }
  for two in ["SELECT 1; SELECT 2", "SELECT 1; nonsense", "SELECT 1;;DROP TABLE nosuch"] {
    let error = try databaseError { _ = try connection.value(two) }
    #expect(error.message == "more than one statement")
    #expect(error.offset == 9)
  }
  #expect(try connection.value("/* a */ SELECT 1; -- b\n;") == 1)
}

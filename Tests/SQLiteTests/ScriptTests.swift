import SchemaCSQLite
import SchemaSQLite
import Testing

/// The trimmed statements of a text, each run before the next is compiled.
private func split(_ text: String) throws -> [String] {
  let connection = try Connection(path: nil)
  var script = Script(text)
  var statements: [String] = []
  let bytes = Array(text.utf8)
  var end = 0
  while let statement = try script.next(on: connection) {
    #expect(script.range.upperBound == script.offset)
    #expect(script.range.lowerBound >= end)
    end = script.range.upperBound
    #expect(String(decoding: bytes[script.range], as: UTF8.self) == statement.sql)
    statements.append(statement.sql)
    try statement.run()
  }
  #expect(script.offset == bytes.count)
  return statements
}

@Test(
  "SQLite splits a text into statements",
  arguments: [
    ("", []),
    (" \n\t", []),
    ("-- only a comment", []),
    ("/* one */ ; ; -- two", []),
    ("/* never closed", []),
    ("\u{FEFF}SELECT 1", ["\u{FEFF}SELECT 1"]),
    ("SELECT 1", ["SELECT 1"]),
    ("SELECT 1;", ["SELECT 1;"]),
    ("SELECT ';', \";\", [;], `;` FROM (SELECT 1 AS \";\")", nil),
    ("SELECT 1; -- a\nSELECT 2; /* b */", ["SELECT 1;", " -- a\nSELECT 2;"]),
    (
      "CREATE TABLE t(a);INSERT INTO t VALUES(1)",
      ["CREATE TABLE t(a);", "INSERT INTO t VALUES(1)"]
    ),
    (
      """
      CREATE TABLE t(a);
      CREATE TRIGGER x AFTER INSERT ON t WHEN CASE new.a WHEN 1 THEN 1 END BEGIN
        UPDATE t SET a = CASE WHEN a = ';' THEN 1 ELSE 2 END; -- ; END;
        DELETE FROM t WHERE a = 3;
      END; SELECT 1
      """,
      [
        "CREATE TABLE t(a);",
        """

        CREATE TRIGGER x AFTER INSERT ON t WHEN CASE new.a WHEN 1 THEN 1 END BEGIN
          UPDATE t SET a = CASE WHEN a = ';' THEN 1 ELSE 2 END; -- ; END;
          DELETE FROM t WHERE a = 3;
        END;
        """, " SELECT 1",
      ]
    ),
  ] as [(String, [String]?)])
func splitting(text: String, statements: [String]?) throws {
  #expect(try split(text) == statements ?? [text])
}

@Test("an error in the third statement keeps the first two, and has its position")
func errorInThird() throws {
  let connection = try Connection(path: nil)
  let text = "CREATE TABLE ü(a); INSERT INTO ü VALUES(1);\n SELECT a, nosuch FROM ü; SELECT 9"
  var script = Script(text)
  try #require(try script.next(on: connection)).run()
  try #require(try script.next(on: connection)).run()
  let begin = script.offset
  for _ in 1...2 {
    let error = try databaseError { _ = try script.next(on: connection) }
    #expect(error.message == "no such column: nosuch")
    #expect(script.offset == begin, "the script stays where it is")
    #expect(script.range.lowerBound == begin)
    let bytes = Array(text.utf8)
    #expect(error.sql == String(decoding: bytes[script.range], as: UTF8.self))
    let place = begin + (try #require(error.offset))
    #expect(String(decoding: bytes[place...].prefix(6), as: UTF8.self) == "nosuch")
  }
  #expect(try connection.rows("SELECT * FROM ü") == [[1]])
}

@Test("a statement is compiled after the previous ones have run")
func dependentStatements() throws {
  let connection = try Connection(path: nil)
  try connection.execute(
    "CREATE TABLE t(a); ALTER TABLE t ADD COLUMN b; INSERT INTO t(b) VALUES(1)")
  #expect(try connection.rows("SELECT * FROM t") == [[.null, 1]])
}

@Test(
  "a NUL is an error, because SQLite would ignore the rest",
  arguments: ["SELECT 1; \0 SELECT 2", "\0", "SELECT 1\0", " \0SELECT 1", "SELECT 1 --\0"])
func nul(text: String) throws {
  let connection = try Connection(path: nil)
  let error = try databaseError { try connection.execute(text) }
  #expect(error.message == "the SQL contains a NUL character")
  #expect(error.sql?.utf8.first == 0)
  #expect(error.offset == 0)
}

@Test("a NUL in a string is an error of SQLite")
func nulInString() throws {
  let connection = try Connection(path: nil)
  #expect(throws: DatabaseError.self) { try connection.execute("SELECT 'a\0b'") }
}

@Test("a long script is not copied for each statement")
func longScript() throws {
  let connection = try Connection(path: nil)
  let length = 32 << 20
  var script = Script("SELECT 1;" + String(repeating: " ", count: length) + "SELECT 2")
  try #require(try script.next(on: connection)).run()
  // No other test allocates as much memory in SQLite at once.
  var now: Int32 = 0
  var largest: Int32 = 0
  sqlite3_status(SQLITE_STATUS_MALLOC_SIZE, &now, &largest, 0)
  #expect(largest > 0)
  #expect(largest < length)
}

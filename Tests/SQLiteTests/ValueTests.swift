import SchemaSQLite
import Testing

private let values: [Value] = [
  .null, 0, 1, -1, .integer(.max), .integer(.min), .real(0), .real(-0.5), .real(.infinity),
  .real(-.infinity), .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), "", "a",
  "Grüße 👩‍👩‍👧", "a\0b", "\0", "'\"`[];--", .blob([]), .blob([0]), .blob(Array(0...255)),
  .text(String(repeating: "x", count: 100_000)), .blob([UInt8](repeating: 9, count: 100_000)),
]

@Test("every bound value is returned unchanged", arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
func roundTrip(encoding: String) throws {
  let connection = try Connection(path: nil)
  try connection.execute(
    "PRAGMA encoding = '\(encoding)'; CREATE TABLE t(i INTEGER PRIMARY KEY, v)")
  for value in values {
    try connection.execute("DELETE FROM t")
    try connection.execute("INSERT INTO t(v) VALUES(?1)", [value])
    #expect(
      try connection.rows("SELECT v, typeof(v) FROM t") == [[value, .text(value.storageClass)]])
    #expect(try connection.value("SELECT count(*) FROM t WHERE v IS ?1", [value]) == 1)
  }
}

@Test("two Unicode forms of one letter are two values")
func normalForms() {
  let (composed, decomposed): (Value, Value) = ("\u{E9}", "e\u{301}")
  #expect(composed != decomposed)
  #expect(Set([composed, decomposed]).count == 2)
}

@Test("a function receives and returns every value unchanged")
func throughFunctions() throws {
  let connection = try Connection(path: nil)
  try connection.register(
    FunctionDefinition(name: "same", arguments: 1, isDeterministic: true) { $0[0] })
  for value in values {
    #expect(
      try connection.rows("SELECT same(?1), typeof(same(?1))", [value])
        == [[value, .text(value.storageClass)]])
  }
}

@Test("not-a-number is NULL in SQLite")
func notANumber() throws {
  #expect(try Connection(path: nil).value("SELECT ?1", [.real(.nan)]) == .null)
}

@Test("invalid UTF-8 is read with replacement characters")
func invalidUTF8() throws {
  let connection = try Connection(path: nil)
  let statement = try connection.prepare("SELECT CAST(x'61FF62' AS TEXT), CAST(x'C3' AS TEXT)")
  #expect(try statement.step())
  #expect(try statement.row == ["a\u{FFFD}b", "\u{FFFD}"])
  #expect(try statement.text(0) == "a\u{FFFD}b")
}

@Test("columns can be read as text, integer and value, by name and beyond the last")
func columns() throws {
  let connection = try Connection(path: nil)
  let statement = try connection.prepare("SELECT 1 AS one, NULL AS \"no thing\", 'x', x'' AS b")
  #expect(statement.columnNames == ["one", "no thing", "'x'", "b"])
  #expect(statement.columnCount == 4)
  #expect(try statement.step())
  #expect(try statement.text(0) == "1")
  #expect(try statement.text(1) == nil)
  #expect(try statement.text(2) == "x")
  #expect(try statement.text(3) == "")
  #expect(statement.integer(0) == 1)
  #expect(statement.integer(1) == 0)
  #expect(try statement.value(4) == .null)
  #expect(try statement.value(-1) == .null)
  #expect(try !statement.step())
}

@Test("new values replace all old ones; too many are an error, missing ones are NULL")
func binding() throws {
  let connection = try Connection(path: nil)
  let statement = try connection.prepare("SELECT ?1, ?2")
  try statement.bind([1, 2])
  #expect(try statement.step())
  try statement.bind([3])
  #expect(try statement.step())
  #expect(try statement.row == [3, .null])
  let error = try databaseError { try statement.bind([1, 2, 3]) }
  #expect(error.message == "column index out of range")
}

@Test("a statement has its own text, and reports whether it writes")
func statementText() throws {
  let connection = try Connection(path: nil)
  var script = Script(" /* a */ SELECT 1 ; CREATE TABLE t(a) -- b")
  let select = try #require(try script.next(on: connection))
  #expect(select.sql == " /* a */ SELECT 1 ;")
  #expect(select.isReadOnly)
  let create = try #require(try script.next(on: connection))
  #expect(create.sql == " CREATE TABLE t(a) -- b")
  #expect(!create.isReadOnly)
}

@Test("a statement keeps its connection open")
func statementOutlivesVariable() throws {
  let folder = try TemporaryFolder()
  for place in Place.allCases {
    var connection: Connection? = try place.open(in: folder)
    weak let weakConnection = connection
    var statement = try connection?.prepare("SELECT 1 UNION ALL SELECT 2")
    #expect(try statement?.step() == true)
    connection = nil
    #expect(weakConnection != nil)
    #expect(try statement?.step() == true)
    #expect(statement?.integer(0) == 2)
    statement = nil
    #expect(weakConnection == nil)
  }
}

@Test("changes are counted")
func totalChanges() throws {
  let connection = try Connection(path: nil)
  try connection.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1), (2), (3)")
  #expect(connection.totalChanges == 3)
  try connection.execute("UPDATE t SET a = 0 WHERE a > 1")
  #expect(connection.totalChanges == 5)
}

import SchemaSQLite
import Testing

private func function(
  _ name: String, _ arguments: Int = -1, deterministic: Bool = true,
  _ body: @escaping @Sendable ([Value]) throws -> Value
) -> FunctionDefinition {
  FunctionDefinition(
    name: name, arguments: arguments, isDeterministic: deterministic, body: body)
}

@Test("an error of a function becomes SQLite's message")
func functionErrors() throws {
  let connection = try Connection(path: nil)
  try connection.register(function("fails", 0) { _ in throw FunctionError("Grüße: no such key") })
  let error = try databaseError { _ = try connection.value("SELECT fails()") }
  #expect(error.code == .error)
  #expect(error.message == "Grüße: no such key")
  #expect(try connection.value("SELECT 1") == 1, "the connection goes on")
}

@Test("a function is found by its number of arguments")
func overloads() throws {
  let connection = try Connection(path: nil)
  try connection.register(function("f", 1) { _ in "one" })
  try connection.register(function("f") { .integer(Int64($0.count)) })
  #expect(try connection.rows("SELECT f(0), f(0, 0), f()") == [["one", 2, 0]])
  try connection.register(function("g", 1) { _ in .null })
  let error = try databaseError { try connection.execute("SELECT g()") }
  #expect(error.message == "wrong number of arguments to function g()")
}

@Test("only deterministic functions can be used in indexes and generated columns")
func deterministic() throws {
  let connection = try Connection(path: nil)
  try connection.register(function("fixed", 1) { $0[0] })
  try connection.register(function("loose", 1, deterministic: false) { $0[0] })
  try connection.execute(
    """
    CREATE TABLE t(a, b AS (fixed(a)), CHECK (fixed(a) > 0));
    CREATE INDEX i ON t(fixed(a)) WHERE fixed(a) > 1;
    INSERT INTO t VALUES(1), (2);
    """)
  #expect(try connection.rows("SELECT b FROM t INDEXED BY i WHERE fixed(a) > 1") == [[2]])
  let error = try databaseError { try connection.execute("CREATE INDEX j ON t(loose(a))") }
  #expect(error.message == "non-deterministic functions prohibited in index expressions")
}

@Test("a function is released when it is replaced and when its connection is closed")
func lifetime() throws {
  let gone = Counter()
  do {
    let connection = try Connection(path: nil)
    for version in 1...3 as ClosedRange<Int64> {
      let witness = Witness(gone)
      try connection.register(
        function("f", 0) { _ in withExtendedLifetime(witness) { .integer(version) } })
      #expect(try connection.value("SELECT f()") == .integer(version))
      #expect(gone.value == Int(version) - 1)
    }
    let collation = Witness(gone)
    try connection.registerCollation("c") { _, _ in withExtendedLifetime(collation) { 0 } }
    let other = Witness(gone)
    try connection.registerCollation("c") { _, _ in withExtendedLifetime(other) { 0 } }
  }
  #expect(gone.value == 5)
}

@Test("a function that cannot be registered is released, too")
func refusedRegistration() throws {
  let gone = Counter()
  let connection = try Connection(path: nil)
  do {
    let witness = Witness(gone)
    #expect(throws: DatabaseError.self) {
      let name = String(repeating: "f", count: 300)
      try connection.register(
        function(name, 0) { _ in withExtendedLifetime(witness) { Value.null } })
    }
  }
  #expect(gone.value == 1)
  #expect(throws: DatabaseError.self) {
    try connection.register(function("f", 1000) { _ in .null })
  }
}

@Test("a running function cannot be replaced and continues")
func replacedWhileRunning() throws {
  let connection = try Connection(path: nil)
  try connection.register(function("f", 0) { _ in 1 })
  let statement = try connection.prepare("SELECT f() FROM (VALUES(1), (2))")
  #expect(try statement.step())
  let error = try databaseError { try connection.register(function("f", 0) { _ in 2 }) }
  #expect(error.code == .busy)
  #expect(try statement.step())
  #expect(statement.integer(0) == 1)
}

@Test("uuid() is random, version 4, lower case, and allowed in a DEFAULT of an untrusted schema")
func uuid() throws {
  let connection = try Connection(path: nil)
  #expect(!connection.isOn(.trustedSchema))
  try connection.execute(
    """
    CREATE TABLE t(id TEXT PRIMARY KEY DEFAULT (uuid()), n);
    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO t(n) SELECT i FROM n;
    """)
  let ids = try connection.rows("SELECT id FROM t").compactMap { $0[0].text }
  #expect(Set(ids).count == 1000)
  for id in ids {
    let parts = id.split(separator: "-", omittingEmptySubsequences: false)
    #expect(parts.map(\.utf8.count) == [8, 4, 4, 4, 12])
    #expect(id.utf8.allSatisfy { "0123456789abcdef-".utf8.contains($0) })
    #expect(parts[2].first == "4")
    #expect("89ab".contains(parts[3].first ?? " "))
  }
  // Every other digit can have every value.
  for place in ids[0].indices where ids[0][place] != "-" {
    let digits = Set(ids.map { $0[place] })
    #expect(digits.count == 16 || digits == ["4"] || digits == ["8", "9", "a", "b"])
  }
}

@Test("a collation sorts text, and using it without registration is an error")
func collation() throws {
  let folder = try TemporaryFolder()
  let connection = try Place.file.open(in: folder)
  try connection.registerCollation("by_length") { $0.utf8.count - $1.utf8.count }
  try connection.execute(
    """
    CREATE TABLE t(a TEXT COLLATE by_length);
    CREATE INDEX i ON t(a);
    INSERT INTO t VALUES('ccc'), (''), ('bb'), ('ü');
    """)
  #expect(
    try connection.rows("SELECT length(CAST(a AS BLOB)) FROM t ORDER BY a") == [[0], [2], [2], [3]])
  #expect(try connection.value("SELECT count(*) FROM t WHERE a = 'xx'") == 2)
  let other = try Place.file.open(in: folder)
  let error = try databaseError { _ = try other.rows("SELECT * FROM t ORDER BY a") }
  #expect(error.message == "no such collation sequence: by_length")
}

import SchemaSQLite
import Testing

private let filling = """
  CREATE TABLE t(a INTEGER PRIMARY KEY, b);
  CREATE INDEX i ON t(b);
  WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
  INSERT INTO t SELECT i, 'row ' || i FROM n;
  """

private func content(_ connection: Connection) throws -> [[Value]] {
  #expect(try connection.value("PRAGMA integrity_check") == "ok")
  return try connection.rows("SELECT count(*), sum(a), max(b) FROM t")
}

@Test(
  "a backup copies the whole database, with any number of pages at a time",
  arguments: Place.allCases, [-1, 0, 7])
func backup(place: Place, pages: Int) throws {
  let source = try TemporaryFolder()
  let target = try TemporaryFolder()
  let connection = try place.open(in: source)
  try connection.execute(filling)
  let copy = try Connection(path: target.path("copy.sqlite"))
  var steps: [Int] = []
  try connection.backup(to: copy, pages: pages) { left, all in
    #expect(left < all)
    steps.append(left)
    return true
  }
  #expect(steps.isEmpty == (pages < 1))
  #expect(steps == steps.sorted(by: >))
  #expect(try content(copy) == content(connection))
}

@Test(
  "a backup of a database in use includes concurrent writes", arguments: [Place.file, .wal])
func backupInUse(place: Place) throws {
  let folder = try TemporaryFolder()
  let connection = try place.open(in: folder)
  try connection.execute(filling)
  let writer = try Connection(path: folder.path("a.sqlite"))
  let copy = try Connection(path: folder.path("copy.sqlite"))
  var writes = 0
  try connection.backup(to: copy, pages: 3) { _, _ in
    if writes < 3 {
      writes += 1
      try? writer.execute("INSERT INTO t(b) VALUES('new')")
    }
    return true
  }
  #expect(try copy.value("SELECT count(*) FROM t WHERE b = 'new'") == 3)
  #expect(try content(copy) == content(connection))
}

@Test("a cancelled backup leaves its target unchanged")
func cancelledBackup() throws {
  let connection = try Connection(path: nil)
  try connection.execute(filling)
  let copy = try Connection(path: nil)
  try copy.execute("CREATE TABLE old(a)")
  let error = try databaseError {
    try connection.backup(to: copy, pages: 1) { left, all in left > all / 2 }
  }
  #expect(error.code == .interrupted)
  #expect(try copy.rows("SELECT name FROM sqlite_schema") == [["old"]])
}

@Test("a failing backup reports its reason")
func failedBackup() throws {
  let folder = try TemporaryFolder()
  let connection = try Place.file.open(in: folder)
  try connection.execute(filling)
  let same = try databaseError { try connection.backup(to: connection) }
  #expect(same.message == "source and destination must be distinct")
  let holder = try Connection(path: folder.path("a.sqlite"))
  try holder.execute("BEGIN EXCLUSIVE")
  let busy = try databaseError { try connection.backup(to: Connection(path: nil)) }
  #expect(busy.code == .busy)
  let readOnly = try Connection(path: folder.path("a.sqlite"), mode: .readOnly)
  try holder.execute("COMMIT")
  #expect(try databaseError { try Connection(path: nil).backup(to: readOnly) }.code == .readOnly)
}

@Test("a serialized database can be deserialized", arguments: Place.allCases)
func serializing(place: Place) throws {
  let folder = try TemporaryFolder()
  let connection = try place.open(in: folder)
  try connection.execute(filling)
  let copy = try Connection(path: nil)
  try copy.execute("CREATE TABLE old(a)")
  try copy.deserialize(connection.serialized())
  #expect(try content(copy) == content(connection))
  try copy.execute("INSERT INTO t(b) SELECT zeroblob(10000) FROM t LIMIT 100; DROP INDEX i")
  #expect(try copy.value("SELECT count(*) FROM t") == 5100)
  #expect(try connection.value("SELECT count(*) FROM t") == 5000)
}

@Test(
  "an empty database can be serialized, and no bytes deserialized", arguments: Place.allCases)
func serializingNothing(place: Place) throws {
  let folder = try TemporaryFolder()
  let connection = try place.open(in: folder)
  for bytes in [try connection.serialized(), []] {
    let copy = try Connection(path: nil)
    try copy.execute("CREATE TABLE old(a)")
    try copy.deserialize(bytes)
    #expect(try copy.rows("SELECT * FROM sqlite_schema").isEmpty)
    try copy.execute("CREATE TABLE new(a); INSERT INTO new VALUES(1)")
    #expect(try copy.rows("SELECT * FROM new") == [[1]])
  }
}

@Test("bytes of another kind are detected when they are read")
func deserializingNoise() throws {
  for bytes in [[7], [UInt8](repeating: 2, count: 4096), Array("SQLite format 3\0".utf8)] {
    let connection = try Connection(path: nil)
    try? connection.deserialize(bytes)
    let error = try databaseError { _ = try connection.rows("SELECT * FROM sqlite_schema") }
    #expect([.notADatabase, .corrupt].contains(error.code))
  }
}

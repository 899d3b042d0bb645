import SQLite
import Testing

/// Checksums of the columns of `t`, and how many rows it has.
private func sums(
  _ connection: Connection, of columns: String = "t.v", row: String = "t.rowid",
  order: String = ""
) throws -> [Value] {
  try connection.withChecksums { () throws(DatabaseError) in
    try connection.rows(
      "SELECT count(*), schemactl_checksum(\(row), \(columns)) FROM (SELECT rowid, * FROM t \(order)) t"
    )
  }[0]
}

private func database(
  _ values: [String], encoding: String = "UTF-8", type: String = ""
) throws -> Connection {
  let connection = try Connection(path: nil)
  try connection.execute("PRAGMA encoding = '\(encoding)'; CREATE TABLE t (v \(type))")
  for value in values { try connection.execute("INSERT INTO t VALUES (\(value))") }
  return connection
}

@Suite("a checksum")
struct ChecksumTests {
  @Test(
    "tells apart what SQLite stores otherwise",
    arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
  func values(encoding: String) throws {
    let values = [
      "NULL", "''", "x''", "0", "'0'", "0.0", "x'30'", "x'00'", "x'0000'", "1", "-1", "1.0", "'1'",
      "9223372036854775807", "'a'", "'A'", "'a '", "char(0)", "'a' || char(0)", "'é'",
      "'e' || char(769)", "cast(x'ffd8' AS TEXT)", "cast(x'fed8' AS TEXT)",
      "cast(x'ffd80000' AS TEXT)", "cast(x'd861' AS TEXT)", "'1234567'", "'12345678'",
      "'123456789'", "zeroblob(8)",
      "zeroblob(9)", "zeroblob(16)", "1e300", "-9223372036854775808", "'😀'",
    ]
    var seen: [Value: String] = [:]
    for value in values {
      let sums = try sums(database([value], encoding: encoding))
      let other = seen.updateValue(value, forKey: sums[1])
      #expect(other == nil, "\(value) and \(other ?? "") have one checksum in \(encoding)")
    }
  }

  @Test("tells 0.0 from -0.0 where a database stores the difference")
  func zeros() throws {
    // The last eight bytes of the record are the number's.
    let connection = try database(["1.5"])
    try connection.execute("PRAGMA user_version = 1")
    var bytes = try connection.serialized()
    let half: [UInt8] = [0x3F, 0xF8, 0, 0, 0, 0, 0, 0]
    let place = try #require(
      (0...bytes.count - 8).last { Array(bytes[$0..<$0 + 8]) == half })
    func sum(_ first: UInt8) throws -> Value {
      bytes.replaceSubrange(place..<place + 8, with: [first, 0, 0, 0, 0, 0, 0, 0])
      let copy = try Connection(path: nil)
      try copy.deserialize(bytes)
      #expect(try copy.value("SELECT typeof(v) FROM t") == "real")
      return try sums(copy)[1]
    }
    #expect(try sum(0) != sum(0x80))
  }

  @Test("is the same in whatever order the rows are read")
  func order() throws {
    let connection = try database(["1", "'x'", "NULL", "x'ff'", "'x'"])
    let up = try sums(connection, order: "ORDER BY rowid")
    let down = try sums(connection, order: "ORDER BY rowid DESC")
    #expect(up == down)
    #expect(up[0] == 5)
  }

  @Test(
    "changes when two rows swap their values, a row goes, comes or gets another rowid",
    arguments: [
      "UPDATE t SET v = iif(rowid = 1, 'b', 'a') WHERE rowid < 3", "DELETE FROM t WHERE rowid = 3",
      "INSERT INTO t VALUES (NULL)", "UPDATE t SET rowid = 7 WHERE rowid = 3",
      "UPDATE t SET v = NULL WHERE rowid = 2",
    ])
  func damage(sql: String) throws {
    let connection = try database(["'a'", "'b'", "'c'"])
    let before = try sums(connection)[1]
    try connection.execute(sql)
    #expect(try sums(connection)[1] != before)
  }

  @Test("of one column says nothing of another")
  func columns() throws {
    let connection = try Connection(path: nil)
    try connection.execute("CREATE TABLE t (v, w); INSERT INTO t VALUES (1, 2), (3, 4)")
    func both() throws -> [Checksum] {
      Checksum.list(2, from: try sums(connection, of: "t.v, t.w")[1])
    }
    let before = try both()
    try connection.execute("UPDATE t SET w = 5 WHERE v = 1")
    let after = try both()
    #expect(before[0] == after[0])
    #expect(before[1] != after[1])
  }

  @Test("of no rows is that of no rows")
  func empty() throws {
    let sums = try sums(database([]))
    #expect(sums == [0, .null])
    #expect(Checksum.list(3, from: sums[1]) == [Checksum(), Checksum(), Checksum()])
  }

  @Test("a row's number takes every value of its key")
  func rowNumbers() throws {
    let connection = try Connection(path: nil)
    let numbers = try connection.withChecksums { () throws(DatabaseError) in
      try connection.rows(
        "SELECT schemactl_row(1, 2), schemactl_row(2, 1), schemactl_row(1), schemactl_row(1, NULL)")
    }[0]
    #expect(Set(numbers).count == 4)
  }

  @Test("can be made only while one is asked for, and by no view")
  func isPrivate() throws {
    let connection = try Connection(path: nil)
    try connection.execute(
      "CREATE TABLE t (v); CREATE VIEW seen AS SELECT schemactl_checksum(rowid, v) FROM t")
    let calls = ["SELECT schemactl_checksum(1, 2)", "SELECT schemactl_row(1)"]
    for sql in calls {
      let error = try databaseError { try connection.execute(sql) }
      #expect(error.message.hasPrefix("no such function: schemactl_"))
    }
    let error = try databaseError {
      _ = try connection.withChecksums { () throws(DatabaseError) in
        try connection.value("SELECT * FROM seen")
      }
    }
    #expect(error.message == "unsafe use of schemactl_checksum()")
    for sql in calls {
      let error = try databaseError { try connection.execute(sql) }
      #expect(error.message == "this function is schemactl's own")
    }
  }
}

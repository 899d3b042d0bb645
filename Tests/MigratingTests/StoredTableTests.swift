import Foundation
import Planning
import SQLite
import SchemaModel
import TestSupport
import Testing

/// A table, and what a file may hold of it.
struct FileOfRows: Sendable, CustomTestStringConvertible {
  let testDescription: String
  var settings = ""
  var create = "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT, c REAL, d INTEGER, e BLOB)"
  var rows = """
    SELECT i, CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN -i * 70000 WHEN 3 THEN i << 40
      WHEN 4 THEN i * 0.25 WHEN 5 THEN 'text ' || i WHEN 6 THEN zeroblob(i % 5) WHEN 7 THEN 1
      ELSE '' END, 'ä' || i, i % 4, -i << i % 60, randomblob(i % 70)
    """
  var count = 2000
  var later = ""

  private static let many = 600

  static let all = [
    FileOfRows(testDescription: "every storage class"),
    FileOfRows(testDescription: "no row", count: 0),
    FileOfRows(testDescription: "small pages", settings: "PRAGMA page_size = 512"),
    FileOfRows(testDescription: "the largest pages", settings: "PRAGMA page_size = 65536"),
    FileOfRows(testDescription: "UTF-16", settings: "PRAGMA encoding = 'UTF-16le'"),
    FileOfRows(testDescription: "auto-vacuum", settings: "PRAGMA auto_vacuum = FULL"),
    FileOfRows(
      testDescription: "payloads about the size of a page, and of many",
      settings: "PRAGMA page_size = 512", create: "CREATE TABLE t (a, b)",
      rows: "SELECT zeroblob(i), hex(randomblob(i * 3))", count: 1200),
    FileOfRows(
      testDescription: "headers of more than a page", settings: "PRAGMA page_size = 512",
      create: "CREATE TABLE t (\((0..<many).map { "c\($0)" }.joined(separator: ", ")))",
      rows:
        "SELECT \((0..<many).map { $0 % 7 == 0 ? "hex(i)" : "i * \($0)" }.joined(separator: ", "))",
      count: 50),
    FileOfRows(
      testDescription: "generated columns between the others",
      create: """
        CREATE TABLE t (v AS (a + 1), a INTEGER, s AS (a * 2) STORED, w TEXT AS (b) VIRTUAL, b)
        """, rows: "SELECT i, 'b' || i"),
    FileOfRows(
      testDescription: "a key that is no other name of the rowid",
      create: "CREATE TABLE t (id INTEGER PRIMARY KEY DESC, b)", rows: "SELECT i * 3, i"),
    FileOfRows(
      testDescription: "a key that is declared below",
      create: "CREATE TABLE t (b, id INTEGER, PRIMARY KEY (id DESC))", rows: "SELECT i, i * 3"),
    FileOfRows(
      testDescription: "a strict table",
      create: "CREATE TABLE t (a ANY, b REAL, c INT, d TEXT, e BLOB) STRICT",
      rows: "SELECT '1', i, i, i, zeroblob(2)"),
    FileOfRows(
      testDescription: "numbers that are stored otherwise than they are read",
      create: "CREATE TABLE t (a DOUBLE PRECISION, b NUMERIC, c FLOAT)",
      rows: "SELECT i, i * 1.0, CASE i % 3 WHEN 0 THEN 9e999 WHEN 1 THEN -0.0 ELSE i END"),
    FileOfRows(
      testDescription: "rows that are older than columns",
      later: """
        ALTER TABLE t ADD COLUMN f;
        ALTER TABLE t ADD COLUMN g INTEGER NOT NULL DEFAULT '7' CHECK (g > 0);
        ALTER TABLE t ADD COLUMN h TEXT DEFAULT 7 COLLATE NOCASE;
        ALTER TABLE t ADD COLUMN i REAL CONSTRAINT one DEFAULT 3;
        INSERT INTO t (id) VALUES (-7), (3000), (3001);
        ALTER TABLE t ADD COLUMN "j k" "odd ""type" DEFAULT (-1.5);
        ALTER TABLE t ADD COLUMN k DEFAULT x'00ff' REFERENCES t (id);
        ALTER TABLE t ADD COLUMN l NUMERIC DEFAULT 'ä' DEFAULT '12.0';
        ALTER TABLE t ADD COLUMN m DEFAULT TRUE;
        ALTER TABLE t ADD COLUMN n AS (g + 1);
        ALTER TABLE t ADD COLUMN o DEFAULT "ä word"
        """),
    FileOfRows(
      testDescription: "rows that are older than columns, in UTF-16",
      settings: "PRAGMA encoding = 'UTF-16be'",
      later: "ALTER TABLE t ADD COLUMN f TEXT DEFAULT 'ä'; INSERT INTO t (id) VALUES (-1)"),
    FileOfRows(
      testDescription: "a dropped column, and deleted rows",
      later: "ALTER TABLE t DROP COLUMN b; DELETE FROM t WHERE id % 3 = 1"),
    FileOfRows(
      testDescription: "text that is not valid in the encoding",
      rows: "SELECT i, CAST(x'ff00fe' AS TEXT), CAST(x'c3' AS TEXT), i, i, NULL"),
    FileOfRows(
      testDescription: "something in the place of what SQLite takes for the rowid",
      create: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)", rows: "SELECT i, i",
      later: """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY', '/* PRIMARY');
        UPDATE sqlite_schema SET sql = replace(sql, 'KEY', 'KEY */');
        PRAGMA writable_schema = RESET;
        UPDATE t SET id = CASE rowid % 3 WHEN 0 THEN rowid + 7 WHEN 1 THEN 'text' END;
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, '/* PRIMARY', 'PRIMARY');
        UPDATE sqlite_schema SET sql = replace(sql, 'KEY */', 'KEY');
        PRAGMA writable_schema = RESET;
        """),
    FileOfRows(
      testDescription: "rowids from end to end",
      create: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)",
      rows: """
        SELECT CASE i WHEN 1 THEN -9223372036854775807 - 1 WHEN 2 THEN 9223372036854775807
          ELSE (i - 1500) * 3002399751580330 + i % 7 * i END, i
        """),
  ]

  func make(in sandbox: Sandbox) throws {
    let connection = try sandbox.open()
    connection.set(.defensive, to: false)
    try connection.execute(
      """
      \(settings);
      \(create);
      WITH c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(count))
      INSERT INTO t \(rows) FROM c \(count == 0 ? "WHERE FALSE" : "");
      \(later)
      """)
  }
}

@Suite("the rows of a table, read out of its file")
struct StoredTableTests {
  private struct Tables {
    let connection: Connection
    let rows: TableRows
    let stored: StoredTable
    let file: Connection

    init(in sandbox: Sandbox) throws {
      connection = try sandbox.open()
      let table = try Schema(of: connection).table("t")
      rows = try TableRows(of: #require(table))
      let root = try connection.value("SELECT rootpage FROM sqlite_schema WHERE name = 't'")
      let encoding = try connection.value("PRAGMA encoding")?.text
      let columns = try rows.storedColumns(encoding: #require(encoding))
      file = try Connection(path: sandbox.database, mode: .immutable)
      let found = try StoredTable(root: #require(root?.integer), columns: columns, in: file)
      stored = try #require(found)
    }

    /// What SQLite says.
    func asked(_ stretch: ClosedRange<Int64>) throws -> (rows: Value, columns: [Checksum]) {
      let answer = try connection.withChecksums { () throws(DatabaseError) in
        try connection.rows(
          rows.query(key: nil, isStretch: true),
          [.integer(stretch.lowerBound), .integer(stretch.upperBound)])[0]
      }
      let columns = answer.dropFirst().enumerated().flatMap { index, value in
        let left = rows.columns.count - index * Checksum.valuesAtOnce
        return Checksum.list(min(left, Checksum.valuesAtOnce), from: value)
      }
      return (answer[0], columns)
    }
  }

  private static let stretches: [ClosedRange<Int64>] = [
    .min ... .max, 1...1, 2...900, 901...2000, 500...501, -1_000_000_000_000...(-1), 5000...6000,
    .min ... .min, .max ... .max, 1990...3000,
  ]

  @Test("add up to what SQLite says", arguments: FileOfRows.all)
  func same(file: FileOfRows) throws {
    let sandbox = try Sandbox()
    try file.make(in: sandbox)
    let tables = try Tables(in: sandbox)
    for stretch in Self.stretches {
      let found = try #require(tables.stored.checksums(of: stretch), "\(stretch)")
      let asked = try tables.asked(stretch)
      #expect(asked.rows == .integer(found.rows), "\(stretch)")
      let wrong = tables.rows.columns.indices.filter { found.columns[$0] != asked.columns[$0] }
      #expect(wrong.map { tables.rows.columns[$0] } == [], "\(stretch)")
    }
  }

  @Test("are not read where somebody wants it to stop")
  func stops() throws {
    let sandbox = try Sandbox()
    try FileOfRows.all[0].make(in: sandbox)
    let tables = try Tables(in: sandbox)
    #expect(tables.stored.checksums(of: 1...2) != nil)
    tables.file.setStopCheck { true }
    #expect(tables.stored.checksums(of: 1...2) == nil)
  }

  @Test("are left to SQLite where a record needs much memory")
  func long() throws {
    let sandbox = try Sandbox()
    try sandbox.run(
      "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(1040000)), (zeroblob(1050000))")
    let tables = try Tables(in: sandbox)
    #expect(tables.stored.checksums(of: 1...1)?.rows == 1)
    #expect(tables.stored.checksums(of: 2...2) == nil)
  }

  @Test("are read once, whatever the pages say of one another")
  func tangled() throws {
    let sandbox = try Sandbox()
    var file = FileOfRows.all[2]
    file.count = 20_000
    try file.make(in: sandbox)
    let tables = try Tables(in: sandbox)
    let root = try #require(
      try tables.connection.value("SELECT rootpage FROM sqlite_schema")?.integer.map(Int.init))
    var bytes = try Data(contentsOf: URL(fileURLWithPath: sandbox.database))
    let size = 512
    func integer(_ count: Int, at place: Int) -> Int {
      bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }
    let others = (2...bytes.count / size).filter { $0 != root && bytes[($0 - 1) * size] == 5 }
      .prefix(10)
    #expect(others.count == 10)
    // Each leads to the next one, once for each of its cells, and the last one to leaves.
    for (page, next) in zip([root] + others, others) {
      let start = (page - 1) * size
      let cells = (0..<integer(2, at: start + 3)).map { integer(2, at: start + 12 + 2 * $0) }
      for place in [8] + cells {
        for index in 0..<4 { bytes[start + place + index] = UInt8(next >> (24 - 8 * index) & 0xFF) }
      }
    }
    try overwrite(sandbox.database, with: bytes)
    #expect(tables.stored.checksums(of: .min ... .max) == nil)
  }

  @Test(
    "are read as something else, or left to SQLite, where the file is damaged", arguments: 0..<8)
  func damaged(seed: Int) throws {
    let sandbox = try Sandbox()
    try FileOfRows.all[[0, 2, 6, 7][seed % 4]].make(in: sandbox)
    let tables = try Tables(in: sandbox)
    let sound = try Data(contentsOf: URL(fileURLWithPath: sandbox.database))
    var state = UInt64(seed)
    func random(below bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let before = tables.stored.checksums(of: .min ... .max)?.columns
    var endings: Set<String> = []
    for _ in 0..<200 {
      var bytes = sound
      for _ in 0...random(below: 40) {
        // Behind the header, which has been read.
        bytes[100 + random(below: bytes.count - 100)] = UInt8(random(below: 256))
      }
      try overwrite(sandbox.database, with: bytes)
      let after = tables.stored.checksums(of: .min ... .max)?.columns
      endings.insert(after == nil ? "left" : after == before ? "same" : "other")
    }
    #expect(endings.isSuperset(of: ["left", "other"]))
  }

  /// The same file: others have it open.
  private func overwrite(_ path: String, with bytes: Data) throws {
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.write(contentsOf: bytes)
    try file.close()
  }
}

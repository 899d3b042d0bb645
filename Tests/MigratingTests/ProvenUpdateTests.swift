import Foundation
import ManifestFormat
import Migrating
import Planning
import SQLite
import SchemaModel
import TestSupport
import Testing

/// Tables whose `done` becomes `status`.
struct UpdatedTable: Sendable, CustomTestStringConvertible {
  let testDescription: String
  var settings = ""
  var create = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, done INTEGER, b)"
  var rows = "SELECT i, 'row ' || i, i % 3, CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN 0.5 * i END"
  var count = 3000

  static let all = [
    UpdatedTable(testDescription: "plain rows"),
    UpdatedTable(
      testDescription: "rowids from end to end, with gaps",
      rows: """
        SELECT CASE i WHEN 1 THEN -9223372036854775807 - 1 WHEN 2 THEN 9223372036854775807
          ELSE (i - 1500) * 3002399751580330 + i % 7 * i END, 'row ' || i, i % 3, i
        """),
    UpdatedTable(
      testDescription: "no name for the rowid but the key's",
      create: "CREATE TABLE t (id INTEGER PRIMARY KEY, rowid TEXT, done INTEGER, oid, _rowid_)",
      rows: "SELECT i, 'row ' || i, i % 3, i, NULL"),
    UpdatedTable(
      testDescription: "a rowid that no column shows",
      create: "CREATE TABLE t (a TEXT, b, done INTEGER)", rows: "SELECT 'row ' || i, i, i % 3"),
    UpdatedTable(
      testDescription: "rows of many pages", rows: "SELECT i, hex(zeroblob(i * 40)), i % 3, i",
      count: 300),
    UpdatedTable(testDescription: "one row", count: 1),
    UpdatedTable(testDescription: "small pages", settings: "PRAGMA page_size = 512"),
    UpdatedTable(testDescription: "large pages", settings: "PRAGMA page_size = 65536"),
    UpdatedTable(testDescription: "UTF-16", settings: "PRAGMA encoding = 'UTF-16be'"),
    UpdatedTable(testDescription: "auto-vacuum", settings: "PRAGMA auto_vacuum = FULL"),
    UpdatedTable(
      testDescription: "an index on what changes",
      create: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, done INTEGER, b);
        CREATE INDEX i ON t (done, a)
        """),
  ]

  func make(in sandbox: Sandbox) throws {
    try sandbox.run(
      """
      \(settings);
      \(create);
      WITH c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(count))
      INSERT INTO t \(rows) FROM c;
      """)
  }
}

@Suite("an UPDATE that a second thread proves")
struct ProvenUpdateTests {
  private static let map = "map: { 0: 100000, 1: 1, 2: 300000000 }"

  private func plan(
    on connection: Connection, to: String = "{ name: status, type: INTEGER }", _ keys: String = map
  ) throws -> OperationPlan {
    let operation = "move_column: { table: t, from: done, to: \(to), \(keys), dependents: rename }"
    let manifest = try decodeManifest(
      Array("operations: [{ \(operation) }]".utf8), file: "0001_move.yaml")
    return try Planner(connection: connection, application: Application())
      .plan(try #require(manifest.operations.first))
  }

  private func rowUpdate(of plan: OperationPlan) -> RowUpdate? {
    for case .update(let update) in plan.steps { return update }
    return nil
  }

  private func proven(
    _ plan: OperationPlan, _ file: String, on connection: Connection
  ) throws -> ProvenUpdate? {
    let update = try #require(rowUpdate(of: plan))
    let proof = try #require(plan.proofs.first)
    return try ProvenUpdate(update, proof, in: file, on: connection)
  }

  private func begun(
    _ sandbox: Sandbox, _ plan: OperationPlan? = nil, in file: String? = nil
  ) throws -> (
    Connection, ProvenUpdate?
  ) {
    let connection = try sandbox.open()
    try connection.execute("BEGIN EXCLUSIVE")
    return (
      connection,
      try proven(
        plan ?? self.plan(on: connection), file ?? sandbox.database, on: connection)
    )
  }

  private func change(
    _ sql: String, _ rowids: ClosedRange<Int64>, on connection: Connection
  ) throws {
    try connection.execute(sql, [.integer(rowids.lowerBound), .integer(rowids.upperBound)])
  }

  @Test("changes what one statement changes, and reads all rows twice", arguments: UpdatedTable.all)
  func same(table: UpdatedTable) throws {
    let (atOnce, inParts) = (try Sandbox(), try Sandbox())
    for sandbox in [atOnce, inParts] { try table.make(in: sandbox) }
    let plan = try plan(on: atOnce.open())
    let whole = try #require(rowUpdate(of: plan))
    let proof = try #require(plan.proofs.first)
    let sums = try RowChecksums(of: proof.before, on: atOnce.open())
    try atOnce.run(whole.statement)

    let (connection, proven) = try begun(inParts)
    var update = try #require(proven)
    var stretches: [ClosedRange<Int64>] = []
    try update.run { sql, rowids in
      stretches.append(rowids)
      try change(sql, rowids, on: connection)
    }
    try connection.execute("COMMIT")

    #expect(stretches.first?.lowerBound == .min && stretches.last?.upperBound == .max)
    #expect(zip(stretches, stretches.dropFirst()).allSatisfy { $0.upperBound + 1 == $1.lowerBound })
    #expect(update.readBeside == 2 * max(stretches.count - 2, 0))
    for found in [update.before, update.after] {
      #expect(sums.damage(seenIn: found, update.proof) == nil)
    }
    let all = "SELECT * FROM t ORDER BY rowid"
    let query = table.create.contains("oid") ? "SELECT * FROM t ORDER BY id" : all
    #expect(try inParts.rows(query) == atOnce.rows(query))
    #expect(try inParts.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test(
    "finds what becomes of another row while one is changed",
    arguments: [-40, -5, 0, 5, 9],
    [
      "UPDATE t SET a = 'other' WHERE id = ?1", "UPDATE t SET b = a WHERE id = ?1",
      "DELETE FROM t WHERE id = ?1", "UPDATE t SET id = -id WHERE id = ?1",
    ])
  func damage(distance: Int64, statement: String) throws {
    let sandbox = try Sandbox()
    try UpdatedTable(testDescription: "").make(in: sandbox)
    let (connection, proven) = try begun(sandbox)
    var update = try #require(proven)
    var isDone = false
    try update.run { sql, rowids in
      try change(sql, rowids, on: connection)
      guard rowids.contains(200) else { return }
      // Stretches are of twelve rows at first, and of 48 soon.
      try connection.execute(statement, [.integer(rowids.lowerBound + 3 + distance)])
      isDone = true
    }
    #expect(isDone)
    #expect(update.before.damage(seenIn: update.after, update.proof) != nil)
  }

  @Test("reads itself what stands in the file in part, because the cache was full")
  func spills() throws {
    let sandbox = try Sandbox()
    try UpdatedTable(testDescription: "").make(in: sandbox)
    let (connection, proven) = try begun(sandbox)
    try connection.execute("PRAGMA cache_size = 2")
    var update = try #require(proven)
    let sums = try RowChecksums(of: update.proof.before, on: connection)
    var count = 0
    try update.run { sql, rowids in
      count += 1
      try change(sql, rowids, on: connection)
    }
    #expect(connection.spilledPages > 0)
    #expect(update.readBeside < 2 * (count - 2))
    #expect(sums.damage(seenIn: update.before, update.proof) == nil)
    #expect(sums.damage(seenIn: update.after, update.proof) == nil)
  }

  @Test("leaves to SQLite what only SQLite can read")
  func unreadable() throws {
    let sandbox = try Sandbox()
    // No ALTER TABLE accepts such a default; rows that are older than the column have NULL in it.
    let writer = try sandbox.open()
    writer.set(.defensive, to: false)
    try writer.execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, done INTEGER);
      WITH c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000)
      INSERT INTO t SELECT i, 'row ' || i, i % 3 FROM c WHERE i > 1000;
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = substr(sql, 1, length(sql) - 1) || ', b DEFAULT (abs(-5)))';
      PRAGMA writable_schema = RESET;
      WITH c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1000)
      INSERT INTO t SELECT i, 'row ' || i, i % 3, i FROM c;
      """)
    let (connection, proven) = try begun(sandbox)
    var update = try #require(proven)
    let sums = try RowChecksums(of: update.proof.before, on: connection)
    var count = 0
    try update.run { sql, rowids in
      count += 1
      try change(sql, rowids, on: connection)
    }
    #expect((1..<2 * (count - 2)).contains(update.readBeside))
    #expect(sums.damage(seenIn: update.before, update.proof) == nil)
    #expect(sums.damage(seenIn: update.after, update.proof) == nil)
  }

  @Test("sees the pages that the transaction has made, and no other change of it is lost")
  func grown() throws {
    let sandbox = try Sandbox()
    try UpdatedTable(testDescription: "").make(in: sandbox)
    let connection = try sandbox.open()
    try connection.execute("BEGIN EXCLUSIVE; UPDATE t SET b = hex(zeroblob(500))")
    let plan = try plan(on: connection)
    let found = try proven(plan, sandbox.database, on: connection)
    var update = try #require(found)
    try update.run { try change($0, $1, on: connection) }
    #expect(update.readBeside > 0)
    #expect(update.before.damage(seenIn: update.after, update.proof) == nil)
    try connection.execute("ROLLBACK")
    #expect(try sandbox.rows("SELECT count(*) FROM t WHERE b = hex(zeroblob(500))") == [[0]])
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test(
    "reads the table that the transaction has",
    arguments: [
      "ALTER TABLE t RENAME COLUMN a TO c", "ALTER TABLE t ADD COLUMN c DEFAULT 'more'",
      "ALTER TABLE t RENAME TO u; CREATE TABLE t (id INTEGER PRIMARY KEY, a, done INTEGER, b); "
        + "INSERT INTO t SELECT * FROM u",
    ])
  func another(before: String) throws {
    let sandbox = try Sandbox()
    try UpdatedTable(testDescription: "").make(in: sandbox)
    let connection = try sandbox.open()
    try connection.execute("BEGIN EXCLUSIVE; \(before)")
    let plan = try plan(on: connection)
    let found = try proven(plan, sandbox.database, on: connection)
    var update = try #require(found)
    let sums = try RowChecksums(of: update.proof.before, on: connection)
    try update.run { try change($0, $1, on: connection) }
    #expect(update.readBeside > 0)
    #expect(sums.damage(seenIn: update.before, update.proof) == nil)
    #expect(sums.damage(seenIn: update.after, update.proof) == nil)
  }

  @Test("reads itself what the file does not tell, because it is another one, or none")
  func elsewhere() throws {
    let (sandbox, other) = (try Sandbox(), try Sandbox())
    try UpdatedTable(testDescription: "").make(in: sandbox)
    try UpdatedTable(testDescription: "", rows: "SELECT i, 'other', i, i").make(in: other)
    for file in [other.database, sandbox.folder, other.database + "-none"] {
      let (connection, proven) = try begun(sandbox, in: file)
      var update = try #require(proven)
      let sums = try RowChecksums(of: update.proof.before, on: connection)
      try update.run { try change($0, $1, on: connection) }
      #expect(update.readBeside == 0)
      #expect(sums.damage(seenIn: update.before, update.proof) == nil)
      #expect(sums.damage(seenIn: update.after, update.proof) == nil)
    }
  }

  @Test(
    "is none where the rows have to be changed at once",
    arguments: [
      ("CREATE TABLE t (id PRIMARY KEY, a, done INTEGER, b) WITHOUT ROWID", map),
      ("CREATE TABLE t (id INTEGER PRIMARY KEY, a, done INTEGER, b)", "using: done + 1"),
      ("CREATE TABLE t (rowid, oid, done INTEGER, _rowid_)", map),
    ])
  func atOnce(create: String, keys: String) throws {
    let sandbox = try Sandbox()
    try UpdatedTable(testDescription: "", create: create, rows: "SELECT i, i, i % 3, i").make(
      in: sandbox)
    let (_, proven) = try begun(sandbox, try plan(on: sandbox.open(), keys))
    #expect(proven == nil)
  }

  @Test("is none while a statement stands between two rows, whose pages stay in the cache")
  func running() throws {
    let sandbox = try Sandbox()
    try UpdatedTable(testDescription: "").make(in: sandbox)
    let connection = try sandbox.open()
    try connection.execute("BEGIN EXCLUSIVE")
    let plan = try plan(on: connection)
    let statement = try connection.prepare("SELECT * FROM t")
    #expect(try statement.step())
    #expect(try proven(plan, sandbox.database, on: connection) == nil)
  }
}

import Foundation
import SchemaApply
import SchemaHistory
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

private func sandbox() throws -> Sandbox {
  let sandbox = try Sandbox()
  try sandbox.addSQL(
    "0001_tables",
    "CREATE TABLE items (id INTEGER PRIMARY KEY, done INTEGER, text TEXT); "
      + "CREATE TABLE other (id INTEGER PRIMARY KEY, text TEXT)")
  try sandbox.migrate()
  try sandbox.run(
    """
    WITH c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1200)
    INSERT INTO items SELECT i, i % 2, hex(zeroblob(400)) FROM c;
    INSERT INTO other SELECT id, text FROM items LIMIT 1000;
    """)
  try sandbox.add(
    "0002_move",
    """
    operations:
      - move_column:
          table: items
          from: done
          to: { name: status, type: INTEGER }
          map: { 0: 0, 1: 2 }

    """)
  return sandbox
}

@Suite("The page check before the first write")
struct PageCheckTests {
  @Test(
    "damage in a table that the migration does not use is found before any write",
    arguments: ["SELECT 1", "UPDATE items SET done = 9 WHERE id = 7"])
  func damage(rows: String) throws {
    let sandbox = try sandbox()
    // A damaged file is reported as damaged, even if it has other problems.
    try sandbox.run(rows)
    let page = try #require(
      try sandbox.open().value("SELECT rootpage FROM sqlite_schema WHERE name = 'other'")?.integer)
    let url = URL(fileURLWithPath: sandbox.database)
    var bytes = try Data(contentsOf: url)
    // The pointer to the rightmost page below the root page of the table.
    let place = Int(page - 1) * 4096 + 8
    bytes.replaceSubrange(place..<place + 4, with: [0, 0, 0, 2])
    try bytes.write(to: url)
    let report = try sandbox.migrate()
    #expect(report.failure?.status == .inputOutput, "\(report.failure.map { "\($0)" } ?? "")")
    #expect(report.applied.isEmpty)
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test("another connection keeps its lock during the check")
  func lock() throws {
    let sandbox = try sandbox()
    var others: [Int32] = []
    let report = try sandbox.project().migrate(sandbox.options()) { event in
      guard case .ran(let sql) = event, sql.contains("UPDATE") else { return }
      others.append(
        (try? run("/usr/bin/env", ["sqlite3", sandbox.database, "BEGIN IMMEDIATE"]).code) ?? -1)
    }
    #expect(report.failure == nil)
    #expect(others == [5], "another process got the lock")
    #expect(try sandbox.rows("SELECT DISTINCT status FROM items ORDER BY 1") == [[0], [2]])
  }

  @Test("a signal ends it with the run")
  func interrupted() throws {
    let sandbox = try sandbox()
    let interruption = Interruption()
    let report = try sandbox.project().migrate(
      sandbox.options(), interruption: interruption
    ) { event in
      if case .started(let id, _, _) = event, id == "0002_move" { interruption.request() }
    }
    #expect(report.failure?.status == .interrupted)
    #expect(try sandbox.ledger == ["0001_tables"])
  }
}

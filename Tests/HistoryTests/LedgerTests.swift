import SchemaHistory
import SchemaModel
import SchemaSQLText
import SchemaSQLite
import Testing

private func exampleRow(_ id: String, position: Int64) -> LedgerRow {
  LedgerRow(
    id: id, position: position, rawDigest: digest("raw"), canonicalDigest: digest("canonical"),
    fingerprint: digest("schema"), startedAt: "2026-11-20T13:00:00.000Z", milliseconds: 12,
    toolVersion: "1.0.0")
}

@Suite("The ledger")
struct LedgerTests {
  let connection: Connection

  init() throws {
    connection = try Connection(path: nil)
  }

  @Test("a database without a ledger has none, and an empty ledger has no rows")
  func empty() throws {
    #expect(try Ledger.usual.rows(in: connection) == nil)
    try connection.execute(Ledger.usual.createStatement)
    #expect(try Ledger.usual.rows(in: connection) == [])
  }

  @Test("rows are read as they were written, sorted by position")
  func roundTrip() throws {
    try connection.execute(Ledger.usual.createStatement)
    let rows = [exampleRow("0001_ä", position: 1), exampleRow("0002_b", position: 2)]
    for row in rows.reversed() { try Ledger.usual.insert(row, into: connection) }
    #expect(try Ledger.usual.rows(in: connection) == rows)
    #expect(throws: DatabaseError.self) { try Ledger.usual.insert(rows[0], into: connection) }
  }

  @Test("the statement in a plan has the effect of the prepared statement")
  func literalStatement() throws {
    try connection.execute(Ledger.usual.createStatement)
    var row = exampleRow("1_o'\u{301}'\"x", position: -3)
    row.toolVersion = ""
    try connection.execute(row.insertStatement(into: .usual))
    #expect(try Ledger.usual.rows(in: connection) == [row])
    #expect(
      exampleRow("1_a", position: 1).insertStatement(into: .usual)
        == "INSERT INTO schemactl_migrations (id, position, raw_digest, canonical_digest, "
        + "fingerprint, started_at, milliseconds, tool_version) VALUES ('1_a', 1, "
        + "'\(digest("raw"))', '\(digest("canonical"))', '\(digest("schema"))', "
        + "'2026-11-20T13:00:00.000Z', 12, '1.0.0')")
  }

  @Test("the table is equal to the one in the documentation")
  func createStatement() {
    #expect(
      Ledger.usual.createStatement == """
        CREATE TABLE schemactl_migrations (
          id TEXT PRIMARY KEY NOT NULL, position INTEGER NOT NULL, raw_digest TEXT NOT NULL, \
        canonical_digest TEXT NOT NULL,
          fingerprint TEXT NOT NULL, started_at TEXT NOT NULL /* 2026-11-20T13:00:00.000Z */, \
        milliseconds INTEGER NOT NULL, tool_version TEXT NOT NULL
        )
        """)
  }

  @Test(
    "another object of that name is an error",
    arguments: [
      "CREATE TABLE schemactl_migrations (id TEXT PRIMARY KEY)",
      "CREATE TABLE SchemaCTL_Migrations (version INTEGER, name TEXT)",
      "CREATE VIEW schemactl_migrations AS SELECT 1 id, 2 position, 3 raw_digest, "
        + "4 canonical_digest, 5 fingerprint, 6 started_at, 7 milliseconds, 8 tool_version",
      "CREATE TABLE schemactl_migrations (id, position, raw_digest, canonical_digest, "
        + "fingerprint, started_at, milliseconds, tool_version)",
      Ledger.usual.createStatement + "; ALTER TABLE schemactl_migrations ADD COLUMN more",
      "CREATE VIEW schemactl_migrations AS SELECT * FROM missing",
    ])
  func notALedger(sql: String) throws {
    try connection.execute(sql)
    let error = #expect(throws: (any Error).self) { try Ledger.usual.rows(in: connection) }
    let isUnreadable = sql.contains("missing")
    #expect(isUnreadable || "\(String(describing: error))".contains("is not a ledger of schemactl"))
  }

  @Test("a table with the ledger's name in another schema is ignored")
  func temporaryTable() throws {
    try connection.execute(
      Ledger.usual.createStatement.replacing("CREATE TABLE", with: "CREATE TEMP TABLE"))
    #expect(try Ledger.usual.rows(in: connection) == nil)
  }

  @Test("values of other types are read, with 0 for invalid numbers")
  func otherTypes() throws {
    try connection.execute(Ledger.usual.createStatement)
    try connection.execute(
      "INSERT INTO schemactl_migrations VALUES (x'31ff', 'abc', 1, 2.5, x'', 'x', x'00', '')")
    let row = try #require(try Ledger.usual.rows(in: connection)?.first)
    #expect(row.id == "1\u{FFFD}")
    #expect(row.position == 0)
    #expect(row.rawDigest == "1")
    #expect(row.milliseconds == 0)
  }

  @Test("the ledger's name is recognised in any case, as in SQLite")
  func name() {
    #expect(Ledger(table: "schemactl_migrations") == .usual)
    #expect(Ledger(table: "SchemaCtl_MIGRATIONS") == .usual)
    #expect(Ledger(table: "schemactl_migrations2") != .usual)
    // Only Unicode case folding would fold the Kelvin sign and the long s.
    #expect(Ledger(table: "\u{17F}chemactl_migrations") != .usual)
  }
}

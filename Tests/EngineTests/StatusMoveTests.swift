import SchemaApply
import SchemaHistory
import SchemaPlanning
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("The move from isCompleted to status")
struct StatusMoveTests {
  @Test("every reminder's status is its old flag, and nothing else changes")
  func keepsEveryValue() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    let others = """
      SELECT rowid, id, title, notes, dueDate, priority, remindersListID, createdAt, updatedAt
      FROM reminders ORDER BY rowid
      """
    let flags = try sandbox.rows("SELECT id, isCompleted FROM reminders ORDER BY rowid")
    let before = try sandbox.rows(others)
    let children = try sandbox.rows("SELECT * FROM remindersTags ORDER BY rowid")

    let report = try sandbox.migrate()

    #expect(report.failure == nil)
    #expect(report.applied.map(\.id) == [Sandbox.statusMove])
    #expect(report.applied.first?.strategies == [.update])
    #expect(try sandbox.rows("SELECT id, status FROM reminders ORDER BY rowid") == flags)
    #expect(Set(flags.map { $0[1] }) == [0, 1])
    #expect(try sandbox.rows(others) == before)
    #expect(try sandbox.rows("SELECT * FROM remindersTags ORDER BY rowid") == children)
    #expect(
      try sandbox.rows("SELECT name FROM pragma_table_info('reminders')").map { $0[0] }
        == [
          "id", "title", "notes", "dueDate", "priority", "remindersListID", "status", "createdAt",
          "updatedAt",
        ])
  }

  @Test("a second run has nothing to do and takes no write lock")
  func secondRun() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.migrate()
    let writer = try sandbox.open()
    try writer.execute("BEGIN IMMEDIATE")
    let report = try sandbox.migrate { $0.timeout = 0 }
    #expect(report.applied.isEmpty)
    #expect(report.failure == nil)
  }

  @Test(
    "a value that the map does not name stops the migration without changes",
    arguments: [
      ("2", "2 (integer) in 1 row"), ("-1", "-1 (integer) in 1 row"),
    ])
  func unmappedValue(sql: String, described: String) throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.run("UPDATE reminders SET isCompleted = \(sql) WHERE id = 'r7'")
    let before = try Dump(sandbox.open())

    let failure = try #require(try sandbox.migrate().failure)

    #expect(failure.status == .migrationFailed)
    #expect(failure.message.contains(described))
    #expect(failure.message.contains("isCompleted"))
    #expect(failure.migration?.id == Sandbox.statusMove)
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test(
    "a flag column without a type compares exactly: '0', NULL and 0.0 are not 0",
    arguments: [
      ("'0'", "'0' (text)"), ("NULL", "NULL (null)"), ("0.0", "0.0 (real)"),
      ("x'30'", "x'30' (blob)"),
    ])
  func noAffinity(sql: String, described: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (id TEXT, flag);")
    try sandbox.add(
      "0002_move",
      """
      operations:
        - move_column: { table: t, from: flag, to: { name: status, type: INTEGER }, map: { 0: 0, 1: 1 } }
      """)
    try sandbox.migrate(to: "1")
    try sandbox.run("INSERT INTO t VALUES ('a', 0), ('b', 1), ('c', \(sql)), ('d', \(sql))")
    let before = try Dump(sandbox.open())
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed)
    #expect(failure.message.contains("\(described) in 2 rows"))
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test("an error lists at most ten values of forty characters, and none with --redact")
  func listing() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (flag);")
    try sandbox.add(
      "0002_move",
      "operations: [{ move_column: { table: t, from: flag, to: { name: status }, map: { 0: 0 } } }]"
    )
    try sandbox.migrate(to: "1")
    try sandbox.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
      INSERT INTO t SELECT printf('%050d', i) FROM n;
      INSERT INTO t VALUES ('secret' || char(27) || '[31m'), ('secret' || char(27) || '[31m');
      """)
    let message = try #require(try sandbox.migrate().failure).message
    #expect(message.contains("'secret\u{1B}[31m' (text) in 2 rows"))
    #expect(message.contains("'\(String(repeating: "0", count: 40))…' (text) in 1 row"))
    #expect(message.contains("and 3 more values"))
    let redacted = try #require(try sandbox.migrate { $0.redactsValues = true }.failure).message
    #expect(!redacted.contains("secret"))
    #expect(redacted.contains("a value (text) in 2 rows"))
  }

  @Test("keep_source keeps the old column and adds the new one at the end")
  func keepSource() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.add(
      Sandbox.statusMove,
      """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER, not_null: { on_conflict: replace }, default: 0 }
            map: { 0: 0, 1: 2 }
            keep_source: true
      """)
    let report = try sandbox.migrate()
    #expect(report.failure == nil)
    #expect(report.applied.first?.strategies == [.update])
    #expect(
      try sandbox.rows("SELECT DISTINCT isCompleted, status FROM reminders ORDER BY 1") == [
        [0, 0], [1, 2],
      ])
    #expect(
      try sandbox.rows("SELECT DISTINCT updatedAt FROM reminders") == [["2020-01-01T00:00:00.000Z"]]
    )
    #expect(try sandbox.rows("SELECT name FROM pragma_table_info('reminders')").last == ["status"])
  }
}

/// The full content of a database, except for the times in its ledger.
struct Dump: Equatable {
  let schema: [[Value]]
  let rows: [String: [[Value]]]

  init(_ connection: Connection) throws {
    schema = try connection.rows(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2")
    var rows: [String: [[Value]]] = [:]
    for table in try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") {
      let name = table[0].text ?? ""
      let columns = name == "schemactl_migrations" ? "id, position, fingerprint" : "*"
      rows[name] = try connection.rows("SELECT \(columns) FROM \"\(name)\"")
    }
    self.rows = rows
  }
}

import SchemaApply
import SchemaHistory
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Copied rows of a rewrite")
struct RowCopyTests {
  /// Tables that store their rows in different orders.
  enum Shape: String, CaseIterable, Sendable {
    case alias = "id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b)"
    case hidden = "a TEXT, b, oid)"
    case namedRowid = "rowid INTEGER PRIMARY KEY, oid, _rowid_, a, b)"
    case folded = "a TEXT COLLATE NOCASE PRIMARY KEY, b) WITHOUT ROWID"
    case typeless = "a, b, PRIMARY KEY (b, a)) WITHOUT ROWID"
    case mixed = "a, b, PRIMARY KEY (a DESC, b)) WITHOUT ROWID"
    /// The key distinguishes values that are equal in the column's own collation.
    case otherCollation =
      "a TEXT COLLATE NOCASE, b, PRIMARY KEY (a COLLATE BINARY)) WITHOUT ROWID"
  }

  private static let rows = 5_000

  /// Returns a table with texts, numbers, gaps between keys, and letters of both cases.
  private func filled(_ shape: Shape, rows: Int = rows) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (\(shape.rawValue)")
    try sandbox.migrate()
    let columns =
      switch shape {
      case .alias: "id, a, b"
      case .hidden, .namedRowid: "rowid, a, b"
      default: "a, b"
      }
    let number = "i * 7 - 9000 + (i > 2500) * 1000000"
    let isFolded = shape == .folded
    let text = "CASE i % 2 WHEN 0 THEN 'k' ELSE 'K' END || (i / \(isFolded ? 1 : 2))"
    let other = "CASE i % 3 WHEN 0 THEN i WHEN 1 THEN 'text ' || i ELSE CAST(i AS BLOB) END"
    let values = columns.hasPrefix("a") ? "\(text), \(other)" : "\(number), \(text), \(other)"
    try sandbox.run(
      """
      WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      INSERT INTO t (\(columns)) SELECT \(values) FROM n
      """)
    try sandbox.add(
      "0002_rebuild",
      """
      operations:
      - rebuild_table:
          table: t
          sql: "CREATE TABLE t (c DEFAULT 'new', \(shape.rawValue)"
      """)
    return sandbox
  }

  private func content(_ sandbox: Sandbox, _ shape: Shape) throws -> [[Value]] {
    let rowid = shape.rawValue.contains("WITHOUT ROWID") ? "1" : "rowid"
    return try sandbox.rows("SELECT \(rowid), a, b FROM t ORDER BY 1, hex(a), hex(b)")
  }

  @Test("all rows are copied, in any storage order", arguments: Shape.allCases)
  func arrives(shape: Shape) throws {
    let sandbox = try filled(shape)
    let before = try content(sandbox, shape)
    try #require(before.count == Self.rows)
    #expect(try sandbox.migrate().failure == nil)
    #expect(try content(sandbox, shape) == before)
    #expect(try sandbox.rows("SELECT count(*) FROM t WHERE c = 'new'") == [[.integer(5_000)]])
  }

  @Test("rows are counted during the copy", .thorough)
  func progress() throws {
    let sandbox = try filled(.alias, rows: 2_000_000)
    var reported: [(done: Int64, all: Int64)] = []
    let report = try sandbox.project().migrate(sandbox.options()) { event in
      if case .phase(let progress) = event, progress.phase == .copy, progress.done > 0 {
        reported.append((progress.done, progress.all ?? 0))
      }
    }
    #expect(report.failure == nil)
    #expect(!reported.isEmpty)
    #expect(reported.allSatisfy { $0.all == 2_000_000 && $0.done <= $0.all })
    #expect(zip(reported, reported.dropFirst()).allSatisfy { $0.done < $1.done })
  }

  @Test("rows that `where` does not select are not copied")
  func filtered() throws {
    let sandbox = try filled(.alias)
    try sandbox.add(
      "0002_rebuild",
      """
      operations:
      - rebuild_table:
          table: t
          columns: [{ name: id, type: INTEGER, primary_key: true }, { name: a, type: TEXT }]
          where: "id % 2 = 0 OR a = 'K0' -- and no more"
          rows_may_be_lost: true
      """)
    let kept = try sandbox.rows("SELECT id, a FROM t WHERE id % 2 = 0 OR a = 'K0' ORDER BY id")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT id, a FROM t ORDER BY id") == kept)
  }

  @Test("an interruption leaves the old rows")
  func interrupted() throws {
    let sandbox = try filled(.alias)
    let before = try content(sandbox, .alias)
    let interruption = Interruption()
    let report = try sandbox.project().migrate(
      sandbox.options(), interruption: interruption
    ) { event in
      if case .ran(let sql) = event, sql.contains("INSERT OR ABORT") { interruption.request() }
    }
    #expect(report.failure?.status == .interrupted)
    #expect(try content(sandbox, .alias) == before)
    #expect(try sandbox.rows("SELECT count(*) FROM pragma_table_info('t')") == [[.integer(3)]])
  }
}

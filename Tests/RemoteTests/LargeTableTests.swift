import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaRemote
import SchemaSQLText
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("Large tables on dqlite", .needsDqlite, .thorough, .serialized)
struct LargeTableTests {
  /// A cluster with a table `items` of this many rows.
  private func cluster(_ count: Int) throws -> (TestCluster, Sandbox) {
    let cluster = try TestCluster()
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create_items", "CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, n INTEGER)")
    let report = try sandbox.project().migrate(sandbox.options(), on: cluster.cluster())
    #expect(report.failure?.message == nil)
    let leader = try cluster.leader()
    for start in stride(from: 1, through: count, by: 10_000) {
      try leader.execute(
        "WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) "
          + "INSERT INTO items (id, title, n) SELECT i * 2, 'title ' || i, i FROM n",
        [.integer(Int64(start)), .integer(Int64(min(count, start + 9_999)))])
    }
    return (cluster, sandbox)
  }

  @Test("rows are changed in key ranges, and the leader stays the same")
  func ranges() throws {
    let (cluster, sandbox) = try cluster(200_000)
    try sandbox.add(
      "0002_change_items",
      """
      operations:
        - update: { table: items, set: { n: n + 1 }, all: true }
        - delete: { table: items, where: n % 1000 = 0 }
      """)
    let remote = try cluster.cluster()
    let node = try remote.leader().node
    let notes = try sandbox.project().plan(sandbox.options(), on: remote).notes
    #expect(notes.contains { $0.contains("key ranges") })
    let report = try sandbox.project().migrate(sandbox.options(), on: remote)
    #expect(report.failure?.message == nil)
    let rows = try cluster.leader().rows("SELECT count(*), sum(n) FROM items")
    let kept = (2...200_001).filter { !$0.isMultiple(of: 1000) }
    #expect(rows == [[.integer(Int64(kept.count)), .integer(Int64(kept.reduce(0, +)))]])
    #expect(try cluster.leader().node == node)
    #expect(cluster.hasAllNodes)
  }

  @Test("a statement that would block the leader is refused before anything is sent")
  func refuses() throws {
    let (cluster, sandbox) = try cluster(700_000)
    try sandbox.addSQL("0002_small", "CREATE TABLE small (a)")
    let remote = try cluster.cluster()
    let node = try remote.leader().node
    for sql in [
      "CREATE INDEX items_by_title ON items (title)",
      "UPDATE items SET n = (SELECT count(*) FROM items AS other WHERE other.n < 10)",
      "ALTER TABLE items DROP COLUMN n",
      "CREATE TABLE copy AS SELECT * FROM items",
    ] {
      try sandbox.addSQL("0003_large", sql)
      #expect("\(sql)") {
        _ = try sandbox.project().migrate(sandbox.options(), on: remote)
      } throws: { ($0 as? Failure)?.status == .invalidInput }
      #expect(try cluster.leader().node == node)
    }
    #expect(
      try cluster.leader().rows("SELECT id FROM schemactl_migrations") == [["0001_create_items"]])
    #expect(
      try cluster.leader().rows(
        "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
        == [["items"], ["schemactl_migrations"]])
    #expect(cluster.hasAllNodes)
  }
}

import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaRemote
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
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
      "CREATE TABLE copy AS SELECT a.* FROM items AS a JOIN items AS b USING (id) ORDER BY a.title",
      "ALTER TABLE items RENAME TO things; CREATE INDEX things_by_title ON things (title)",
      "CREATE TABLE one (a); INSERT INTO one SELECT value FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]'); "
        + "CREATE TRIGGER r AFTER UPDATE ON one BEGIN DELETE FROM items WHERE title = new.a; END; UPDATE one SET a = 2",
      "DROP TABLE items",
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

  @Test("a statement whose ranges would differ from the whole runs as one statement")
  func undivided() throws {
    let (cluster, sandbox) = try cluster(6_000)
    let remote = try cluster.cluster()
    func isDivided(_ sql: String) throws -> Bool {
      try sandbox.addSQL("0002_change", sql)
      let report = try sandbox.project().plan(sandbox.options(), on: remote)
      #expect(report.failure?.message == nil, "\(sql)")
      return report.notes.contains { $0.contains("key ranges") }
    }
    #expect(try isDivided("UPDATE items SET n = n + 1"))
    for sql in [
      "CREATE TRIGGER r AFTER UPDATE ON items BEGIN SELECT 1; END; UPDATE items SET n = n + 1; DROP TRIGGER r",
      "UPDATE items SET n = random()", "UPDATE items SET title = CURRENT_TIMESTAMP",
      "UPDATE items SET n = last_insert_rowid()", "DELETE FROM items WHERE changes() > 0",
      "UPDATE items SET title = datetime('now')",
    ] {
      #expect(try !isDivided(sql), "\(sql)")
    }
  }

  @Test("a table that a migration fills has the size of the table whose rows it receives")
  func filled() throws {
    let (cluster, sandbox) = try cluster(60_000)
    try sandbox.addSQL(
      "0002_copy",
      "CREATE TABLE copy (id INTEGER PRIMARY KEY, title TEXT, n INTEGER)")
    let remote = try cluster.cluster()
    #expect(try sandbox.project().migrate(sandbox.options(), on: remote).failure == nil)
    try sandbox.addSQL(
      "0003_fill",
      "INSERT INTO copy SELECT * FROM items;\n"
        + "CREATE TRIGGER r AFTER UPDATE ON copy BEGIN SELECT count(*) FROM items WHERE n = new.n; END;\n"
        + "UPDATE copy SET n = n + 1 WHERE id = 2;\nDROP TRIGGER r;\n"
        + "UPDATE copy SET n = n + 1;")
    let report = try sandbox.project().plan(sandbox.options(), on: remote)
    #expect(report.failure?.message == nil)
    #expect(report.notes.contains { $0.contains("rows of `copy` in key ranges") })
    #expect(try sandbox.project().migrate(sandbox.options(), on: remote).failure?.message == nil)
    let sum: Int64 = 60_000 * 60_001 / 2 + 60_000 + 1
    #expect(
      try remote.leader().rows("SELECT count(*), sum(n) FROM copy") == [[60_000, .integer(sum)]])
  }

  @Test("statements on few rows of large tables run")
  func fewRows() throws {
    let (cluster, sandbox) = try cluster(20_000)
    let leader = try cluster.leader()
    try sandbox.addSQL(
      "0002_documents",
      "CREATE TABLE documents (name TEXT PRIMARY KEY, data, size INTEGER) WITHOUT ROWID;\n"
        + "CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT UNIQUE, n);")
    let remote = try cluster.cluster()
    #expect(try sandbox.project().migrate(sandbox.options(), on: remote).failure == nil)
    for round in 0..<10 {
      try leader.execute(
        "WITH n (i) AS (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) "
          + "INSERT INTO documents SELECT '\(round)' || i, zeroblob(100000), i FROM n")
    }
    try leader.execute("INSERT INTO lists SELECT id, title, n FROM items")
    let node = try remote.leader().node
    for (index, sql) in [
      "UPDATE documents SET data = 1 WHERE name = '01'",
      "DELETE FROM documents WHERE name IN (SELECT '02')",
      "CREATE TABLE names AS SELECT name FROM documents WHERE size = 1",
      "CREATE INDEX documents_by_size ON documents (size)",
      "ALTER TABLE items ADD COLUMN checked INTEGER CHECK (checked > 0)",
      "UPDATE items SET n = (SELECT n FROM lists WHERE lists.id = items.id)",
      "UPDATE items SET n = (SELECT n FROM lists WHERE lists.name = items.title)",
    ].enumerated() {
      try sandbox.addSQL("000\(index + 3)_change", sql)
      let report = try sandbox.project().migrate(sandbox.options(), on: remote)
      #expect(report.failure?.message == nil, "\(sql)")
    }
    #expect(try remote.leader().node == node)
    #expect(try remote.leader().rows("SELECT count(*) FROM documents") == [[99]])
    let copy = try ClusterCopy(of: remote, for: sandbox.project())
    #expect(try sandbox.project().verify(copy.readable).status == .success)
  }

  @Test("key ranges cover rowids at both ends, and skip the names of rowids that columns hide")
  func rowids() throws {
    let (cluster, sandbox) = try cluster(6_000)
    let leader = try cluster.leader()
    try leader.execute("INSERT INTO items (id, n) VALUES (-9223372036854775808, 0)")
    try leader.execute("INSERT INTO items (id, n) VALUES (9223372036854775807, 0)")
    try sandbox.addSQL(
      "0002_change",
      "ALTER TABLE items ADD COLUMN rowid TEXT;\nUPDATE items SET n = -1, rowid = 'a';")
    let remote = try cluster.cluster()
    let report = try sandbox.project().migrate(sandbox.options(), on: remote)
    #expect(report.failure?.message == nil)
    #expect(
      try remote.leader().rows("SELECT count(*), sum(n), sum(rowid = 'a') FROM items")
        == [[6_002, -6_002, 6_002]])
  }

  @Test(
    "changes at many places of large indexes count as pages",
    arguments: [
      "INSERT INTO keys SELECT hex(randomblob(64)), n FROM items WHERE n <= 5000",
      "UPDATE keys SET id = id || 'x' WHERE n <= 100",
    ])
  func scattered(_ sql: String) throws {
    let (cluster, sandbox) = try cluster(6_000)
    try sandbox.addSQL(
      "0002_keys", "CREATE TABLE keys (id TEXT PRIMARY KEY, n INTEGER)")
    let remote = try cluster.cluster()
    #expect(try sandbox.project().migrate(sandbox.options(), on: remote).failure == nil)
    for _ in 0..<50 {
      try remote.leader().execute(
        "INSERT INTO keys SELECT hex(randomblob(64)), n FROM items WHERE n <= 1500")
    }
    try sandbox.addSQL("0003_change", sql)
    let node = try remote.leader().node
    let failure = try sandbox.project().migrate(sandbox.options(), on: remote).failure
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains("COMMIT of more than 8 MB") == true)
    #expect(try remote.leader().node == node)
    try sandbox.addSQL(
      "0003_change", "INSERT INTO keys SELECT hex(randomblob(16)), n FROM items WHERE n <= 500")
    #expect(try sandbox.project().migrate(sandbox.options(), on: remote).failure?.message == nil)
  }

  @Test("a slow assertion is refused before anything is sent")
  func slowAssertion() throws {
    let (cluster, sandbox) = try cluster(6_000)
    try sandbox.add(
      "0002_change",
      """
      before:
        - { query: "SELECT count(*) FROM items a, items b WHERE a.n + b.n = 0", equals: 0 }
      operations:
        - sql: CREATE TABLE other (a)
      """)
    let remote = try cluster.cluster()
    #expect {
      _ = try sandbox.project().migrate(sandbox.options(), on: remote)
    } throws: { ($0 as? Failure)?.message.contains("by its time with the first rows") ?? false }
    try sandbox.add(
      "0002_change",
      """
      before:
        - { query: "SELECT count(*) FROM items WHERE n IS NULL", equals: 0 }
      operations:
        - sql: CREATE TABLE other (a)
      """)
    let report = try sandbox.project().migrate(sandbox.options(), on: remote)
    #expect(report.failure?.message == nil)
  }

  @Test(
    "a COMMIT of more than 8 MB is refused, and the leader stays the same",
    arguments: [
      "CREATE TABLE files (data); INSERT INTO files VALUES (zeroblob(9000000))",
      "CREATE TABLE files AS SELECT zeroblob(9000000) AS data",
      "UPDATE documents SET data = zeroblob(100001)",
      "UPDATE documents SET data = zeroblob(100001) WHERE id < 1000",
      "REPLACE INTO documents SELECT id, zeroblob(100001) FROM documents",
      "DELETE FROM documents WHERE id < 1000",
      "CREATE TABLE one (a); INSERT INTO one VALUES (1); CREATE TRIGGER r AFTER UPDATE ON one BEGIN "
        + "UPDATE documents SET data = zeroblob(100001); END; UPDATE one SET a = 2",
      "DROP TABLE documents",
    ])
  func largeCommit(_ sql: String) throws {
    let (cluster, sandbox) = try cluster(1)
    let leader = try cluster.leader()
    try sandbox.addSQL("0002_documents", "CREATE TABLE documents (id INTEGER PRIMARY KEY, data)")
    let remote = try cluster.cluster()
    #expect(try sandbox.project().migrate(sandbox.options(), on: remote).failure == nil)
    for _ in 0..<10 {
      try leader.execute(
        "WITH n (i) AS (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) "
          + "INSERT INTO documents (data) SELECT zeroblob(100000) FROM n")
    }
    try sandbox.addSQL("0003_change", sql)
    let node = try remote.leader().node
    let failure: Failure?
    do {
      failure = try sandbox.project().migrate(sandbox.options(), on: remote).failure
    } catch {
      failure = error as? Failure
    }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains("COMMIT of more than 8 MB") == true)
    #expect(try remote.leader().node == node)
    #expect(try remote.leader().rows("SELECT count(*) FROM schemactl_migrations") == [[2]])
  }
}

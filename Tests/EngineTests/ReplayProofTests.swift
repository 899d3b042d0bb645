import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaReplay
import SchemaTestSupport
import Testing

@Suite("Replay proof")
struct ReplayProofTests {
  /// Returns a history of three releases with one migration each, and a draft.
  private func released(_ sql: String...) throws -> Sandbox {
    let sandbox = try Sandbox()
    for (index, text) in sql.enumerated() {
      try sandbox.addSQL("000\(index + 1)_step", text)
      if index < 3 { try sandbox.freeze(release: "1.\(index)") }
    }
    return sandbox
  }

  private func ways(_ proof: ReplayProof) -> [String] {
    proof.paths.map { "\($0.from.inWords) to \($0.through.inWords)" }
  }

  @Test(
    "the schema is the same from each release to the next and from the last to the end")
  func proven() throws {
    let sandbox = try released(
      "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO a DEFAULT VALUES",
      "CREATE VIEW v AS SELECT id FROM a",
      "CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO words VALUES ('one')",
      "ALTER TABLE a ADD COLUMN name TEXT; CREATE INDEX a_name ON a (name)")
    let proof = try sandbox.project().proof()
    #expect(proof.status == .success)
    #expect(proof.migrations == 4)
    #expect(
      ways(proof) == [
        "release 1.0 to release 1.1", "release 1.1 to release 1.2", "release 1.2 to `0004_step`",
      ])
  }

  @Test(
    "an assertion that fails on a new database is a failure", arguments: [(1, 0), (2, 1)])
  func assertion(expected: Int, failures: Int) throws {
    let sandbox = try released("CREATE TABLE a (id); INSERT INTO a VALUES (1)")
    _ = try sandbox.add(
      "0002_b",
      """
      operations:
      - sql: CREATE TABLE b (id)
      after:
      - { query: SELECT count(*) FROM a, equals: \(expected), message: Rows are missing }
      """)
    let proof = try sandbox.project().proof()
    #expect(proof.status == (failures == 0 ? .success : .migrationFailed))
    #expect(
      proof.failure?.message == (failures == 0 ? nil : "Rows are missing: expected 2, found 1"))
  }

  @Test("with every pair, each release continues to all later ones")
  func everyPair() throws {
    let proof = try released(
      "CREATE TABLE a (id)", "CREATE TABLE b (id)", "CREATE TABLE c (id)", "CREATE TABLE d (id)"
    ).project().proof(everyPair: true)
    #expect(proof.status == .success)
    #expect(
      ways(proof) == [
        "release 1.0 to release 1.1", "release 1.0 to release 1.2", "release 1.1 to release 1.2",
        "release 1.0 to `0004_step`", "release 1.1 to `0004_step`", "release 1.2 to `0004_step`",
      ])
  }

  @Test("without a release there is nothing to compare", arguments: [false, true])
  func nothingBetween(isFrozen: Bool) throws {
    let sandbox = try Sandbox().addSQL("0001_a", "CREATE TABLE a (id)")
    if isFrozen { try sandbox.freeze() }
    let proof = try sandbox.project().proof()
    #expect(proof.status == .success)
    #expect(proof.paths.isEmpty)
  }

  @Test("a freeze without a release is named by its last migration")
  func unnamed() throws {
    let sandbox = try Sandbox().addSQL("0001_a", "CREATE TABLE a (id)")
    try sandbox.freeze(release: nil)
    try sandbox.addSQL("0002_b", "CREATE TABLE b (id)")
    #expect(ways(try sandbox.project().proof()) == ["`0001_a` to `0002_b`"])
  }

  @Test("a migration that depends on state of the older connection fails and is named")
  func connectionState() throws {
    let sandbox = try released(
      "CREATE TABLE a (id INTEGER PRIMARY KEY CHECK (id > 0))", "INSERT INTO a VALUES (5)",
      "CREATE TABLE c (id)", "DELETE FROM a; INSERT INTO a SELECT last_insert_rowid()")
    let proof = try sandbox.project().proof()
    #expect(proof.status == .migrationFailed)
    #expect(proof.failure == nil)
    let path = try #require(proof.paths.last)
    #expect(proof.paths.filter { !$0.isProven }.count == 1)
    #expect(
      path.inWords == "cannot migrate a database created at release 1.2 to `0004_step`: "
        + "CHECK constraint failed: id > 0")
    #expect(path.failure?.migration?.id == "0004_step")
    // In the path from 1.0, the connection itself inserts the row. With every pair, each path continues to
    // the end.
    let pairs = try sandbox.project().proof(everyPair: true)
    #expect(pairs.paths.filter { !$0.isProven }.map(\.from.release) == ["1.1", "1.2"])
  }

  /// Checks a history whose third migration changes `a` only if the connection has inserted a row.
  private func reshaping(_ sql: String) throws -> ReplayProof {
    try released(
      "CREATE TABLE a (id INTEGER PRIMARY KEY, name)", "INSERT INTO a VALUES (5, 'x')",
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = '\(sql)' WHERE name = 'a' AND last_insert_rowid() > 0
      """
    ).project().proof()
  }

  @Test("a different schema is a finding with the difference")
  func otherSchema() throws {
    let proof = try reshaping("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT)")
    #expect(proof.status == .finding)
    let path = try #require(proof.paths.last)
    #expect(path.changes.map(\.object) == ["a.name"])
    #expect(
      path.inWords.hasPrefix(
        "a database created at release 1.1 and migrated to release 1.2 has another schema"))
  }

  @Test("a different spelling is a difference, too")
  func spelling() throws {
    let proof = try reshaping("CREATE TABLE a (id INTEGER PRIMARY KEY, \"name\")")
    #expect(proof.status == .finding)
    let path = try #require(proof.paths.last)
    #expect(path.changes.isEmpty)
    #expect(path.inWords.hasSuffix("a statement is spelt differently"))
  }

  @Test("temporary objects end with their migration on every path")
  func temporary() throws {
    let proof = try released(
      "CREATE TABLE a (id, name)", "CREATE TEMP TABLE a (id)",
      "CREATE TABLE copy AS SELECT * FROM a", "CREATE INDEX copy_name ON copy (name)"
    ).project().proof(everyPair: true)
    #expect(proof.status == .success)
  }

  @Test("a failing history is tested up to its failure")
  func failing() throws {
    let sandbox = try released("CREATE TABLE a (id)", "CREATE TABLE b (id)")
    try sandbox.addSQL("0003_c", "CREATE TABLE c (id)")
    try sandbox.addSQL("0004_twice", "CREATE TABLE a (id)")
    let proof = try sandbox.project().proof(everyPair: true)
    #expect(proof.status == .migrationFailed)
    #expect(proof.failure?.migration?.id == "0004_twice")
    #expect(proof.migrations == 3)
    #expect(
      ways(proof) == [
        "release 1.0 to release 1.1", "release 1.0 to `0003_c`", "release 1.1 to `0003_c`",
      ])
    #expect(!proof.paths.contains { !$0.isProven })
  }
}

extension Project {
  fileprivate func proof(everyPair: Bool = false) throws -> ReplayProof {
    var history = VerifyReport(comparing: self)
    return try proveReplay(noting: &history, everyPair: everyPair)
  }
}

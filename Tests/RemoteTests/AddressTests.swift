import SchemaHistory
import SchemaRemote
import SchemaSQLText
import Testing

@Suite("Addresses of clusters")
struct AddressTests {
  @Test("an address contains nodes and a database")
  func parts() throws {
    let address = try #require(
      try ClusterAddress("dqlite://a:9001,[::1]:9002,10.0.0.3:9003/app.db"))
    #expect(address.nodes == ["a:9001", "[::1]:9002", "10.0.0.3:9003"])
    #expect(address.database == "app.db")
  }

  @Test("the scheme is read in any case of letters")
  func scheme() throws {
    #expect(try ClusterAddress("DQLITE://a:9001/App.db")?.database == "App.db")
  }

  @Test("the path of a file is not an address")
  func file() throws {
    #expect(try ClusterAddress("app.sqlite") == nil)
  }

  @Test(
    "an incomplete address is a usage error",
    arguments: [
      "dqlite://", "dqlite://a:9001", "dqlite://a:9001/", "dqlite://a/app.db", "dqlite://:1/app.db",
      "dqlite://a:9001,/app.db", "dqlite://a:99999/app.db",
    ])
  func incomplete(_ text: String) {
    #expect { _ = try ClusterAddress(text) } throws: { ($0 as? Failure)?.status == .usage }
  }
}

@Test(
  "a name that a node cannot open, or that crashes it, is a usage error",
  arguments: [
    ":memory:", "file:x.db", "app.db-wal", "app.db-journal", ".",
    String(repeating: "a", count: 300),
  ])
func unusableName(_ name: String) {
  #expect { _ = try ClusterAddress("dqlite://a:9001/" + name) } throws: {
    ($0 as? Failure)?.status == .usage
  }
}

@Suite("Division of statements into key ranges")
struct DividedStatementTests {
  @Test(
    "a change that depends only on the row itself is divided",
    arguments: [
      ("UPDATE main.\"t\" SET a = 1", "UPDATE main.\"t\" SET a = 1\nWHERE rowid BETWEEN ?1 AND ?2"),
      (
        "update or abort t set a = b + 1, c = 2 where b > 1 or c;",
        "update or abort t set a = b + 1, c = 2\nWHERE (b > 1 or c\n) AND rowid BETWEEN ?1 AND ?2"
      ),
      (
        "UPDATE t SET d = strftime('%Y', created), e = date(coalesce(created, 0))",
        "UPDATE t SET d = strftime('%Y', created), e = date(coalesce(created, 0))\nWHERE rowid BETWEEN ?1 AND ?2"
      ),
      (
        "UPDATE t SET e = unixepoch(created, 'subsec'), f = date('2026-01-01', '+1 day')",
        "UPDATE t SET e = unixepoch(created, 'subsec'), f = date('2026-01-01', '+1 day')\nWHERE rowid BETWEEN ?1 AND ?2"
      ),
      (
        "DELETE FROM t WHERE a IN (1, 2) -- old",
        "DELETE FROM t\nWHERE (a IN (1, 2)\n) AND rowid BETWEEN ?1 AND ?2"
      ),
    ])
  func divided(_ sql: String, _ ranged: String) throws {
    #expect(try #require(DividedStatement(sql)).ranged(by: "rowid") == ranged)
  }

  @Test(
    "other statements are not divided",
    arguments: [
      "UPDATE t SET a = (SELECT max(a) FROM t)", "UPDATE t SET a = u.a FROM u",
      "DELETE FROM t WHERE a IN (SELECT a FROM u)", "DELETE FROM t WHERE a IN u",
      "UPDATE t SET (a, b) = (1, 2)", "UPDATE t AS x SET a = 1", "DELETE FROM t LIMIT 5",
      "WITH x AS (VALUES (1)) DELETE FROM t", "INSERT INTO t SELECT * FROM u", "SELECT 1",
      "UPDATE other.t SET a = 1", "DELETE FROM t RETURNING a",
      "UPDATE t SET a = datetime('now')", "UPDATE t SET a = date()",
      "UPDATE t SET a = strftime('%s'), b = c", "DELETE FROM t WHERE julianday(\"Now\") > a",
      "UPDATE t SET a = \"datetime\"('NOW', b)",
      "UPDATE t SET a = unixepoch(coalesce(b, 'subsec'))", "UPDATE t SET a = timediff(b, 'now')",
    ])
  func other(_ sql: String) {
    #expect(DividedStatement(sql) == nil)
  }
}

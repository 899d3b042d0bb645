import SchemaModel
import SchemaSQLite
import Testing

/// Two spellings of one SELECT.
struct Spellings: CustomTestStringConvertible {
  let first: String
  let second: String

  init(_ first: String, _ second: String) {
    self.first = first
    self.second = second
  }

  var testDescription: String { "\(first) / \(second)" }
}

@Suite("Names of a view's columns")
struct ResultNameTests {
  private static let tables = "CREATE TABLE t (a, b); CREATE TABLE u (a, c);"

  private func schema(_ select: String) throws -> (Schema, names: [Value]) {
    let connection = try Connection(path: nil)
    try connection.execute(Self.tables + "CREATE VIEW v AS " + select)
    let names = try connection.rows("SELECT name FROM pragma_table_xinfo('v')").map { $0[0] }
    return (try Schema(of: connection), names)
  }

  @Test(
    "they are compared as in SQLite, and are part of the fingerprint",
    arguments: [
      Spellings("SELECT a+b FROM t", "SELECT a + b FROM t"),
      Spellings("SELECT a+b FROM t", "SELECT a/**/+b FROM t"),
      Spellings("SELECT a+b FROM t", "SELECT  a+b\n  FROM  t -- sum"),
      Spellings("SELECT a+b AS s FROM t", "SELECT a + b AS s FROM t"),
      Spellings("SELECT a+b s FROM t", "SELECT a + b s FROM t"),
      Spellings("SELECT a+b 's' FROM t", "SELECT a + b 's' FROM t"),
      Spellings("SELECT a, b FROM t", "select a,b from t"),
      Spellings("SELECT (a), t.b FROM t", "SELECT ( a ), t . b FROM t"),
      Spellings("SELECT a COLLATE nocase FROM t", "SELECT a  COLLATE  nocase FROM t"),
      Spellings("SELECT (a+b) FROM t", "SELECT ( a+b ) FROM t"),
      Spellings("SELECT count(*) FROM t", "SELECT count( * ) FROM t"),
      Spellings("SELECT count(*) n FROM t", "SELECT count( * ) n FROM t"),
      Spellings("SELECT a IS NULL FROM t", "SELECT a is null FROM t"),
      Spellings(
        "SELECT CASE a WHEN 1 THEN 2 END FROM t", "SELECT CASE a WHEN 1  THEN 2 END FROM t"),
      Spellings(
        "SELECT CASE a WHEN 1 THEN 2 END x FROM t", "SELECT CASE a WHEN 1  THEN 2 END x FROM t"),
      Spellings("SELECT a LIKE b FROM t", "SELECT a  LIKE b FROM t"),
      Spellings(
        "SELECT a IS NOT DISTINCT FROM b FROM t", "SELECT a IS NOT DISTINCT FROM  b FROM t"),
      Spellings("SELECT CAST(a AS TEXT) FROM t", "SELECT CAST( a AS TEXT ) FROM t"),
      Spellings("SELECT -1, - a FROM t", "SELECT - 1, - a FROM t"),
      Spellings("SELECT * FROM t", "SELECT  *  FROM t"),
      Spellings("SELECT * FROM (SELECT a+b FROM t)", "SELECT * FROM (SELECT a + b FROM t)"),
      Spellings(
        "SELECT * FROM u JOIN (SELECT a+b FROM t)", "SELECT * FROM u JOIN (SELECT a +b FROM t)"),
      Spellings(
        "WITH q AS (SELECT a+b FROM t) SELECT * FROM q",
        "WITH q AS (SELECT a + b FROM t) SELECT * FROM q"),
      Spellings(
        "WITH q (x) AS (SELECT a+b FROM t) SELECT * FROM q",
        "WITH q (x) AS (SELECT a + b FROM t) SELECT * FROM q"),
      Spellings("SELECT (SELECT max(a) FROM u) FROM t", "SELECT (SELECT max( a ) FROM u) FROM t"),
      Spellings(
        "SELECT (SELECT max(a) FROM u) AS m FROM t", "SELECT (SELECT max( a ) FROM u) AS m FROM t"),
      Spellings(
        "SELECT a FROM t WHERE a IN (SELECT a+1 FROM u)",
        "SELECT a FROM t WHERE a IN (SELECT a + 1 FROM u)"),
      Spellings(
        "SELECT a+b FROM t UNION SELECT a FROM u", "SELECT a + b FROM t UNION SELECT a FROM u"),
      Spellings(
        "SELECT a FROM t UNION SELECT a+c FROM u", "SELECT a FROM t UNION SELECT a + c FROM u"),
      Spellings("SELECT a FROM t ORDER BY a+b", "SELECT a FROM t ORDER BY a + b"),
      Spellings("SELECT DISTINCT a+b FROM t", "SELECT DISTINCT a + b FROM t"),
      Spellings("VALUES (1+2)", "VALUES (1 + 2)"),
      Spellings(
        "SELECT sum(a) OVER (ORDER BY b) FROM t", "SELECT sum(a) OVER ( ORDER BY b ) FROM t"),
      Spellings(
        "SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY b)",
        "SELECT sum(a) OVER  w FROM t WINDOW w AS (ORDER BY b)"),
    ])
  func names(_ spellings: Spellings) throws {
    let (first, names) = try schema(spellings.first)
    let (second, others) = try schema(spellings.second)
    #expect(compareSchemas(expected: first, actual: second).isEmpty == (names == others))
    #expect((first.fingerprint() == second.fingerprint()) == (names == others))
  }

  @Test("they do not depend on expressions if the view lists its columns")
  func listed() throws {
    let connection = try Connection(path: nil)
    try connection.execute(Self.tables + "CREATE VIEW v (x) AS SELECT a+b FROM t")
    let first = try Schema(of: connection)
    try connection.execute("DROP VIEW v; CREATE VIEW v (x) AS SELECT a + b FROM t")
    #expect(compareSchemas(expected: first, actual: try Schema(of: connection)).isEmpty)
    #expect(try Schema(of: connection).fingerprint() == first.fingerprint())
  }

  @Test("they are known for a view that cannot be compiled")
  func broken() throws {
    func schema(_ select: String) throws -> Schema {
      let connection = try Connection(path: nil)
      try connection.execute("CREATE VIEW v AS " + select)
      return try Schema(of: connection)
    }
    let (first, second) = (try schema("SELECT a+b FROM gone"), try schema("SELECT a + b FROM gone"))
    #expect(
      compareSchemas(expected: first, actual: second).map(\.sentence)
        == ["the spelling of `v.a+b` differs: expected `a+b`, found `a + b`"])
    #expect(first.fingerprint() != second.fingerprint())
  }
}

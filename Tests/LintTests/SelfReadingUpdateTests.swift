import SchemaLint
import SchemaTimeline
import Testing

@Suite("self-reading-update")
struct SelfReadingUpdateTests {
  /// The lines of the manifest with a finding of the rule.
  private func found(_ operations: String, _ profile: Profile = .local) throws -> [Int] {
    let base = sql(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, position INTEGER, rank INTEGER, up INTEGER);
      CREATE TABLE other (id INTEGER PRIMARY KEY, position INTEGER);
      CREATE VIEW v AS SELECT position AS p, id FROM t;
      """)
    return try lint([base, "operations:\n\(operations)\n"], profile).findings
      .filter { $0.rule == "self-reading-update" }
      .map { finding in
        #expect(finding.severity == .warning)
        return finding.line
      }
  }

  @Test(
    "an UPDATE that reads rows which it changes is a warning under every profile",
    arguments: Profile.allCases,
    [
      "- update: { table: t, all: true, "
        + "set: { position: (SELECT count(*) FROM t AS x WHERE x.position < t.position) } }",
      "- update: { table: T, all: true, set: { position: (SELECT count(*) FROM v WHERE p < position) } }",
      "- update: { table: t, set: { position: 1 }, "
        + "where: 'EXISTS (SELECT 1 FROM [t] AS c WHERE c.up = t.id AND c.position = 2)' }",
      "- sql: UPDATE OR IGNORE \"t\" AS o SET up = 1, position = 1 + "
        + "(SELECT i.position FROM main.t i WHERE i.id = o.up) WHERE up > 0",
      "- sql: UPDATE t SET rank = up IS NOT DISTINCT FROM 1, position = "
        + "(SELECT count(*) FROM t AS x WHERE x.position < t.position) WHERE id > 0",
      "- sql: UPDATE t SET position = (SELECT count(*) FROM t AS x WHERE x.position < t.position) "
        + "WHERE id IN (SELECT id FROM other)",
      "- sql: UPDATE t SET (rank, up) = (SELECT 1, 2), position = (SELECT count(*) FROM t AS x "
        + "WHERE x.position < t.position) WHERE id > 0",
    ])
  func warned(profile: Profile, operation: String) throws {
    #expect(try found(operation, profile) == [2])
  }

  @Test(
    "an UPDATE that does not depend on the order of the rows is no finding",
    arguments: [
      "- update: { table: t, all: true, set: { position: position + 1 } }",
      "- update: { table: t, all: true, "
        + "set: { rank: (SELECT count(*) FROM t AS x WHERE x.position < t.position) } }",
      "- update: { table: t, all: true, set: { position: position - (SELECT min(position) FROM t) } }",
      "- update: { table: t, all: true, "
        + "set: { position: (SELECT o.position FROM other o WHERE o.id = t.id) } }",
      "- update: { table: t, set: { position: 0 }, where: id IN (SELECT id FROM v) }",
      "- sql: UPDATE t SET position = (SELECT o.position FROM other o WHERE o.id = t.id) "
        + "WHERE id IN (SELECT id FROM t WHERE position IS NULL LIMIT 500)",
      "- sql: UPDATE t SET position = n.c FROM (SELECT a.id, count(*) AS c FROM t a "
        + "JOIN t b ON b.position < a.position GROUP BY 1) AS n WHERE n.id = t.id",
    ])
  func silent(operation: String) throws {
    #expect(try found(operation).isEmpty)
  }
}

import ManifestFormat
import Migrating
import Planning
import SQLite
import SchemaModel
import TestSupport
import Testing

/// A plan of ours with one statement changed, as a mistake in the planner would change it.
struct Fault: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let from: String
  let to: String
  /// What the proof says of it.
  let found: String

  init(_ description: String, _ from: String, _ to: String, _ found: String) {
    testDescription = description
    self.from = from
    self.to = to
    self.found = found
  }
}

@Suite("a rebuild that copies wrongly is found out, with the rows and the columns")
struct FaultyCopyTests {
  private func plan(_ operation: String, on connection: Connection) throws -> OperationPlan {
    let manifest = try decodeManifest(
      Array("operations: [{ \(operation) }]".utf8), file: "0001_plan.yaml")
    return try Planner(connection: connection, application: Application())
      .plan(try #require(manifest.operations.first))
  }

  /// Runs the plan with every `fault.from` in it replaced.
  ///
  /// - Returns: what the plan's own proof says; nil when it is content.
  private func damage(_ plan: OperationPlan, _ fault: Fault, on connection: Connection) throws
    -> String?
  {
    let proof = try #require(plan.proofs.first)
    let before = try RowChecksums(of: proof.before, on: connection)
    var isFaulty = fault.from.isEmpty
    for step in plan.steps {
      switch step {
      case .statement(let sql, _): try connection.execute(sql)
      case .copy(let copy):
        var sql = copy.statement
        if copy.direction == .back, !fault.from.isEmpty, sql.contains(fault.from) {
          sql = sql.replacing(fault.from, with: fault.to)
          isFaulty = true
        }
        try connection.execute(sql)
      default: continue
      }
    }
    #expect(isFaulty, "the plan has no \(fault.from)")
    return before.damage(
      seenIn: try RowChecksums(of: proof.after, on: connection), proof)
  }

  private let create = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b, n);
    INSERT INTO t VALUES (1, 'x', 1, NULL), (2, 'Y', '1', 2.0), (7, 'y', x'31', 3);
    """

  @Test(
    "where a key tells rows apart",
    arguments: [
      Fault("nothing is wrong", "", "", ""),
      Fault(
        "a row is left out", "ORDER BY rowid", "WHERE c0 <> 2", "t had 3 rows and came to have 2"),
      Fault(
        "two columns are exchanged", "SELECT c0, c1, c2, c3", "SELECT c0, c2, c1, c3", "t.a, t.b"),
      Fault("two rows exchange their keys", "SELECT c0,", "SELECT 8 - c0 + (c0 = 2) * -4,", "t.a"),
      Fault("keys are counted anew", "SELECT c0,", "SELECT rowid,", "t.a"),
      Fault("a text changes its case", "c1, c2", "lower(c1), c2", "t.a"),
      Fault("a number becomes a text", "c2, c3", "CAST(c2 AS TEXT), c3", "t.b"),
      Fault("a fraction becomes an integer", "c2, c3", "c2, CAST(c3 AS INTEGER)", "t.n"),
      Fault("NULL becomes 0", "c2, c3", "c2, ifnull(c3, 0)", "t.n"),
      Fault("a value is NULL in every row", "c2, c3", "NULL, c3", "t.b"),
    ])
  func keyed(fault: Fault) throws {
    let connection = try Connection(path: nil)
    try connection.execute(create)
    let plan = try plan(
      "rebuild_table: { table: t, sql: \"CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b, n)\" }",
      on: connection)
    let damage = try damage(plan, fault, on: connection)
    #expect(
      fault.found.isEmpty ? damage == nil : damage?.contains(fault.found) == true, "\(damage ?? "")"
    )
  }

  @Test(
    "where only the rowid tells rows apart, or only the key of a table without one",
    arguments: [
      (
        "CREATE TABLE t (a, b)",
        Fault("rows exchange their rowids", "SELECT c0,", "SELECT 4 - c0,", "t.a, t.b")
      ),
      (
        "CREATE TABLE t (a, b)",
        Fault(
          "a row comes twice", "ORDER BY rowid",
          "UNION ALL SELECT 9, c1, c2 FROM temp.schemactl_copy WHERE c0 = 1",
          "had 3 rows and came to have 4")
      ),
      (
        "CREATE TABLE t (a, b, PRIMARY KEY (a)) WITHOUT ROWID",
        Fault(
          "values change places", "c1 FROM",
          "CASE c1 WHEN 'x' THEN 'z' WHEN 'z' THEN 'x' ELSE c1 END FROM", "t.b")
      ),
      (
        "CREATE TABLE t (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID",
        Fault("a part of the key changes", "c1 FROM", "c1 || c1 FROM", "t.a, t.b")
      ),
    ])
  func otherwiseKeyed(create: String, fault: Fault) throws {
    let connection = try Connection(path: nil)
    try connection.execute("\(create); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    let plan = try plan("rebuild_table: { table: t, sql: \"\(create)\" }", on: connection)
    let damage = try damage(plan, fault, on: connection)
    #expect(damage?.contains(fault.found) == true, "\(damage ?? "")")
  }
}

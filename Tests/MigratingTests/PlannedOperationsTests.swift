import ManifestFormat
import Planning
import SQLite
import TestSupport
import Testing

/// What a plan follows from, and where it is taken instead of being found again.
@Suite("A plan that was found elsewhere")
struct PlannedOperationsTests {
  static let schema = "CREATE TABLE t (a, b, c); CREATE INDEX by_c ON t (c);"

  private func database(_ sql: String) throws -> Connection {
    let connection = try Connection(path: nil)
    try connection.execute(sql)
    return connection
  }

  /// Planned as a rebuild: elsewhere nobody asks for that, so that its plan tells where it is from.
  private func rebuild(_ operations: [Operation]) throws -> PlannedOperations {
    var application = Application()
    application.forcedStrategy = .rebuild
    return try Planner(connection: try database(Self.schema), application: application)
      .plan(operations[...])
  }

  private func operations() throws -> [Operation] {
    let yaml = """
      operations:
        - drop_column: { table: t, column: a }
        - insert: { table: t, rows: [{ b: 1 }] }
        - drop_column: { table: t, column: b }
      """
    return try decodeManifest(Array(yaml.utf8), file: "m.yaml").operations
  }

  @Test(
    "is taken where the schema is the same, wherever it is stored and where the ledger stands",
    arguments: [
      "", "CREATE TABLE other (x); DROP TABLE other;", "CREATE TABLE schemactl_migrations (id);",
    ])
  func taken(before: String) throws {
    let operations = try operations()
    let known = try rebuild(operations)
    let planner = Planner(
      connection: try database(before + Self.schema), application: Application())
    #expect(try planner.plan(operations[...]).plans.map(\.strategy) == [.native])
    #expect(try planner.plan(operations[...], knowing: [known]).plans.map(\.strategy) == [.rebuild])
  }

  @Test(
    "is not taken where anything is different",
    arguments: [
      schema + "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END",
      schema + "ANALYZE",
      "CREATE TABLE t (a, b, C); CREATE INDEX by_c ON t (c);",
      "CREATE TABLE t (a, b, c);",
      "CREATE TABLE schemactl_migrations (id);" + schema
        + "CREATE TRIGGER r AFTER INSERT ON schemactl_migrations BEGIN DELETE FROM t; END",
      "CREATE TABLE t (a, b, c); CREATE INDEX by_b ON t (b); CREATE INDEX by_c ON t (c)",
    ])
  func notTaken(schema: String) throws {
    let operations = try operations()
    let known = try rebuild(operations)
    let planner = Planner(connection: try database(schema), application: Application())
    #expect(try planner.plan(operations[...], knowing: [known]).plans.map(\.strategy) == [.native])
  }

  @Test("is taken for the operation that it was found for, and for no other")
  func otherOperation() throws {
    let operations = try operations()
    let known = try rebuild(operations)
    let planner = Planner(connection: try database(Self.schema), application: Application())
    let last = try planner.plan(operations[2...], knowing: [known])
    #expect(last.plans.map(\.strategy) == [.native])
  }

  @Test("the order of triggers is part of it, for they fire in it")
  func order() throws {
    let operations = try operations()
    let triggers = ["x", "y"].map { "CREATE TRIGGER \($0) AFTER INSERT ON t BEGIN SELECT 1; END;" }
    func planner(_ triggers: [String], _ strategy: Strategy? = nil) throws -> Planner {
      var application = Application()
      application.forcedStrategy = strategy
      return Planner(
        connection: try database(Self.schema + triggers.joined()), application: application)
    }
    let known = try planner(triggers, .rebuild).plan(operations[...])
    func strategies(_ planner: Planner) throws -> [Strategy] {
      try planner.plan(operations[...], knowing: [known]).plans.map(\.strategy)
    }
    #expect(try strategies(planner(triggers)) == [.rebuild])
    #expect(try strategies(planner(triggers.reversed())) == [.native])
  }
}

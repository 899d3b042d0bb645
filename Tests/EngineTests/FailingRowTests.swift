import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaSQLite
import SchemaTestSupport
import Testing

/// An operation that fails because of the rows in the database.
struct FailingRowCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The only entry of the migration's operations.
  let operation: String
  let rows: String
  /// The lines of the message after the constraint; empty if only SQLite's own message is certain.
  let named: [String]

  init(_ description: String, _ operation: String, _ rows: String, _ named: String...) {
    testDescription = description
    self.operation = operation
    self.rows = rows
    self.named = named
  }

  static let table =
    "CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, n INTEGER, "
    + "code TEXT UNIQUE COLLATE NOCASE, CHECK (n < 100))"

  static let all = [
    FailingRowCase(
      "NOT NULL of alter_column", "alter_column: { table: items, column: title, not_null: true }",
      "(1, NULL, 1, NULL), (2, 'a', 1, NULL), (3, NULL, 1, NULL)",
      "found 2 rows: id = 1, title = NULL; id = 3, title = NULL",
      "list: SELECT id, title FROM items WHERE title IS NULL"),
    FailingRowCase(
      "CHECK of alter_column",
      "alter_column: { table: items, column: n, check: n > 0 -- positive }",
      "(1, 'a', -5, NULL)",
      "found 1 row: id = 1, n = -5", "list: SELECT id, n FROM items WHERE NOT (n > 0 )"),
    FailingRowCase(
      "a unique index",
      "create_index: { name: i, table: items, columns: [title, n], unique: true }",
      "(1, 'a', 1, NULL), (2, 'a', 1, NULL), (3, 'b', 1, NULL)",
      "found 1 value in more than one row: title = 'a', n = 1, id of the rows = '1, 2'",
      "list: SELECT \"title\", \"n\", group_concat(id, ', ') FROM items WHERE \"title\" IS NOT NULL "
        + "AND \"n\" IS NOT NULL GROUP BY \"title\", \"n\" HAVING count(*) > 1"),
    FailingRowCase(
      "a unique index in SQL", "sql: CREATE UNIQUE INDEX i ON items (lower(title)) WHERE n > 0",
      "(1, 'a', 1, NULL), (2, 'A', 1, NULL), (3, 'a', 0, NULL)",
      "found 1 value in more than one row: lower(title) = 'a', id of the rows = '1, 2'",
      "list: SELECT lower(title), group_concat(id, ', ') FROM items WHERE (n > 0) AND "
        + "lower(title) IS NOT NULL GROUP BY lower(title) HAVING count(*) > 1"),
    FailingRowCase(
      "CHECK in an update", "update: { table: items, set: { n: n * 2 }, where: id > 1 }",
      "(1, 'a', 99, NULL), (2, 'a', 50, NULL), (3, 'a', 4, NULL)",
      "found 1 row: id = 2, n = 100"),
    FailingRowCase(
      "UNIQUE in an update of SQL", "sql: UPDATE items SET code = title WHERE code IS NULL",
      "(1, 'x', 1, NULL), (2, 'y', 1, 'X')",
      "found 1 value in more than one row: code = 'x', id of the rows = '1, 2'"),
    FailingRowCase(
      "UNIQUE in an insert", "insert: { table: items, rows: [{ id: 7, title: b }, { id: 8 }] }",
      "(7, 'x', 1, NULL)",
      "found 1 value in more than one row: id = 7, rows = 2"),
    FailingRowCase(
      "NOT NULL of a rebuilt table",
      "rebuild_table: { table: items, columns: [{ name: id, type: INTEGER, primary_key: true }, "
        + "{ name: title, type: TEXT, not_null: true }], copy: { title: \"nullif(title, 'x')\" } }",
      "(4, 'x', 1, NULL), (5, 'y', 1, NULL)",
      "found 1 row: id = 4, title = NULL"),
    FailingRowCase(
      "CHECK of a rebuilt table",
      "rebuild_table: { table: items, columns: [{ name: id, type: INTEGER, primary_key: true }, "
        + "{ name: n, type: INTEGER, check: n % 2 = 0 }] }",
      "(4, 'x', 1, NULL), (5, 'y', 2, NULL)",
      "found 1 row: id = 4, n = 1"),
    FailingRowCase(
      "an insert of rows from a table that the migration creates",
      "sql: [CREATE TABLE new (a NOT NULL), INSERT INTO new SELECT title FROM items]",
      "(1, NULL, 1, NULL), (2, 'a', 1, NULL)", "found 1 row: a = NULL"),
    FailingRowCase(
      "a CHECK that reads a value which SQLite converts",
      "sql: UPDATE items SET n = '100' || '0'", "(1, 'a', 1, NULL)"),
    FailingRowCase(
      "rows that the migration itself writes",
      "sql: [INSERT INTO items (id) VALUES (9), UPDATE items SET code = 'x', SELECT 1]",
      "(1, 'a', 1, NULL)"),
  ]
}

@Suite("A constraint that stops a migration names its rows")
struct FailingRowTests {
  private func sandbox(_ operation: String, _ rows: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_base", FailingRowCase.table)
    try sandbox.migrate()
    try sandbox.run("INSERT INTO items VALUES \(rows)")
    return try sandbox.add("0002_step", "operations:\n- \(operation)\n")
  }

  @Test("with the values and a SELECT that finds them", arguments: FailingRowCase.all)
  func named(_ sample: FailingRowCase) throws {
    let sandbox = try sandbox(sample.operation, sample.rows)
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed)
    let details = Array(failure.lines.dropFirst()).filter {
      $0.hasPrefix("found ") || $0.hasPrefix("list: ")
    }
    guard !sample.named.isEmpty else { return #expect(details == []) }
    try #require(details.count == 2)
    #expect(details[0] == sample.named[0])
    if sample.named.count > 1 { #expect(details[1] == sample.named[1]) }
    // The user runs this query on the database after the failed migration.
    #expect(try !sandbox.rows(String(details[1].dropFirst(6))).isEmpty)
  }

  @Test("at most ten of them, and none with --redact")
  func many() throws {
    let rows = (1...13).map { "(\($0), NULL, 1, NULL)" }.joined(separator: ", ")
    let sandbox = try sandbox(
      "alter_column: { table: items, column: title, not_null: true }", rows)
    let shown = try #require(try sandbox.migrate().failure).message
    #expect(shown.contains("found 13 rows: id = 1, title = NULL; "))
    #expect(shown.contains("id = 10, title = NULL; and 3 more"))
    let hidden = try #require(try sandbox.migrate { $0.redactsValues = true }.failure).message
    #expect(hidden.contains("found 13 rows\nlist: SELECT"))
    #expect(!hidden.contains("id = 1"))
  }

  @Test("also in a plan")
  func plan() throws {
    let sandbox = try sandbox(
      "create_index: { name: i, table: items, columns: [title], unique: true }",
      "(1, 'a', 1, NULL), (2, 'a', 1, NULL)")
    let failure = try sandbox.project().dryRun(sandbox.options()).failure
    #expect(failure?.message.contains("title = 'a', id of the rows = '1, 2'") == true)
  }

  @Test("a new CHECK judges values under their new collation")
  func newCollation() throws {
    let sandbox = try sandbox(
      "alter_column: { table: items, column: title, collate: NOCASE, check: \"title = 'ZZ'\" }",
      "(1, 'zz', 5, NULL)")
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
  }

  @Test("an enforced foreign key names the rows that would lose their parent")
  func enforcedKey() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_tables",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p);"
        + "CREATE TABLE d (p REFERENCES p ON DELETE CASCADE)")
    try sandbox.migrate()
    try sandbox.run(
      "INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1), (9); INSERT INTO d VALUES (1)")
    try sandbox.add(
      "0002_delete", "foreign_keys: enforced\noperations:\n- delete: { table: p, all: true }\n")
    let failure = try #require(try sandbox.migrate().failure)
    #expect(
      failure.lines == [
        "FOREIGN KEY constraint failed",
        "this migration breaks foreign keys: row 1 of `c` refers by `p` to a missing row of `p`",
      ])
    #expect(try sandbox.rows("SELECT count(*) FROM p JOIN d ON d.p = p.id") == [[1]])
  }

  @Test("the message of a function shows no value with --redact")
  func redactedFunction() throws {
    let sandbox = try sandbox(
      "update: { table: items, set: { n: \"json_extract('{}', title)\" }, all: true }",
      "(1, 'secret', 1, NULL)")
    #expect(try sandbox.migrate().failure?.message.contains("secret") == true)
    let hidden = try #require(try sandbox.migrate { $0.redactsValues = true }.failure)
    #expect(hidden.status == .migrationFailed)
    #expect(!hidden.message.contains("secret"), "\(hidden.message)")
  }

  @Test("a broken foreign key names no row with --redact")
  func redactedKey() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_tables",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); "
        + "CREATE TABLE w (k TEXT PRIMARY KEY, p REFERENCES p) WITHOUT ROWID")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO p VALUES (1); INSERT INTO w VALUES ('secret', 1), ('other', 1)")
    try sandbox.addSQL("0002_delete", "DELETE FROM p")
    let message = try #require(try sandbox.migrate { $0.redactsValues = true }.failure).message
    #expect(
      message.contains("2 rows of `w` refer by `p` to missing rows of `p`"), "\(message)")
    #expect(!message.contains("secret"), "\(message)")
  }
}

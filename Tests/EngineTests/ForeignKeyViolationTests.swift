import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaSQLText
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// Foreign key violations that exist before a migration, and the operation of the migration.
struct OrphanCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let create: String
  let rows: String
  let operation: String
  /// The new violation that the migration causes; nil if it causes none.
  let broken: String?

  init(
    _ description: String, _ create: String, _ rows: String, _ operation: String,
    breaks broken: String? = nil
  ) {
    testDescription = description
    self.create = create
    self.rows = rows
    self.operation = operation
    self.broken = broken
  }

  private static let overlapping = """
    CREATE TABLE p (a, b, PRIMARY KEY (a, b));
    CREATE TABLE c (
      a, b, x, PRIMARY KEY (a, b, x), FOREIGN KEY (a, b) REFERENCES p (a, b),
      FOREIGN KEY (b, x) REFERENCES p (a, b)
    ) WITHOUT ROWID;
    """
  private static let keyed = """
    CREATE TABLE p (a PRIMARY KEY);
    CREATE TABLE c (k TEXT NOT NULL, x TEXT NOT NULL, p REFERENCES p (a), PRIMARY KEY (k)) WITHOUT ROWID;
    """
  private static let rebuilt =
    "rebuild_table: { table: c, columns: [{ name: k, type: TEXT, not_null: true }, "
    + "{ name: x, type: TEXT, not_null: true }, { name: p, references: { table: p, column: a } }], "
    + "primary_key: [x], without_rowid: true }"

  static let all = [
    OrphanCase(
      "two keys that share a column", overlapping,
      "INSERT INTO p VALUES (1, 2), (2, 3); INSERT INTO c VALUES (1, 2, 9)",
      "sql: INSERT INTO c VALUES (1, 2, 3)"),
    OrphanCase(
      "two keys that share a column, one of which is broken", overlapping,
      "INSERT INTO p VALUES (1, 2), (2, 3); INSERT INTO c VALUES (1, 2, 9)",
      "sql: INSERT INTO c VALUES (1, 2, 4)", breaks: "row 1, 2, 4 of `c`"),
    OrphanCase(
      "two keys of one column",
      """
      CREATE TABLE p (a INTEGER PRIMARY KEY, b UNIQUE);
      CREATE TABLE c (k PRIMARY KEY, x REFERENCES p (a) REFERENCES p (b)) WITHOUT ROWID;
      """, "INSERT INTO p VALUES (1, 2); INSERT INTO c VALUES ('k', 1)",
      "sql: INSERT INTO p VALUES (3, 1)"),
    OrphanCase(
      "the parent's affinity",
      """
      CREATE TABLE p (a TEXT PRIMARY KEY);
      CREATE TABLE c (k PRIMARY KEY, x INTEGER REFERENCES p) WITHOUT ROWID;
      """, "INSERT INTO p VALUES ('1'), ('07'); INSERT INTO c VALUES (1, 1), (2, 9), (3, 7)",
      "sql: INSERT INTO c VALUES (4, 7)", breaks: "row 4 of `c`"),
    OrphanCase(
      "a parent that is no table",
      "CREATE TABLE c (k PRIMARY KEY, x REFERENCES p (a)) WITHOUT ROWID",
      "INSERT INTO c VALUES (1, 1)", "sql: INSERT INTO c VALUES (2, NULL)"),
    OrphanCase(
      "another primary key", keyed,
      "INSERT INTO p VALUES (1); INSERT INTO c VALUES ('k', 'x', 5), ('l', 'y', 1)", rebuilt),
    OrphanCase(
      "another primary key, and a parent that goes", keyed,
      "INSERT INTO p VALUES (1); INSERT INTO c VALUES ('k', 'x', 5), ('l', 'y', 1)",
      rebuilt + "\n  - sql: DELETE FROM p", breaks: "row 'y' of `c`"),
    OrphanCase(
      "rows that get other rowids",
      "CREATE TABLE p (a PRIMARY KEY); CREATE TABLE c (x REFERENCES p, v)",
      "INSERT INTO c VALUES (1, 1), (7, 2), (7, 3); DELETE FROM c WHERE x = 1",
      "sql: CREATE TABLE n (x REFERENCES p, v); INSERT INTO n SELECT * FROM c; DROP TABLE c; "
        + "ALTER TABLE n RENAME TO c"),
    OrphanCase(
      "rows that get other rowids, and one more of them",
      "CREATE TABLE p (a PRIMARY KEY); CREATE TABLE c (x REFERENCES p, v)",
      "INSERT INTO c VALUES (1, 1), (7, 2), (7, 3); DELETE FROM c WHERE x = 1",
      "sql: CREATE TABLE n (x REFERENCES p, v); INSERT INTO n SELECT * FROM c; DROP TABLE c; "
        + "INSERT INTO n VALUES (9, 4); ALTER TABLE n RENAME TO c", breaks: "row 3 of `c`"),
    OrphanCase(
      "a row that is mended while another one breaks",
      "CREATE TABLE p (a PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, x REFERENCES p)",
      "INSERT INTO c VALUES (1, 7), (2, NULL)",
      "sql: UPDATE c SET x = CASE id WHEN 2 THEN 7 END", breaks: "row 2 of `c`"),
    OrphanCase(
      "a text key beside the rowid",
      "CREATE TABLE p (a PRIMARY KEY); CREATE TABLE c (k TEXT PRIMARY KEY, x REFERENCES p)",
      "INSERT INTO p VALUES (7); INSERT INTO c VALUES ('a', 7)", "sql: DELETE FROM p",
      breaks: "row 'a' of `c`"),
    OrphanCase(
      "a table, its parent and their columns renamed",
      "CREATE TABLE p (a PRIMARY KEY); CREATE TABLE c (k PRIMARY KEY, x REFERENCES p (a)) WITHOUT ROWID",
      "INSERT INTO c VALUES (1, 7)",
      "sql: ALTER TABLE p RENAME TO q; ALTER TABLE q RENAME a TO b; ALTER TABLE c RENAME TO d; "
        + "ALTER TABLE d RENAME x TO y"),
  ]
}

@Suite("Foreign key violations before a migration")
struct ForeignKeyViolationTests {
  @Test(
    "they fail the migration only if it adds another one", arguments: oneIn(2, of: OrphanCase.all),
    [0, 1])
  func broken(trial: OrphanCase, autoVacuum: Int) throws {
    let sandbox = try Sandbox()
    try sandbox.run("PRAGMA auto_vacuum = \(autoVacuum); CREATE TABLE x (v); DROP TABLE x;")
    try sandbox.addSQL("0001_tables", trial.create)
    try sandbox.migrate()
    try sandbox.run(trial.rows)
    try sandbox.add("0002_change", "operations:\n  - \(trial.operation)\n")
    let failure = try sandbox.migrate().failure
    guard let broken = trial.broken else {
      #expect(failure == nil, "\(failure?.message ?? "")")
      return
    }
    let message = failure?.message ?? ""
    let start = "this migration breaks foreign keys: \(broken) refers by `"
    #expect(message.hasPrefix(start), "\(message)")
    #expect(message.hasSuffix(" to a missing row of `p`"), "\(message)")
  }

  @Test(
    "the error is at the operation, also for a foreign key without a key",
    arguments: [
      (
        """
          - create_table: { name: d, columns: [{ name: x, references: { table: p, column: b } }] }
        """, "1 create_table"
      ),
      (
        """
          - create_table: { name: d, columns: [{ name: x, references: { table: p, column: a } }] }
          - sql: INSERT INTO d VALUES (7)
          - create_table: { name: e, columns: [{ name: x }] }
        """, "2 sql"
      ),
      (
        """
          - alter_column: { table: p, column: b, references: { table: p, column: a } }
        """, "1 alter_column"
      ),
      (
        """
          - add_column: { table: p, column: { name: c, default: 7, references: { table: p } } }
        """, "1 add_column"
      ),
    ])
  func place(operations: String, name: String) throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_tables", "operations:\n  - sql: CREATE TABLE p (a INTEGER PRIMARY KEY, b)\n")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO p VALUES (1, 2)")
    try sandbox.add("0002_step", "description: first\noperations:\n\(operations)\n")
    let failure = try #require(sandbox.failure())
    #expect(failure.migration?.operation == name, "\(failure.message)")
    #expect((failure.place?.position?.line ?? 0) >= 3)
  }
}

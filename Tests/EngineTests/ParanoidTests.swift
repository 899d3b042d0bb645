import Foundation
import SchemaApply
import SchemaHistory
import SchemaModel
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("--paranoid")
struct ParanoidTests {
  private static let create = """
    CREATE TABLE a (id INTEGER PRIMARY KEY, v, f INTEGER);
    CREATE TABLE b (id TEXT PRIMARY KEY, v) WITHOUT ROWID;
    CREATE VIRTUAL TABLE words USING fts5(v);
    """
  private static let rows = """
    INSERT INTO a VALUES (1, 'x', 0), (2, NULL, 1);
    INSERT INTO b VALUES ('k', x'ff'), ('l', 2.5);
    INSERT INTO words VALUES ('one two'), ('three');
    """

  private func sandbox(_ second: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", Self.create)
    try sandbox.migrate()
    try sandbox.run(Self.rows)
    try sandbox.add("0002_second", second)
    return sandbox
  }

  private func sql(_ sql: String) -> String {
    "operations:\n  - sql: |\n"
      + sql.split(separator: "\n").map { "      \($0)" }
      .joined(separator: "\n")
  }

  private func migrate(_ sandbox: Sandbox) throws -> MigrateReport {
    try sandbox.migrate { $0.isParanoid = true }
  }

  @Test(
    "it accepts changes of names that keep values",
    arguments: [
      "ALTER TABLE a RENAME TO z; ALTER TABLE b RENAME TO a; ALTER TABLE z RENAME TO b;",
      """
      ALTER TABLE a RENAME COLUMN v TO x; ALTER TABLE a RENAME COLUMN f TO v;
      ALTER TABLE a RENAME COLUMN x TO f;
      """,
      "ALTER TABLE a DROP COLUMN v; ALTER TABLE a ADD COLUMN v DEFAULT 7;",
      "ALTER TABLE a RENAME COLUMN v TO w; ALTER TABLE a DROP COLUMN w;",
      "ALTER TABLE a ADD COLUMN rowid TEXT; ALTER TABLE b RENAME COLUMN id TO key;",
      "ALTER TABLE a ADD COLUMN rowid; ALTER TABLE a ADD COLUMN oid; ALTER TABLE a ADD COLUMN _rowid_;",
      "CREATE INDEX i ON a (v); ANALYZE; CREATE VIEW seen AS SELECT * FROM b;",
      "INSERT INTO words VALUES ('four'); INSERT INTO words(words) VALUES ('optimize');",
      "ALTER TABLE words RENAME TO others;", "DROP TABLE words;",
    ])
  func namesOnly(statements: String) throws {
    let report = try migrate(sandbox(sql(statements)))
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
  }

  @Test(
    "it accepts strategies that verify their rows themselves",
    arguments: [
      "{ table: a, from: f, to: { name: s, type: INTEGER }, map: { 0: 5, 1: 6 } }",
      "{ table: a, from: f, to: { name: s, type: TEXT }, map: { 0: x, 1: y } }",
      "{ table: a, from: f, to: { name: s }, map: { 0: x, 1: y }, keep_source: true }",
      "{ table: b, from: v, to: { name: w, type: TEXT }, using: quote(v) }",
    ])
  func strategies(move: String) throws {
    let report = try migrate(sandbox("operations: [{ move_column: \(move) }]"))
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
    #expect(report.integrityCheck == "ok")
  }

  @Test("compares a table with as many columns as SQLite allows", .thorough)
  func manyColumns() throws {
    let sandbox = try Sandbox()
    let columns = (2...2000).map { "c\($0)" }
    try sandbox.addSQL(
      "0001_wide", "CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")));"
    )
    try sandbox.migrate()
    try sandbox.run("INSERT INTO wide (c2, c1999, c2000) VALUES (0, 'a', 'b'), (1, NULL, x'00')")
    try sandbox.add(
      "0002_move",
      "operations: [{ move_column: { table: wide, from: c2, to: { name: s }, map: { 0: 5, 1: 6 } } }]"
    )
    try sandbox.add(
      "0003_type", "operations: [{ alter_column: { table: wide, column: c3, type: TEXT } }]")
    let report = try migrate(sandbox)
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
    #expect(report.applied.count == 2)
    #expect(
      try sandbox.rows("SELECT s, c1999, c2000 FROM wide") == [
        [5, "a", "b"], [6, .null, .blob([0])],
      ])
  }

  /// `quick_check` does not compare indexes with their tables.
  @Test("an index that does not match its table fails the migration")
  func wrongIndex() throws {
    let sandbox = try sandbox(
      sql(
        """
        CREATE INDEX i ON a (v);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON a (f)' WHERE name = 'i';
        """))
    let before = try Dump(sandbox.open())
    let failure = try #require(try migrate(sandbox).failure)
    #expect(failure.message.contains("integrity_check"), "\(failure.message)")
    #expect(try Dump(sandbox.open()) == before)
  }

  @Test("a file with errors that integrity_check finds is not migrated")
  func damagedFile() throws {
    let sandbox = try sandbox(sql("CREATE TABLE more (v);"))
    let page = try #require(
      try sandbox.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'a'")[0][0].integer)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: sandbox.database))
    // Change the number of cells in the page header to 200.
    try file.seek(toOffset: UInt64(page - 1) * 4096 + 3)
    try file.write(contentsOf: Data([0, 200]))
    try file.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: sandbox.database))
    let failure = try #require(try migrate(sandbox).failure)
    #expect(failure.status == .inputOutput)
    #expect(failure.message.contains("Nothing changed"), "\(failure.message)")
    #expect(failure.message.contains("`schemactl restore --database "), "\(failure.message)")
    #expect(!failure.message.contains("rows"), "\(failure.message)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: sandbox.database)) == before)
  }

  @Test("damage by a migration is found before the commit")
  func newDamage() throws {
    let sandbox = try sandbox(
      sql(
        """
        CREATE TABLE c (v);
        CREATE TABLE d (v);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET rootpage =
          (SELECT rootpage FROM sqlite_schema WHERE name = 'c') WHERE name = 'd';
        """))
    let before = try Dump(sandbox.open())
    let failure = try #require(try migrate(sandbox).failure)
    #expect(failure.status == .migrationFailed)
    #expect(failure.message.contains("integrity_check"), "\(failure.message)")
    #expect(try Dump(sandbox.open()) == before)
    #expect(try sandbox.ledger == ["0001_create"])
  }

  /// The table is intact, but SQLite 3.40.1 reads the wrong columns.
  @Test("false errors of quick_check on tables without rowid are ignored, real ones are not")
  func misread() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE x (a TEXT, b INTEGER NOT NULL CHECK (b > 1), c TEXT PRIMARY KEY) WITHOUT ROWID;"
    )
    try sandbox.migrate()
    try sandbox.run("INSERT INTO x VALUES (NULL, 2, 'k'), (1, 3, 'l')")
    try sandbox.addSQL("0002_update", "UPDATE x SET a = upper(a);")
    #expect(try migrate(sandbox).failure == nil)
    #expect(try sandbox.ledger.count == 2)
    let connection = try sandbox.open()
    connection.set(.defensive, to: false)
    try connection.execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'a TEXT', 'a TEXT NOT NULL') WHERE name = 'x';
      PRAGMA writable_schema = RESET;
      """)
    try sandbox.addSQL("0003_other", "CREATE TABLE other (a);")
    let report = try migrate(sandbox)
    #expect(report.failure?.message.contains("NULL value in x.a") == true)
    #expect(report.status == .inputOutput)
  }

  @Test("a text in a numeric column of such a table is accepted")
  func misreadText() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE items (z, d REAL DEFAULT '', b BLOB, n INTEGER PRIMARY KEY) WITHOUT ROWID;")
    try sandbox.migrate()
    try sandbox.run(
      "INSERT INTO items VALUES (7, 0.0, '1', 1), (8, 'n/a', '0', 2), ('3', 'x', '9', 3)")
    try sandbox.add(
      "0002_move",
      """
      operations:
        - move_column: { table: items, from: z, to: { name: zz, type: TEXT }, using: "z || ''" }
      """)
    let failure = try migrate(sandbox).failure
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    #expect(
      try sandbox.rows("SELECT zz, d FROM items") == [["7", .real(0)], ["8", "n/a"], ["3", "x"]])
  }

  @Test(
    "tables are recognised after auto_vacuum moves their pages",
    arguments: [0, 1, 2],
    [
      """
      DROP TABLE b; ALTER TABLE a RENAME TO n; ALTER TABLE c RENAME TO a; ALTER TABLE n RENAME TO c;
      """,
      "DROP TABLE b; ALTER TABLE a RENAME TO 'n o'; UPDATE c SET v = 1; ALTER TABLE c RENAME TO a",
      """
      DROP TABLE b; DROP TABLE c; ALTER TABLE a RENAME TO n;
      CREATE TABLE a (id INTEGER PRIMARY KEY, v, f INTEGER);
      INSERT INTO a SELECT * FROM n; DROP TABLE n; ALTER TABLE a RENAME TO m;
      """,
    ])
  func autoVacuum(mode: Int, statements: String) throws {
    let sandbox = try Sandbox()
    try sandbox.run("PRAGMA auto_vacuum = \(mode); CREATE TABLE x (v); DROP TABLE x;")
    try sandbox.addSQL("0001_create", Self.create + "\nCREATE TABLE c (id REFERENCES a, v);")
    try sandbox.migrate()
    try sandbox.run(Self.rows + "INSERT INTO c VALUES (1, 'y'), (8, 'an orphan');")
    try sandbox.add("0002_second", sql(statements))
    let report = try migrate(sandbox)
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
    #expect(try sandbox.rows("PRAGMA auto_vacuum") == [[.integer(Int64(mode))]])
  }

  @Test("a table that is renamed, rebuilt and renamed again is recognised")
  func renamedAndRebuilt() throws {
    let report = try migrate(
      sandbox(
        """
        operations:
          - rename_table: { table: a, to: n }
          - alter_column: { table: n, column: f, type: TEXT }
          - rename_table: { table: n, to: m }
        """))
    #expect(report.failure == nil, "\(String(describing: report.failure?.message))")
  }
}

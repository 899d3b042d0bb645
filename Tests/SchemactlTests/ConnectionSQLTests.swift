import SchemaTestPrograms
import Testing

/// `connection.sql`, which lint compiles.
@Suite("Connection SQL")
struct ConnectionSQLTests {
  private func folder(_ sql: String) throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes,
      "0002_color": manifest("ALTER TABLE notes ADD COLUMN color TEXT"),
    ])
    try folder.write("migrations/connection.sql", sql)
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    return folder
  }

  @Test("SQL that compiles on the latest schema causes no finding")
  func sound() throws {
    let folder = try folder(
      """
      PRAGMA foreign_keys = ON;
      CREATE TEMP TABLE log (text);
      CREATE TEMP VIEW colors AS SELECT color FROM notes;
      CREATE TEMP TRIGGER a AFTER UPDATE OF text ON notes
      BEGIN
        INSERT INTO log SELECT color FROM colors WHERE color <> NEW.text;
      END;
      CREATE TEMP TRIGGER b AFTER INSERT ON main.notes BEGIN DELETE FROM log; END;
      """)
    try folder.expect(0, "lint", "--strict")
  }

  @Test(
    "SQL that does not compile is reported at its line",
    arguments: [
      "CREATE TEMP TRIGGER a AFTER INSERT ON notes BEGIN UPDATE notes SET titel = 1; END",
      "CREATE TEMP TRIGGER a AFTER UPDATE ON notes BEGIN SELECT NEW.titel; END",
      "CREATE TEMP TRIGGER a AFTER DELETE ON nowhere BEGIN SELECT 1; END",
      "CREATE TEMP VIEW v AS SELECT titel FROM notes", "SELECT titel FROM notes",
      "CREATE TEMP TRIGGER a AFTER DELETE ON notes BEGIN SELECT unknown_function(); END",
    ])
  func broken(_ statement: String) throws {
    let folder = try folder("PRAGMA foreign_keys = ON;\n\(statement);\n")
    let run = try folder.expect(1, "lint")
    #expect(run.output.contains("query-broken") || run.errors.contains("query-broken"))
    #expect((run.output + run.errors).contains("migrations/connection.sql:2:"), "\(run.output)")
  }

  @Test("the migration that removes a required object is reported")
  func brokenByMigration() throws {
    let folder = try folder(
      "CREATE TEMP TRIGGER a AFTER INSERT ON notes BEGIN UPDATE notes SET color = 'red'; END;\n")
    try folder.write(
      "migrations/0003_drop.yaml", "operations:\n- drop_column: { table: notes, column: color }\n")
    let run = try folder.run("lint")
    #expect((run.output + run.errors).contains("0003_drop"), "\(run.output)")
    #expect((run.output + run.errors).contains("query-broken"))
  }
}

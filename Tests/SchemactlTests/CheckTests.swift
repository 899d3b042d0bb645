import Foundation
import SchemaTestPrograms
import Testing

/// A history in which every check fails: an edited frozen manifest, a dropped column, a suppressed
/// finding and a failing migration.
func troubledHistory() throws -> WorkingFolder {
  let notes = """
    operations:
      - create_table:
          name: notes
          columns:
            - { name: id, type: TEXT, primary_key: true, not_null: { on_conflict: replace },
                default: { sql: uuid() } }
            - { name: text, type: TEXT }
            - { name: color, type: INTEGER }
            - { name: größe, type: INTEGER }

    """
  let folder = try WorkingFolder.of(["0001_notes": notes])
  try folder.expect(0, "freeze", "--release", "1.0")
  try folder.write(
    "migrations/0001_notes.yaml", notes.replacing("color, type: INTEGER", with: "color, type: TEXT")
  )
  try folder.write(
    "migrations/0002_drop.yaml",
    "operations: [{ drop_column: { table: notes, column: \"größe\" } }]\n")
  try folder.write(
    "migrations/0003_allowed.yaml",
    """
    operations:
      - drop_column: { table: notes, column: color }
    lint: { allow: [{ rule: drop-column, reason: nobody has ever set it }] }

    """)
  try folder.write("migrations/0004_twice.yaml", notes)
  return folder
}

@Suite("check")
struct CheckTests {
  @Test("a valid history gets one line for each check")
  func clean() throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.expect(0, "freeze", "--release", "1.0", "--to", "3")
    try folder.expect(0, "freeze", "--release", "1.1", "--to", "6")
    let run = try folder.expect(0, "check")
    #expect(
      run.output == """
        ok      manifests  7 manifests read.
        ok      history    7 migrations: 6 unchanged, 1 draft.
        ok      replay     7 migrations.
        ok      lint       Found no problems; 2 suppressed.
        All checks passed

        """)
    #expect(try folder.expect(0, "check", "--quiet").output.isEmpty)
  }

  @Test(
    "every check runs regardless of others, and the worst code is the exit code")
  func troubled() throws {
    let run = try troubledHistory().expect(2, "check")
    try expectGolden(run.output, "check-troubled.txt")
    try expectGolden(run.errors, "check-troubled-errors.txt")
  }

  @Test("JSON has all checks in one document")
  func json() throws {
    let run = try troubledHistory().expect(2, "check", "--format", "json")
    #expect(run.errors.isEmpty)
    let json = try run.json()
    #expect(json["ok"] as? Bool == false)
    #expect((json["history"] as? [[String: Any]])?.first?["state"] as? String == "edited")
    #expect((json["findings"] as? [[String: Any]])?.count == 4)
    #expect((json["summary"] as? [String: Any])?["errors"] as? Int == 3)
    #expect((json["failed"] as? [String: Any])?["id"] as? String == "0004_twice")
    let replay = try #require(json["replay"] as? [String: Any])
    #expect(replay["ok"] as? Bool == false)
    #expect(replay["migrations"] as? Int == 3)
    #expect(json["notes"] is [String])
    #expect(json["errors"] as? [String] == [])
  }

  @Test("a failing migration is reported once, as a failure of the replay")
  func oneStep() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_fails": manifest("DROP TABLE gone"),
    ])
    let run = try folder.expect(3, "check")
    let marks = run.output.split(separator: "\n").prefix(4).map { $0.prefix(6) }
    #expect(marks == ["ok    ", "ok    ", "failed", "ok    "])
    #expect(run.output.ranges(of: "no such table: gone").count == 1)
    #expect(run.errors.isEmpty || !run.errors.contains("error:"))
  }

  @Test("65: all errors in invalid manifests are reported")
  func manifests() throws {
    let folder = try WorkingFolder.of([
      "0001_first": "operations:\n- drop_tabel: { table: t }\n",
      "0002_second": "descripion: x\noperations: []\n",
    ])
    let run = try folder.expect(65, "check")
    #expect(
      run.output.hasPrefix(
        """
        failed  manifests  2 errors.
        -       history    not compared.
        -       replay     not done.
        -       lint       not done.
        migrations/0001_first.yaml:2:3: error:
        """))
    let lines = run.output.split(separator: "\n")
    #expect(lines.filter { $0.contains(": error: ") }.count == 2)
    #expect(lines.contains("  2 | - drop_tabel: { table: t }") && lines.contains("    |   ^"))
    #expect(lines.contains("help: did you mean `drop_table`?"))
    #expect(lines.last == "1 check failed")
    #expect(run.errors.isEmpty)
    let json = try folder.expect(65, "check", "--format", "json").json()
    let error = try #require(json["error"] as? [String: Any])
    #expect(error["code"] as? Int == 65)
    #expect((error["diagnostics"] as? [[String: Any]])?.count == 2)
    #expect(json["ok"] as? Bool == false)
  }

  @Test(
    "65: forbidden SQL ends the replays, is reported once, and does not end the comparison"
  )
  func refused() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.write("migrations/0002_begin.yaml", manifest("BEGIN"))
    let json = try folder.expect(65, "check", "--format", "json").json()
    #expect((json["history"] as? [[String: Any]])?.count == 2)
    #expect((json["errors"] as? [[String: Any]])?.count == 1)
  }

  @Test("1: a lint error alone, and warnings with --strict")
  func lint() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_drop": manifest("ALTER TABLE notes DROP COLUMN text"),
    ])
    try folder.expect(1, "check")
    try folder.expect(0, "check", "--profile", "local")
    try folder.expect(1, "check", "--profile", "local", "--strict")
  }

  @Test("3: each migration starts without the rowid that an earlier one inserted")
  func insertedRowid() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": manifest("CREATE TABLE notes (id INTEGER PRIMARY KEY CHECK (id > 0))"),
      "0002_first": manifest("INSERT INTO notes VALUES (5)"),
      "0003_second": manifest("DELETE FROM notes; INSERT INTO notes SELECT last_insert_rowid()"),
    ])
    let message =
      "migrations/0003_second.yaml:3:24: error: CHECK constraint failed: id > 0"
    let run = try folder.expect(3, "check")
    #expect(run.output.contains("failed  replay     2 migrations, then a failure."))
    #expect(run.output.contains(message))
    try folder.expect(0, "migrate", "--database", "app.db", "--to", "2")
    #expect(try folder.expect(3, "migrate", "--database", "app.db").errors.contains(message))
  }

  @Test(
    "a migration that depends on its connection is reported with the release before it",
    arguments: [
      (3, "INSERT INTO notes SELECT total_changes() - 3", "CHECK constraint failed: id >= 0"),
      (
        3, "SELECT 1\n- assert: { query: SELECT total_changes() > 0, equals: 1 }",
        "the assertion failed: expected 1, found 0"
      ),
      (
        1,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE notes "
          + "(id INTEGER PRIMARY KEY CHECK (id >= 0), text)' WHERE name = 'notes' AND total_changes() > 2",
        "this migration creates a different schema than on a new database"
      ),
    ])
  func connection(status: Int32, sql: String, message: String) throws {
    let folder = try WorkingFolder.of([
      "0001_notes": manifest("CREATE TABLE notes (id INTEGER PRIMARY KEY CHECK (id >= 0))"),
      "0002_rows": manifest("INSERT INTO notes VALUES (5), (6), (7)"),
    ])
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.write("migrations/0003_depends.yaml", manifest(sql))
    let run = try folder.expect(status, "check", "--profile", "local")
    #expect(run.output.contains("failed  replay     3 migrations."))
    #expect(run.output.contains("migrations/0003_depends.yaml:"))
    #expect(run.output.contains(message))
    #expect(run.output.contains("on a database of release 1.0"))
  }

  @Test("3: an assertion must hold on a new database", arguments: [1, 2])
  func assertion(expected: Int) throws {
    let folder = try WorkingFolder.of([
      "0001_a": manifest("CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1)"),
      "0002_b": """
      operations:
      - create_table: { name: b, columns: [{ name: id, type: INTEGER, primary_key: true }] }
      after:
      - { query: SELECT count(*) FROM a, equals: \(expected), message: Rows are missing }

      """,
    ])
    for command in [["check"], ["bundle"], ["freeze", "--release", "1.0"]] {
      let run = try folder.start(command).wait()
      #expect(run.status == (expected == 1 ? 0 : 3), "\(command)")
      #expect(
        (run.output + run.errors).contains("Rows are missing: expected 2, found 1")
          == (expected == 2))
    }
  }

  @Test("freeze --accept refuses an assertion that is false on a new database")
  func acceptedAssertion() throws {
    func asserting(_ rows: Int) -> String {
      """
      operations:
      - create_table: { name: a, columns: [{ name: id, type: INTEGER, primary_key: true }] }
      after:
      - { query: SELECT count(*) FROM a, equals: \(rows), message: Rows are missing }

      """
    }
    let folder = try WorkingFolder.of(["0001_a": asserting(0)])
    try folder.expect(0, "freeze", "--release", "1.0")
    let accept = ["freeze", "--accept", "0001_a", "--reason", "The number was wrong."]
    try folder.write("migrations/0001_a.yaml", asserting(1))
    let refused = try folder.start(accept).wait()
    #expect(refused.status == 3)
    #expect(refused.errors.contains("Rows are missing: expected 1, found 0"))
    try folder.expect(2, "verify")
    try folder.write(
      "migrations/0001_a.yaml", asserting(0).replacing("count(*)", with: "count(id)"))
    #expect(try folder.start(accept).wait().status == 0)
    try folder.expect(0, "verify")
  }

  @Test("a key of a new database may refer to columns that are not unique if its table is empty")
  func mismatch() throws {
    let folder = try WorkingFolder.of([
      // FTS5 writes rows of its own, so that schemactl checks foreign keys.
      "0001_a": manifest(
        "CREATE TABLE a (x); CREATE TABLE b (x REFERENCES a (x)); "
          + "CREATE VIRTUAL TABLE f USING fts5(t)")
    ])
    try folder.expect(0, "verify")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.write("migrations/0002_row.yaml", manifest("INSERT INTO b VALUES (1)"))
    #expect(try folder.expect(3, "verify").output.contains("foreign key mismatch"))
  }

  @Test("3: bundle and freeze refuse rows that break foreign keys on a new database")
  func orphans() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes,
      "0002_tags": manifest(
        "CREATE TABLE tags (note INTEGER REFERENCES notes (id)); INSERT INTO tags VALUES (1)"),
    ])
    for command in [["bundle"], ["freeze", "--release", "1.0"]] {
      let run = try folder.start(command).wait()
      #expect(run.status == 3)
      #expect(run.errors.contains("row 1 of `tags` refers by `note` to a missing row of `notes`"))
    }
  }

  @Test("2: a manually edited lock")
  func alteredLock() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "freeze", "--release", "1.0")
    let lock = try String(contentsOfFile: folder.path("migrations/history.lock"), encoding: .utf8)
    try folder.write(
      "migrations/history.lock", lock.replacingOccurrences(of: "release=1.0", with: "version=1.0"))
    let run = try folder.expect(2, "check")
    #expect(run.output.contains("migrations/history.lock:2:11: error: "))
  }
}

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
        ok      replay     7 migrations; the same schema from each of 2 releases.
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
    let path = try #require((replay["paths"] as? [[String: Any]])?.first)
    #expect(path["fromRelease"] as? String == "1.0")
    #expect(path["through"] as? String == "0003_allowed")
    #expect(path["ok"] as? Bool == true)
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

  @Test("3: a release from which the history cannot be continued is named")
  func replay() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": manifest("CREATE TABLE notes (id INTEGER PRIMARY KEY CHECK (id > 0))"),
      "0002_first": manifest("INSERT INTO notes VALUES (5)"),
    ])
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.write(
      "migrations/0003_second.yaml",
      manifest("DELETE FROM notes; INSERT INTO notes SELECT last_insert_rowid()"))
    try folder.expect(0, "verify")
    let run = try folder.expect(3, "check")
    #expect(
      run.output.contains("failed  replay     3 migrations; not the same schema from release 1.0."))
    #expect(
      run.output.contains(
        "migrations/0003_second.yaml:3:24: error: cannot migrate a database created at "
          + "release 1.0 to `0003_second`: CHECK constraint failed: id > 0"))
  }

  @Test("1: the history results in another schema from a release")
  func otherSchema() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_first": manifest("INSERT INTO notes VALUES (5, 'x')"),
    ])
    try folder.expect(0, "freeze", "--release", "1.0")
    let reshaping =
      "UPDATE sqlite_schema SET sql = 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text BLOB)' "
      + "WHERE name = 'notes' AND last_insert_rowid() > 0"
    try folder.write(
      "migrations/0003_shape.yaml", manifest("PRAGMA writable_schema = ON; \(reshaping)"))
    let run = try folder.expect(1, "check")
    #expect(
      run.output.contains("error: a database created at release 1.0 and migrated to `0003_shape`"))
    #expect(run.output.contains("`notes.text` differs: expected"))
    let github = try folder.expect(1, "check", "--format", "github").output
    #expect(github.contains("title=replay/differs::a database created at release 1.0"))
  }

  @Test("--full continues from each release to every later one")
  func full() throws {
    let folder = try WorkingFolder.ofReminders()
    for (release, last) in [("1.0", "2"), ("1.1", "4"), ("1.2", "6")] {
      try folder.expect(0, "freeze", "--release", release, "--to", last)
    }
    func paths(_ arguments: String...) throws -> Int? {
      let json = try folder.start(["check", "--format", "json"] + arguments).wait().json()
      return ((json["replay"] as? [String: Any])?["paths"] as? [Any])?.count
    }
    #expect(try paths() == 3)
    #expect(try paths("--full") == 6)
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

import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// The interface for scripts: one document on standard output, with stable keys.
@Suite("JSON")
struct JSONTests {
  @Test(
    "every command prints one document with its own keys and nothing else",
    arguments: [
      (["status", "--database", "app.sqlite"], ["current", "pending", "applied"]),
      (["verify", "--database", "app.sqlite"], ["ok", "history", "ledger", "drift"]),
      (["verify"], ["ok", "history", "ledger", "drift"]),
      (["diff", "--database", "app.sqlite"], ["equal", "changes"]),
      (["plan", "--database", "app.sqlite"], ["migrations", "script"]),
      (["migrate", "--database", "app.sqlite"], ["applied", "failed", "backup"]),
      (["migrate", "--database", "new.sqlite"], ["applied", "failed", "backup"]),
      (
        ["migrate", "--database", "app.sqlite", "--dry-run"],
        ["migrations", "script", "answers", "failed"]
      ),
      (["freeze", "--release", "1.0"], ["frozen", "release", "file"]),
    ])
  func keys(arguments: [String], keys: [String]) throws {
    let folder = try migrated(through: "6")
    let run = try folder.start(arguments + ["--format", "json"]).wait()
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    let json = try run.json()
    for key in keys { #expect(json.keys.contains(key), "\(key)") }
    #expect(json["error"] == nil)
  }

  @Test("migrate reports the duration and the strategy of each migration")
  func applied() throws {
    let folder = try migrated(through: "6")
    let json = try folder.expect(0, "migrate", "--database", "app.sqlite", "--format=json").json()
    let applied = try #require(json["applied"] as? [[String: Any]])
    #expect(applied.count == 1)
    #expect(applied.first?["id"] as? String == "0007_replace_is_completed_with_status")
    #expect(applied.first?["strategy"] as? String == "update")
    #expect(applied.first?["milliseconds"] is Int)
    #expect(json["failed"] is NSNull)
    #expect(json["backup"] is NSNull)
  }

  @Test("status reports the applied migrations with their times, and the pending ones")
  func status() throws {
    let folder = try migrated(through: "6")
    let json = try folder.expect(0, "status", "--database", "app.sqlite", "--format=json").json()
    #expect(json["current"] as? String == "0006_create_cover_images")
    #expect(json["pending"] as? [String] == ["0007_replace_is_completed_with_status"])
    let applied = try #require(json["applied"] as? [[String: Any]])
    #expect(applied.count == 6)
    #expect(
      applied.allSatisfy {
        $0["id"] is String && $0["appliedAt"] is String && $0["milliseconds"] is Int
      })
  }

  @Test("diff and verify report differences and the expected SQL")
  func drift() throws {
    let folder = try migrated()
    try folder.connection().execute("ALTER TABLE tags ADD COLUMN color INTEGER")
    let diff = try folder.expect(1, "diff", "--database", "app.sqlite", "--format=json").json()
    #expect(diff["equal"] as? Bool == false)
    let verify = try folder.expect(1, "verify", "--database", "app.sqlite", "--format=json").json()
    #expect(verify["ok"] as? Bool == false)
    for changes in [diff["changes"], verify["drift"]] {
      let change = try #require((changes as? [[String: Any]])?.first)
      #expect(change["kind"] as? String == "column")
      #expect(change["object"] as? String == "tags.color")
      #expect(change["change"] as? String == "unexpected")
      #expect(change["expected"] is NSNull)
      #expect((change["actual"] as? String)?.contains("color") == true)
    }
  }

  @Test("the document of migrate contains a failed migration and the applied ones")
  func failed() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes,
      "0002_twice": manifest("INSERT INTO notes (id) VALUES (1), (1)"),
    ])
    let run = try folder.expect(3, "migrate", "--database", "app.sqlite", "--format=json")
    #expect(run.errors.isEmpty)
    let json = try run.json()
    #expect(json["error"] == nil)
    #expect((json["applied"] as? [[String: Any]])?.first?["id"] as? String == "0001_notes")
    let failed = try #require(json["failed"] as? [String: Any])
    #expect(failed["id"] as? String == "0002_twice")
    #expect(failed["operation"] as? String == "1 sql")
    #expect(
      (failed["statement"] as? String)?.hasPrefix("INSERT INTO notes (id) VALUES (1), (1)") == true)
    #expect(failed["message"] as? String == "UNIQUE constraint failed: notes.id")
  }

  @Test(
    "a failure is part of the result, or the error of a command without one",
    arguments: [
      ("migrate", "error"), ("status", "error"), ("verify", "failed"), ("plan", "error"),
    ])
  func failures(command: String, key: String) throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.connection().execute("CREATE TABLE theirs (id)")
    let run = try folder.expect(1, command, "--database", "app.sqlite", "--format", "json")
    let failure = try #require(try run.json()[key] as? [String: Any])
    #expect((failure["message"] as? String)?.contains("theirs") == true)
  }

  @Test("for invalid manifests, the first problem is the error, and all are listed")
  func diagnostics() throws {
    let folder = try WorkingFolder.of([
      "0001_first": "operations:\n- drop_tabel: { table: t }\n",
      "0002_second": "descripion: x\noperations: []\n",
    ])
    let run = try folder.expect(65, "verify", "--format", "json")
    #expect(run.errors.isEmpty)
    let error = try #require(try run.json()["error"] as? [String: Any])
    #expect(error["code"] as? Int == 65)
    #expect(error["file"] as? String == "migrations/0001_first.yaml")
    #expect(error["line"] as? Int == 2)
    #expect(error["column"] as? Int == 3)
    #expect((error["message"] as? String)?.contains("drop_table") == true)
    #expect((error["diagnostics"] as? [[String: Any]])?.count == 2)
    #expect(error["help"] as? String == "did you mean `drop_table`?")
  }

  @Test("errors, failures and findings have the advice of the text output")
  func help() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_drop": manifest("DROP TABLE notes"),
    ])
    let missing = try folder.run("status", "--format", "json").json()["error"] as? [String: Any]
    #expect((missing?["help"] as? String)?.hasPrefix("Name it with `--database FILE`") == true)
    let lint = try folder.run("lint", "--format", "json").json()
    let findings = try #require(lint["findings"] as? [[String: Any]])
    let text = try folder.run("lint").output
    let advice = findings.compactMap { $0["help"] as? String }
    #expect(!advice.isEmpty && advice.allSatisfy { text.contains("help: \($0)\n") }, "\(text)")
    try folder.write("migrations/0002_drop.yaml", manifest("SELECT nothing"))
    let failed = try folder.run("migrate", "--database", "app.sqlite", "--format", "json").json()
    #expect(
      (failed["failed"] as? [String: Any])?["help"] as? String
        == "correct the manifest, or the rows of the database, and run the command again")
  }

  @Test(
    "a failure from 64 up is an error with a code",
    arguments: [
      (64, ["verify", "--bogus"]), (64, ["status"]), (66, ["status", "--database", "no.sqlite"]),
      (66, ["verify", "--config", "no.yaml"]), (74, ["migrate", "--database", "migrations"]),
    ])
  func errors(status: Int, arguments: [String]) throws {
    let run = try WorkingFolder.ofReminders().start(arguments + ["--format", "json"]).wait()
    #expect(run.status == Int32(status))
    #expect(run.errors.isEmpty)
    let error = try #require(try run.json()["error"] as? [String: Any])
    #expect(error["code"] as? Int == status)
    #expect((error["message"] as? String)?.isEmpty == false)
    for key in ["file", "line", "column"] { #expect(error[key] is NSNull) }
  }

  @Test("the document contains migrations that were applied before an error from 64 up")
  func errorAfterSuccess() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("INSERT INTO notes (text) VALUES ('one')")
    try folder.write("migrations/0002_more.yaml", manifest("CREATE TABLE more (id)"))
    // In rollback-journal mode a rewrite waits until there is no reader.
    try folder.write("migrations/0003_text.yaml", manifest("UPDATE notes SET text = 'two'"))
    let reader = try folder.connection()
    try reader.execute("PRAGMA journal_mode = WAL; PRAGMA journal_mode = DELETE")
    try reader.execute("BEGIN")
    _ = try reader.rows("SELECT * FROM notes")
    let run = try folder.expect(
      75, "migrate", "--database", "app.sqlite", "--timeout", "0.1", "--format", "json")
    let json = try run.json()
    #expect((json["error"] as? [String: Any])?["code"] as? Int == 75)
    #expect(json.keys.contains("applied"))
    #expect(json.keys.contains("failed"))
  }

  @Test("control characters in names are escaped, so that every document is valid")
  func escapes() throws {
    let folder = try migrated()
    try folder.connection().execute("CREATE TABLE \"a\u{1B}[2J\"\"\n\u{85}\\é😀\" (id)")
    let run = try folder.expect(1, "diff", "--database", "app.sqlite", "--format", "json")
    #expect(
      run.output.unicodeScalars.filter { $0.properties.generalCategory == .control } == ["\n"])
    let change = try #require((try run.json()["changes"] as? [[String: Any]])?.first)
    #expect(change["object"] as? String == "a\u{1B}[2J\"\n\u{85}\\é😀")
  }
}

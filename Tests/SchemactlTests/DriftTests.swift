import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// A database whose schema was changed manually.
@Suite("A database that has drifted")
struct DriftTests {
  private func folder() throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_tables": manifest(
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, isDone INTEGER); CREATE TABLE tags (name TEXT);"
      )
    ])
    try folder.write("schemactl.yaml", "sync: { engine: none }\ndatabase: app.sqlite\n")
    try folder.expect(0, "migrate")
    try folder.connection().execute(
      "ALTER TABLE notes ADD COLUMN memo TEXT; INSERT INTO notes VALUES (1, 0, 'mine')")
    return folder
  }

  private static let move = """
    operations:
      - move_column:
          table: notes
          from: isDone
          to: { name: state, type: TEXT }
          map: { 0: open, 1: done }

    """
  private static let sentence =
    "this migration touches objects that differ from the history: column `notes.memo`"

  @Test(
    "commands report that a migration which uses the drifted object cannot run",
    arguments: [["migrate", "--dry-run"], ["plan", "--on-copy"], ["migrate"]])
  func inTheWay(_ words: [String]) throws {
    let folder = try folder()
    try folder.write("migrations/0002_move.yaml", Self.move)
    let run = try folder.start(words).wait()
    #expect(run.status == 1)
    #expect(run.errors.contains(Self.sentence), "\(run.errors)")
    #expect(run.errors.contains("note: drift: "), "\(run.errors)")
    let json = try folder.start(words + ["--format", "json"]).wait().json()
    #expect((json["drift"] as? [Any])?.count == 1)
    #expect((json["failed"] as? [String: Any])?["id"] as? String == "0002_move")
    #expect(try folder.rows("SELECT * FROM notes") == ["1|0|mine"])
  }

  @Test("`plan` ends before that migration, and `lint --on-copy` does not run it")
  func planned() throws {
    let folder = try folder()
    try folder.write(
      "migrations/0002_tags.yaml", manifest("ALTER TABLE tags ADD COLUMN color TEXT"))
    try folder.write("migrations/0003_move.yaml", Self.move)
    let plan = try folder.expect(1, "plan", "--database", "app.sqlite")
    #expect(plan.output.contains("0002_tags"))
    #expect(!plan.output.contains("state"))
    #expect(plan.errors.contains(Self.sentence))
    let lint = try folder.expect(1, "lint", "--on-copy", "--database", "app.sqlite")
    #expect(lint.output.contains(Self.sentence), "\(lint.output)")
    #expect(
      lint.output.contains("Applied 1 migration to a copy of `app.sqlite`:"), "\(lint.output)")
  }

  @Test("status reports the drift and names `diff`, which says what to do")
  func status() throws {
    let folder = try folder()
    let run = try folder.expect(0, "status")
    #expect(run.errors.contains("note: the schema differs from the history in 1 place\n"))
    #expect(run.output.hasSuffix("Next: `schemactl diff`\n"), "\(run.output)")
    let json = try folder.run("status", "--format", "json").json()
    #expect((json["drift"] as? [Any])?.count == 1)
    #expect(try folder.expect(1, "diff").errors.contains("help: if the database is right, "))
    #expect(try folder.expect(0, "migrate").errors.isEmpty)
  }

  @Test("an operation that only the drift makes impossible is a finding about the database")
  func dependent() throws {
    let folder = try folder()
    try folder.connection().execute(
      "ALTER TABLE notes DROP COLUMN memo; CREATE VIEW open AS SELECT isDone FROM notes")
    try folder.write("migrations/0002_move.yaml", Self.move)
    let fleet = ["fleet", "migrate", "--databases", "app.sqlite"]
    for words in [["plan"], ["plan", "--on-copy"], ["migrate"], fleet] {
      let run = try folder.start(words).wait()
      #expect(run.status == 1, "\(words): \(run.errors)")
      #expect((run.output + run.errors).contains(": view `open`"), "\(run.errors)")
    }
  }

  @Test(
    "commands refuse to change a table with an index that is not in the history",
    arguments: [
      "drop_table: { table: tags }", "rename_table: { table: tags, to: labels }",
      "rename_column: { table: tags, from: name, to: title }",
    ])
  func strangeIndex(_ operation: String) throws {
    let folder = try folder()
    try folder.connection().execute(
      "ALTER TABLE notes DROP COLUMN memo; CREATE INDEX by_name ON tags (name)")
    try folder.write("migrations/0002_tags.yaml", "operations:\n  - \(operation)\n")
    for words in [["plan"], ["plan", "--on-copy"], ["migrate"]] {
      let run = try folder.start(words).wait()
      #expect(run.status == 1)
      #expect(run.errors.contains("would not lead to the schema of the history: index `by_name`"))
    }
    let other = "operations:\n  - add_column: { table: tags, column: { name: color } }\n"
    try folder.write("migrations/0002_tags.yaml", other)
    for words in ["plan", "migrate"] { try folder.expect(0, words) }
  }

  @Test("diff prints its advice after the differences")
  func advice() throws {
    let run = try folder().shell("\"$schemactl\" diff 2>&1")
    let lines = run.output.split(separator: "\n")
    #expect(lines.first == "--- the history", "\(run.output)")
    #expect(lines.last?.hasPrefix("help: if the database is right") == true, "\(run.output)")
  }

  @Test("status reports why it could not compare the schema")
  func unknown() throws {
    let folder = try WorkingFolder.of([
      "0001_tables": manifest("CREATE TABLE a (b); INSERT INTO a VALUES (zeroblob(3000000));")
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.write("schemactl.yaml", "replay: { megabytes: 1 }\n")
    let run = try folder.expect(3, "status", "--database", "app.sqlite")
    #expect(run.errors.contains("exceeded the replay size limit of 1 MB"), "\(run.errors)")
    #expect(run.output.contains("1 applied"), "\(run.output)")
  }

  @Test("drift that no migration uses is only reported")
  func elsewhere() throws {
    let folder = try folder()
    try folder.write(
      "migrations/0002_tags.yaml", manifest("ALTER TABLE tags ADD COLUMN color TEXT"))
    for words in [["migrate", "--dry-run"], ["plan", "--database", "app.sqlite"], ["migrate"]] {
      let run = try folder.start(words).wait()
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.errors.contains("note: drift: column `notes.memo`"), "\(words): \(run.errors)")
      #expect(run.errors.contains("`schemactl diff --database app.sqlite` compares"))
    }
  }

  @Test("the advice of the message adopts the database's changes, and no row is lost")
  func takenOver() throws {
    let folder = try folder()
    try folder.write(
      "migrations/0002_memo.yaml",
      "operations:\n- add_column: { table: notes, column: { name: memo, type: TEXT } }\n")
    try folder.write("migrations/0003_move.yaml", Self.move)
    let run = try folder.expect(1, "migrate")
    #expect(run.errors.contains("`schemactl repair 0002_memo applied --reason … --database FILE`"))
    try folder.expect(
      0, "repair", "2", "applied", "--reason", "made by hand", "--force")
    try folder.expect(0, "migrate")
    try folder.expect(0, "verify", "--database", "app.sqlite")
    #expect(try folder.rows("SELECT id, state, memo FROM notes") == ["1|open|mine"])
  }
}

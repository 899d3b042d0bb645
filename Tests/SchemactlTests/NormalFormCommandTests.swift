import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// One letter in its two Unicode normal forms: two names to SQLite and to a file system.
private let composed = "\u{E9}"
private let decomposed = "e\u{301}"

@Suite("Commands and both Unicode forms of a letter")
struct NormalFormCommandTests {
  private let history = """
    operations:
    - create_table:
        name: t
        columns:
        - { name: id, type: TEXT, primary_key: true }
        - { name: \(composed), type: INTEGER }
        - { name: \(decomposed), type: INTEGER }
        strict: true

    """

  private func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }

  @Test("`new --from` creates the missing form, and the result has the wanted schema")
  func newFrom() throws {
    let folder = try WorkingFolder.of([
      "0001_t": manifest(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, \(composed) INTEGER); INSERT INTO t VALUES (1, 10)"
      )
    ])
    try folder.connection("wanted.sqlite").execute(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, \(composed) INTEGER, \(decomposed) INTEGER); "
        + "CREATE TABLE \(composed) (a); CREATE TABLE \(decomposed) (a)")
    try folder.expect(0, "new", "both", "--from", "wanted.sqlite")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.rows("SELECT \(composed), \(decomposed) FROM t") == ["10|NULL"])
    #expect(try folder.rows("SELECT count(*) FROM sqlite_schema WHERE length(name) < 3") == ["3"])
    try folder.expect(0, "diff", "app.sqlite", "wanted.sqlite")
    try folder.expect(1, "new", "again", "--from", "wanted.sqlite")
  }

  @Test(
    "`diff` and `verify` report the other form", arguments: ["text", "json", "github", "sarif"])
  func drift(format: String) throws {
    let folder = try WorkingFolder.of([
      "0001_t": manifest("CREATE TABLE t (id INTEGER PRIMARY KEY, \(composed) INTEGER)")
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute(
      "ALTER TABLE t RENAME COLUMN \(composed) TO \(decomposed)")
    let run = try folder.run("verify", "--database", "app.sqlite", "--format", format)
    #expect(run.status == 1, "\(run.output)\(run.errors)")
    try folder.expect(1, "diff", "app.sqlite")
  }

  @Test("lint reports the dropped form, and a baseline of one form does not cover the other")
  func lint() throws {
    let folder = try WorkingFolder.of([
      "0001_t": history,
      "0002_drop": "operations:\n- drop_column: { table: t, column: \(composed) }\n",
    ])
    func objects() throws -> [[UInt8]?] {
      let lint = try folder.run("lint", "--format", "json").json()
      let findings = try #require(lint["findings"] as? [[String: Any]])
      return findings.filter { $0["rule"] as? String == "drop-column" }
        .map { bytes($0["object"] as? String) }
    }
    #expect(try objects() == [bytes("t.\(composed)")])
    try folder.write("schemactl.yaml", "lint: { baseline: baseline.txt }\n")
    try folder.expect(0, "lint", "--write-baseline")
    try folder.expect(0, "lint")
    try folder.write(
      "migrations/0002_drop.yaml",
      "operations:\n- drop_column: { table: t, column: \(decomposed) }\n")
    try folder.expect(1, "lint")
  }

  @Test("a configured table name matches only its own form")
  func configuration() throws {
    let folder = try WorkingFolder.of([
      "0001_t": manifest("CREATE TABLE \(composed) (a INTEGER, b INTEGER)"),
      "0002_drop": "operations:\n- drop_column: { table: \(composed), column: b }\n",
    ])
    try folder.write(
      "schemactl.yaml", "sync: { engine: additive, local_tables: [\(decomposed)] }\n")
    try folder.expect(65, "lint")
    try folder.write("schemactl.yaml", "sync: { engine: additive, local_tables: [\(composed)] }\n")
    try folder.expect(0, "lint")
    try folder.write("schemactl.yaml", "ignore: [\(decomposed)]\n")
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("CREATE TABLE \(decomposed) (a)")
    try folder.expect(0, "verify", "--database", "app.sqlite")
    try folder.write("schemactl.yaml", "ignore: [\(composed)]\n")
    try folder.expect(1, "verify", "--database", "app.sqlite")
  }

  @Test("a frozen file renamed to the other form is an error; a draft with it is separate")
  func files() throws {
    let folder = try WorkingFolder.of(["0001_\(composed)": manifest("CREATE TABLE t (a)")])
    try folder.expect(0, "freeze")
    try FileManager.default.moveItem(
      atPath: folder.path("migrations/0001_\(composed).yaml"),
      toPath: folder.path("migrations/0001_\(decomposed).yaml"))
    let run = try folder.expect(2, "verify", "--format", "json")
    let states = try #require(try run.json()["history"] as? [[String: Any]])
    #expect(states.contains { $0["state"] as? String == "renamed" })
    #expect(!states.contains { $0["state"] as? String == "unchanged" })
    try folder.expect(2, "migrate", "--database", "app.sqlite")
  }
}

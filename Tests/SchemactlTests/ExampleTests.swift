import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// The histories in `docs/examples`.
enum Example: String, CaseIterable, Sendable {
  case scorekeeper, facts, projects

  /// Each release with the rows of a database after it.
  var releases: KeyValuePairs<String, String> {
    switch self {
    case .scorekeeper:
      [
        "1.0": """
        INSERT INTO games (id, title) VALUES ('g1', 'Chess'), ('g2', 'Go');
        INSERT INTO players (id, gameID, name, score) VALUES
          ('p1', 'g1', 'Ada', 3), ('p2', 'g1', 'Bo', -1), ('p3', NULL, '', 0);
        INSERT INTO players (gameID, name) VALUES ('g2', 'Cy');
        """,
        "1.1": "INSERT INTO playerAssets VALUES ('p1', x'00ff'), ('p2', NULL)",
        "1.2": "UPDATE games SET isSortedByScore = 1 WHERE id = 'g2'",
      ]
    case .facts:
      [
        "1.0": "INSERT INTO facts (number, body) VALUES (2, 'The only even prime.'), (0, '');",
        "1.1": "UPDATE facts SET isArchived = 1 WHERE number = 0",
      ]
    case .projects:
      [
        "1.0": """
        INSERT INTO project (id, name) VALUES ('a', 'Garden'), ('b', 'House');
        INSERT INTO task (projectID, title, isDone) VALUES ('a', 'Dig', 1), ('a', 'Sow', 0), ('b', 'Paint', 0);
        """,
        "1.1": "UPDATE project SET accentColor = 255 WHERE id = 'b'",
        "1.2": "INSERT INTO projectBanner VALUES ('a', x'89504e47')",
      ]
    }
  }

  /// A separate copy of the example.
  func folder() throws -> WorkingFolder {
    let folder = try WorkingFolder()
    let example = repository.appendingPathComponent("docs/examples/\(rawValue)")
    for name in ["schemactl.yaml", "migrations", "queries"] {
      try FileManager.default.copyItem(
        at: example.appendingPathComponent(name), to: URL(fileURLWithPath: folder.path(name)))
    }
    return folder
  }
}

@Suite("The examples")
struct ExampleTests {
  @Test(
    "the frozen manifests are unchanged, and lint finds nothing", arguments: Example.allCases)
  func sound(_ example: Example) throws {
    let folder = try example.folder()
    let history = try #require(try folder.expect(0, "verify", "--format", "json").json()["history"])
    let states = try #require(history as? [[String: Any]]).map { $0["state"] as? String }
    #expect(states == Array(repeating: "unchanged", count: states.count))
    #expect(states.count > 1)
    let lint = try folder.expect(0, "lint", "--strict", "--full", "--format", "json").json()
    let findings = try #require(lint["findings"] as? [[String: Any]])
    #expect(findings.filter { $0["waived"] as? Bool == false }.isEmpty)
    try folder.expect(0, "check", "--strict")
  }

  @Test("their lock is equal to a new one from freeze", arguments: Example.allCases)
  func lock(_ example: Example) throws {
    let folder = try example.folder()
    let file = folder.path("migrations/history.lock")
    let lock = try String(contentsOfFile: file, encoding: .utf8)
    try folder.remove("migrations/history.lock")
    for (index, (release, _)) in example.releases.enumerated() {
      try folder.expect(0, "freeze", "--release", release, "--to", "\(index + 1)")
    }
    // Another SQLite writes its own version.
    let own = { (text: String) in text.replacing(/\ssqlite=\S+/, with: "") }
    #expect(own(try String(contentsOfFile: file, encoding: .utf8)) == own(lock))
  }

  @Test("they migrate a database with rows from release to release", arguments: Example.allCases)
  func migrate(_ example: Example) throws {
    let folder = try example.folder()
    for (index, (_, rows)) in example.releases.enumerated() {
      let before = index == 0 ? [] : try tables(folder)
      try folder.expect(0, "migrate", "--to", "\(index + 1)", "--database", "app.sqlite")
      for (table, columns, rows) in before {
        #expect(try folder.rows("SELECT \(columns) FROM \(table)") == rows, "\(table)")
      }
      try folder.connection().execute("PRAGMA foreign_keys = ON; \(rows)")
    }
    #expect(try tables(folder).allSatisfy { !$0.rows.isEmpty })
    #expect(try folder.rows("PRAGMA foreign_key_check").isEmpty)
    try folder.expect(0, "verify", "--database", "app.sqlite")
    try folder.expect(0, "status", "--check", "--database", "app.sqlite")
  }

  /// All tables but the ledger, with their columns and rows.
  private func tables(
    _ folder: WorkingFolder
  ) throws -> [(table: String, columns: String, rows: [String])] {
    let names = try folder.rows(
      """
      SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
        AND name NOT LIKE 'schemactl_%'
      """)
    return try names.map { name in
      let columns = try folder.rows(
        "SELECT group_concat(name, ', ') FROM pragma_table_info('\(name)')")[0]
      return (name, columns, try folder.rows("SELECT \(columns) FROM \(name)"))
    }
  }

  @Test("their application's queries compile, and a migration that breaks one is reported")
  func queries() throws {
    let folder = try Example.scorekeeper.folder()
    try folder.write(
      "migrations/0004_rename.yaml",
      "operations:\n  - rename_column: { table: players, from: score, to: points }\n")
    let output = try folder.expect(1, "lint").output
    let broken = output.split(separator: "\n").filter { $0.contains("[query-broken]") }
    #expect(
      broken.map { $0.prefix { $0 != " " } } == [
        "queries/games.sql:8:34:", "queries/games.sql:13:28:",
      ])
    #expect(broken.allSatisfy { $0.contains("does not compile after `0004_rename`") })
  }
}

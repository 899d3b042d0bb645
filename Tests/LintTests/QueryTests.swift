import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaQueries
import SchemaSQLText
import SchemaTimeline
import Testing

@Suite("The application's queries")
struct QueryTests {
  private let notes = sql(
    """
    CREATE TABLE notes (id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), body TEXT, done INTEGER) STRICT;
    """)

  private func found(
    _ queries: String, _ manifests: [String], releases: [String: Int] = [:],
    configuration: String = "", functions: [String] = []
  ) throws -> [Finding] {
    let report = try lint(
      manifests, .local, configuration: configuration, functions: functions, releases: releases,
      queries: queries)
    #expect(report.failure == nil)
    return report.findings.filter { $0.rule.hasPrefix("query-") }
  }

  private func lines(_ findings: [Finding]) -> [String] {
    findings.map { "\($0.line):\($0.column) \($0.severity.rawValue) \($0.rule) \($0.migration)" }
  }

  @Test("statements of every kind compile, with every kind of parameter")
  func sound() throws {
    #expect(
      try found(
        """
        -- name: all :many
        SELECT *, 'a;b' FROM notes WHERE id = ? OR id = ?2 OR body = :body; ;
        INSERT INTO notes (body) VALUES (@body) RETURNING id; /* ; */
        UPDATE notes SET done = $done WHERE id IN (SELECT value FROM json_each(?1));
        CREATE TEMP TRIGGER t AFTER UPDATE ON notes BEGIN
          SELECT CASE WHEN 1 THEN 2 END; DELETE FROM notes;
        END;
        PRAGMA foreign_keys = ON; PRAGMA table_info(notes); BEGIN; COMMIT; DELETE FROM notes
        """, [notes]
      ).isEmpty)
  }

  @Test("a query may have more parameters than schemactl's own limit")
  func manyParameters() throws {
    let list = Array(repeating: "?", count: 1500).joined(separator: ", ")
    #expect(
      try found("SELECT * FROM notes WHERE id IN (\(list)); SELECT ?2000;", [notes]).isEmpty)
  }

  @Test("an error is reported at the unknown name, in characters, in each statement of the file")
  func place() throws {
    let findings = try found(
      "SELECT 1;\r\n-- Überall;\r\nSELECT\r\n  'ü', bodi FROM notes;\nSELECT * FROM gone", [notes])
    #expect(
      lines(findings) == [
        "4:8 error query-broken 0001_step", "5:15 error query-broken 0001_step",
      ])
    #expect(findings.map(\.message)[0] == "the query does not compile: no such column: bodi")
    #expect(findings.allSatisfy { $0.file == "queries/reminders.sql" })
    #expect(findings.allSatisfy { $0.object == "reminders.sql" })
  }

  @Test("a broken query names the migration and the last release on which it compiled")
  func culprit() throws {
    let steps = [
      notes, sql("CREATE TABLE a (id)"), sql("ALTER TABLE notes DROP COLUMN done"),
      sql("CREATE TABLE b (id)"),
    ]
    let query = "SELECT done FROM notes"
    let findings = try found(query, steps, releases: ["1.0": 1, "1.1": 2])
    #expect(lines(findings) == ["1:8 error query-broken 0003_step"])
    #expect(
      findings.first?.message
        == "the query does not compile after `0003_step`; at release 1.1 it did: "
        + "no such column: done")
    #expect(lines(try found(query, steps)) == ["1:8 error query-broken 0003_step"])
    #expect(try found("SELECT body FROM notes", steps, releases: ["1.0": 1]).isEmpty)
  }

  @Test("an INSERT without a column list breaks with each new column")
  func insert() throws {
    let findings = try found(
      "INSERT INTO notes VALUES (?, ?, ?)", [notes, sql("ALTER TABLE notes ADD COLUMN due TEXT")])
    #expect(findings.map(\.rule) == ["query-broken"])
    #expect(findings.first?.message.contains("has 4 columns but 3 values") == true)
  }

  @Test("a dropped column in double quotes would become a string")
  func quoted() throws {
    let drop = sql("ALTER TABLE notes DROP COLUMN done")
    let findings = try found("SELECT id, \"done\" FROM notes", [notes, drop])
    #expect(lines(findings) == ["1:12 error query-broken 0002_step"])
    #expect(findings.first?.message.contains("as a string (no such column: done)") == true)
    #expect(try found("SELECT id FROM notes WHERE body = \"done\"", [notes]).isEmpty)
    let text = try found("SELECT id FROM notes WHERE body = \"yes\"", [notes])
    #expect(lines(text) == ["1:35 note query-broken 0001_step"])
  }

  @Test("columns that changed since a release are a warning, at a released migration a note")
  func columns() throws {
    let steps = [notes, sql("ALTER TABLE notes ADD COLUMN due TEXT"), sql("CREATE TABLE a (id)")]
    let query = "SELECT * FROM notes"
    let draft = try found(query, steps, releases: ["1.0": 1])
    #expect(lines(draft) == ["1:1 warning query-broken 0002_step"])
    #expect(
      draft.first?.message
        == "`0002_step` changes the query's result: added due TEXT since release 1.0")
    #expect(
      lines(try found(query, steps, releases: ["1.0": 1, "1.1": 2])) == [
        "1:1 note query-broken 0002_step"
      ])
    #expect(
      try found(
        query, steps, releases: ["1.0": 1, "1.1": 2],
        configuration: "sync: { engine: none, oldest_release: '1.1' }"
      ).isEmpty)
    #expect(try found(query, steps).isEmpty)
    #expect(try found("SELECT id FROM notes", steps, releases: ["1.0": 1]).isEmpty)
    // The app migrates the database before it runs the query.
    #expect(
      try found(
        "SELECT due FROM notes", steps, releases: ["1.0": 1],
        configuration: "sync: { engine: none, oldest_release: '1.0' }"
      ).isEmpty)
  }

  @Test("changes of views and triggers that a query uses count, too")
  func reached() throws {
    let view = sql("CREATE VIEW everything AS SELECT * FROM notes")
    let add = sql("ALTER TABLE notes ADD COLUMN due TEXT")
    #expect(
      lines(
        try found(
          "SELECT * FROM everything", [notes, view, add, sql("CREATE TABLE a (id)")],
          releases: ["1.0": 2])) == ["1:1 warning query-broken 0003_step"])
    let trigger = sql(
      "CREATE TRIGGER log AFTER INSERT ON notes BEGIN INSERT INTO a VALUES (NEW.id); END")
    #expect(
      lines(
        try found(
          "INSERT INTO notes (body) VALUES (:body)",
          [
            notes, sql("CREATE TABLE a (id)"), trigger, sql("DROP TABLE a"),
            sql("CREATE TABLE b (c)"),
          ]
        )) == ["1:1 error query-broken 0004_step"])
  }

  @Test("changes of types, of names from the schema and of the column order are found")
  func kinds() throws {
    let type = "operations: [ alter_column: { table: notes, column: done, type: TEXT } ]"
    let typed = try found("SELECT done FROM notes", [notes, type], releases: ["1.0": 1])
    #expect(
      typed.map(\.message) == [
        "`0002_step` changes the query's result: done INTEGER became done TEXT since release 1.0"
      ])
    let order = """
      operations:
        - rebuild_table:
            table: notes
            columns:
              - { name: id, type: TEXT, primary_key: true, not_null: true, default: { sql: uuid() } }
              - { name: done, type: INTEGER }
              - { name: body, type: TEXT }
            strict: true
            copy: {}
      """
    let moved = try found("SELECT * FROM notes", [notes, order], releases: ["1.0": 1])
    #expect(moved.first?.message.contains("id TEXT, done INTEGER, body TEXT since") == true)
  }

  @Test("an undeclared function is reported with its declaration, and a declared one is valid")
  func functions() throws {
    let query = "SELECT shout(body) FROM notes"
    #expect(
      try found(query, [notes]).first?.message.hasSuffix(
        "If the application registers `shout`, declare it under `functions` in `schemactl.yaml`")
        == true)
    #expect(try found(query, [notes], functions: ["shout"]).isEmpty)
  }

  @Test("a suppression in the migration covers the broken query, and an unused one is reported")
  func suppression() throws {
    let suppression =
      "lint: { allow: [ { rule: query-broken, reason: It goes with the next commit. } ] }\n"
    let drop = sql("ALTER TABLE notes DROP COLUMN done") + suppression
    #expect(try found("SELECT done FROM notes", [notes, drop]).map(\.isSuppressed) == [true])
    let report = try lint([notes, drop], .local, queries: "SELECT 1")
    #expect(report.findings.map(\.rule).contains("unused-suppression"))
  }

  @Test("a comment suppresses findings of its statement for all migrations")
  func comments() throws {
    let queries = """
      -- schemactl: allow query-broken: The app makes that table.
      SELECT * FROM session;
      SELECT done FROM notes; /* schemactl: allow query-broken: It goes with the next commit. */
      SELECT * FROM gone
      """
    let drop = sql("ALTER TABLE notes DROP COLUMN done")
    for history in [[notes, drop], [notes, drop, sql("CREATE TABLE a (id)")]] {
      let findings = try found(queries, history)
      #expect(findings.map(\.isSuppressed) == [true, true, false])
      #expect(
        findings.filter(\.isSuppressed).compactMap(\.reason).sorted() == [
          "It goes with the next commit.", "The app makes that table.",
        ])
    }
  }

  @Test("a comment suppresses its finding through the day after `until`")
  func commentWithDate() throws {
    func rules(_ comment: String) throws -> [String] {
      try lint([notes], .local, queries: "\(comment)\nSELECT * FROM session;").findings
        .filter { !$0.isSuppressed }.map(\.rule).sorted()
    }
    #expect(try rules("-- schemactl: allow query-broken until 2026-11-20: Why.") == [])
    #expect(try rules("--schemactl:allow query-broken until 2026-11-20 Why.") == [])
    #expect(
      try rules("-- schemactl: allow query-broken until 2026-11-19: Why.")
        == ["query-broken", "unused-suppression"])
  }

  @Test(
    "a comment without a finding is reported, even in a file without statements")
  func idleComments() throws {
    func lines(_ queries: String) throws -> [String] {
      try lint([notes], .local, queries: queries).findings.map {
        "\($0.line):\($0.column) \($0.severity.rawValue) \($0.rule)"
      }
    }
    let comment = "-- schemactl: allow query-broken: Nothing is."
    #expect(try lines("\(comment)\nSELECT 1;") == ["1:1 warning unused-suppression"])
    #expect(try lines("\n\(comment)\n") == ["2:1 warning unused-suppression"])
    #expect(try lines("SELECT 1;\n\(comment)\n") == ["2:1 warning unused-suppression"])
    #expect(
      try lines("SELECT 1;\n\(comment)\nPRAGMA table_info(notes);")
        == ["2:1 warning unused-suppression"])
    #expect(try lines("SELECT 1;\nPRAGMA table_info(notes);") == [])
  }

  @Test("a comment after the last statement does not suppress its finding")
  func trailingComment() throws {
    let report = try lint(
      [notes], .local,
      queries: "SELECT * FROM gone;\n-- schemactl: allow query-broken: For the next query.")
    #expect(
      report.findings.map(\.rule).sorted() == ["query-broken", "unused-suppression"])
  }

  @Test(
    "a comment without a reason or with an unknown rule is an error at its position",
    arguments: [
      ("query-broken", "the suppression needs a reason"),
      ("query-broken until 2027-01-31:", "the suppression needs a reason"),
      (
        "query-broken until May: Why.",
        "`until` needs a date, not `May`: write "
          + "`-- schemactl: allow RULE until 2027-01-31: reason`"
      ),
      (
        "query-broken: It goes until 2027-01-31.",
        "`until 2027-01-31.` in the reason does not limit the suppression: write "
          + "`-- schemactl: allow RULE until 2027-01-31: reason`"
      ),
      ("query-brokn: Why.", "`query-brokn` is not a rule: did you mean `query-broken`?"),
      (
        "query-columns-changed: Why.",
        "the rule `query-columns-changed` is now called `query-broken`"
      ),
    ])
  func invalidComment(_ text: String, _ message: String) throws {
    let failure = #expect(throws: Failure.self) {
      try found("SELECT 1;\n-- schemactl: allow \(text)\nSELECT 2", [notes])
    }
    #expect(failure?.message == message)
    #expect(failure?.status == .invalidInput)
    #expect(failure?.place?.position == Position(line: 2, column: 1))
  }

  @Test("an invalid comment for schemactl is an error at its position")
  func strangeComment() throws {
    let failure = #expect(throws: Failure.self) {
      try found("SELECT 1;\n  -- schemactl: ignore", [notes])
    }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.place?.file == "queries/reminders.sql")
    #expect(failure?.place?.position == Position(line: 2, column: 3))
  }

  @Test("a query that never compiles is reported at its file, and a baseline can cover it")
  func home() throws {
    let query = "SELECT * FROM session"
    let first = try lint([notes], .local, queries: query)
    let baseline = Baseline.text(first.findings)
    #expect(baseline.contains(" query-broken reminders.sql reminders.sql\n"))
    let later = try lint(
      [notes, sql("CREATE TABLE a (id TEXT) STRICT")], .local, baseline: baseline, queries: query)
    #expect(later.findings.filter { $0.rule == "query-broken" }.map(\.isSuppressed) == [true])
    let suppression = "lint: { allow: [ { rule: query-broken, reason: Why. } ] }\n"
    let report = try lint([notes + suppression], .local, queries: query)
    #expect(report.findings.filter { $0.rule == "query-broken" }.map(\.isSuppressed) == [false])
    // Queries that were not checked are not reported as missing.
    let partial = try lint(
      [notes, notes], .local, baseline: baseline, queries: query, through: "1")
    #expect(partial.findings.filter { $0.rule == "unused-suppression" }.isEmpty)
  }

  @Test("queries are not checked if the replay is incomplete or the rules are off")
  func notJudged() throws {
    let failing = sql("DROP TABLE gone")
    #expect(
      try lint([notes, failing], .local, queries: "SELECT nothing").findings.filter {
        $0.rule.hasPrefix("query-")
      }.isEmpty)
    #expect(
      try lint([notes, notes], .local, queries: "SELECT x FROM y", through: "1").findings.isEmpty)
    #expect(
      try found(
        "SELECT nothing", [notes],
        configuration: "sync: { engine: none }\nlint: { rules: { query-broken: off } }"
      ).isEmpty)
  }

  @Test("invalid SQL never crashes the program")
  func garbage() throws {
    for text in ["", ";;;", "'", "SELECT \0 1", "CREATE TRIGGER", "END;", "(((((", "/*", "\"", "é"]
    {
      let findings = try found(text, [notes])
      #expect(findings.allSatisfy { $0.rule == "query-broken" })
    }
  }
}

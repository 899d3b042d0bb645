import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaQueries
import SchemaSQLText
import SchemaTimeline
import Testing

private let table = """
  operations:
    - create_table:
        name: reminders
        columns:
          - name: id
            type: TEXT
            primary_key: true
            not_null: { on_conflict: replace }
            default: { sql: uuid() }
          - { name: title, type: TEXT }
          - { name: notes, type: TEXT }
        strict: true
  """

private func dropping(_ column: String, _ lint: String = "") -> String {
  "operations:\n  - drop_column: { table: reminders, column: \(column) }\n" + lint
}

@Suite("Profile, configuration and severities")
struct ConfigurationTests {
  @Test(
    "the engine determines the profile, and an argument overrides it",
    arguments: [
      ("", .additive), ("sync: { engine: none }", .local),
      ("sync: { engine: additive }", .additive), ("sync: { engine: sqlite-data }", .sqliteData),
      ("sync: { engine: cr-sqlite }", .crSQLite),
    ] as [(String, Profile)])
  func profile(_ configuration: String, _ profile: Profile) throws {
    #expect(try lint([table], configuration: configuration).profile == profile)
    #expect(try lint([table], .local, configuration: configuration).profile == .local)
  }

  @Test(
    "a rule's severity can be set",
    arguments: [
      ("error", ["0002 2:38 error drop-column reminders.title"], .finding),
      ("note", ["0002 2:38 note drop-column reminders.title"], .success), ("off", [], .success),
    ] as [(String, [String], SchemaHistory.ExitStatus)])
  func severity(_ severity: String, _ lines: [String], _ status: SchemaHistory.ExitStatus) throws {
    let report = try lint(
      [table, dropping("title")], .local,
      configuration: "lint: { rules: { drop-column: \(severity) } }")
    #expect(report.lines == lines)
    #expect(report.status == status)
  }

  @Test("warnings and notes alone are a success, but not under strict")
  func strict() throws {
    let history = [table, dropping("title")]
    #expect(try lint(history, .local).status == .success)
    #expect(try lint(history, .local, isStrict: true).status == .finding)
    #expect(try lint([table], .local, isStrict: true).status == .success)
  }

  @Test("an unknown rule in the configuration is an error at its position")
  func unknownRule() throws {
    let failure = #expect(throws: Failure.self) {
      try failing { try lint([table], configuration: "lint:\n  rules:\n    drop-colum: off\n") }
    }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message == "`drop-colum` is not a rule: did you mean `drop-column`?")
    #expect(failure?.place?.file == "schemactl.yaml")
    #expect(failure?.place?.position == Position(line: 3, column: 5))
  }

  @Test(
    "tables that do not sync are checked as local",
    arguments: [
      "local_tables: [Reminders]", "tables: []", "since: '3'", "since: 0003_step",
    ])
  func local(_ setting: String) throws {
    let report = try lint(
      [table, dropping("title"), dropping("notes")],
      configuration: "sync: { engine: sqlite-data, \(setting) }")
    let third = setting.hasPrefix("since") ? "error" : "warning"
    #expect(
      report.lines == [
        "0002 2:38 warning drop-column reminders.title",
        "0003 2:38 \(third) drop-column reminders.notes",
      ])
  }

  @Test("tables that sync are checked by the engine's profile")
  func synced() throws {
    let report = try lint(
      [table, dropping("title")],
      configuration: "sync: { engine: sqlite-data, tables: [REMINDERS] }")
    #expect(report.lines == ["0002 2:38 error drop-column reminders.title"])
  }

  @Test(
    "an unknown name in `sync` is an error",
    arguments: [
      (
        "since: 0001_stop",
        "`sync.since` is `0001_stop`, which is not a migration: did you mean `0001_step`?"
      ),
      (
        "tables: [remindars]",
        "`sync.tables` names `remindars`, which is not a table of the history: did you mean "
          + "`reminders`?"
      ),
      (
        "local_tables: [remindars]",
        "`sync.local_tables` names `remindars`, which is not a table of the history: did you mean "
          + "`reminders`?"
      ),
    ])
  func unknownName(setting: String, message: String) throws {
    let failure = #expect(throws: Failure.self) {
      try failing { try lint([table], configuration: "sync: { engine: additive, \(setting) }") }
    }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message == message)
    #expect(failure?.place?.position?.line == 1)
    #expect((failure?.place?.position?.column ?? 0) > 26)
  }

  @Test("all unknown names of the configuration and of suppressions are reported together")
  func unknownNames() throws {
    let names = """
      lint: { rules: { drop-colum: off } }
      sync:
        engine: additive
        since: 0001_stop
        oldest_release: '9'

      """
    let failure = #expect(throws: InvalidInput.self) {
      try lint(
        [table + "\nlint: { allow: [{ rule: drop-tabel, reason: x }] }\n"], configuration: names)
    }
    #expect(
      failure?.diagnostics.filter { $0.file == "schemactl.yaml" }.map(\.position) == [
        Position(line: 1, column: 18), Position(line: 4, column: 10),
        Position(line: 5, column: 19),
      ])
    #expect(failure?.diagnostics.count == 4)
    let tables = #expect(throws: Failure.self) {
      try lint(
        [table], configuration: "sync: { engine: additive, tables: [a, b], local_tables: [c] }")
    }
    #expect(
      tables?.diagnostics.map(\.position?.column) == [36, 39, 58], "\(tables?.message ?? "")")
  }
}

@Suite("Scope of a run")
struct ScopeTests {
  @Test("it ends at `through`, and reports findings only of the named migrations")
  func range() throws {
    let history = [table, dropping("title"), dropping("notes")]
    #expect(
      try lint(history, through: "2").lines == ["0002 2:38 error drop-column reminders.title"])
    #expect(
      try lint(history, reporting: ["0003_step"]).lines == [
        "0003 2:38 error drop-column reminders.notes"
      ])
    #expect(throws: Failure.self) { try lint(history, through: "4") }
  }

  @Test("a failing migration ends the replay, and earlier findings remain")
  func failure() throws {
    let failing = sql("DROP TABLE reminders;\nSELECT nothing")
    let suppression = "lint: { allow: [{ rule: drop-table, reason: Gone. }] }"
    let report = try lint([
      table, dropping("title"), failing + suppression, dropping("notes", suppression),
    ])
    #expect(report.lines == ["0002 2:38 error drop-column reminders.title"])
    #expect(report.failure?.status == .migrationFailed)
    #expect(report.failure?.migration?.id == "0003_step")
    #expect(report.status == .migrationFailed)
  }

  @Test("an empty history has no findings")
  func empty() throws {
    let report = try lint([])
    #expect(report.findings == [])
    #expect(report.status == .success)
  }

  @Test(
    "forbidden statements make the manifest invalid",
    arguments: [
      "BEGIN", "COMMIT", "SAVEPOINT a", "ATTACH 'a.db' AS a", "VACUUM", "PRAGMA journal_mode = WAL",
      "SELECT load_extension('a')",
    ])
  func refused(_ statement: String) throws {
    let failure = #expect(throws: Failure.self) {
      try lint([table, sql("SELECT 1;\n\(statement)")], .local)
    }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.place?.position == Position(line: 4, column: 7))
  }
}

@Suite("Suppressions")
struct SuppressionTests {
  private func suppressed(_ suppression: String, _ profile: Profile? = nil) throws -> LintReport {
    try lint([table, dropping("title", "lint: { allow: [{ \(suppression) }] }\n")], profile)
  }

  @Test("a suppressed finding keeps its severity and gets the reason")
  func kept() throws {
    let report = try suppressed("rule: drop-column, reason: Nothing syncs.")
    let finding = try #require(report.findings.first)
    #expect(report.findings.count == 1)
    #expect(finding.isSuppressed)
    #expect(finding.severity == .error)
    #expect(finding.reason == "Nothing syncs.")
    #expect(report.status == .success)
  }

  @Test(
    "a suppression without a reason makes the manifest invalid",
    arguments: [
      "rule: drop-column", "rule: drop-column, reason: ''", "rule: drop-column, reason: ~",
    ])
  func reason(_ suppression: String) {
    #expect(throws: InvalidInput.self) { try suppressed(suppression) }
  }

  @Test("a suppression is valid through its last day")
  func until() throws {
    #expect(try suppressed("rule: drop-column, reason: Why., until: 2026-11-20").lines == [])
    #expect(
      try suppressed("rule: drop-column, reason: Why., until: 2026-11-19").lines == [
        "0002 2:38 error drop-column reminders.title",
        "0002 3:17 error unused-suppression drop-column",
      ])
  }

  @Test(
    "a suppression of an unknown rule makes the manifest invalid",
    arguments: [
      ("drop-columns", "`drop-columns` is not a rule: did you mean `drop-column`?"),
      ("drop-view", "the rule `drop-view` is now called `drop-object`"),
      ("vacuum", "`vacuum` is no longer a rule: remove this entry"),
      (
        "dependents-read-new-values",
        "`dependents-read-new-values` is no longer a rule: remove this entry"
      ),
      ("unused-suppression", "a finding of `unused-suppression` cannot be suppressed"),
    ])
  func unknown(_ rule: String, _ message: String) throws {
    let error = #expect(throws: InvalidInput.self) {
      try suppressed("rule: \(rule), reason: Why.")
    }
    #expect(
      error?.diagnostics.map(\.description) == [
        "migrations/0002_step.yaml:3:17: error: \(message)"
      ])
  }

  @Test("every suppression of an old rule is reported in one run")
  func everyProblem() throws {
    let old = "lint: { allow: [{ rule: new-check, reason: Why. }, { rule: pragma, reason: Why. }] }"
    let error = #expect(throws: InvalidInput.self) {
      try lint([table, dropping("title", old), dropping("notes", old)])
    }
    #expect(error?.diagnostics.count == 4)
  }

  @Test("a rule id of version 0.1 in the configuration is reported with the new rule")
  func oldSetting() throws {
    let error = #expect(throws: InvalidInput.self) {
      try lint([table], configuration: "lint: { rules: { new-unique: off } }")
    }
    #expect(
      error?.diagnostics.map(\.message) == ["the rule `new-unique` is now called `fails-on-data`"])
  }

  @Test("a rule id of version 0.1 in a baseline is reported with the new rule, at its line")
  func oldBaseline() throws {
    let failure = #expect(throws: Failure.self) {
      try lint([table], baseline: "# x\n0123456789abcdef drop-index 0001_step i\n")
    }
    #expect(failure?.message.hasPrefix("the rule `drop-index` is now called `drop-object`") == true)
    #expect(failure?.place?.position == Position(line: 2, column: 18))
  }

  @Test("a suppression of a disabled rule is not reported as unused, and one of another rule is")
  func unused() throws {
    let suppression = "rule: synced-unique, reason: Why."
    #expect(
      try suppressed(suppression, .local).lines == ["0002 2:38 warning drop-column reminders.title"]
    )
    #expect(
      try suppressed(suppression).lines == [
        "0002 2:38 error drop-column reminders.title",
        "0002 3:17 warning unused-suppression synced-unique",
      ])
  }

  @Test(
    "a suppression that only rows need is not reported as unused without a run on rows",
    arguments: [
      ("loses-rows", "INSERT INTO n SELECT * FROM t WHERE x > 0;"),
      ("loses-values", "INSERT INTO n SELECT id, abs(x) FROM t;"),
      ("fails-on-data", "INSERT INTO n SELECT id, x || NULL FROM t;"),
    ])
  func frozenSuppression(_ rule: String, _ copy: String) throws {
    let column = rule == "fails-on-data" ? "x INTEGER NOT NULL" : "x INTEGER"
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, \(column)) STRICT")
    let rebuild = sql(
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY, \(column)) STRICT;
      \(copy)
      DROP TABLE t;
      ALTER TABLE n RENAME TO t;
      """)
    let allowed = rebuild + "lint: { allow: [{ rule: \(rule), reason: Why. }] }\n"
    #expect(try lint([table, rebuild], .local).findings.map(\.rule) == [rule])
    #expect(try lint([table, allowed], .local).lines == [])
    #expect(try lint([table, allowed], .local, releases: ["1": 2]).lines == [])
    #expect(try lint([table, allowed], .local, releases: ["1": 2], isFull: true).lines == [])
    let idle =
      "lint: { allow: [{ rule: \(rule), reason: Why. }] }\n" + sql("DELETE FROM t WHERE x = 1")
    #expect(try lint([table, idle], .local).lines.count == 1)
    #expect(try lint([table, idle], .local, releases: ["1": 2]).lines == [])
  }

  @Test("a suppression of rename-column covers a hand-written rebuild after it is frozen")
  func frozenRename() throws {
    let table = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, title TEXT) STRICT")
    let rebuild = sql(
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY, name TEXT) STRICT;
      INSERT INTO n SELECT id, title FROM t;
      DROP TABLE t;
      ALTER TABLE n RENAME TO t;
      """)
    let allowed = rebuild + "lint: { allow: [{ rule: rename-column, reason: Why. }] }\n"
    for releases in [[:], ["1": 2]] {
      #expect(try lint([table, allowed], .local, releases: releases).lines == [])
      #expect(try lint([table, allowed], .local, releases: releases, isFull: true).lines == [])
    }
    let wrong = allowed.replacing("rename-", with: "drop-")
    #expect(try lint([table, wrong], .local).lines.count == 2)
  }

  @Test("a suppression of an operation applies only to it")
  func operation() throws {
    let manifest = """
      operations:
        - drop_column: { table: reminders, column: title }
          lint: { allow: [{ rule: drop-column, reason: Why. }] }
        - drop_column: { table: reminders, column: notes }
      """
    let report = try lint([table, manifest])
    #expect(report.lines == ["0002 4:38 error drop-column reminders.notes"])
    #expect(report.findings.map(\.isSuppressed) == [true, false])
  }

  @Test("a suppression of a migration applies only to it")
  func migration() throws {
    let suppression = "lint: { allow: [{ rule: drop-column, reason: Why. }] }"
    let report = try lint([table, dropping("title", suppression), dropping("notes")])
    #expect(report.lines == ["0003 2:38 error drop-column reminders.notes"])
  }
}

import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaSQLText
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

@Suite("The profile, the configuration and the severities")
struct ConfigurationTests {
  @Test(
    "the engine picks the profile, and an argument overrides it",
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

  @Test("warnings and notes alone are a success, and under strict they are not")
  func strict() throws {
    let history = [table, dropping("title")]
    #expect(try lint(history, .local).status == .success)
    #expect(try lint(history, .local, isStrict: true).status == .finding)
    #expect(try lint([table], .local, isStrict: true).status == .success)
  }

  @Test("an unknown rule in the configuration is an error at its place")
  func unknownRule() throws {
    let failure = #expect(throws: Failure.self) {
      try lint([table], configuration: "lint:\n  rules:\n    drop-colum: off\n")
    }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message == "there is no rule `drop-colum`: did you mean `drop-column`?")
    #expect(failure?.place?.file == "schemactl.yaml")
    #expect(failure?.place?.position == Position(line: 3, column: 5))
  }

  @Test(
    "tables that do not sync are judged as local ones",
    arguments: [
      "local_tables: [Reminders]", "tables: [others]", "since: '3'", "since: 0003_step",
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

  @Test("tables that sync are judged by the engine's profile")
  func synced() throws {
    let report = try lint(
      [table, dropping("title")],
      configuration: "sync: { engine: sqlite-data, tables: [REMINDERS] }")
    #expect(report.lines == ["0002 2:38 error drop-column reminders.title"])
  }

  @Test("a `since` that names no migration is an error")
  func unknownSince() throws {
    let failure = #expect(throws: Failure.self) {
      try lint([table], configuration: "sync: { engine: additive, since: 0001_stop }")
    }
    #expect(failure?.status == .invalidInput)
    #expect(
      failure?.message
        == "`sync.since` is 0001_stop, and there is no such migration: did you mean `0001_step`?")
  }
}

@Suite("What is looked at")
struct ScopeTests {
  @Test("nothing after `through`, and findings of the named migrations only")
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

  @Test("a migration that fails ends the replay; what was found before it stays")
  func failure() throws {
    let failing = sql("COMMIT;\nDROP TABLE reminders;\nSELECT nothing")
    let waiver = "lint: { allow: [{ rule: drop-table, reason: Gone. }] }"
    let report = try lint([table, dropping("title"), failing + waiver, dropping("notes", waiver)])
    #expect(
      report.lines == [
        "0002 2:38 error drop-column reminders.title", "0003 3:7 error transaction-control COMMIT",
      ])
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

  @Test("transaction control is passed over, and each statement of it found")
  func transactions() throws {
    let text = """
      BEGIN IMMEDIATE;
      ALTER TABLE reminders DROP COLUMN title;
      SAVEPOINT a;
      ROLLBACK TO a;
      RELEASE a;
      COMMIT;
      """
    let report = try lint([table, sql(text)], .local)
    #expect(report.failure == nil)
    #expect(
      report.lines == [
        "0002 3:7 error transaction-control BEGIN", "0002 4:7 warning drop-column reminders.title",
        "0002 5:7 error transaction-control SAVEPOINT",
        "0002 6:7 error transaction-control ROLLBACK", "0002 7:7 error transaction-control RELEASE",
        "0002 8:7 error transaction-control COMMIT",
      ])
  }
}

@Suite("Waivers")
struct WaiverTests {
  private func waived(_ waiver: String, _ profile: Profile? = nil) throws -> LintReport {
    try lint([table, dropping("title", "lint: { allow: [{ \(waiver) }] }\n")], profile)
  }

  @Test("a finding that is waived keeps its severity and gets the reason")
  func kept() throws {
    let report = try waived("rule: drop-column, reason: Nothing syncs.")
    let finding = try #require(report.findings.first)
    #expect(report.findings.count == 1)
    #expect(finding.waived)
    #expect(finding.severity == .error)
    #expect(finding.reason == "Nothing syncs.")
    #expect(report.status == .success)
  }

  @Test(
    "a waiver without a reason does not hold, and is one finding more",
    arguments: [
      "rule: drop-column", "rule: drop-column, reason: ''", "rule: drop-column, reason: ~",
    ])
  func reason(_ waiver: String) throws {
    let report = try waived(waiver)
    #expect(
      report.lines == [
        "0002 2:38 error drop-column reminders.title",
        "0002 3:17 error waiver-without-reason drop-column",
      ])
  }

  @Test("a waiver holds through its last day")
  func until() throws {
    #expect(try waived("rule: drop-column, reason: Why., until: 2026-11-20").lines == [])
    #expect(
      try waived("rule: drop-column, reason: Why., until: 2026-11-19").lines == [
        "0002 2:38 error drop-column reminders.title",
        "0002 3:17 error waiver-expired drop-column",
      ])
  }

  @Test("a misspelt rule is named")
  func unknown() throws {
    let report = try waived("rule: drop-columns, reason: Why.")
    #expect(report.lines.last == "0002 3:17 error waiver-unknown-rule drop-columns")
    #expect(
      report.findings.last?.message
        == "there is no rule `drop-columns`: did you mean `drop-column`?"
    )
  }

  @Test("the rules about waivers cannot be waived")
  func aboutWaivers() throws {
    let report = try waived("rule: waiver-unused, reason: Why.")
    #expect(report.lines.last == "0002 3:17 error waiver-unknown-rule waiver-unused")
    let both = try lint([
      table,
      "operations: []\nlint:\n  allow:\n    - { rule: waiver-unused, reason: Why. }\n"
        + "    - { rule: drop-table, reason: Why. }\n",
    ])
    #expect(
      both.lines == [
        "0002 4:7 error waiver-unknown-rule waiver-unused",
        "0002 5:7 warning waiver-unused drop-table",
      ])
  }

  @Test("a waiver of a rule that is off is not unused, and one of another rule is")
  func unused() throws {
    let waiver = "rule: synced-unique, reason: Why."
    #expect(
      try waived(waiver, .local).lines == ["0002 2:38 warning drop-column reminders.title"])
    #expect(
      try waived(waiver).lines == [
        "0002 2:38 error drop-column reminders.title",
        "0002 3:17 warning waiver-unused synced-unique",
      ])
  }

  @Test("a waiver of an operation holds for that one alone")
  func operation() throws {
    let manifest = """
      operations:
        - drop_column: { table: reminders, column: title }
          lint: { allow: [{ rule: drop-column, reason: Why. }] }
        - drop_column: { table: reminders, column: notes }
      """
    let report = try lint([table, manifest])
    #expect(report.lines == ["0002 4:38 error drop-column reminders.notes"])
    #expect(report.findings.map(\.waived) == [true, false])
  }

  @Test("a waiver of a migration holds for that one alone")
  func migration() throws {
    let waiver = "lint: { allow: [{ rule: drop-column, reason: Why. }] }"
    let report = try lint([table, dropping("title", waiver), dropping("notes")])
    #expect(report.lines == ["0003 2:38 error drop-column reminders.notes"])
  }
}

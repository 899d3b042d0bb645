import Foundation
import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaQueries
import SchemaReplay
import SchemaSQLText
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import SchemaYAML
import Testing

/// The result of `lint --fix` on a history. Manifests are drafts unless a release includes them.
func fixed(
  _ manifests: [String], _ profile: Profile = .sqliteData, releases: [String: Int] = [:],
  configuration: String = ""
) throws -> (report: LintReport, manifests: [String]) {
  let project = try project(manifests, releases: releases)
  let drafts = project.migrations.enumerated().filter { !project.isFrozen($0.element) }
  let result = try Fixer.fix(project) { project in
    try Linter(
      project: project,
      configuration: decodeConfiguration(Array(configuration.utf8), file: "schemactl.yaml"),
      profile: profile, today: noon
    ).lint()
  }
  var after = manifests
  for (file, bytes) in result.files {
    let index = try #require(project.migrations.firstIndex { $0.file == file })
    #expect(drafts.contains { $0.offset == index })
    after[index] = String(decoding: bytes, as: UTF8.self)
  }
  return (result.report, after)
}

/// A new column that accepts 0 and 2.
private let doubled =
  "{ name: status, type: INTEGER, not_null: { on_conflict: replace }, default: 0, "
  + "check: 'status IN (0, 2)' }"

@Suite("Fixes")
struct FixTests {
  private let reminders = Rule.named("drop-column")?.bad.manifests[0] ?? ""

  @Test("a status move keeps the old column, and the rest of the file is unchanged")
  func statusMove() throws {
    let move = """
      # The third state.
      operations:
        - move_column:
            table: reminders
            from: isCompleted   # 0 or 1
            to: { name: status, type: INTEGER, not_null: true, default: 0, check: "status IN (0, 1)" }
            map: { 0: 0, 1: 1 }  # the same numbers

        # Later:
        # - drop_column: { table: reminders, column: isCompleted }

      """
    let (report, manifests) = try fixed([reminders, move])
    #expect(
      manifests[1] == """
        # The third state.
        operations:
          - move_column:
              table: reminders
              from: isCompleted   # 0 or 1
              to: { name: status, type: INTEGER, not_null: { on_conflict: replace }, default: 0, check: "status IN (0, 1)" }
              map: { 0: 0, 1: 1 }  # the same numbers
              keep_source: true
              mirror: true
              map_back: { 0: 0, 1: 1 }

          # Later:
          # - drop_column: { table: reminders, column: isCompleted }

        """)
    #expect(report.summary.errors == 0)
    #expect((report.fixes ?? []).map(\.rule).contains("drop-column"))
  }

  @Test("a move to a column that accepts more values than its map gives stays a finding")
  func moreValues() throws {
    for (column, comment) in [
      ("not_null: true, default: 0", " Add every other value of status to map_back."),
      (
        "not_null: true, default: 0, check: 'status IN (0, 1, 2)'",
        " Add 2 to map_back, with the value for isCompleted."
      ),
      ("check: 'status IN (0, 1)'", " Add null to map_back, with the value for isCompleted."),
    ] {
      let move =
        "operations: [ move_column: { table: reminders, from: isCompleted, "
        + "to: { name: status, type: INTEGER, \(column) }, map: { 0: 0, 1: 1 } } ]\n"
      let (report, manifests) = try fixed([reminders, move], .additive)
      #expect(manifests[1] == move)
      let fix = report.findings.first { $0.rule == "drop-column" }?.fix ?? ""
      #expect(fix.contains("# triggers keep both columns consistent.\(comment)\n"), "\(fix)")
    }
  }

  @Test("`map_back` omits a NULL that the source refuses")
  func impossibleNull() throws {
    func move(_ keys: String) -> String {
      "operations: [ move_column: { table: reminders, from: isCompleted, to: { name: status, "
        + "type: INTEGER, not_null: { on_conflict: replace }, default: 0, check: 'status IN "
        + "(0, 1)' }, map: { null: 0, 0: 0, 1: 1 }\(keys) } ]\n"
    }
    let (report, manifests) = try fixed([reminders, move("")], .additive)
    #expect(
      manifests[1] == move(", keep_source: true, mirror: true, map_back: { 0: 0, 1: 1 }"))
    #expect(report.fixes?.map(\.rule) == ["drop-column"])
    #expect(report.notes.contains { $0.contains("`--fix`") } == false)
  }

  @Test("a correction that would cause another error is not made, and the report says so")
  func harmfulCorrection() throws {
    let move =
      "operations: [ move_column: { table: reminders, from: isCompleted, to: { name: status, "
      + "type: INTEGER, unique: true, default: 0, not_null: { on_conflict: replace }, check: "
      + "'status IN (0, 1)' }, map: { 0: 0, 1: 1 } } ]\n"
    let found = try lint([reminders, move], .crSQLite).findings
    #expect(found.contains { $0.rule == "drop-column" && $0.isFixable })
    let (report, manifests) = try fixed([reminders, move], .crSQLite)
    #expect(manifests[1] == move)
    #expect(report.fixes?.isEmpty == true)
    #expect(report.notes.contains { $0.hasPrefix("`--fix` did not correct 1 finding: ") })
  }

  @Test("a move on one line and a move with keep_source: false are fixed")
  func flow() throws {
    let move =
      "operations: [ move_column: { table: reminders, from: isCompleted, keep_source: false, "
      + "to: \(doubled), map: { 0: 0, 1: 2 } } ]\n"
    let (report, manifests) = try fixed([reminders, move], .additive)
    #expect(
      manifests[1]
        == "operations: [ move_column: { table: reminders, from: isCompleted, keep_source: true, "
        + "to: \(doubled), map: { 0: 0, 1: 2 }, mirror: true, "
        + "map_back: { 0: 0, 2: 1 } } ]\n")
    #expect(report.summary.errors == 0)
  }

  @Test("a move with dependents: rename keeps its source instead, wherever the key is")
  func dependents() throws {
    let start = """
      operations:
        - move_column:
            table: reminders
            from: isCompleted

      """
    let to =
      "      to: \(doubled)\n"
    let map = "      map: { 0: 0, 1: 2 }\n"
    let rest = "      mirror: true\n      map_back: { 0: 0, 2: 1 }\n"
    for (before, after) in [
      (
        start + to + map + "      dependents: rename # the index\n",
        start + to + map + "      keep_source: true # the index\n" + rest
      ),
      (
        start + "      dependents: rename\n" + to + map,
        start + "      keep_source: true\n" + to + map + rest
      ),
      (
        "operations: [ move_column: { table: reminders, from: isCompleted, "
          + "to: \(doubled), map: { 0: 0, 1: 2 }, dependents: rename } ]\n",
        "operations: [ move_column: { table: reminders, from: isCompleted, "
          + "to: \(doubled), map: { 0: 0, 1: 2 }, keep_source: true, "
          + "mirror: true, map_back: { 0: 0, 2: 1 } } ]\n"
      ),
    ] {
      let (report, manifests) = try fixed([reminders, before], .additive)
      #expect(manifests[1] == after)
      #expect(report.summary.errors == 0)
    }
  }

  @Test("a column is found at its definition, even if a move rebuilds the table afterwards")
  func place() throws {
    let manifest = """
      operations:
        - add_column: { table: reminders, column: { name: flag, type: INTEGER, not_null: true, default: 0 } }
        - move_column: { table: reminders, from: isCompleted, to: { name: status, type: INTEGER }, map: { 0: 0, 1: 1 } }
      """
    let found = try lint([reminders, manifest], .sqliteData).findings
      .filter { $0.rule == "not-null-without-conflict-default" }
    #expect(
      found.map(\.short) == [
        "0002 2:45 error not-null-without-conflict-default reminders.flag"
      ])
  }

  @Test("a move by an expression without a known inverse stays a finding")
  func using() throws {
    let move = """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER }
            using: isCompleted * 2
      """
    let (report, manifests) = try fixed([reminders, move])
    #expect(manifests[1] == move)
    #expect(report.findings.map(\.rule).contains("drop-column"))
    #expect(report.fixes == [])
  }

  @Test("only NOT NULL with a default gets its conflict clause, and SQL is not changed")
  func notNull() throws {
    let add = """
      operations:
        - add_column:
            table: reminders
            column:
              name: flag
              type: INTEGER
              not_null: true # always
              default: 0
        - add_column: { table: reminders, column: { name: hard, type: TEXT, not_null: true } }
        - sql: |
            -- Überall (NOT NULL DEFAULT 0)
            ALTER TABLE reminders ADD "position" INTEGER NOT NULL DEFAULT 0; -- end
            CREATE TABLE tags (
              id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
              [a b] TEXT CHECK ([a b] IS NOT NULL) NOT  NULL DEFAULT '', last TEXT DEFAULT '' NOT NULL
            ) STRICT;
      """
    let (report, manifests) = try fixed([reminders, add])
    #expect(
      manifests[1]
        == add
        .replacing("not_null: true # always", with: "not_null: { on_conflict: replace } # always"))
    let left = report.findings.filter { $0.rule == "not-null-without-conflict-default" }
    #expect(
      left.map(\.object) == ["reminders.hard", "reminders.position", "tags.a b", "tags.last"])
  }

  @Test("the index for a foreign key is appended as an operation, in any style")
  func index() throws {
    let child = """
      operations:
      - create_table:
          name: child table
          columns:
          - { name: id, type: TEXT, primary_key: true, not_null: { on_conflict: replace }, default: { sql: uuid() } }
          - { name: reminder, type: TEXT, references: { table: reminders, column: id, on_delete: cascade } }
          strict: true
      description: Children.

      """
    let (report, manifests) = try fixed([reminders, child])
    #expect(
      manifests[1]
        == child.replacing(
          "    strict: true\n",
          with: "    strict: true\n- create_index: { name: child table_reminder, "
            + "table: child table, columns: [reminder] }\n"))
    #expect(report.findings.isEmpty)
    let flow =
      "operations: [ sql: 'CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, "
      + "r TEXT REFERENCES reminders (id)) STRICT' ]"
    let (local, short) = try fixed([reminders, flow], .local)
    #expect(
      short[1].hasSuffix("STRICT', { create_index: { name: a_r, table: a, columns: [r] } } ]"))
    #expect(local.findings.isEmpty)
  }

  @Test("unused suppressions are removed, and with the last of them their list")
  func suppressions() throws {
    let base = "operations:\n  - sql: CREATE TABLE a (id TEXT) STRICT\n"
    let unused = "{ rule: drop-column, reason: Nothing syncs. }"
    let used = "{ rule: synced-primary-key, reason: Old. }"
    for (before, after) in [
      ("\(base)lint:\n  allow:\n    - \(unused)\n# end\n", "\(base)# end\n"),
      (
        "lint:\n  # why\n  allow:\n    - \(unused)\n    - \(used) # stays\n\(base)",
        "lint:\n  # why\n  allow:\n    - \(used) # stays\n\(base)"
      ),
      ("lint: { allow: [ \(used), \(unused) ] }\n\(base)", "lint: { allow: [ \(used) ] }\n\(base)"),
      ("lint: { allow: [ \(unused), \(used) ] }\n\(base)", "lint: { allow: [ \(used) ] }\n\(base)"),
      ("\(base)    lint: { allow: [ \(unused) ] }\n", base),
      (
        "operations: [ { sql: CREATE TABLE a (id TEXT) STRICT, lint: { allow: [ \(unused) ] } } ]",
        "operations: [ { sql: CREATE TABLE a (id TEXT) STRICT } ]"
      ),
      (
        "\(base)lint:\r\n  allow:\r\n    - rule: drop-column\r\n      reason: |\r\n        Nothing.\r\n\r\n",
        base + "\r\n"
      ),
    ] {
      #expect(try fixed([before]).manifests == [after])
    }
  }

  @Test("frozen manifests and suppressed findings are not changed")
  func frozen() throws {
    let bad = """
      operations:
        - add_column: { table: reminders, column: { name: flag, type: INTEGER, not_null: true, default: 0 } }

      """
    let (report, manifests) = try fixed([reminders, bad], releases: ["1.0": 2])
    #expect(manifests == [reminders, bad])
    #expect(report.fixes == [])
    let rule = "not-null-without-conflict-default"
    #expect(report.findings.map(\.rule) == [rule])
    let suppressed = bad + "lint: { allow: [ { rule: \(rule), reason: Old databases. } ] }\n"
    #expect(try fixed([reminders, suppressed]).manifests[1] == suppressed)
  }

  @Test("every fixed bad example replays, has no new error and needs no further fix")
  func everyRule() throws {
    for rule in oneIn(6, of: Rule.all) where rule.bad.releases.isEmpty {
      let before = try lint(rule.bad)
      let (report, manifests) = try fixed(
        rule.bad.manifests, rule.bad.profile, configuration: rule.bad.configuration)
      #expect(report.failure == nil, "\(rule)")
      let errors = { (report: LintReport) in
        Set(report.findings.filter { $0.severity == .error }.map { [$0.rule, $0.object ?? ""] })
      }
      #expect(errors(report).isSubset(of: errors(before)), "\(rule)")
      for fix in report.fixes ?? [] {
        #expect(!report.findings.contains { $0.rule == fix.rule && !$0.isSuppressed }, "\(rule)")
      }
      let again = try fixed(manifests, rule.bad.profile, configuration: rule.bad.configuration)
      #expect(again.manifests == manifests)
      #expect(again.report.fixes == [])
    }
  }

  @Test("the rules with a fix")
  func rulesWithFix() throws {
    let rules = try Rule.all.filter { rule in
      guard rule.bad.releases.isEmpty else { return false }
      return try fixed(
        rule.bad.manifests, rule.bad.profile, configuration: rule.bad.configuration
      ).report.fixes?.isEmpty == false
    }
    #expect(
      Set(rules.map(\.id.exact)) == [
        "foreign-key-without-index", "unused-suppression",
      ])
  }

  @Test("the suggestion of a finding is valid, and fixes the finding")
  func snippets() throws {
    var offering: [String] = []
    for rule in Rule.all {
      for finding in try lint(rule.bad).findings where finding.rule == rule.id {
        guard let fix = finding.fix else { continue }
        offering.append(rule.id)
        if fix.hasPrefix("{") {
          let column = "operations:\n  - add_column: { table: t, column: \(fix) }\n"
          #expect(try decodeManifest(Array(column.utf8), file: "").operations.count == 1)
        } else if fix.contains("- ") {
          #expect(try helps(fix, rule), "\(rule): \(fix)")
        }
      }
    }
    #expect(
      offering == [
        "drop-column", "rename-column", "fails-on-data",
        "new-required-column", "not-null-without-conflict-default", "synced-unique",
        "foreign-key-without-index",
      ])
  }

  /// Whether the operations fix the history instead of the last one, before it or after it.
  private func helps(_ fix: String, _ rule: Rule) throws -> Bool {
    let pasted = fix.split(separator: "\n").map { "  \($0)\n" }.joined()
    let last = rule.bad.manifests.last ?? ""
    let start = try #require(last.ranges(of: "\n  - ").last).lowerBound
    let (head, operation) = (last[..<start] + "\n", last[start...].dropFirst())
    let others = Array(rule.bad.manifests.dropLast())
    let candidates = [
      "\(head)\(pasted)", "\(head)\(pasted)\(operation)", "\(last)\n\(pasted)",
    ]
    return candidates.contains { manifest in
      guard
        let report = try? lint(
          others + [manifest], rule.bad.profile, configuration: rule.bad.configuration,
          releases: rule.bad.releases)
      else { return false }
      return report.failure == nil && !report.findings.contains { $0.rule == rule.id }
    }
  }

  @Test("a finding says where its snippet belongs")
  func places() throws {
    var places: [String: String] = [:]
    for rule in Rule.all {
      for finding in try lint(rule.bad).findings where finding.rule == rule.id && finding.fix != nil
      {
        places[rule.id] = finding.fixPlace.instruction
      }
    }
    #expect(places["fails-on-data"] == "add this before it:")
    #expect(places["foreign-key-without-index"] == "add this after it:")
    let others = places.filter {
      !["fails-on-data", "foreign-key-without-index"].contains($0.key)
    }
    #expect(Set(others.values) == ["write this instead:"])
  }

  @Test("the suggestion of a finding keeps the definition of the column, whatever its name")
  func wholeColumn() throws {
    let column =
      "{ name: \"a: b\", type: TEXT, not_null: true, check: \"\\\"a: b\\\" <> ''\", default: x, "
      + "collate: NOCASE }"
    let table = """
      operations:
        - create_table:
            name: "t:"
            columns:
              - \(column)
      """
    let found = try lint([reminders, table], .sqliteData).findings
      .first { $0.rule == "not-null-without-conflict-default" }
    #expect(
      found?.fix
        == column.replacing("not_null: true", with: "not_null: { on_conflict: replace }")
        .replacing("default: x", with: "default: \"x\""))
  }
}

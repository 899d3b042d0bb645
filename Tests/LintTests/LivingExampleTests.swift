import Foundation
import SchemaHistory
import SchemaLint
import SchemaTimeline
import SchemaTestPrograms
import Testing

@Suite("The repository's own history")
struct LivingExampleTests {
  @Test("has no error and no warning under additive, and its suppression is used")
  func additive() throws {
    let report = try lint(try livingExample())
    #expect(report.profile == .additive)
    #expect(report.failure == nil)
    #expect(report.lines == [])
    #expect(report.findings.map(\.rule) == ["drop-column"])
    #expect(
      report.findings.first?.reason
        == "The database is local to one device; nothing syncs with it.")
    #expect(report.summary.errors == 0)
    #expect(report.summary.suppressed == 1)
    #expect(report.status == .success)
  }

  @Test("has exactly one error without the suppression")
  func withoutSuppression() throws {
    let manifests = try livingExample().map { $0.components(separatedBy: "\nlint:")[0] + "\n" }
    let report = try lint(manifests)
    #expect(report.lines == ["0007 6:7 error drop-column reminders.isCompleted"])
    #expect(report.status == .finding)
    let finding = try #require(report.findings.first)
    #expect(
      finding.message
        == "this drops `reminders.isCompleted`: its values move to `status`; devices with an older "
        + "version write `isCompleted`, and other devices refuse their rows")
    #expect(
      finding.fix == """
        # A later migration may drop isCompleted once no device writes it. Until then
        # triggers keep both columns consistent. Add every other value of status to map_back.
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER, not_null: { on_conflict: replace }, default: 0 }
            map: { 0: 0, 1: 1 }
            keep_source: true
            mirror: true
            map_back: { 0: 0, 1: 1 }
        """)
  }

  @Test("the suggestion for its moved column is valid and has no finding")
  func pasted() throws {
    let manifests = try livingExample().map { $0.components(separatedBy: "\nlint:")[0] + "\n" }
    let fix = try #require(try lint(manifests).findings.first?.fix)
    let pasted = "operations:\n" + fix.split(separator: "\n").map { "  \($0)\n" }.joined()
    let report = try lint(manifests.dropLast() + [pasted])
    #expect(report.failure == nil)
    #expect(report.lines == [])
    let synced = try lint(manifests.dropLast() + [pasted], .sqliteData)
    #expect(synced.lines.filter { $0.hasPrefix("0007") } == [])
  }

  @Test("under local its moved column is a warning with another message")
  func local() throws {
    let manifests = try livingExample().map { $0.components(separatedBy: "\nlint:")[0] + "\n" }
    let report = try lint(manifests, .local)
    #expect(report.lines == ["0007 6:7 warning drop-column reminders.isCompleted"])
    #expect(
      report.findings.first?.message
        == "this drops `reminders.isCompleted`: its values move to `status`; an older version of the "
        + "app fails")
    #expect(report.findings.first?.fix == nil)
    #expect(report.status == .success)
  }

  @Test("under sqlite-data a NOT NULL without ON CONFLICT REPLACE is an error with a suggestion")
  func sqliteData() throws {
    let history = try livingExample()
    let plain = "ADD COLUMN \"position\" INTEGER NOT NULL DEFAULT 0"
    let sql = sql("ALTER TABLE \"remindersLists\"\n\(plain)")
    let report = try lint(Array(history.prefix(3)) + [sql], .sqliteData)
    #expect(
      report.lines == [
        "0001 46:11 error not-null-without-conflict-default reminders.isCompleted",
        "0003 7:7 warning unguarded-trigger-on-synced-table reminders_refresh_updatedAt",
        "0004 3:7 error not-null-without-conflict-default remindersLists.position",
      ])
    let finding = try #require(report.findings.last)
    #expect(finding.fix == "NOT NULL ON CONFLICT REPLACE DEFAULT 0")
    #expect(finding.message.contains("NOT NULL ON CONFLICT REPLACE DEFAULT 0"))
    #expect(
      report.findings.first?.message.contains("NOT NULL ON CONFLICT REPLACE DEFAULT 0") == true)
    #expect(
      report.findings.first?.fix
        == "{ name: isCompleted, type: INTEGER, not_null: { on_conflict: replace }, default: 0 }")
  }

  @Test("under sqlite-data its status column is an error, and its dropped column is suppressed")
  func status() throws {
    let report = try lint(try livingExample(), .sqliteData)
    #expect(
      report.lines == [
        "0003 7:7 warning unguarded-trigger-on-synced-table reminders_refresh_updatedAt",
        "0004 11:7 warning unguarded-trigger-on-synced-table remindersLists_new_goes_last",
        "0005 5:7 warning unguarded-trigger-on-synced-table remindersTags_at_most_five",
        "0007 7:11 error not-null-without-conflict-default reminders.status",
      ])
    #expect(report.summary.suppressed == 1)
  }
}

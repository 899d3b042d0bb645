import History
import Linting
import Migrating
import SQLite
import Testing

private let base = """
  operations:
    - sql: |
        CREATE TABLE reminders (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
          title TEXT NOT NULL,
          isCompleted INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0
        );
        CREATE TABLE lists (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
          name TEXT
        )
  """

/// What the proof says of one step after release 1.0, without its scripts.
private func proven(
  _ step: String, after first: String = base, _ profile: Profile = .sqliteData,
  configuration: String = ""
) throws -> [String] {
  let report = try lint(
    [first, step], profile, configuration: configuration, releases: ["1.0": 1])
  #expect(report.failure == nil)
  return report.proof.map { finding in
    "\(finding.line):\(finding.column) \(finding.severity.rawValue) \(finding.object ?? "") "
      + finding.message.split(separator: "\n")[0]
  }
}

extension LintReport {
  fileprivate var proof: [Finding] { findings.filter { $0.rule == "two-devices" } }
}

@Suite("The proof by two devices: Reminders")
struct RemindersProofTests {
  private let move = """
    operations:
      - move_column:
          table: reminders
          from: isCompleted
          to: { name: status, type: INTEGER, not_null: true, default: 0 }
          map: { 0: 0, 1: 1 }
    """

  @Test("a column that moves is refused by the newer device", arguments: Profile.allCases)
  func move(_ profile: Profile) throws {
    let expected: [Profile: [String]] = [
      .local: [],
      .crSQLite: [
        "5:11 error reminders.isCompleted a 1.0 device creates reminders(id='one', title='Milk', "
          + "isCompleted=1); a device with 0002_step has no column reminders.isCompleted, and the "
          + "value is lost"
      ],
    ]
    let refused =
      "5:11 error reminders.status a 1.0 device creates reminders(id='one', title='Milk'); a device "
      + "with 0002_step refuses it: NOT NULL constraint failed: reminders.status"
    #expect(try proven(move, profile) == expected[profile] ?? [refused])
  }

  @Test("the script is whole, and two plain databases do what it says")
  func script() throws {
    let report = try lint([base, move], .sqliteData, releases: ["1.0": 1])
    let message = try #require(report.proof.first?.message)
    #expect(
      message == """
        a 1.0 device creates reminders(id='one', title='Milk'); a device with 0002_step refuses it: \
        NOT NULL constraint failed: reminders.status
        """)
  }

  @Test("the safe form passes")
  func safe() throws {
    let step = """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER, not_null: { on_conflict: replace }, default: 0 }
            map: { 0: 0, 1: 1 }
            keep_source: true
      """
    for profile in Profile.allCases { #expect(try proven(step, profile) == []) }
  }
}

import History
import SQLText
import SQLite
import SchemaModel

package struct VerifyReport: Sendable {
  package var history: [HistoryEntry]
  /// How history.lock fails to continue those of other revisions.
  package var lock: [LockDifference] = []
  /// By the id, for manifests that are edited or removed.
  package var edits: [ExactText: ManifestDiff] = [:]
  /// Nil when no database was named.
  package var ledger: [LedgerEntry]?
  package var drift: [SchemaChange]?
  /// What could not be checked, and why.
  package var notes: [String] = []
  /// What ended the replay, or kept a database from being compared.
  package var failure: Failure?

  package var isHistoryBroken: Bool { !lock.isEmpty || history.contains(where: \.state.isBroken) }

  package var status: ExitStatus {
    var statuses: [ExitStatus] = history.map { entry in
      entry.state.isBroken ? .brokenHistory : entry.state == .engineDiffers ? .finding : .success
    }
    if !lock.isEmpty { statuses.append(.brokenHistory) }
    statuses += (ledger ?? []).map(\.state.status)
    if !(drift ?? []).isEmpty { statuses.append(.finding) }
    if let failure { statuses.append(failure.status) }
    return ExitStatus.worst(statuses)
  }
}

extension VerifyReport {
  /// The manifests compared with the lock.
  package init(comparing project: Project) {
    self.init(history: project.comparison)
  }
}

extension Project {
  /// Checks that the frozen migrations are unchanged, that the history can be replayed, and, with a
  /// database, that it is as its history says.
  ///
  /// - Throws: failures from 64 up; everything else is in the report.
  package func verify(
    database: String?, timeout: Double, interruption: Interruption = Interruption(),
    versionControl: VersionControl = .ignored
  ) throws(Failure) -> VerifyReport {
    if let database { try DatabaseFile.require(database) }
    var (report, others) = try verifyHistory(versionControl, hasLedger: database != nil)
    var steps: [Shadow.Step] = []
    if report.isHistoryBroken {
      report.notes.append("the replay was skipped, because the frozen history is broken")
    } else {
      try requireEngine(for: migrations)
      steps = try replay(into: &report)
    }
    try showEdits(in: &report, others)
    guard let database else { return report }
    let connection = try DatabaseFile.openForReading(
      database, timeout: timeout, interruption: interruption)
    let live = try LiveDatabase(connection, path: database)
    report.ledger = compareLedger(live.rows ?? [], of: database)
    do {
      try live.requireOurs(self, path: database)
    } catch {
      report.failure = report.failure ?? error
      return report
    }
    try compare(live, steps, into: &report)
    return report
  }

  /// The manifests compared with the lock, and the lock with other revisions; nothing is replayed.
  ///
  /// - Parameter hasLedger: whether the ledger of a database is compared, too.
  /// - Returns: the report, and the revisions that can show edits.
  package func verifyHistory(
    _ versionControl: VersionControl, hasLedger: Bool = false
  ) throws(Failure) -> (VerifyReport, OtherRevisions?) {
    var notes: [String] = []
    let others = try otherRevisions(versionControl, noting: &notes)
    var report = VerifyReport(
      history: folder.compare(migrations, with: lock, keeping: others?.keptIDs ?? []), notes: notes)
    report.lock = others?.differences(in: folder) ?? []
    if lock == nil, report.lock.isEmpty {
      report.notes.append("nothing is frozen yet: there is no history.lock")
    } else if let others, others.locks.isEmpty, others.problems.isEmpty {
      report.notes.append("history.lock was not compared with git: no other revision has it yet")
    } else if versionControl == .ignored, !hasLedger {
      report.notes.append(
        "history.lock was compared neither with git nor with the ledger of a database, so a change "
          + "of the lock itself would not be found")
    }
    return (report, others)
  }

  private func compare(
    _ live: LiveDatabase, _ steps: [Shadow.Step], into report: inout VerifyReport
  ) throws(Failure) {
    let known = Set((live.rows ?? []).map(\.id.exact))
    let count = migrations.lastIndex { known.contains($0.id) }.map { $0 + 1 } ?? 0
    guard !(report.ledger ?? []).contains(where: { $0.state == .unknown }), count <= steps.count
    else {
      report.notes.append(
        "the schema was not compared: the history cannot be replayed to the latest migration of the "
          + "database")
      return
    }
    let expected = Schema(applying: steps.prefix(count).lazy.map(\.delta))
    report.drift = compareSchemas(
      expected: expected, actual: comparable(live.schema, with: expected))
  }

  /// Replays the history as far as it works, and compares each frozen step with the lock.
  private func replay(into report: inout VerifyReport) throws(Failure) -> [Shadow.Step] {
    var steps: [Shadow.Step] = []
    var frozen = FrozenSchemas(self, report)
    do {
      try replay(observing: { step, shadow in
        steps.append(step)
        frozen.compare(step, shadow, in: &report)
      })
    } catch {
      guard error.status.rawValue < ExitStatus.usage.rawValue else { throw error }
      report.failure = error
    }
    return steps
  }
}

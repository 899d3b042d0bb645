import History
import SQLText
import SQLite
import SchemaModel

package struct VerifyReport: Sendable {
  package var history: [HistoryEntry]
  /// How history.lock fails to go on from the ones that git holds.
  package var lock: [LockDivergence] = []
  /// By the id, for what is edited or removed.
  package var edits: [ExactText: EditReport] = [:]
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
  /// What the manifests tell when the replay cannot.
  package init(comparing project: Project) {
    self.init(history: project.comparison)
  }
}

extension Project {
  /// Checks that what shipped is what shipped, that the history can be replayed, and, with a
  /// database, that it is what its history says.
  ///
  /// - Throws: what is 64 and above; everything else is in the report.
  package func verify(
    database: String?, timeout: Double, interruption: Interruption = Interruption(),
    versionControl: VersionControl = .ignored
  ) throws(Failure) -> VerifyReport {
    if let database { try DatabaseFile.require(database) }
    var report = try verifyHistory(versionControl, hasLedger: database != nil)
    var steps: [Shadow.Step] = []
    if report.isHistoryBroken {
      report.notes.append("the replay was skipped, because the frozen history is broken")
    } else {
      try requireEngine(for: migrations)
      steps = try replay(into: &report)
      try explainSchemaEdits(in: &report, versionControl)
    }
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

  /// The manifests and the lock, held against each other and against git; nothing is replayed.
  ///
  /// - Parameter hasLedger: a database's ledger tells what git alone could.
  package func verifyHistory(
    _ versionControl: VersionControl, hasLedger: Bool = false
  ) throws(Failure) -> VerifyReport {
    let comparison = try comparison(versionControl)
    var report = VerifyReport(
      history: comparison.history, lock: comparison.lock, edits: comparison.edits,
      notes: comparison.notes)
    if lock == nil, comparison.lock.isEmpty {
      report.notes.append("nothing is frozen yet: there is no history.lock")
    }
    guard lock != nil, !hasLedger else { return report }
    if versionControl == .git(), comparison.lock.isEmpty, comparison.notes.isEmpty {
      report.notes.append(
        "history.lock only adds to that of the last commit; whether a commit rewrote it, "
          + "`--base REV` or the ledger of a database (--database) can tell")
    }
    if versionControl == .ignored {
      report.notes.append(
        "only git or a database's ledger can tell whether history.lock itself was rewritten; "
          + "neither was compared here")
    }
    return report
  }

  private func compare(
    _ live: LiveDatabase, _ steps: [Shadow.Step], into report: inout VerifyReport
  ) throws(Failure) {
    let known = Set((live.rows ?? []).map(\.id.exact))
    let count = migrations.lastIndex { known.contains($0.id) }.map { $0 + 1 } ?? 0
    guard !(report.ledger ?? []).contains(where: { $0.state == .unknown }), count <= steps.count
    else {
      report.notes.append(
        "the schema was not compared: the history cannot be replayed to where "
          + "the database stands")
      return
    }
    let expected = Schema(applying: steps.prefix(count).lazy.map(\.delta))
    report.drift = compareSchemas(
      expected: expected, actual: comparable(live.schema, with: expected))
  }

  /// Replays the history as far as it works, and holds each frozen step against the lock.
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

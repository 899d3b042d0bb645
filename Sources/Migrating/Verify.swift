import History
import SQLite
import SchemaModel

package struct VerifyReport: Sendable {
  package var history: [HistoryEntry]
  /// How history.lock fails to go on from the ones that git holds.
  package var lock: [LockDivergence] = []
  /// By the id, for what is edited or removed.
  package var edits: [String: EditReport] = [:]
  /// Nil when no database was named.
  package var ledger: [LedgerEntry]?
  package var drift: [SchemaChange]?
  /// What could not be checked, and why.
  package var notes: [String] = []
  /// What ended the replay, or kept a database from being compared.
  package var failure: Failure?

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
    let comparison = try comparison(versionControl)
    var report = VerifyReport(
      history: comparison.history, lock: comparison.lock, edits: comparison.edits,
      notes: comparison.notes)
    if lock == nil, comparison.lock.isEmpty {
      report.notes.append("nothing is frozen yet: there is no history.lock")
    }
    let isBroken = comparison.isBroken
    var schemas: [String: Schema] = [:]
    if isBroken {
      report.notes.append("the replay was skipped, because the frozen history is broken")
    } else {
      try requireEngine(for: migrations)
      schemas = try replay(into: &report)
    }
    guard let database else {
      if lock != nil, versionControl == .git(), comparison.lock.isEmpty, comparison.notes.isEmpty {
        report.notes.append(
          "history.lock only adds to that of the last commit; whether a commit rewrote it, "
            + "`--base REV` or the ledger of a database (--database) can tell")
      }
      if lock != nil, versionControl == .ignored {
        report.notes.append(
          "only git or a database's ledger can tell whether history.lock itself was rewritten; "
            + "neither was compared here")
      }
      return report
    }
    let connection = try DatabaseFile.openForReading(
      database, timeout: timeout, interruption: interruption)
    let live = try LiveDatabase(connection, path: database)
    report.ledger = compareLedger(live.rows ?? [], with: migrations, lock)
    do {
      try live.requireOurs(self, path: database)
    } catch {
      report.failure = report.failure ?? error
      return report
    }
    try compare(live, schemas, into: &report)
    return report
  }

  private func compare(
    _ live: LiveDatabase, _ schemas: [String: Schema], into report: inout VerifyReport
  ) throws(Failure) {
    let known = Set((live.rows ?? []).map(\.id))
    let last = migrations.last { known.contains($0.id) }
    guard !(report.ledger ?? []).contains(where: { $0.state == .unknown }),
      let expected = last.map({ schemas[$0.id] }) ?? Schema()
    else {
      report.notes.append(
        "the schema was not compared: the history cannot be replayed to where "
          + "the database stands")
      return
    }
    report.drift = compareSchemas(
      expected: expected, actual: comparable(live.schema, with: expected))
  }

  /// Replays the history, and holds each frozen step against the lock. The schema after each one.
  private func replay(into report: inout VerifyReport) throws(Failure) -> [String: Schema] {
    let shadow = try Shadow(application)
    var schemas: [String: Schema] = [:]
    // A spelling that changed in one manifest may show in every later fingerprint.
    var isExact = true
    for migration in migrations {
      do {
        try shadow.apply(migration)
      } catch {
        guard error.status.rawValue < ExitStatus.usage.rawValue else { throw error }
        report.failure = error
        return schemas
      }
      schemas[migration.id] = shadow.schema
      guard let index = report.history.firstIndex(where: { $0.id == migration.id }) else {
        continue
      }
      isExact = isExact && [.unchanged, .lineEnds].contains(report.history[index].state)
      guard isExact, let entry = lock?.effectiveEntry(migration.id),
        entry.digests.schema != shadow.fingerprint
      else { continue }
      report.history[index].state = .engineDiffers
      report.history[index].detail =
        "the digests are the same, and SQLite \(Connection.libraryVersion) makes another schema of "
        + "them than \(entry.digests.sqlite) made when it was frozen"
    }
    return schemas
  }
}

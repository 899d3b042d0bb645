import History
import ManifestFormat
import Planning
import SQLText
import SQLite
import SchemaModel

/// Makes a database that is not there yet.
///
/// On an empty database a migration does what it has just done on the empty shadow. So the shadow is
/// given the ledger and written out: all of it or nothing, with one sync, and no migration runs twice.
struct NewDatabase {
  let project: Project
  let options: MigrateOptions
  let replay: PendingReplay
  let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void

  /// - Returns: nil when it is to be made migration by migration, because more is asked for than the
  ///   shadow has done, or because something is in the way: then that says what. Nothing is left behind.
  /// - Throws: when it was stopped.
  func make() throws(Failure) -> MigrateReport? {
    guard isDoneByReplay, let connection = replay.new, (try? fill(connection)) != nil else {
      return nil
    }
    let partial = try? Copier(timeout: options.timeout, interruption: interruption)
      .write(connection, as: options.database)
    guard !interruption.isRequested else { throw Failure(.interrupted, "interrupted") }
    guard let partial else { return nil }
    do {
      return try partial.take(options.database) ? told() : nil
    } catch {
      // It had its name for a moment, and may have it again after a power cut.
      return partial.isKept ? doubtful(error) : nil
    }
  }

  private var isDoneByReplay: Bool {
    let application = project.application
    // The shadow's stand-ins for what only the application has give nothing to store.
    guard application.missingFunctions.isEmpty, application.missingCollations.isEmpty,
      !options.isParanoid, !replay.steps.isEmpty
    else { return false }
    // Assertions ask for rows that only a database has.
    guard !replay.steps.contains(where: \.migration.manifest.asserts) else { return false }
    // A copy is due between the last frozen migration and the first draft.
    var known: [String] = []
    for step in replay.steps {
      if DraftCopy.isDue(before: step.migration, known: known, in: project) { return false }
      known.append(step.migration.id)
    }
    return true
  }

  /// Writes the ledger of what the replay has done.
  private func fill(_ connection: Connection) throws {
    try connection.execute("BEGIN")
    do {
      for (index, step) in replay.steps.enumerated() {
        try Ledger.insert(
          replay.ledgerRow(
            at: index, startedAt: step.startedAt.description, milliseconds: step.milliseconds),
          into: connection)
      }
      try connection.execute("COMMIT")
    } catch {
      try connection.execute("ROLLBACK")
      throw error
    }
  }

  private func doubtful(_ failure: Failure) -> MigrateReport {
    var report = MigrateReport()
    report.uncertain = replay.steps.map(\.migration.id)
    report.failure = Failure(uncertain: report.uncertain, after: failure)
    return report
  }

  private func told() -> MigrateReport {
    var report = MigrateReport()
    report.created = true
    report.applied = replay.steps.map { step in
      AppliedMigration(
        id: step.migration.id, milliseconds: step.milliseconds, strategies: step.strategies)
    }
    report.failure = replay.failure
    report.failedFrozen = project.holdsFrozen(report.failure)
    onEvent(.created(database: options.database))
    onEvent(.committed(ids: report.applied.map(\.id)))
    return report
  }
}

extension Manifest {
  fileprivate var asserts: Bool {
    !before.isEmpty || !after.isEmpty
      || operations.contains { operation in
        if case .assert = operation.kind { true } else { false }
      }
  }
}

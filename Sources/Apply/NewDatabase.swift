import SchemaCopies
import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Makes a missing database.
///
/// On an empty database a migration has the effects that it has just had on the empty scratch database. So
/// that one gets the ledger and is copied to a file, which is published atomically: with one sync, and no
/// migration runs twice.
struct NewDatabase {
  let project: Project
  let options: MigrateOptions
  let replay: PendingReplay
  /// With the effects of the replay; nil where they cannot be copied.
  let content: Connection?
  let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void

  /// - Returns: nil when the database must be made migration by migration, because the scratch database
  ///   does not show everything, or because a fault prevents this: then that way reports it. No file is left.
  /// - Throws: when it was interrupted.
  func make() throws(Failure) -> MigrateReport? {
    guard isDoneByReplay, let connection = content, (try? fill(connection)) != nil else {
      return nil
    }
    let copier = Copier(timeout: options.timeout, interruption: interruption)
    let file = try? copier.copy(
      connection, for: options.database, "the new database \(options.database)",
      isPrivate: false)
    guard !interruption.isRequested else { throw Failure(.interrupted, "interrupted") }
    guard let file else { return nil }
    do {
      return try file.publish(asNew: options.database) ? created() : nil
    } catch {
      // It had its name for a moment, and may have it again after a power cut.
      return file.isPublished ? uncertain(Failure(error)) : nil
    }
  }

  private var isDoneByReplay: Bool {
    let application = project.application
    // The scratch database's stand-ins for functions of the application give nothing to store.
    guard application.missingFunctions.isEmpty, application.missingCollations.isEmpty,
      !options.isParanoid, !replay.steps.isEmpty
    else { return false }
    // Assertions may ask for rows that only a real database has.
    guard !replay.steps.contains(where: \.migration.manifest.asserts) else { return false }
    // A copy is due between the last frozen migration and the first draft.
    var known: [String] = []
    for step in replay.steps {
      if DraftCopy.isDue(before: step.migration, known: known, in: project) { return false }
      known.append(step.migration.id)
    }
    return true
  }

  /// Writes the ledger of the replay.
  private func fill(_ connection: Connection) throws {
    try connection.execute("BEGIN")
    do {
      for (index, step) in replay.steps.enumerated() {
        try project.ledger.insert(
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

  private func uncertain(_ failure: Failure) -> MigrateReport {
    var report = MigrateReport()
    report.uncertain = replay.steps.map(\.migration.id)
    report.failure = Failure(uncertain: report.uncertain, after: failure)
    return report
  }

  private func created() -> MigrateReport {
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

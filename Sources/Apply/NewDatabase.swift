import SchemaCopies
import SchemaHistory
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Creates a missing database.
///
/// The history runs on a private in-memory database. schemactl then adds the ledger, copies the database to a
/// file, and publishes the file atomically. So no migration runs twice, and no incomplete database is
/// created.
struct NewDatabase {
  let project: Project
  let options: MigrateOptions
  let targets: [Migration]
  let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void

  /// A private database with the effects of the first migrations.
  private struct Content {
    let connection: Connection
    let count: Int
  }

  /// - Returns: nil if another process created the database in the meantime. If a migration failed, the
  ///   report names the migrations before it, provided that the database was created with them.
  /// - Throws: the error that prevented the database. No file remains.
  func make() throws(Failure) -> MigrateReport? {
    try DatabaseFile.requireWritableFolder(of: options.file)
    var content: Connection?
    var beforeDrafts: Content?
    var names: [String] = []
    var states = project.comparison
    let replay = project.replay(
      targets, becomesDatabase: true, noting: &states, interruption: interruption,
      onEvent: onEvent,
      preparing: { scratch in
        content = scratch.connection
        scratch.runner.isParanoid = options.isParanoid
        scratch.runner.redactsValues = options.redactsValues
      },
      observing: { (step, scratch) throws(Failure) in
        names.append(step.migration.id)
        guard names.count < targets.count,
          DraftCopy.isDue(before: targets[names.count], known: names, in: project)
        else { return }
        beforeDrafts = Content(
          connection: try privateCopy(of: scratch.connection), count: names.count)
      })
    try project.requireUsable(replay, states, interruption)
    var report = MigrateReport()
    report.failure = replay.failure
    report.failedFrozen = project.holdsFrozen(report.failure)
    guard !replay.steps.isEmpty, let content else {
      report.isStillMissing = true
      return report
    }
    if options.isParanoid {
      try failing(on: options.database) {
        try report.checkIntegrity(of: content, options.database, "The database is still missing")
      }
    }
    if let beforeDrafts, beforeDrafts.count < replay.steps.count {
      let copy = DraftCopy(of: options.database, project).path
      let file = try file(beforeDrafts, replay, for: copy)
      try failing { try file.publish(replacing: copy) }
      report.draftCopy = copy
    }
    do throws(Failure) {
      // If another process created the database first, it may have replaced the draft copy by its own.
      return try publish(
        Content(connection: content, count: replay.steps.count), replay, &report) ? report : nil
    } catch {
      if let copy = report.draftCopy { try? removeFile(copy) }
      throw error
    }
  }

  private func privateCopy(of connection: Connection) throws(Failure) -> Connection {
    return try failing(on: options.database) {
      let copy = try Connection(path: nil)
      try copy.deserialize(try connection.serialized())
      return copy
    }
  }

  /// - Returns: false if the database exists now.
  private func publish(
    _ content: Content, _ replay: PendingReplay, _ report: inout MigrateReport
  ) throws(Failure) -> Bool {
    // A symbolic link remains, and its target is created.
    let path = followingLinks(options.file)
    let file = try file(content, replay, for: path)
    guard !interruption.isRequested else { throw Failure(.interrupted, "interrupted") }
    do {
      guard try file.publish(asNew: path) else { return false }
    } catch {
      guard file.isPublished else { throw Failure(error) }
      // The file had its final name for a moment, and may have it again after a power failure.
      report.uncertain = replay.steps.map(\.migration.id)
      report.failure = Failure(uncertain: report.uncertain, after: Failure(error))
      return true
    }
    report.created = true
    report.applied = replay.steps.map { step in
      AppliedMigration(
        id: step.migration.id, milliseconds: step.milliseconds, strategies: step.strategies)
    }
    onEvent(.created(database: options.database))
    onEvent(.committed(ids: report.applied.map(\.id)))
    return true
  }

  /// A temporary file with the content and its ledger.
  private func file(
    _ content: Content, _ replay: PendingReplay, for path: String
  ) throws(Failure) -> TemporaryFile {
    let connection = content.connection
    try failing(on: options.database) {
      try connection.execute("BEGIN")
      for (index, step) in replay.steps.prefix(content.count).enumerated() {
        try project.ledger.insert(
          replay.ledgerRow(
            at: index, startedAt: step.startedAt.description, milliseconds: step.milliseconds),
          into: connection)
      }
      try connection.execute("COMMIT")
    }
    let copier = Copier(timeout: options.timeout, interruption: interruption)
    return try copier.copy(
      connection, for: path, "the new database `\(options.database)`", isPrivate: false)
  }
}

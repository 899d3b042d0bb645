import SchemaCopies
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// One run of `migrate` on one database: transactions, savepoints, the ledger, and the handling of failures
/// (DESIGN: applying).
package final class Upgrade {
  let project: Project
  let options: MigrateOptions
  let replay: PendingReplay
  let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void
  /// The connection that reads the database. It also makes the copies, while `connection` keeps other writers
  /// out.
  let reading: ReadableDatabase
  let connection: Connection
  let transaction: Transaction
  let runner: Runner
  var report = MigrateReport()
  let destination: BackupDestination?
  var safety = SafetyCopies()
  private var isStructureChecked = false
  /// The state when a transaction began or was last committed. It remains valid until another connection
  /// writes.
  private var known: Batch?

  /// The time after which no further migration joins a transaction, in milliseconds.
  private static let batchTime = Int64(200)

  /// - Parameter reading: the database, open for reading, or a connection of the application. The run closes
  ///   it.
  package init(
    project: Project, options: MigrateOptions, replay: PendingReplay, reading: ReadableDatabase,
    interruption: Interruption, onEvent: @escaping (MigrateEvent) -> Void
  ) throws(Failure) {
    self.project = project
    self.options = options
    self.replay = replay
    self.interruption = interruption
    self.onEvent = onEvent
    self.reading = reading
    destination = try options.backup.map { (backup) throws(Failure) in
      try BackupDestination(backup.place, of: options.database, project.ledger)
    }
    do {
      connection =
        if reading.connection.isBorrowed {
          reading.connection
        } else {
          try Self.open(options, interruption, onEvent)
        }
      transaction = Transaction(connection)
      let calls = try project.application.register(on: connection)
      runner = Runner(
        connection: connection, target: .database, application: project.application,
        calls: calls, interruption: interruption, redactsValues: options.redactsValues,
        isParanoid: options.isParanoid)
    } catch {
      throw Failure(error, database: options.database)
    }
    guard !connection.isReadOnly else {
      let obstacle = DatabaseFile.obstacle(options.file) ?? "it is read-only"
      throw Failure(
        .permission, "cannot write `\(options.database)`: \(obstacle). Nothing changed")
    }
    try DatabaseFile.requireOneName(connection, options.file)
    runner.onStatement = { (statement) throws(DatabaseError) in
      onEvent(.ran(statement: statement.sql))
    }
    runner.onProgress = { onEvent(.phase($0)) }
  }

  private static func open(
    _ options: MigrateOptions, _ interruption: Interruption,
    _ onEvent: @escaping (MigrateEvent) -> Void
  ) throws(DatabaseError) -> Connection {
    let connection = try DatabaseFile.connect(
      options.file, timeout: options.timeout, interruption,
      onWait: { onEvent(.waiting(seconds: $0)) })
    try connection.makeCommitsDurable()
    // SQLite syncs the journal each time that changes fill the cache. The unit is KiB; the default is 2,000.
    try connection.execute("PRAGMA main.cache_size = -6000")
    return connection
  }

  package func run() throws(Failure) -> MigrateReport {
    defer { reading.close() }
    try failing(on: options.database) { try requireRunnable() }
    do {
      try checkFile("Nothing changed")
      while try runBatch() {}
      report.failure = replay.failure
      if report.failure == nil { removeOldBackups() }
    } catch {
      let cause = Failure(of: error, database: options.database)
      var failure = named(cause.naming(options.database))
      failure.cause = failure.cause ?? cause.cause
      // Only after the transaction has ended: a query that fails can roll the transaction back.
      report.failure = failure.namingRows(on: connection, redacted: options.redactsValues)
    }
    report.failedFrozen = project.holdsFrozen(report.failure)
    return report
  }

  // MARK: Batches

  /// Applies as many pending migrations as may share a transaction. Returns false if none remains.
  private func runBatch() throws -> Bool {
    var batch = try begin()
    guard let first = batch.next else {
      if batch.adopted > 0 {
        try stopIfInterrupted()
        try commit(&batch)
      } else {
        transaction.rollBack()
      }
      return false
    }
    do {
      try makeCopies(before: first, batch)
      try requireExclusive(first, &batch)
      guard try batch.next == first && areCopiesCurrent() else {
        // Another process has applied this migration, or has changed the database since the copies.
        transaction.rollBack()
        return true
      }
      try requireUndamaged(batch)
      let started = Stopwatch()
      repeat {
        guard let index = batch.next else { break }
        try apply(index, &batch)
      } while !batch.isAlone && batch.mayGoOn(replay, in: project)
        && started.milliseconds < Self.batchTime
      try stopIfInterrupted()
      try commit(&batch)
      // Do not begin a transaction only to find that nothing remains: another process may hold the lock.
      return batch.next != nil
    } catch {
      // SQLite may notice the moved file itself, and then reports only that it cannot write. An uncertain
      // commit has precedence.
      guard !report.uncertain.isEmpty || !connection.hasMoved else {
        transaction.rollBack()
        throw moved
      }
      throw try keepComplete(batch, after: Failure(of: error, database: options.database))
    }
  }

  /// Checks the structure of the file once, before the first write, if migrations rewrite rows, free pages,
  /// or may overwrite pages in use. The check takes an eighth of the time that moving a column of a million
  /// rows takes.
  private func requireUndamaged(_ batch: Batch) throws {
    guard !isStructureChecked else { return }
    let steps = batch.pending.map { replay.steps[$0] }
    let reuses = steps.contains { $0.reusesPages(in: batch.expected) }
    let rewritten = steps.reduce(into: Set()) { $0.formUnion($1.writeSet.rewritten) }
    let damage =
      try reuses
      ? connection.structuralDamage(rewriting: rewritten) : connection.damageOfReusedPages()
    if let damage { throw Failure(damaged: options.database, damage) }
    isStructureChecked = true
  }

  private func stopIfInterrupted() throws(Failure) {
    if interruption.isRequested { throw Failure(.interrupted, "interrupted") }
  }

  private func begin(_ mode: String = "IMMEDIATE") throws -> Batch {
    do {
      try transaction.begin(mode)
      onEvent(.began)
      try requireUnmoved()
      let version = try transaction.version
      if var batch = known, batch.version == version {
        batch.isExclusive = mode == "EXCLUSIVE"
        connection.set(.trustedSchema, to: batch.isTrusted)
        return batch
      }
      let live = try project.live(
        in: ReadableDatabase(connection, name: options.database))
      try project.requireUsableLedger(live.rows)
      let isNew = live.rows == nil || live.adopted > 0
      if live.schema.table(project.ledger.table) == nil {
        try connection.execute(project.ledger.createStatement)
      }
      let known = live.known
      guard replay.replayed.allSatisfy({ known.contains($0.id) }) else {
        throw Failure(
          .busy, "another process restored an older state of `\(options.database)`: try again")
      }
      let expected = replay.schema(after: known)
      let schema = try Schema(of: connection, knowing: live.schema)
      let drift = project.drift(of: live.schema, from: expected)
      try adopt(live, drift)
      // A schema that matches the history is as trustworthy as the manifests. Otherwise triggers may contain
      // any SQL, so they may call only harmless functions (PRAGMA trusted_schema).
      let isTrusted = drift.isEmpty && !project.hasUnexpectedCode(live.schema, beside: expected)
      connection.set(.trustedSchema, to: isTrusted)
      report.drift = drift
      let batch = Batch(
        version: version, known: (live.rows ?? []).map(\.id), adopted: live.adopted,
        pending: replay.steps.indices.filter { !known.contains(replay.steps[$0].migration.id) },
        isExclusive: mode == "EXCLUSIVE", expected: expected, drift: drift,
        isTrusted: isTrusted, live: schema,
        keys: ForeignKeyGraph(schema))
      // Not if this transaction creates the ledger: a rollback would remove it.
      self.known = isNew ? nil : batch
      return batch
    } catch {
      transaction.rollBack()
      throw error
    }
  }

  /// Writes the ledger rows of the migrations that another tool has applied.
  private func adopt(_ live: LiveDatabase, _ drift: [SchemaChange]) throws {
    guard live.adopted > 0 else { return }
    guard live.adopted <= replay.steps.count else {
      throw replay.failure ?? Failure(.bug, "the history ends before the ledger of another tool")
    }
    let migrations = replay.steps.prefix(live.adopted).map(\.migration)
    if let last = migrations.last {
      try project.requireAdoptable(drift, through: last, path: options.database)
    }
    for index in migrations.indices {
      try project.ledger.insert(replay.adoptedRow(at: index, in: project), into: connection)
    }
  }

  /// Begins the transaction again if its first migration needs an exclusive lock or enforced foreign keys.
  ///
  /// With a rollback journal, a transaction cannot spill its cache while another connection reads. If it
  /// rewrites many rows, its memory grows without limit. So such a transaction waits for readers before it
  /// begins.
  private func requireExclusive(_ first: Int, _ batch: inout Batch) throws {
    let step = replay.steps[first]
    let enforces = step.migration.manifest.foreignKeys == .enforced
    let exclusive = try step.writesRows(in: batch.expected) && !transaction.isWAL
    guard exclusive || enforces else { return }
    transaction.rollBack()
    // Both need a new transaction.
    batch = try begin(exclusive ? "EXCLUSIVE" : "IMMEDIATE")
    guard enforces else { return }
    // This switch works inside a transaction; the PRAGMA does not.
    connection.set(.foreignKeys, to: true)
    batch.isAlone = true
  }

  private func commit(_ batch: inout Batch) throws {
    do {
      try checkFile("SQLite rolled back uncommitted changes")
      try keepCopies()
    } catch {
      transaction.rollBack()
      withdrawCopies()
      batch.done = []
      throw error
    }
    onEvent(.willCommit)
    try requireUnmoved()
    let ids = batch.done.map(\.id)
    do throws(DatabaseError) {
      try end(&batch)
    } catch {
      throw rolledBack(ids.count > 1 ? ids : [], after: commitFailure(error))
    }
    // The file may have moved since the last check. The report must be correct.
    try requireUnmoved()
  }

  /// Commits the transaction.
  ///
  /// A COMMIT that fails may have committed: for example, SQLite has removed the journal, but could not sync
  /// the folder. So schemactl reads the ledger. In WAL mode a missing row proves nothing, because a recovery
  /// after a crash may find the written part of the transaction.
  private func end(_ batch: inout Batch) throws(DatabaseError) {
    defer { batch.done = [] }
    do {
      try connection.execute("COMMIT")
    } catch {
      transaction.rollBack()
      let ids = batch.known.prefix(batch.adopted) + batch.done.map(\.id)
      let rows = connection.isInTransaction ? nil : try? project.ledger.rows(in: connection) ?? []
      if error.code == .busy {
        withdrawCopies(after: error)
      } else if let rows, Set(rows.map(\.id.exact)).isSuperset(of: ids.map(\.exact)) {
        noteCommitted(batch)
      } else if rows == nil || (try? transaction.isWAL) != false {
        report.uncertain = Array(ids)
      } else {
        withdrawCopies(after: error)
      }
      throw error
    }
    noteCommitted(batch)
  }

  /// Fails if the file was moved or removed. Changes to a removed file are lost, and schemactl has not
  /// checked the file that now has the path.
  private func requireUnmoved() throws(Failure) {
    guard connection.hasMoved else { return }
    throw moved
  }

  /// With `--paranoid`: fails if `integrity_check` finds a problem in the file.
  private func checkFile(_ state: String) throws {
    guard options.isParanoid else { return }
    try report.checkIntegrity(of: connection, options.database, state)
  }

  private func noteCommitted(_ batch: Batch) {
    if batch.adopted > 0 {
      report.adopted = Array(batch.known.prefix(batch.adopted))
    }
    report.applied += batch.done
    safety.published = []
    onEvent(.committed(ids: batch.done.map(\.id)))
    var batch = batch
    batch.done = []
    batch.adopted = 0
    batch.isAlone = false
    known = batch
  }

  // MARK: Failures

  /// Commits the complete migrations of the batch after a later one failed. If SQLite has ended the
  /// transaction, it has rolled them back too; nothing runs a second time.
  private func keepComplete(_ batch: Batch, after failure: Failure) throws(Failure) -> Failure {
    let reset = Result { () throws(DatabaseError) in try runner.resetSettings() }
    guard !batch.done.isEmpty else {
      transaction.rollBack()
      return failure
    }
    guard connection.isInTransaction, !transaction.hasPartialMigration, (try? reset.get()) != nil
    else {
      transaction.rollBack()
      return rolledBack(batch.done.map(\.id), after: failure)
    }
    var batch = batch
    do {
      try commit(&batch)
    } catch {
      transaction.rollBack()
      let error = Failure(of: error, database: options.database)
      throw Failure(
        ExitStatus.worst([failure.status, error.status]),
        "\(failure.naming(options.database).message). SQLite could not commit the migrations "
          + "before it: \(error.naming(options.database).message)",
        place: failure.place, migration: failure.migration)
    }
    return failure
  }
}

extension MigrateReport {
  /// Records the result of `PRAGMA integrity_check`, and fails if it found a problem.
  ///
  /// - Parameter state: a sentence about the state of the database.
  mutating func checkIntegrity(
    of connection: Connection, _ database: String, _ state: String
  ) throws {
    do {
      let found = try connection.integrityCheck()
      integrityCheck = found.isEmpty ? "ok" : found.joined(separator: "; ")
      guard !found.isEmpty else { return }
      throw Failure(
        .inputOutput,
        "`integrity_check` reports in `\(database)`: \(found.joined(separator: "; ")). \(state)",
        remedy: found.allSatisfy(isOfRow)
          ? "Correct the rows that it names" : Failure.restoring(database))
    } catch let error as DatabaseError where error.code == .error {
      // A CHECK constraint calls a function that only the application has.
      integrityCheck = error.message
    }
  }
}

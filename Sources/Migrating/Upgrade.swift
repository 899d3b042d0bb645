import History
import ManifestFormat
import Planning
import SQLText
import SQLite
import SchemaModel

/// One run of `migrate` on one database: transactions, savepoints, the ledger, and what happens
/// when something fails (DESIGN: applying).
final class Upgrade {
  let project: Project
  let options: MigrateOptions
  let replay: PendingReplay
  private let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void
  let connection: Connection
  let runner: Runner
  private var report = MigrateReport()
  /// What was known when a transaction began or was committed last: nothing need be read again while
  /// nobody else has written.
  private var known: Batch?
  /// What the migration that runs must not change.
  var watch: RowWatch?
  /// What `PRAGMA data_version` said when the copy before the first draft was taken: it changes
  /// when another connection commits.
  private var copiedVersion: Int64?
  private var copies = 0

  /// How long many small migrations share a transaction.
  private static let batchTime = Duration.milliseconds(200)

  init(
    project: Project, options: MigrateOptions, replay: PendingReplay, interruption: Interruption,
    onEvent: @escaping (MigrateEvent) -> Void, createsFile: Bool
  ) throws(Failure) {
    self.project = project
    self.options = options
    self.replay = replay
    self.interruption = interruption
    self.onEvent = onEvent
    do {
      connection = try Connection(
        path: options.database, mode: createsFile ? .readWriteCreate : .readWrite)
      connection.setBusyHandler(
        timeout: options.timeout, isCancelled: { interruption.isRequested },
        onWait: { onEvent(.waiting(seconds: $0)) })
      let calls = try project.application.register(on: connection)
      runner = Runner(
        connection: connection, target: .database, application: project.application,
        calls: calls, interruption: interruption, redactsValues: options.redactsValues)
    } catch {
      throw Failure(error, database: options.database)
    }
    report.created = createsFile
    if options.isParanoid { report.paranoid = ParanoidReport() }
    runner.onStatement = { [unowned self] (statement) throws(DatabaseError) in
      onEvent(.ran(statement: statement.sql))
      try watch?.note(statement)
    }
    runner.onPlan = { [unowned self] in watch?.note($1, at: $0) }
  }

  func run() throws(Failure) -> MigrateReport {
    try refuseMissingCalls()
    if report.created { onEvent(.created(database: options.database)) }
    do {
      try checkFile("Nothing was changed")
      while try runBatch() {}
      report.failure = replay.failure
    } catch {
      report.failure = named(error)
    }
    return report
  }

  /// A function that only the application has would be called: nothing is written at all.
  private func refuseMissingCalls() throws(Failure) {
    // The ledger is read again, and its faults are said, inside the transaction.
    guard let rows = try? Ledger.rows(in: connection) ?? [] else { return }
    let known = Set(rows.map(\.id))
    for step in replay.steps where !known.contains(step.migration.id) {
      guard let call = step.missingCalls.first else { continue }
      throw Failure(
        .invalidInput,
        "\(call.function)() belongs to the application, and this migration calls it. Nothing was "
          + "changed. Run it through SchemaKit, which has the real one",
        place: call.place, migration: Failure.FailedMigration(id: step.migration.id))
    }
  }

  /// After a signal the last migration that stays is what a person needs to know.
  private func named(_ failure: Failure) -> Failure {
    guard interruption.isRequested || failure.status == .interrupted else { return failure }
    let last = report.applied.last.map { "The last migration that was applied is \($0.id)" }
    return Failure(
      .interrupted,
      "interrupted: what was not complete has been rolled back. "
        + (last ?? "No migration was applied"),
      place: failure.place, migration: failure.migration)
  }

  // MARK: Batches

  /// Applies as many pending migrations as may share a transaction. False when none is left.
  private func runBatch() throws(Failure) -> Bool {
    var batch = try begin()
    guard let first = batch.next else {
      rollBack()
      return false
    }
    do {
      try requireExclusive(first, &batch)
      guard batch.next == first else {
        // Another process has been faster.
        rollBack()
        return true
      }
      if try keepCopy(first, batch) { return true }
      let started = ContinuousClock.now
      repeat {
        guard let index = batch.next else { break }
        try apply(index, &batch)
      } while !batch.isAlone && batch.mayGoOn(replay, in: project)
        && ContinuousClock.now - started < Self.batchTime
      try commit(&batch)
      return true
    } catch {
      try salvage(batch, after: error)
      throw error
    }
  }

  /// Before the first draft the database is copied, which no transaction may be open for. True
  /// when it was, and the transaction has to be begun again.
  private func keepCopy(_ next: Int, _ batch: Batch) throws(Failure) -> Bool {
    let migration = replay.steps[next].migration
    guard DraftCopy.isDue(before: migration, known: batch.known, in: project) else { return false }
    let version = try dataVersion()
    guard version != copiedVersion else { return false }
    rollBack()
    copies += 1
    guard copies <= 5 else {
      throw Failure(
        .busy, "\(options.database) cannot be copied before its first draft: others keep writing")
    }
    let copy = DraftCopy(of: options.database)
    let isKept = try copy.keep(
      known: batch.known, timeout: options.timeout, interruption: interruption)
    if isKept {
      copiedVersion = version
      report.draftCopy = copy.path
    }
    return true
  }

  private func dataVersion() throws(Failure) -> Int64? {
    do {
      return try connection.value("PRAGMA data_version")?.integer
    } catch {
      throw Failure(error, database: options.database)
    }
  }

  private func begin(_ mode: String = "IMMEDIATE") throws(Failure) -> Batch {
    do {
      connection.set(.foreignKeys, to: false)
      try connection.execute("BEGIN \(mode)")
      onEvent(.began)
      let version = try dataVersion()
      if var batch = known, batch.version == version {
        batch.isExclusive = mode == "EXCLUSIVE"
        return batch
      }
      let live = try LiveDatabase(connection, path: options.database)
      try live.requireOurs(project, path: options.database)
      _ = try project.requireUsableLedger(live.rows)
      if live.rows == nil { try connection.execute(Ledger.createStatement) }
      let known = Set((live.rows ?? []).map(\.id))
      let expected = replay.schema(after: known)
      let schema = try Schema(of: connection, knowing: live.schema)
      let drift = compareSchemas(
        expected: expected, actual: project.comparable(live.schema, with: expected))
      if drift != report.drift {
        report.drift = drift
        onEvent(.drift(drift))
      }
      let batch = Batch(
        version: version, known: (live.rows ?? []).map(\.id),
        pending: replay.steps.indices.filter { !known.contains(replay.steps[$0].migration.id) },
        isExclusive: mode == "EXCLUSIVE", expected: expected, drift: drift, live: schema,
        keys: ForeignKeyGraph(schema))
      // The ledger that is made here is gone when this transaction is rolled back.
      self.known = live.rows == nil ? nil : batch
      return batch
    } catch let error as DatabaseError {
      rollBack()
      throw Failure(error, database: options.database)
    } catch let failure as Failure {
      rollBack()
      throw failure
    } catch {
      rollBack()
      throw Failure(.bug, "\(error)")
    }
  }

  /// With a reader on a rollback journal, a transaction that rewrites many rows cannot spill its
  /// cache, and grows without limit: it begins only when nobody reads.
  private func requireExclusive(_ first: Int, _ batch: inout Batch) throws(Failure) {
    let step = replay.steps[first]
    let enforces = step.migration.manifest.foreignKeys == .enforced
    let exclusive = step.writesRows(in: batch.expected) && !isWAL
    guard exclusive || enforces else { return }
    rollBack()
    // Neither can be had inside a transaction.
    batch = try begin(exclusive ? "EXCLUSIVE" : "IMMEDIATE", enforcing: enforces)
  }

  private func begin(_ mode: String, enforcing: Bool) throws(Failure) -> Batch {
    guard enforcing else { return try begin(mode) }
    var batch = try begin(mode)
    // The switch itself works inside a transaction; only the PRAGMA does not.
    connection.set(.foreignKeys, to: true)
    batch.isAlone = true
    return batch
  }

  private var isWAL: Bool {
    (try? connection.value("PRAGMA journal_mode"))?.text == "wal"
  }

  private func commit(_ batch: inout Batch) throws(Failure) {
    if interruption.isRequested {
      throw Failure(.interrupted, "interrupted")
    }
    do {
      try checkFile("What was not committed has been rolled back")
    } catch {
      rollBack()
      batch.done = []
      throw error
    }
    onEvent(.willCommit)
    do {
      try connection.execute("COMMIT")
    } catch {
      rollBack()
      let wanted = batch.done.map(\.index)
      batch.done = []
      // A full disk may have room for the first of them.
      if error.code == .full, wanted.count > 1 { try applyOneByOne(wanted) }
      throw Failure(error, database: options.database)
    }
    noteCommitted(&batch)
  }

  /// With `--paranoid`: what SQLite finds wrong with the file's structure.
  private func checkFile(_ state: String) throws(Failure) {
    guard options.isParanoid else { return }
    do {
      let found = try connection.rows("PRAGMA main.quick_check(10)").compactMap { $0.first?.text }
      guard found != ["ok"] else { return }
      throw Failure(
        .inputOutput,
        "quick_check finds in \(options.database): \(found.joined(separator: "; ")). \(state). "
          + "Restore it from a backup, or correct the rows that it names")
    } catch let error as DatabaseError where error.code == .error {
      // A CHECK calls a function that only the application has.
      report.paranoid?.quickCheck = error.message
    } catch let error as DatabaseError {
      throw Failure(error, database: options.database)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.bug, "\(error)")
    }
  }

  private func applyOneByOne(_ wanted: [Int]) throws(Failure) {
    for index in wanted {
      var batch = try begin()
      guard batch.pending.contains(index) else { continue }
      do {
        try apply(index, &batch)
        try commit(&batch)
      } catch {
        rollBack()
        throw error
      }
    }
  }

  private func noteCommitted(_ batch: inout Batch) {
    report.applied += batch.done.map(\.applied)
    report.paranoid?.written += batch.done.flatMap(\.written)
    onEvent(.committed(ids: batch.done.map(\.applied.id)))
    batch.done = []
    batch.isAlone = false
    known = batch
  }

  func rollBackToSavepoint() {
    guard connection.isInTransaction else { return }
    do {
      try connection.execute("ROLLBACK TO schemactl_migration")
      try connection.execute("RELEASE schemactl_migration")
    } catch {
      // Half a migration must not be committed with those before it: all of them are run again.
      rollBack()
    }
  }

  private func rollBack() {
    // Fails only when SQLite has already ended the transaction, which is what is wanted.
    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
    connection.set(.foreignKeys, to: false)
  }

  // MARK: Failures

  /// Keeps the migrations of the batch that were complete when a later one failed.
  private func salvage(_ batch: Batch, after failure: Failure) throws(Failure) {
    try? runner.resetSettings()
    guard !batch.done.isEmpty else { return rollBack() }
    var batch = batch
    if connection.isInTransaction {
      do {
        try connection.execute("COMMIT")
        noteCommitted(&batch)
      } catch {
        rollBack()
      }
      return
    }
    // SQLite has ended the whole transaction. After a signal nothing is begun again.
    guard !interruption.isRequested else { return }
    let wanted = batch.done.map(\.index)
    batch = try begin()
    do {
      for index in wanted where batch.pending.contains(index) { try apply(index, &batch) }
      try commit(&batch)
    } catch {
      rollBack()
    }
  }
}

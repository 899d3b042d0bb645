import History
import ManifestFormat
import Planning
import SQLText
import SQLite
import SchemaModel

/// One run of `migrate` on one database: transactions, savepoints, the ledger, and what happens
/// when something fails (DESIGN: applying).
final class Upgrade {
  private let project: Project
  private let options: MigrateOptions
  private let replay: PendingReplay
  private let interruption: Interruption
  private let onEvent: (MigrateEvent) -> Void
  private let connection: Connection
  private let runner: Runner
  private var report = MigrateReport()
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
    runner.onStatement = { onEvent(.ran(statement: $0.sql)) }
  }

  func run() throws(Failure) -> MigrateReport {
    try refuseMissingCalls()
    if report.created { onEvent(.created(database: options.database)) }
    do {
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
    try copy.keep(timeout: options.timeout, interruption: interruption)
    copiedVersion = version
    report.draftCopy = copy.path
    return true
  }

  private func dataVersion() throws(Failure) -> Int64? {
    do {
      return try connection.value("PRAGMA data_version")?.integer
    } catch {
      throw Failure(error, database: options.database)
    }
  }

  /// What one transaction knows and has done.
  private struct Batch {
    /// The ids in the ledger.
    var known: [String]
    var pending: [Int]
    var isExclusive: Bool
    /// The schema that the history promises here.
    var expected: Schema
    var drift: [SchemaChange]
    /// The schema that is there.
    var live: Schema
    var keys: ForeignKeyGraph
    var isAlone = false
    var done: [(index: Int, applied: AppliedMigration)] = []

    var next: Int? { pending.first }

    /// Whether the next migration may share the transaction.
    func mayGoOn(_ replay: PendingReplay, in project: Project) -> Bool {
      guard let next else { return false }
      let step = replay.steps[next]
      guard !DraftCopy.isDue(before: step.migration, known: known, in: project) else {
        return false
      }
      return !step.isAlone(in: expected) && (isExclusive || !step.writesRows(in: expected))
    }
  }

  private func begin(_ mode: String = "IMMEDIATE") throws(Failure) -> Batch {
    do {
      connection.set(.foreignKeys, to: false)
      try connection.execute("BEGIN \(mode)")
      onEvent(.began)
      let live = try LiveDatabase(connection, path: options.database)
      try live.requireOurs(project, path: options.database)
      _ = try project.requireUsableLedger(live.rows)
      if live.rows == nil { try connection.execute(Ledger.createStatement) }
      let known = Set((live.rows ?? []).map(\.id))
      let expected = replay.schema(after: known)
      let schema = try Schema(of: connection)
      let drift = compareSchemas(
        expected: expected, actual: project.comparable(live.schema, with: expected))
      if drift != report.drift {
        report.drift = drift
        onEvent(.drift(drift))
      }
      return Batch(
        known: (live.rows ?? []).map(\.id),
        pending: replay.steps.indices.filter { !known.contains(replay.steps[$0].migration.id) },
        isExclusive: mode == "EXCLUSIVE", expected: expected, drift: drift, live: schema,
        keys: ForeignKeyGraph(schema))
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
    onEvent(.committed(ids: batch.done.map(\.applied.id)))
    batch.done = []
  }

  private func rollBackToSavepoint() {
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

  // MARK: One migration

  private func apply(_ index: Int, _ batch: inout Batch) throws(Failure) {
    let step = replay.steps[index]
    let migration = step.migration
    let context = Context(migration: migration)
    let started = ContinuousClock.now
    let startedAt = Timestamp.now.description
    onEvent(.started(id: migration.id, number: index + 1, of: replay.steps.count))
    try stopOnDrift(step, batch, context)
    do {
      try connection.execute("SAVEPOINT schemactl_migration")
      do {
        let before = batch.live
        let touched = step.touch.written.union(step.delta.keys.map(\.name))
        let violations = ForeignKeyViolations(
          of: batch.keys.affected(by: touched), in: before, on: connection)
        let record = try runner.run(migration)
        let after = try Schema(of: connection, knowing: before)
        let delta = SchemaDelta(from: before, to: after)
        try compare(delta, with: step, batch, context)
        batch.keys.apply(delta)
        let now = ForeignKeyViolations(
          of: batch.keys.affected(by: touched), in: after, on: connection)
        if let message = now.message(beyond: violations) {
          throw context.failure(.migrationFailed, message)
        }
        let elapsed = ContinuousClock.now - started
        let applied = AppliedMigration(
          id: migration.id, milliseconds: elapsed.milliseconds, strategies: record.strategies)
        try Ledger.insert(
          LedgerRow(
            id: migration.id, position: Int64(index + 1), rawDigest: migration.rawDigest,
            canonicalDigest: migration.canonicalDigest, fingerprint: replay.fingerprints[index],
            startedAt: startedAt, milliseconds: applied.milliseconds,
            toolVersion: ToolVersion.current),
          into: connection)
        try connection.execute("RELEASE schemactl_migration")
        batch.done.append((index, applied))
        batch.pending.removeAll { $0 == index }
        batch.known.append(migration.id)
        batch.isAlone = batch.isAlone || step.isAlone(in: batch.expected)
        batch.expected = step.delta.applied(to: batch.expected)
        batch.live = after
      } catch {
        rollBackToSavepoint()
        throw error
      }
    } catch let failure as Failure {
      throw failure
    } catch let error as DatabaseError {
      throw context.failure(error)
    } catch {
      throw context.failure(.bug, "\(error)")
    }
  }

  /// Drift elsewhere is reported and no more; on what the migration touches it stops the run.
  private func stopOnDrift(_ step: Shadow.Step, _ batch: Batch, _ context: Context) throws(Failure)
  {
    let touched = Set(step.delta.keys.map(\.name)).union(step.touch.written)
    let inTheWay = batch.drift.filter { touched.contains($0.holder.asciiLowercased) }
    guard !inTheWay.isEmpty else { return }
    throw context.failure(
      .finding,
      "this migration touches what differs from the history: "
        + inTheWay.map(\.sentence).joined(separator: "; ")
        + ". See `schemactl diff`; correct the database first")
  }

  /// The change made here must be the change that the shadow made.
  private func compare(
    _ delta: SchemaDelta, with step: Shadow.Step, _ batch: Batch, _ context: Context
  ) throws(Failure) {
    guard !delta.doesTheSame(as: step.delta) else { return }
    let other = delta.keys.symmetricDifference(step.delta.keys).union(
      delta.keys.filter { key in
        guard let here = delta.after[key], let there = step.delta.after[key] else { return false }
        return !here.readsLike(there)
      })
    let names = other.map { "\($0.kind.rawValue) \($0.name)" }.sorted().joined(separator: ", ")
    throw context.failure(
      batch.drift.isEmpty ? .bug : .finding,
      "the change to this database is not the change that the history promises: \(names). "
        + "See `schemactl diff`")
  }
}

extension Shadow.Step {
  private func existing(_ tables: Set<String>, in schema: Schema) -> Bool {
    tables.contains { schema.table($0) != nil }
  }

  /// Whether the migration writes rows of tables that were there before it.
  func writesRows(in schema: Schema) -> Bool { existing(touch.written, in: schema) }

  /// Whether the migration has a transaction of its own.
  func isAlone(in schema: Schema) -> Bool {
    migration.manifest.foreignKeys == .enforced || existing(touch.rewritten, in: schema)
  }
}

extension Duration {
  /// Whole milliseconds.
  var milliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}

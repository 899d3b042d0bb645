import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// One migration of a run: its savepoint, its checks and its ledger row.
extension Upgrade {
  func apply(_ index: Int, _ batch: inout Batch) throws(Failure) {
    let step = replay.steps[index]
    let migration = step.migration
    let context = Context(migration: migration)
    let started = Stopwatch()
    let startedAt = Timestamp.now.description
    onEvent(.started(id: migration.id, number: index + 1, of: replay.steps.count))
    if let obstacle = step.obstacle(among: batch.drift) { throw obstacle }
    do {
      try connection.execute("SAVEPOINT schemactl_migration")
      do {
        let before = batch.live
        let touched = step.touched
        let edits = try before.edits(before: step, like: batch.expected, project.application)
        for edit in edits { try runner.write(edit, context) }
        let violations = try ForeignKeyViolations(
          of: batch.keys.affected(by: touched), in: before, on: connection)
        let record = try run(step, batch, beyond: violations)
        try runner.requireIntegrity(after: record, context)
        let after = try Schema(of: connection, knowing: before)
        let delta = SchemaDelta(from: before, to: after)
        try project.requireExpectedChange(
          delta, with: step, on: (before, after), from: batch.expected,
          hasDrift: !batch.drift.isEmpty)
        if !project.isFrozen(migration),
          let broken = try delta.brokenObjects(
            from: before, to: after, writing: record.writeSet.written, project.application)
        {
          throw context.failure(.migrationFailed, broken)
        }
        batch.keys.apply(delta)
        let now = try ForeignKeyViolations(
          of: batch.keys.affected(by: touched), in: after, on: connection)
        if let (message, tables) = now.newViolations(
          beyond: violations, record.renames, redacted: options.redactsValues)
        {
          throw Context(migration: migration, lastWriting: tables, in: record.writeSet)
            .failure(.migrationFailed, message)
        }
        let applied = AppliedMigration(
          id: migration.id, milliseconds: started.milliseconds, strategies: record.strategies)
        try project.ledger.insert(
          replay.ledgerRow(
            at: index, startedAt: startedAt, milliseconds: applied.milliseconds),
          into: connection)
        try connection.execute("RELEASE schemactl_migration")
        batch.done.append(applied)
        batch.pending.removeAll { $0 == index }
        batch.known.append(migration.id)
        batch.isAlone = batch.isAlone || step.isAlone(in: batch.expected)
        batch.expected = step.delta.applied(to: batch.expected)
        batch.live = after
      } catch {
        transaction.rollBackToSavepoint()
        throw error
      }
    } catch {
      let failure = blamed(context.failure(error))
      throw batch.drift.isEmpty ? failure : failure.asDrift
    }
  }

  private func run(
    _ step: ScratchDatabase.Step, _ batch: Batch, beyond violations: ForeignKeyViolations
  ) throws(Failure) -> Runner.Record {
    do {
      return try runner.run(step.migration, knowing: step)
    } catch {
      guard error.cause?.isForeignKey == true else { throw error }
      throw error.adding(orphans(after: error, beyond: violations, step, batch))
    }
  }

  /// The rows that violate an enforced foreign key. To find them, the statement runs again with deferred
  /// foreign keys, and the keys are checked afterwards.
  private func orphans(
    after failure: Failure, beyond before: ForeignKeyViolations, _ step: ScratchDatabase.Step,
    _ batch: Batch
  ) -> String? {
    // Outside a transaction, the statement would be committed.
    guard connection.isInTransaction, let statement = failure.migration?.statement,
      (try? connection.execute("PRAGMA defer_foreign_keys = ON; \(statement)")) != nil,
      let schema = try? Schema(of: connection, knowing: batch.live)
    else { return nil }
    let tables = batch.keys.affected(by: step.touched)
    let now = try? ForeignKeyViolations(of: tables, in: schema, on: connection)
    return now?.newViolations(
      beyond: before, TableRenames(), redacted: options.redactsValues)?.message
  }

  /// Checks the file before a bug is reported, because correct plans also fail in a damaged file.
  private func blamed(_ failure: Failure) -> Failure {
    guard failure.status == .bug,
      let found = (try? connection.value("PRAGMA main.integrity_check(1)"))?.text, found != "ok"
    else { return failure }
    return Failure(
      .inputOutput,
      "\(failure.message). `\(options.database)` is damaged (`integrity_check`: \(found))",
      remedy:
        "Restore it from a backup (\(restoreCommand(options.database))`), or repair it, and try "
        + "again",
      place: failure.place, migration: failure.migration)
  }
}

/// Explains failures of a run to the user.
extension Upgrade {
  /// Names the last applied migration, if a signal stopped the run.
  func named(_ failure: Failure) -> Failure {
    guard interruption.isRequested || failure.status == .interrupted else { return failure }
    let last = report.applied.last.map { "The last applied migration is `\($0.id)`" }
    return Failure(
      .interrupted,
      "interrupted: SQLite rolled back the unfinished migration. "
        + (last ?? "No migration took effect"),
      place: failure.place, migration: failure.migration)
  }

  var moved: Failure {
    Failure(moved: options.database, afterApplying: report.applied.last?.id)
  }

  func commitFailure(_ error: DatabaseError) -> Failure {
    let failure = Failure(error, database: options.database)
    return report.uncertain.isEmpty ? failure : Failure(uncertain: report.uncertain, after: failure)
  }

  /// The failure, with the names of complete migrations that were rolled back, too.
  func rolledBack(_ ids: [String], after failure: Failure) -> Failure {
    guard !ids.isEmpty, report.uncertain.isEmpty else { return failure }
    return failure.naming(options.database).saying(
      "SQLite ended the transaction and rolled back "
        + ids.map { "`\($0)`" }.abridged(to: 10).joined(separator: ", "),
      remedy: "Run `schemactl migrate` again")
  }
}

/// Checks a run before the first write.
extension Upgrade {
  /// Fails if a pending migration calls a function that only the application has, or changes a table that a
  /// temporary object of a borrowed connection names.
  func requireRunnable() throws {
    let objects = try connection.isBorrowed ? connection.temporaryObjects() : []
    guard !objects.isEmpty || replay.steps.contains(where: { $0.refusal != nil }) else { return }
    let rows = try project.ledger.rows(in: connection) ?? []
    let counted = try project.countingSquash(rows, path: options.database) ?? []
    let known = Set(counted.map(\.id.exact))
    for step in replay.steps where !known.contains(step.migration.id) {
      if let refusal = step.refusal { throw refusal }
      for object in objects { try refuse(object, before: step) }
    }
  }

  /// Fails if a migration changes a table that a temporary object names. A temporary trigger would fire on
  /// the written rows, or be dropped with its table. A temporary view would prevent the renaming of a table,
  /// and a temporary table would hide one of the database.
  private func refuse(
    _ object: (name: String, sql: String), before step: ScratchDatabase.Step
  ) throws(Failure) {
    let tokens = TokenizedSQL(object.sql)
    guard step.touched.contains(where: { tokens.names($0.text, includingStrings: true) })
    else { return }
    throw Failure(
      .usage,
      "the connection has the temporary object `\(object.name)`, which names a table that "
        + "`\(step.migration.id)` changes. Nothing changed",
      remedy: "Migrate before you prepare the connection with its temporary triggers and views",
      migration: Failure.FailedMigration(id: step.migration.id))
  }
}

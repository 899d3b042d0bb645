import History
import ManifestFormat
import SQLite
import SchemaModel

/// One migration of a run: its savepoint, the checks around it, its row in the ledger.
extension Upgrade {
  func apply(_ index: Int, _ batch: inout Batch) throws(Failure) {
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
        let violations = try ForeignKeyViolations(
          of: batch.keys.affected(by: touched), in: before, on: connection)
        let record = try runner.run(migration)
        let after = try Schema(of: connection, knowing: before)
        let delta = SchemaDelta(from: before, to: after)
        try compare(delta, with: step, batch, context)
        batch.keys.apply(delta)
        let now = try ForeignKeyViolations(
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

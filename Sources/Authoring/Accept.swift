import SchemaApply
import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Project {
  /// The lock in which an edited form of a frozen migration counts; nothing is written. Fingerprints of
  /// later lines are computed again, because they depend on it.
  ///
  /// - Throws: when the migration is not edited, or the frozen history cannot be replayed.
  package func accepting(_ name: String, reason: String) throws(Failure) -> (HistoryLock, String) {
    let history = comparison
    guard let entry = history.first(where: { answers($0.id, to: name) }) else {
      throw Failure(.notFound, "\(folder.path) has no migration `\(name)`")
    }
    let nothing = Failure(
      .usage,
      "nothing to accept: \(entry.id) is \(entry.state.rawValue)"
        + (entry.detail.isEmpty ? "" : ": \(entry.detail)"))
    guard [.edited, .cosmetic, .accepted].contains(entry.state), var lock,
      let migration = migrations.first(where: { $0.id == entry.id })
    else { throw nothing }
    let range = migrations.filter(isFrozen)
    try requireEngine(for: range)
    var states = history
    var schemas = FrozenSchemas(self, history)
    var fingerprints: [ExactText: String] = [:]
    var steps: [ScratchDatabase.Step] = []
    try replay(
      range,
      observing: { step, scratch in
        schemas.compare(step, scratch, in: &states)
        fingerprints[step.migration.id] = scratch.fingerprint
        steps.append(step)
      })
    // A manifest that differs in layout alone may lead to another schema.
    guard let schema = fingerprints[entry.id],
      states.contains(where: { $0.id == entry.id && $0.state == .edited })
    else { throw nothing }
    let digests = LockedDigests(
      raw: migration.rawDigest, canonical: migration.canonicalDigest, schema: schema,
      sqlite: Connection.libraryVersion)
    do throws(LockError) {
      try lock.accept(entry.id, digests, reason: reason)
    } catch {
      throw Failure(.usage, error.message)
    }
    for later in steps where later.migration.number > migration.number {
      guard let schema = fingerprints[later.migration.id] else { continue }
      lock.recompute(later, schema)
    }
    return (lock, entry.id)
  }

  private func answers(_ id: String, to name: String) -> Bool {
    migrations.first { $0.id == id }?.answers(to: name) ?? (id == name)
  }
}

extension HistoryLock {
  /// Records the fingerprint after a migration whose manifest does what the frozen one does.
  mutating func recompute(_ step: ScratchDatabase.Step, _ schema: String) {
    guard let entry = entry(step.migration.id), entry.digests.schema != schema,
      entry.digests.canonical == step.migration.canonicalDigest, !step.layoutMatters(beside: entry)
    else { return }
    replace(with: entry.withSchema(schema, sqlite: Connection.libraryVersion))
  }
}

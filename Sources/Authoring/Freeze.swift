import SchemaApply
import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

package struct FreezeReport: Sendable {
  package let lock: HistoryLock
  package let frozen: [String]
  /// What had to be done to read the lock.
  package let repair: HistoryLock.Repair?
  /// Whether the lock has to be written: a migration was frozen, or the lock was repaired.
  package let isChanged: Bool
  /// Drafts that come before frozen migrations.
  package let inserted: [String]
  package let isHistoryEmpty: Bool
}

extension Project {
  /// The lock with the drafts through `through` added as one release; nothing is written.
  ///
  /// Fingerprints are computed again where a merge has put other migrations in between.
  ///
  /// - Parameters:
  ///   - repair: what had to be done to read the lock.
  ///   - freezesDrafts: false only repairs the lock.
  /// - Throws: when the frozen history is broken, or a migration cannot be replayed.
  package func freezing(
    release: String?, through: String?, repair: HistoryLock.Repair? = nil,
    freezesDrafts: Bool = true
  ) throws(Failure) -> FreezeReport {
    let history = comparison
    try requireIntact(freezesDrafts ? history : history.filter(\.frozen))
    var options = MigrateOptions(database: "")
    options.through = through
    let drafts = freezesDrafts ? Set(try targets(options).map(\.id.exact)) : []
    let range = migrations.filter { isFrozen($0) || drafts.contains($0.id.exact) }
    try requireEngine(for: range)
    var lock = self.lock ?? HistoryLock()
    var frozen: [String] = []
    var states = history
    var schemas = FrozenSchemas(self, history)
    func freeze(_ step: ScratchDatabase.Step, _ scratch: ScratchDatabase) throws(Failure) {
      let migration = step.migration
      guard let entry = lock.entry(migration.id) else {
        let digests = LockedDigests(
          raw: migration.rawDigest, canonical: migration.canonicalDigest,
          schema: scratch.fingerprint, sqlite: Connection.libraryVersion)
        do {
          try lock.freeze(LockEntry(id: migration.id, release: release, digests: digests))
        } catch {
          throw Failure(.usage, error.message)
        }
        frozen.append(migration.id)
        return
      }
      // With the same SQLite only what comes before can make the difference.
      if repair != nil || entry.digests.sqlite == Connection.libraryVersion {
        lock.recompute(step, scratch.fingerprint)
      }
      if repair != .converted { schemas.compare(step, scratch, in: &states) }
    }
    try replay(range, preparing: { $0.checksOwnRows = true }, observing: freeze)
    try requireIntact(states.filter { freezesDrafts || $0.frozen })
    return FreezeReport(
      lock: lock, frozen: frozen, repair: repair,
      isChanged: repair != nil || lock != (self.lock ?? HistoryLock()),
      inserted: history.filter { $0.state == .inserted }.map(\.id),
      isHistoryEmpty: migrations.isEmpty)
  }
}

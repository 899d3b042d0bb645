import History
import SQLText
import SQLite

package struct FreezeReport: Sendable {
  package let lock: HistoryLock
  package let frozen: [String]
  package let isHistoryEmpty: Bool
}

extension Project {
  /// The lock with the drafts through `through` added as one release; nothing is written.
  ///
  /// - Throws: when the frozen history is broken, or a migration cannot be replayed.
  package func freezing(release: String?, through: String?) throws(Failure) -> FreezeReport {
    try requireIntactHistory()
    var options = MigrateOptions(database: "")
    options.through = through
    let range = try targets(options)
    try requireEngine(for: range)
    var lock = self.lock ?? HistoryLock()
    var frozen: [String] = []
    var report = VerifyReport(comparing: self)
    var schemas = FrozenSchemas(self, report)
    func freeze(_ step: Shadow.Step, _ shadow: Shadow) throws(Failure) {
      schemas.compare(step, shadow, in: &report)
      let migration = step.migration
      guard !lock.contains(migration.id) else { return }
      let digests = LockedDigests(
        raw: migration.rawDigest, canonical: migration.canonicalDigest,
        schema: shadow.fingerprint, sqlite: Connection.libraryVersion)
      do {
        try lock.freeze(LockEntry(id: migration.id, release: release, digests: digests))
      } catch {
        throw Failure(.usage, error.message)
      }
      frozen.append(migration.id)
    }
    try replay(range, observing: freeze)
    try requireIntact(report.history)
    return FreezeReport(lock: lock, frozen: frozen, isHistoryEmpty: migrations.isEmpty)
  }
}

import History
import SQLText
import SQLite

extension Project {
  /// The lock in which the edited form of a frozen migration is the one that holds; nothing is
  /// written.
  ///
  /// - Throws: when the migration is not edited, or the history cannot be replayed up to it.
  package func accepting(_ name: String, reason: String) throws(Failure) -> (HistoryLock, String) {
    guard let entry = comparison.first(where: { answers($0.id, to: name) }) else {
      throw Failure(.notFound, "there is no migration \(name)")
    }
    let nothing = Failure(
      .usage,
      "nothing to accept: \(entry.id) is \(entry.state.rawValue)"
        + (entry.detail.isEmpty ? "" : ": \(entry.detail)"))
    guard [.edited, .cosmetic].contains(entry.state), var lock,
      let migration = migrations.first(where: { $0.id == entry.id })
    else { throw nothing }
    let range = migrations.filter { isFrozen($0) && $0.number <= migration.number }
    try requireEngine(for: range)
    var report = VerifyReport(comparing: self)
    var schemas = FrozenSchemas(self, report)
    let shadow = try replay(range, observing: { schemas.compare($0, $1, in: &report) })
    // What differs in layout alone may make another schema.
    guard report.history.contains(where: { $0.id == entry.id && $0.state == .edited }) else {
      throw nothing
    }
    let digests = LockedDigests(
      raw: migration.rawDigest, canonical: migration.canonicalDigest, schema: shadow.fingerprint,
      sqlite: Connection.libraryVersion)
    do throws(LockError) {
      try lock.accept(LockAcceptance(id: entry.id, digests: digests, reason: reason))
    } catch {
      throw Failure(.usage, error.message)
    }
    return (lock, entry.id)
  }

  private func answers(_ id: String, to name: String) -> Bool {
    migrations.first { $0.id == id }?.answers(to: name) ?? (id == name)
  }
}

import History
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
    guard entry.state == .edited, var lock,
      let migration = migrations.first(where: { $0.id == entry.id })
    else {
      let advice = entry.detail.isEmpty ? "" : ": \(entry.detail)"
      throw Failure(
        .usage, "there is nothing to accept: \(entry.id) is \(entry.state.rawValue)\(advice)")
    }
    let range = migrations.filter { isFrozen($0) && $0.number <= migration.number }
    try requireEngine(for: range)
    let shadow = try replay(range)
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

import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaYAML

package struct FreezeReport: Sendable {
  package let lock: HistoryLock
  package let frozen: [String]
  /// The way in which the lock was repaired when it was read; nil if it was valid.
  package let repair: HistoryLock.Repair?
  /// Whether the lock must be written, because a migration was frozen or the lock was repaired.
  package let isChanged: Bool
  /// The drafts that come before frozen migrations.
  package let inserted: [String]
  package let isHistoryEmpty: Bool
}

extension Project {
  /// Returns the lock with the drafts through `through` added as one release. Writes nothing.
  ///
  /// Recomputes the fingerprints of frozen migrations where a merge has put other migrations before them.
  ///
  /// - Parameters:
  ///   - repair: the way in which the lock was repaired when it was read.
  ///   - freezesDrafts: false to repair the lock only.
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
        try requireOpen(release)
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
      // With the same version of SQLite, a different fingerprint can come only from earlier migrations.
      if repair != nil || entry.digests.sqlite == Connection.libraryVersion {
        lock.recompute(step, scratch.fingerprint)
      }
      if repair != .converted { schemas.compare(step, scratch, in: &states) }
    }
    try replay(range, preparing: { $0.requireValidRows() }, observing: freeze)
    try requireIntact(states.filter { freezesDrafts || $0.frozen })
    return FreezeReport(
      lock: lock, frozen: frozen, repair: repair,
      isChanged: repair != nil || lock != (self.lock ?? HistoryLock()),
      inserted: history.filter { $0.state == .inserted }.map(\.id),
      isHistoryEmpty: migrations.isEmpty)
  }
}

extension Project {
  /// Fails if one of the migrations has no operations.
  package func requireOperations(of ids: [String]) throws(Failure) {
    let ids = Set(ids.map(\.exact))
    let empty = migrations.first { ids.contains($0.id) && $0.manifest.isEmpty }
    guard let empty else { return }
    throw Failure(
      .finding, "this migration has no operations, and you cannot add any after the freeze",
      remedy:
        "Write its operations, delete the file, or freeze only earlier migrations with `--to`",
      place: Failure.Place(file: empty.file, position: Position(line: 1, column: 1)))
  }

  /// Fails if a manifest changed since schemactl read it, because the new lock would record the old text.
  package func requireSameManifests() throws {
    let now = try folder.migrations()
    let isSame = now.elementsEqual(migrations) { $0.id == $1.id && $0.rawDigest == $1.rawDigest }
    guard !isSame else { return }
    throw Failure(
      .busy,
      "the manifests in `\(folder.path)` changed while schemactl read them. schemactl froze nothing",
      remedy: "Check them, and try again")
  }

  /// Fails if `release` is frozen and a later release exists. Otherwise lint and `check` would compare
  /// devices with a release that they never had.
  private func requireOpen(_ release: String?) throws(Failure) {
    guard let last = lock?.releases.last?.name, let release, last != release,
      lock?.releases.contains(where: { $0.name == release }) == true
    else { return }
    throw Failure(
      .usage,
      "release `\(release)` is frozen already, and `\(last)` came after it. Nothing changed",
      remedy: "Name a new release, or `\(last)` if no device has run it yet")
  }

  /// Returns the lock with the edited form of a frozen migration accepted, and the id of the migration.
  /// Writes nothing. Recomputes the fingerprints of later migrations, because they depend on the edited one.
  ///
  /// - Throws: when the migration is not edited, or the frozen history cannot be replayed.
  package func accepting(_ name: String, reason: String) throws(Failure) -> (HistoryLock, String) {
    let history = comparison
    guard let entry = history.first(where: { answers($0.id, to: name) }) else {
      throw unknownMigration(name)
    }
    let nothing = Failure(
      .usage,
      "`\(entry.id)` has no edit to accept: it is "
        + (entry.state == .draft ? "a draft" : entry.state.rawValue)
        + (entry.detail.isEmpty ? "" : "; \(entry.detail)"))
    guard [.edited, .cosmetic, .accepted].contains(entry.state), var lock else { throw nothing }
    let range = migrations.filter(isFrozen)
    try requireEngine(for: range)
    var states = history
    var schemas = FrozenSchemas(self, history)
    var isAccepted = false
    func accept(_ step: ScratchDatabase.Step, _ scratch: ScratchDatabase) throws(Failure) {
      schemas.compare(step, scratch, in: &states)
      let migration = step.migration
      if isAccepted { lock.recompute(step, scratch.fingerprint) }
      // A manifest that differs only in layout can still lead to another schema: SQLite can take the text of
      // an expression, with its white space, as the name of a column.
      guard migration.id == entry.id,
        states.contains(where: { $0.id == entry.id && $0.state == .edited })
      else { return }
      let digests = LockedDigests(
        raw: migration.rawDigest, canonical: migration.canonicalDigest,
        schema: scratch.fingerprint, sqlite: Connection.libraryVersion)
      do throws(LockError) {
        try lock.accept(entry.id, digests, reason: reason)
      } catch {
        throw Failure(.usage, error.message)
      }
      isAccepted = true
    }
    try replay(range, preparing: { $0.requireValidRows() }, observing: accept)
    guard isAccepted else { throw nothing }
    return (lock, entry.id)
  }

  private func answers(_ id: String, to name: String) -> Bool {
    migrations.first { $0.id == id }?.answers(to: name) ?? (id == name)
  }
}

extension HistoryLock {
  /// Records the fingerprint after a migration if its manifest still has the effect of the frozen one.
  mutating func recompute(_ step: ScratchDatabase.Step, _ schema: String) {
    guard let entry = entry(step.migration.id), entry.digests.schema != schema,
      entry.digests.canonical == step.migration.canonicalDigest, !step.layoutMatters(beside: entry)
    else { return }
    replace(with: entry.withSchema(schema, sqlite: Connection.libraryVersion))
  }
}

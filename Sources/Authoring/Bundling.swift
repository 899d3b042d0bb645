import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// The bytes of a compiled history, and a summary of it. Nothing is written yet.
package struct BundleReport: Sendable {
  package let bytes: [UInt8]
  package let migrations: Int
  package let drafts: [String]
}

extension Project {
  /// Compiles the history into a bundle. Replays the history first, so that a history that fails never
  /// becomes a bundle.
  ///
  /// - Parameters:
  ///   - frozenOnly: whether to leave drafts out.
  ///   - oldest: the oldest release that still runs on a device; nil for the first one.
  /// - Throws: when the frozen history is broken, a migration fails, or `connection.sql` cannot be read.
  package func bundled(
    frozenOnly: Bool = false, oldestRelease oldest: String? = nil,
    interruption: Interruption = Interruption()
  ) throws -> BundleReport {
    try requireIntactHistory()
    let migrations = frozenOnly ? migrations.filter(isFrozen) : migrations
    try requireEngine(for: migrations)
    let released = Set((lock?.releases ?? []).map(\.lastID.exact))
    var schemas: [HistoryBundle.ReleasedSchema] = []
    var count = 0
    try replay(
      migrations, interruption: interruption, preparing: { $0.requireValidRows() },
      observing: { step, scratch in
        count += 1
        guard released.contains(step.migration.id) else { return }
        schemas.append(
          HistoryBundle.ReleasedSchema(
            count: count, fingerprint: scratch.fingerprint, schema: scratch.schema))
      })
    func source(
      _ migration: Migration, isFrozen: Bool
    ) throws(InvalidInput) -> HistoryBundle.Source {
      (migration, isFrozen, try YAMLReader.read(migration.bytes, file: migration.file))
    }
    let bytes = HistoryBundle.encoded(
      folder: folder.path, ledger: ledger, ignoring: foreign.ignored,
      try migrations.map { try source($0, isFrozen: isFrozen($0)) },
      squashed: try migrationsReplaced(since: oldest, interruption).map {
        try source($0, isFrozen: true)
      },
      lock: lock, connectionSQL: try folder.connectionSQL(), schemas: schemas)
    return BundleReport(
      bytes: bytes, migrations: migrations.count,
      drafts: migrations.filter { !isFrozen($0) }.map(\.id))
  }

  /// The migrations that the squash replaces, which must be unchanged. None if every supported device has run
  /// all of them.
  private func migrationsReplaced(
    since oldest: String?, _ interruption: Interruption
  ) throws(Failure) -> [Migration] {
    guard let squash else { return [] }
    if let oldest {
      guard let last = lock?.all.last(where: { $0.release == oldest }) else {
        throw Failure(
          .invalidInput,
          "`sync.oldest_release` is `\(oldest)`, but the history lock does not contain this "
            + "release")
      }
      if last.number >= squash.number { return [] }
    }
    var report = VerifyReport(history: [])
    try verifySquashed(into: &report, interruption)
    try requireIntact(report.history)
    if let failure = report.failure { throw failure }
    return try squashedMigrations() ?? []
  }
}

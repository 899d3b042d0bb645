/// The version of schemactl, as `--version` says it and ledgers record it.
package enum ToolVersion {
  package static let current = "0.2.0"
}

extension LedgerRow {
  /// What this version writes of a migration.
  ///
  /// - Parameter index: in the history, from 0.
  package init(
    of migration: Migration, at index: Int, fingerprint: String, startedAt: String,
    milliseconds: Int64 = 0, toolVersion: String = ToolVersion.current
  ) {
    self.init(
      id: migration.id, position: Int64(index + 1), rawDigest: migration.rawDigest,
      canonicalDigest: migration.canonicalDigest, fingerprint: fingerprint, startedAt: startedAt,
      milliseconds: milliseconds, toolVersion: toolVersion)
  }
}

import History
import SQLite

/// Holds the schema after each frozen migration of a replay against what the lock says of it.
struct EngineComparison {
  private let lock: HistoryLock?
  /// A spelling that changed in one manifest may show in every later fingerprint.
  private var isExact: Bool

  /// - Parameter report: where the manifests stand; with a broken history nothing is compared.
  init(_ lock: HistoryLock?, _ report: VerifyReport) {
    self.lock = lock
    isExact = !report.isHistoryBroken
  }

  mutating func hold(
    _ migration: Migration, fingerprint: String, against report: inout VerifyReport
  ) {
    guard isExact, let index = report.history.firstIndex(where: { $0.id == migration.id }) else {
      return
    }
    isExact = [.unchanged, .lineEnds].contains(report.history[index].state)
    guard isExact, let entry = lock?.effectiveEntry(migration.id),
      entry.digests.schema != fingerprint
    else { return }
    report.history[index].state = .engineDiffers
    report.history[index].detail =
      "the digests are the same, and SQLite \(Connection.libraryVersion) makes another schema of "
      + "them than \(entry.digests.sqlite) made when it was frozen"
  }
}

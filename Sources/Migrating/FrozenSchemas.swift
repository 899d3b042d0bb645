import History
import SQLText
import SQLite
import SchemaModel

/// Compares the schema after each frozen migration of a replay with what the lock holds.
struct FrozenSchemas {
  private let lock: HistoryLock?
  private let folder: MigrationFolder
  /// False behind a migration whose schema differs: later ones differ with it.
  private var isExact: Bool
  /// Of the replayed schema, where the lock holds fingerprints of the first version.
  private var first: RunningFingerprint?

  /// - Parameter report: the states of the manifests; with a broken history nothing is compared.
  init(_ project: Project, _ report: VerifyReport) {
    lock = project.lock
    folder = project.folder
    isExact = !report.isHistoryBroken
  }

  /// Compares the schema after a migration, and corrects the migration's state in the report.
  mutating func compare(_ step: Shadow.Step, _ shadow: Shadow, in report: inout VerifyReport) {
    first?.apply(step.delta)
    let id = step.migration.id
    guard isExact, let lock, let entry = lock.effectiveEntry(id) else { return }
    guard !isEqual(entry.digests.schema, shadow) else {
      // The lines behind an accepted edit hold what the old form led to.
      isExact = lock.knownDigests(id).allSatisfy { $0.schema == entry.digests.schema }
      return
    }
    guard let index = report.history.firstIndex(where: { $0.id == id }) else { return }
    switch report.history[index].state {
    case .unchanged, .lineEnds:
      report.history[index].state = .engineDiffers
      report.history[index].detail =
        "the digests are the same, and SQLite \(Connection.libraryVersion) makes another schema of "
        + "them than \(entry.digests.sqlite) made when it was frozen"
    case .cosmetic where first == nil:
      isExact = false
      report.history[index] = folder.editedSchema(entry)
    default:
      // The first version's fingerprints tell keywords in small letters from those in capitals.
      isExact = false
    }
  }

  private mutating func isEqual(_ fingerprint: String, _ shadow: Shadow) -> Bool {
    if fingerprint == shadow.fingerprint || fingerprint == first?.digest() { return true }
    guard first == nil else { return false }
    var running = RunningFingerprint(.first)
    running.apply(SchemaDelta(from: Schema(), to: shadow.schema))
    guard running.digest() == fingerprint else { return false }
    first = running
    return true
  }
}

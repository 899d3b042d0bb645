import History
import SQLText
import SQLite

/// Compares the schema after each frozen migration of a replay with the lock.
struct FrozenSchemas {
  private let lock: HistoryLock?
  private let folder: MigrationFolder
  /// Whether the schema before the migration is the frozen one.
  private var isPreviousEqual = true
  /// False after an edit: later schemas differ with it.
  private var isComparing: Bool

  /// - Parameter report: the states of the manifests; with a broken history nothing is compared.
  init(_ project: Project, _ report: VerifyReport) {
    lock = project.lock
    folder = project.folder
    isComparing = !report.isHistoryBroken
  }

  /// Compares the schema after a migration, and corrects the migration's state in the report.
  ///
  /// A manifest with another layout that alone leads to another schema is an edit: it names a column of
  /// a result differently. Every other difference comes from SQLite, or from earlier migrations.
  mutating func compare(_ step: Shadow.Step, _ shadow: Shadow, in report: inout VerifyReport) {
    guard isComparing, let entry = lock?.entry(step.migration.id) else { return }
    let isEqual = entry.digests.schema == shadow.fingerprint
    defer { isPreviousEqual = isEqual }
    guard !isEqual,
      let index = report.history.firstIndex(where: { $0.id == entry.id })
    else { return }
    if step.migration.rawDigest != entry.digests.raw, isPreviousEqual {
      isComparing = false
      report.history[index] = folder.editedSchema(entry)
      return
    }
    let known = report.history[index].detail
    report.history[index].state = .engineDiffers
    report.history[index].detail =
      "the manifest is the frozen one, but SQLite \(Connection.libraryVersion) and the migrations before "
      + "it lead to another schema than with SQLite \(entry.digests.sqlite) when it was frozen; after a "
      + "merge `schemactl freeze` computes the fingerprint again"
      + (known.isEmpty ? "" : " (\(known))")
  }
}

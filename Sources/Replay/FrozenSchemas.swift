import SchemaHistory
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// Compares the schema after each frozen migration of a replay with the lock.
package struct FrozenSchemas {
  private let lock: HistoryLock?
  private let folder: MigrationFolder
  /// Whether the schema before the migration is the frozen one.
  private var isPreviousEqual = true
  /// False after an edit: later schemas differ with it.
  private var isComparing: Bool

  /// - Parameter history: the states of the manifests; with a broken history nothing is compared.
  package init(_ project: Project, _ history: [HistoryEntry]) {
    lock = project.lock
    folder = project.folder
    isComparing = !history.contains(where: \.state.isBroken)
  }

  /// Compares the schema after a migration, and corrects the migration's state.
  ///
  /// A manifest with another layout that alone leads to another schema is an edit, where white space can name a
  /// column. Every other difference comes from SQLite, or from earlier migrations.
  package mutating func compare(
    _ step: ScratchDatabase.Step, _ scratch: ScratchDatabase, in history: inout [HistoryEntry]
  ) {
    guard isComparing, let entry = lock?.entry(step.migration.id) else { return }
    let isEqual = entry.digests.schema == scratch.fingerprint
    defer { isPreviousEqual = isEqual }
    guard !isEqual,
      let index = history.firstIndex(where: { $0.id == entry.id })
    else { return }
    if isPreviousEqual, step.layoutMatters(beside: entry) {
      isComparing = false
      history[index] = folder.editedSchema(entry)
      return
    }
    let known = history[index].detail
    history[index].state = .engineDiffers
    history[index].detail =
      "the manifest is unchanged, but SQLite \(Connection.libraryVersion) and the earlier "
      + "migrations produce another schema than SQLite \(entry.digests.sqlite) at the freeze; "
      + "after a merge, `schemactl freeze` computes the fingerprint again"
      + (known.isEmpty ? "" : " (\(known))")
  }
}

extension ScratchDatabase.Step {
  /// Whether the manifest has another layout than the frozen one, and layout can change what it does.
  package func layoutMatters(beside entry: LockEntry) -> Bool {
    migration.rawDigest != entry.digests.raw
      && delta.after.values.contains(where: \.isNamedByLayout)
  }
}

import SchemaHistory
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaYAML

extension Project {
  /// Reads a history whose lock may have conflict markers or be in version 1.
  ///
  /// - Returns: the history, and the changes that were needed to read its lock.
  package static func loadRepaired(
    migrations path: String, application: Application, ignoring: [String]
  ) throws -> (Project, HistoryLock.Repair?) {
    let folder = MigrationFolder(path)
    let (lock, repair) = try folder.repairedLock()
    let project = try load(
      migrations: path, application: application, ignoring: ignoring, readingLock: { _ in lock },
      explaining: folder.explain)
    return (project, repair)
  }
}

extension MigrationFolder {
  /// Reads the lock as `freeze` does, and returns the necessary repairs: the sides of a merge
  /// conflict are joined, and version 1 is converted.
  package func repairedLock() throws(Failure) -> (HistoryLock?, HistoryLock.Repair?) {
    guard let bytes = try lockBytes() else { return (nil, nil) }
    do throws(LockError) {
      let (lock, repair) = try HistoryLock.repairing(bytes)
      return (lock, repair)
    } catch {
      throw Failure(error, file: lockFile)
    }
  }

  private func joinedLock() -> HistoryLock? { ((try? repairedLock()) ?? (nil, nil)).0 }

  /// The ids that must not be renumbered: those of the lock, of both sides of a merge conflict, and
  /// those that other revisions have frozen, if git is available.
  package func frozenIDs() throws(Failure) -> Set<ExactText> {
    let lock = try repairedLock().0
    return keptIDs(lock, try? OtherRevisions(of: self, lock: lock))
  }

  private func keptIDs(_ lock: HistoryLock?, _ others: OtherRevisions?) -> Set<ExactText> {
    Set((lock?.all ?? []).map(\.id.exact)).union(others?.keptIDs ?? [])
  }

  /// The problems of manifests that share a number, by their names. A frozen or upstream manifest
  /// keeps its number.
  package func explain(_ groups: [[ManifestName]]) -> [ExactText: String] {
    let lock = joinedLock()
    let others = try? OtherRevisions(of: self, lock: lock)
    let released = others?.releasedIDs ?? []
    let kept = keptIDs(lock, others)
    let frozen = kept.union((others?.locks ?? []).flatMap(\.lock.all).map(\.id.exact))
    var problems: [ExactText: String] = [:]
    for names in groups {
      let number = MigrationNumber(id: names[0].id)
      var (keeper, reason): (ManifestName?, String) = (nil, "")
      for (ids, word) in [(released, "released"), (frozen, "frozen")] where keeper == nil {
        let found = names.filter { ids.contains($0.id) }
        if found.count == 1 { (keeper, reason) = (found[0], " and is \(word)") }
      }
      if keeper == nil, let id = try? others?.upstream(among: names.map(\.id)) {
        (keeper, reason) = (names.first { $0.id == id }, " and is upstream")
      }
      let first = keeper ?? names[0]
      for name in names where name.text != first.text {
        let command = "(`\(renumberCommand([name.id]))`)"
        let advice =
          if released.contains(name.id) {
            "; both are released, so neither can get another number"
          } else if lock == nil, frozen.contains(name.id) {
            "; both are frozen: run `schemactl freeze`, which reports both lines"
          } else if kept.contains(name.id) {
            others?.operation != nil
              ? "; both are frozen: keep the lock of the upstream branch, then renumber this one "
                + command
              : "; both are frozen, and no merge or rebase is in progress: start one in place of "
                + "`git merge --squash`, and renumber this one during it"
          } else if keeper != nil {
            ": renumber this one \(command)"
          } else {
            Self.renumberEither(first, name)
          }
        problems[name.text] = "`\(first.text)` has the number \(number) too\(reason)\(advice)"
      }
    }
    return problems
  }
}

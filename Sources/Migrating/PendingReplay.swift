import History
import SchemaModel

/// The whole history on a shadow: what each migration will do, known before a database is touched.
struct PendingReplay {
  /// In order, through the last one that works.
  let steps: [Shadow.Step]
  /// The fingerprint after each step.
  let fingerprints: [String]
  /// Why the replay ended early.
  let failure: Failure?
  /// Stands after the last step.
  let shadow: Shadow
  /// Whether no step left rows that break a foreign key.
  let keepsForeignKeys: Bool

  func step(_ id: String) -> Int? { steps.firstIndex { $0.migration.id == id } }

  /// The schema that the history promises once `ids` are applied.
  func schema(after ids: Set<String>) -> Schema {
    Schema(applying: steps.lazy.filter { ids.contains($0.migration.id) }.map(\.delta))
  }
}

extension Project {
  /// - Throws: what makes a manifest wrong (65), and what is no migration's fault (74): then nothing
  ///   is done at all. A migration that fails on the shadow only ends the replay, for those before
  ///   it are good.
  func replay(
    _ targets: [Migration], interruption: Interruption,
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> PendingReplay {
    let shadow = try Shadow(application, interruption: interruption)
    shadow.tell { onEvent(.ran(statement: $0)) }
    var steps: [Shadow.Step] = []
    var fingerprints: [String] = []
    var hasRows = false
    var keepsForeignKeys = true
    func ended(_ failure: Failure?) -> PendingReplay {
      PendingReplay(
        steps: steps, fingerprints: fingerprints, failure: failure, shadow: shadow,
        keepsForeignKeys: keepsForeignKeys)
    }
    for (index, migration) in targets.enumerated() {
      onEvent(.started(id: migration.id, number: index + 1, of: targets.count))
      do {
        let step = try shadow.apply(migration)
        hasRows = hasRows || !step.touch.written.isEmpty
        keepsForeignKeys = keepsForeignKeys && (!hasRows || shadow.keepsForeignKeys)
        // What changes no schema leaves its fingerprint, which costs a pass over all of it.
        let isSame = step.delta.isEmpty && !fingerprints.isEmpty
        fingerprints.append(isSame ? fingerprints[steps.count - 1] : shadow.fingerprint)
        steps.append(step)
      } catch {
        let endsAll = error.status == .invalidInput || error.status == .inputOutput
        if endsAll || interruption.isRequested { throw error }
        return ended(error)
      }
    }
    return ended(nil)
  }
}

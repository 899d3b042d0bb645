import History
import SQLText
import SQLite
import SchemaModel

/// The whole history on a shadow: what each migration will do, known before a database is touched.
struct PendingReplay {
  /// In order, through the last one that works.
  let steps: [Shadow.Step]
  /// The fingerprint after each step.
  let fingerprints: [String]
  /// Why the replay ended early.
  let failure: Failure?
  /// For a database that is not there yet: what it is to hold. Nil where a step left rows that break
  /// a foreign key.
  let new: Connection?

  func step(_ id: String) -> Int? { steps.firstIndex { $0.migration.id == id } }

  /// What the ledger says of a step that was applied.
  func ledgerRow(
    at index: Int, startedAt: String, milliseconds: Int64 = 0,
    toolVersion: String = ToolVersion.current
  ) -> LedgerRow {
    LedgerRow(
      of: steps[index].migration, at: index, fingerprint: fingerprints[index],
      startedAt: startedAt, milliseconds: milliseconds, toolVersion: toolVersion)
  }

  /// The schema that the history promises once `ids` are applied.
  func schema(after ids: Set<ExactText>) -> Schema {
    Schema(applying: steps.lazy.filter { ids.contains($0.migration.id) }.map(\.delta))
  }
}

extension Project {
  /// - Throws: what makes a manifest wrong (65), and what is no migration's fault (74): then nothing
  ///   is done at all. A migration that fails on the shadow only ends the replay, for those before
  ///   it are good.
  ///
  /// - Parameter isNew: whether the database is not there yet.
  func replay(
    _ targets: [Migration], isNew: Bool = false, interruption: Interruption,
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> PendingReplay {
    var steps: [Shadow.Step] = []
    var fingerprints: [String] = []
    var failure: Failure?
    var new: Connection?
    var keys = ForeignKeyGraph(Schema())
    var keepsForeignKeys = true
    var report = VerifyReport(comparing: self)
    var schemas = FrozenSchemas(self, report)
    func starts(_ index: Int) {
      guard index < targets.count else { return }
      onEvent(.started(id: targets[index].id, number: index + 1, of: targets.count))
    }
    do {
      try replay(
        targets, interruption: interruption,
        preparing: { shadow in
          new = shadow.connection
          shadow.observe(comparesSchemas: false) { statement, _ in
            onEvent(.ran(statement: statement.sql))
          }
          starts(0)
        },
        observing: { step, shadow in
          steps.append(step)
          fingerprints.append(shadow.fingerprint)
          schemas.compare(step, shadow, in: &report)
          starts(steps.count)
          guard isNew else { return }
          keys.apply(step.delta)
          keepsForeignKeys =
            keepsForeignKeys && shadow.keepsForeignKeys(of: keys.affected(by: step.touched))
        })
    } catch {
      let endsAll = error.status == .invalidInput || error.status == .inputOutput
      if endsAll || interruption.isRequested { throw error }
      failure = error
    }
    // Another SQLite may make another schema of what was frozen; that stops no device.
    try requireIntact(
      report.history.filter { entry in
        lock?.entry(entry.id)?.digests.sqlite == Connection.libraryVersion
      })
    return PendingReplay(
      steps: steps, fingerprints: fingerprints, failure: failure,
      new: isNew && keepsForeignKeys ? new : nil)
  }
}

import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The whole history on a scratch database: what each migration will do, known before a database is touched.
package struct PendingReplay {
  /// In order, through the last one that works.
  package let steps: [ScratchDatabase.Step]
  /// The fingerprint after each step.
  package let fingerprints: [String]
  /// Why the replay ended early.
  package let failure: Failure?
  /// For a database that is not there yet: what it is to hold. Nil where a step left rows that break
  /// a foreign key.
  package let new: Connection?

  package func step(_ id: String) -> Int? { steps.firstIndex { $0.migration.id == id } }

  /// The ledger row of a step that was applied.
  package func ledgerRow(
    at index: Int, startedAt: String, milliseconds: Int64 = 0,
    toolVersion: String = ToolVersion.current
  ) -> LedgerRow {
    LedgerRow(
      of: steps[index].migration, at: index, fingerprint: fingerprints[index],
      startedAt: startedAt, milliseconds: milliseconds, toolVersion: toolVersion)
  }

  /// The ledger row of a step whose effect another tool's ledger records.
  package func adoptedRow(at index: Int, in project: Project) -> LedgerRow {
    project.adoptedRow(steps[index].migration, at: index, fingerprint: fingerprints[index])
  }

  /// The schema that the history promises once `ids` are applied.
  package func schema(after ids: Set<ExactText>) -> Schema {
    Schema(applying: steps.lazy.filter { ids.contains($0.migration.id) }.map(\.delta))
  }
}

extension Project {
  /// - Throws: what makes a manifest wrong (65), and what is no migration's fault (74): then nothing
  ///   is done at all. A migration that fails on the scratch database only ends the replay, for those before
  ///   it are good.
  ///
  /// - Parameter isNew: whether the database is not there yet.
  package func replay(
    _ targets: [Migration], isNew: Bool = false, interruption: Interruption,
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> PendingReplay {
    var steps: [ScratchDatabase.Step] = []
    var fingerprints: [String] = []
    var failure: Failure?
    var new: Connection?
    var keys = ForeignKeyGraph(Schema())
    var keepsForeignKeys = true
    var states = comparison
    var schemas = FrozenSchemas(self, states)
    func starts(_ index: Int) {
      guard index < targets.count else { return }
      onEvent(.started(id: targets[index].id, number: index + 1, of: targets.count))
    }
    do {
      try replay(
        targets, interruption: interruption,
        preparing: { scratch in
          new = scratch.connection
          scratch.observe(comparesSchemas: false) { statement, _ in
            onEvent(.ran(statement: statement.sql))
          }
          starts(0)
        },
        observing: { step, scratch in
          steps.append(step)
          fingerprints.append(scratch.fingerprint)
          schemas.compare(step, scratch, in: &states)
          starts(steps.count)
          guard isNew else { return }
          keys.apply(step.delta)
          keepsForeignKeys =
            keepsForeignKeys && scratch.keepsForeignKeys(of: keys.affected(by: step.touched))
        })
    } catch {
      let endsAll = error.status == .invalidInput || error.status == .inputOutput
      if endsAll || interruption.isRequested { throw error }
      failure = error
    }
    // Another SQLite may make another schema of what was frozen; that stops no device.
    try requireIntact(
      states.filter { entry in
        lock?.entry(entry.id)?.digests.sqlite == Connection.libraryVersion
      })
    return PendingReplay(
      steps: steps, fingerprints: fingerprints, failure: failure,
      new: isNew && keepsForeignKeys ? new : nil)
  }
}

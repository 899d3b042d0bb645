import SchemaHistory
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The history on a scratch database: what each migration will do, known before a database is touched.
/// Any number of databases, at any point of the history, may share it.
package struct PendingReplay: Sendable {
  /// The migrations before the first step, which the database has run: the history of a bundle is replayed
  /// from a release on.
  package let replayed: [Migration]
  /// The schema after them.
  let base: Schema
  /// In order, through the last one that works.
  package let steps: [ScratchDatabase.Step]
  /// The fingerprint after each step.
  package let fingerprints: [String]
  /// Why the replay ended early.
  package let failure: Failure?

  package func step(_ id: String) -> Int? { steps.firstIndex { $0.migration.id == id } }

  /// How far a squash at the beginning moves the places in the ledger.
  private var positionOffset: Int {
    (replayed.prefix(1) + steps.prefix(1).map(\.migration)).positionOffset
  }

  /// The ledger row of a step that was applied.
  package func ledgerRow(
    at index: Int, startedAt: String, milliseconds: Int64 = 0,
    toolVersion: String = ToolVersion.current
  ) -> LedgerRow {
    LedgerRow(
      of: steps[index].migration, at: replayed.count + index + positionOffset,
      fingerprint: fingerprints[index], startedAt: startedAt, milliseconds: milliseconds,
      toolVersion: toolVersion)
  }

  /// The ledger row of a step whose effect another tool's ledger records.
  package func adoptedRow(at index: Int, in project: Project) -> LedgerRow {
    project.adoptedRow(steps[index].migration, at: index, fingerprint: fingerprints[index])
  }

  /// The schema that the history promises once `ids` are applied.
  package func schema(after ids: Set<ExactText>) -> Schema {
    Schema(applying: steps.lazy.filter { ids.contains($0.migration.id) }.map(\.delta), to: base)
  }
}

extension Project {
  /// - Throws: when a manifest is invalid (65), and for faults of the machine (74): then nothing is changed. A
  ///   migration that fails on the scratch database only ends the replay: the ones before it can still run.
  package func replay(
    _ targets: [Migration], interruption: Interruption
  ) throws(Failure) -> PendingReplay {
    try replay(targets, isNew: false, interruption: interruption) { _ in }.replay
  }

  /// Replays the whole history as far as it works, and corrects the states of its frozen migrations.
  package func replay(noting states: inout [HistoryEntry]) -> PendingReplay {
    replay(
      migrations, checksOwnRows: true, noting: &states, interruption: Interruption()
    ) { _ in }.replay
  }

  /// - Parameters:
  ///   - isNew: whether the database is missing.
  ///   - known: the ids in the database's ledger.
  /// - Returns: also the content of a missing database.
  func replay(
    _ targets: [Migration], isNew: Bool, after known: Set<ExactText> = [],
    interruption: Interruption, onEvent: @escaping (MigrateEvent) -> Void
  ) throws(Failure) -> (replay: PendingReplay, new: Connection?) {
    if let release = try bundle?.newestSchema(known), release.count > 0,
      bundle?.begins(with: targets.prefix(release.count).map(\.id)) == true
    {
      var states = comparison
      let (rest, _) = replay(
        targets, from: release, checksOwnRows: false, noting: &states, interruption: interruption,
        onEvent: onEvent)
      // What fails without the rows of earlier migrations may work with them.
      if rest.failure == nil, (try? requireSameSchemas(states)) != nil { return (rest, nil) }
    }
    var states = comparison
    let (all, content) = replay(
      targets, checksOwnRows: isNew, noting: &states, interruption: interruption, onEvent: onEvent)
    if let failure = all.failure,
      [.invalidInput, .inputOutput].contains(failure.status) || interruption.isRequested
    {
      throw failure
    }
    try requireSameSchemas(states)
    return (all, isNew ? content : nil)
  }

  /// Another version of SQLite may create another schema from a frozen manifest; that stops no device.
  private func requireSameSchemas(_ states: [HistoryEntry]) throws(Failure) {
    try requireIntact(
      states.filter { lock?.entry($0.id)?.digests.sqlite == Connection.libraryVersion })
  }

  /// - Returns: the replay, which fails also where this SQLite does not make the schema of the release, and its
  ///   database.
  private func replay(
    _ targets: [Migration], from release: HistoryBundle.ReleasedSchema? = nil, checksOwnRows: Bool,
    noting states: inout [HistoryEntry], interruption: Interruption,
    onEvent: @escaping (MigrateEvent) -> Void
  ) -> (replay: PendingReplay, content: Connection?) {
    let replayed = targets.prefix(release?.count ?? 0)
    let targets = Array(targets.dropFirst(replayed.count))
    var base = Schema()
    var steps: [ScratchDatabase.Step] = []
    var fingerprints: [String] = []
    var failure: Failure?
    var content: Connection?
    var schemas = FrozenSchemas(self, states)
    let reportWork = workReport(to: onEvent)
    func starts(_ index: Int) {
      guard index < targets.count else { return }
      onEvent(.started(id: targets[index].id, number: index + 1, of: targets.count))
    }
    do {
      try replay(
        targets, from: release?.schema ?? Schema(), interruption: interruption,
        preparing: { (scratch) throws(Failure) in
          content = scratch.connection
          scratch.checksOwnRows = checksOwnRows
          base = scratch.schema
          scratch.connection.onWork(reportWork)
          if let release, scratch.fingerprint != release.fingerprint {
            throw Failure(.finding, "this SQLite produces another schema of the release")
          }
          scratch.observe(comparesSchemas: false) { statement, _ in
            onEvent(.ran(statement: statement.sql))
          }
          starts(0)
        },
        observing: { step, scratch in
          reportWork()
          steps.append(step)
          fingerprints.append(scratch.fingerprint)
          schemas.compare(step, scratch, in: &states)
          starts(steps.count)
        })
    } catch {
      failure = error
    }
    let replay = PendingReplay(
      replayed: Array(replayed), base: base, steps: steps, fingerprints: fingerprints,
      failure: failure)
    return (replay, content)
  }
}

/// Reports that work continues, whenever 50 ms have passed since the last report.
func workReport(to onEvent: @escaping (MigrateEvent) -> Void) -> () -> Void {
  var reported = Stopwatch()
  return {
    guard reported.milliseconds >= 50 else { return }
    reported = Stopwatch()
    onEvent(.working)
  }
}

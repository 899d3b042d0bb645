import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The replay of the history on a scratch database. It shows the effect of each migration before a real
/// database changes. Any number of databases, at any point of the history, can share it.
package struct PendingReplay: Sendable {
  /// The migrations before the first step, which the database has run. Not empty only if a bundle's history
  /// was replayed from a release on.
  package let replayed: [Migration]
  /// The schema after ``replayed``.
  let base: Schema
  /// The steps in order, up to the last migration that works.
  package let steps: [ScratchDatabase.Step]
  /// The fingerprint after each step.
  package let fingerprints: [String]
  /// The failure that ended the replay early.
  package let failure: Failure?

  /// The number that an initial squash adds to the positions in the ledger.
  private var positionOffset: Int {
    (replayed.prefix(1) + steps.prefix(1).map(\.migration)).positionOffset
  }

  /// The ledger row of a step that was applied.
  package func ledgerRow(
    at index: Int, startedAt: String, milliseconds: Int64 = 0
  ) -> LedgerRow {
    LedgerRow(
      of: steps[index].migration, at: replayed.count + index + positionOffset,
      fingerprint: fingerprints[index], startedAt: startedAt, milliseconds: milliseconds,
      toolVersion: ToolVersion.current)
  }

  /// The ledger row of a step whose effect another tool's ledger records.
  package func adoptedRow(at index: Int, in project: Project) -> LedgerRow {
    project.adoptedRow(steps[index].migration, at: index, fingerprint: fingerprints[index])
  }

  /// The schema that the history promises after the migrations `ids`.
  package func schema(after ids: Set<ExactText>) -> Schema {
    Schema(applying: steps.lazy.filter { ids.contains($0.migration.id) }.map(\.delta), to: base)
  }
}

extension Project {
  /// Replays the history up to the first failure, and corrects the states of its frozen migrations.
  ///
  /// - Parameter evaluatesAssertions: whether assertions must hold on a new database.
  /// - Throws: failures with exit status 64 and above; the replay contains a migration that fails.
  package func replay(
    noting states: inout [HistoryEntry], evaluatesAssertions: Bool = false,
    _ interruption: Interruption = Interruption()
  ) throws(Failure) -> PendingReplay {
    try requireEngine(for: migrations)
    let all = replay(
      migrations, noting: &states, interruption: interruption,
      preparing: { $0.requireValidRows(evaluatingAssertions: evaluatesAssertions) })
    if let failure = all.failure, !failure.status.isResult { throw failure }
    return all
  }

  /// Replays the history on a new connection for each release, like a device that installs every release.
  ///
  /// A migration that depends on its connection (`total_changes()`) can create another schema there, or fail.
  ///
  /// - Parameter whole: the complete replay on one connection.
  /// - Throws: a failure that names the release before: another schema (1), or a failing migration (3).
  package func requireSameSchema(
    fromEachRelease whole: PendingReplay, _ interruption: Interruption
  ) throws(Failure) {
    guard let releases = lock?.releases, !releases.isEmpty else { return }
    var release: String?
    var scratch = try ScratchDatabase(application, interruption: interruption)
    scratch.isReleased = isFrozen
    scratch.runner.evaluatesAssertions = application.missingFunctions.isEmpty
    for (step, fingerprint) in zip(whole.steps, whole.fingerprints) {
      do throws(Failure) {
        try scratch.apply(step.migration)
        if scratch.fingerprint != fingerprint {
          throw Context(migration: step.migration).failure(
            .finding, "this migration creates a different schema than on a new database")
        }
      } catch {
        throw error.adding(release.map { "on a database of release \($0)" })
      }
      guard let next = releases.first(where: { $0.lastID == step.migration.id }) else { continue }
      release = next.name
      scratch = try ScratchDatabase(continuing: scratch, interruption: interruption)
    }
  }

  /// Replays `targets` on a scratch database.
  ///
  /// - Parameter known: the ids in the database's ledger.
  /// - Throws: a failure if a manifest is invalid (65), and for errors of the environment (74). A migration
  ///   that fails on the scratch database only ends the replay: the migrations before it can still run.
  package func replay(
    _ targets: [Migration], after known: Set<ExactText> = [], interruption: Interruption
  ) throws(Failure) -> PendingReplay {
    if let release = try bundle?.newestSchema(known), release.count > 0,
      bundle?.begins(with: targets.prefix(release.count).map(\.id)) == true
    {
      var states = comparison
      let rest = replay(targets, from: release, noting: &states, interruption: interruption)
      // A migration that fails without the rows of earlier migrations may work with them.
      if rest.failure == nil, (try? requireSameSchemas(states)) != nil { return rest }
    }
    var states = comparison
    let all = replay(targets, noting: &states, interruption: interruption)
    try requireUsable(all, states, interruption)
    return all
  }

  /// Fails if a manifest is invalid, for errors of the environment, and if the user interrupts.
  func requireUsable(
    _ replay: PendingReplay, _ states: [HistoryEntry], _ interruption: Interruption
  ) throws(Failure) {
    if let failure = replay.failure,
      [.invalidInput, .inputOutput].contains(failure.status) || interruption.isRequested
    {
      throw failure
    }
    try requireSameSchemas(states)
  }

  /// Fails if a frozen manifest creates another schema on the SQLite version that froze it. Another version
  /// may create another schema; that does not stop a device.
  private func requireSameSchemas(_ states: [HistoryEntry]) throws(Failure) {
    try requireIntact(
      states.filter { lock?.entry($0.id)?.digests.sqlite == Connection.libraryVersion })
  }

  /// Replays migrations up to the first failure, and corrects `states`.
  ///
  /// - Parameters:
  ///   - prepare: called once, before the first migration runs.
  ///   - observe: called after each migration.
  /// - Returns: the replay. It also fails if this SQLite version does not create the schema of the release.
  func replay(
    _ targets: [Migration], from release: HistoryBundle.ReleasedSchema? = nil,
    becomesDatabase: Bool = false,
    noting states: inout [HistoryEntry], interruption: Interruption,
    onEvent: @escaping (MigrateEvent) -> Void = { _ in },
    preparing prepare: (ScratchDatabase) -> Void = { _ in },
    observing observe: (ScratchDatabase.Step, ScratchDatabase) throws(Failure) -> Void = { _, _ in }
  ) -> PendingReplay {
    let replayed = targets.prefix(release?.count ?? 0)
    let targets = Array(targets.dropFirst(replayed.count))
    var base = Schema()
    var steps: [ScratchDatabase.Step] = []
    var fingerprints: [String] = []
    var failure: Failure?
    var schemas = FrozenSchemas(self, states)
    func starts(_ index: Int) {
      guard index < targets.count else { return }
      onEvent(.started(id: targets[index].id, number: index + 1, of: targets.count))
    }
    do {
      try replay(
        targets, from: release?.schema ?? Schema(), becomesDatabase: becomesDatabase,
        interruption: interruption,
        preparing: { (scratch) throws(Failure) in
          base = scratch.schema
          if let release, scratch.fingerprint != release.fingerprint {
            throw Failure(.finding, "this SQLite produces another schema for the release")
          }
          scratch.observe(comparesSchemas: false) { statement, _ in
            onEvent(.ran(statement: statement.sql))
          }
          prepare(scratch)
          starts(0)
        },
        observing: { (step, scratch) throws(Failure) in
          steps.append(step)
          fingerprints.append(scratch.fingerprint)
          schemas.compare(step, scratch, in: &states)
          try observe(step, scratch)
          starts(steps.count)
        })
    } catch {
      failure = error
    }
    return PendingReplay(
      replayed: Array(replayed), base: base, steps: steps, fingerprints: fingerprints,
      failure: failure)
  }
}

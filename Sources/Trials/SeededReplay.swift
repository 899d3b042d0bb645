import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Runs migrations on tables with generated rows, after each ran on empty tables, to find
/// migrations that fail only on rows.
///
/// It tests drafts, and with `--full` also frozen migrations. Rows remain from migration to
/// migration, as on a device. A migration that rows do not affect is deferred until one follows
/// that they do affect.
package final class SeededReplay: RowTrial {
  package private(set) var failures: [RowFailure] = []
  private let project: Project
  private let application: Application
  /// The index of the first tested migration.
  private let first: Int
  /// The database before that migration, with the rows that earlier ones insert; nil while it is
  /// empty.
  private var base: [UInt8]?
  /// The effects of the migrations since then on empty tables.
  private var steps: [ScratchDatabase.Step] = []
  /// The number of migrations that ran on empty tables, and the resulting schema.
  private var count = 0
  private var schema = Schema()
  private var seeded: SeededDatabase?
  /// The unique indexes that migrations have dropped since the last release. Rows must remain
  /// unique there.
  private var droppedUniques: [SchemaObject] = []
  /// How often the rows were discarded.
  private var restarts = 0

  /// Each restart repeats all tested migrations.
  private static let mostRestarts = 3
  /// The maximum number of attempts for a migration, each with fewer rows.
  private static let tries = 5

  package init(_ project: Project, _ application: Application, isFull: Bool) {
    self.project = project
    self.application = application
    first =
      isFull
      ? 0
      : project.migrations.firstIndex { !project.isFrozen($0) } ?? project.migrations.count
  }

  package func report() -> DataReport? { nil }

  package func follow(
    _ step: ScratchDatabase.Step, on scratch: ScratchDatabase, _ timeline: Timeline
  ) throws(Failure) {
    defer {
      count += 1
      schema = scratch.schema
    }
    guard count >= first else {
      guard count + 1 == first, first < project.migrations.count else { return }
      base = try reportingFailure(of: "the replay with rows") {
        try scratch.connection.serialized()
      }
      return
    }
    try look(at: step, timeline)
    note(step)
  }

  private func look(at step: ScratchDatabase.Step, _ timeline: Timeline) throws(Failure) {
    let tables = timeline.tablesAtRisk(
      in: count, isOld: { schema.table($0) != nil },
      children: { ForeignKeyGraph(schema).affected(by: $0) })
    guard !tables.isEmpty, restarts <= Self.mostRestarts else { return }
    try reportingFailure(of: "the replay with rows") {
      do {
        try run(step, tables, timeline)
      } catch let error as DatabaseError where !error.isOfMachine {
        // A table that cannot be read or filled makes the result unknown.
        seeded = nil
        restarts += 1
      }
    }
  }

  private func note(_ step: ScratchDatabase.Step) {
    steps.append(step)
    if project.isLastOfRelease(step.migration) {
      droppedUniques = []
    } else {
      droppedUniques += step.delta.before.values.filter { object in
        step.delta.after[object.key] == nil && IndexShape(object)?.isUnique ?? false
      }
    }
  }

  private func run(
    _ step: ScratchDatabase.Step, _ tables: Set<Identifier>, _ timeline: Timeline
  ) throws {
    let known = Set(schema.tables.map(\.name.identifier))
    let seeded = try seeded ?? SeededDatabase(application, base)
    self.seeded = nil
    for index in seeded.count..<steps.count {
      guard try attempt(steps[index], [], known, nil, seeded) else { return restarts += 1 }
    }
    let restored = try seeded.restore(droppedUniques)
    var filler = RowFiller(
      seeded.scratch.connection, schema, StepText([]), kinds: RowFiller.likelyKinds,
      marks: seeded.marks, next: step.delta)
    try filler.fill(tables.sorted())
    seeded.marks = filler.marks
    try seeded.drop(restored)
    guard try attempt(step, tables, known, timeline, seeded) else { return restarts += 1 }
    seeded.count = steps.count + 1
    self.seeded = seeded
  }

  /// Applies a migration. If it fails, tries again with fewer rows, so that later migrations are
  /// tested, too. Returns false if no attempt succeeds.
  ///
  /// - Parameter timeline: the effects of the migration without rows; nil to record nothing.
  private func attempt(
    _ step: ScratchDatabase.Step, _ tables: Set<Identifier>, _ known: Set<Identifier>,
    _ timeline: Timeline?, _ seeded: SeededDatabase
  ) throws -> Bool {
    var emptied: Set<Identifier> = []
    var isReset = false
    for left in (0..<Self.tries).reversed() {
      do throws(Failure) {
        let done = try seeded.apply(step)
        if let timeline {
          if emptied.isEmpty, let message = seeded.scratch.brokenReferences {
            let analysis = FailureAnalysis(Failure(.migrationFailed, message), count, timeline)
            if analysis.isOfRows { note(analysis.failure) }
          }
        }
        return done.delta.doesTheSame(as: step.delta)
      } catch {
        if error.exceeded != nil { throw error }
        guard error.status == .migrationFailed || seeded.calledUnknown else {
          let isOfMachine = [.inputOutput, .permission, .busy, .interrupted].contains(error.status)
          if isOfMachine { throw error }
          return false
        }
        guard let timeline, left > 0 else {
          guard left > 0 else { return false }
          try seeded.empty(known.intersection(step.touched))
          continue
        }
        let analysis = FailureAnalysis(error, count, timeline)
        // A generated row may have the same key as a row that a migration inserts.
        let own = analysis.collidesWith.intersection(known).subtracting(emptied)
        if let index = analysis.newUnique, !isReset {
          // Repeated values that were only generated are no evidence of values that the app has
          // written.
          isReset = true
          try seeded.reset(index)
          continue
        }
        if own.isEmpty, !seeded.calledUnknown, analysis.isOfRows { note(analysis.failure) }
        let suspects = own.isEmpty ? analysis.tables.subtracting(emptied) : own
        let next = left == 1 || suspects.isEmpty ? tables.union(analysis.tables) : suspects
        emptied.formUnion(next)
        try seeded.empty(next.intersection(known))
      }
    }
    return false
  }

  private func note(_ failure: RowFailure) {
    let isKnown = failures.contains { known in
      known.place == failure.place && known.message == failure.message
    }
    if !isKnown { failures.append(failure) }
  }
}

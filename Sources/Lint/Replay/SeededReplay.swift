import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Runs the steps of a history on tables that hold rows, beside the replay on empty ones: what works
/// only without rows is found, and what takes rows along that nobody speaks of.
///
/// Rows stay from step to step, as on a device. A step to which rows make no difference waits until
/// there is one to which they do.
final class SeededReplay: RowTrial {
  private(set) var evidence = RowEvidence()
  private let application: Application
  private let isLastOfRelease: (Migration) -> Bool
  private var ground: Ground?
  /// What the migrations did without rows, as far as they have come.
  private var steps: [ScratchDatabase.Step] = []
  /// The tables and their indexes before the next migration, by the table's folded name.
  private var definitions: [Identifier: [SchemaDelta.Key: SchemaObject]] = [:]
  private var keys = ForeignKeyGraph(Schema())
  /// The unique indexes that migrations have dropped since the last release: no row repeats there.
  private var droppedUniques: [SchemaObject] = []
  /// How often the rows were lost.
  private var restarts = 0

  /// Each costs the whole replay again.
  private static let mostRestarts = 3
  /// How often a migration is tried, each time with fewer rows.
  private static let tries = 5

  private struct Ground {
    let replay: RowReplay
    let seeder: Seeder
    /// How many migrations it has.
    var count: Int
  }

  /// - Parameter isLastOfRelease: whether an app ran with the schema that a migration leaves.
  init(_ application: Application, isLastOfRelease: @escaping (Migration) -> Bool = { _ in false })
  {
    self.application = application
    self.isLastOfRelease = isLastOfRelease
  }

  func report() -> DataReport? { nil }

  func follow(_ step: ScratchDatabase.Step, _ timeline: Timeline) throws(Failure) {
    try look(at: step, steps.count, timeline)
    note(step)
  }

  private func look(
    at step: ScratchDatabase.Step, _ migration: Int, _ timeline: Timeline
  ) throws(Failure) {
    let tables = timeline.tablesAtRisk(
      in: migration, isOld: { definitions[$0] != nil },
      children: { keys.affected(by: $0) })
    guard !tables.isEmpty, restarts <= Self.mostRestarts else { return }
    do {
      try run(step, migration, tables, timeline)
    } catch let failure as Failure {
      throw failure
    } catch let error as DatabaseError where !error.isOfMachine {
      // A table that cannot be asked, let alone filled: nothing is known.
      ground = nil
      restarts += 1
    } catch let error as DatabaseError {
      throw Failure(error.status, "the replay with rows failed: \(error.inWords)")
    } catch {
      throw Failure(.bug, "\(error)")
    }
  }

  private func note(_ step: ScratchDatabase.Step) {
    steps.append(step)
    keys.apply(step.delta)
    if isLastOfRelease(step.migration) {
      droppedUniques = []
    } else {
      droppedUniques += step.delta.before.values.filter { object in
        step.delta.after[object.key] == nil && IndexShape(object)?.isUnique ?? false
      }
    }
    for (key, object) in step.delta.before {
      let table = object.table.identifier
      definitions[table]?[key] = nil
      if key.kind == .table, step.delta.after[key] == nil { definitions[table] = nil }
    }
    for (key, object) in step.delta.after where key.kind == .table || key.kind == .index {
      definitions[object.table.identifier, default: [:]][key] = object
    }
  }

  private func run(
    _ step: ScratchDatabase.Step, _ migration: Int, _ tables: Set<Identifier>, _ timeline: Timeline
  ) throws {
    var ground = try ground ?? makeGround()
    self.ground = nil
    for index in ground.count..<migration {
      guard try attempt(steps[index], index, [], nil, ground) else { return restarts += 1 }
    }
    let restored = try ground.replay.restore(droppedUniques)
    try ground.seeder.fill(tables.sorted()) { objects(of: $0, with: step.delta) }
    try ground.replay.drop(restored)
    guard try attempt(step, migration, tables, timeline, ground) else { return restarts += 1 }
    ground.count = migration + 1
    self.ground = ground
  }

  private func makeGround() throws -> Ground {
    let connection = try application.scratch()
    let calls = try application.register(on: connection)
    try connection.fixClockAndCountChances(ChanceCounter())
    connection.set(.trustedSchema, to: true)
    let scratch = try ScratchDatabase(on: connection, application, calls, isCopy: false)
    return Ground(replay: RowReplay(scratch, calls), seeder: Seeder(connection), count: 0)
  }

  /// A table and its indexes as they are and as they are to be; nothing for a virtual one.
  private func objects(of table: Identifier, with delta: SchemaDelta) -> [SchemaObject] {
    guard let now = definitions[table], !now.values.contains(where: \.isVirtualTable) else {
      return []
    }
    let next = delta.after.values.filter { object in
      [.table, .index].contains(object.kind) && object.table.identifier == table
    }
    return (Array(now.values) + next).sorted {
      ($0.kind.rawValue, $0.name.exact, ($0.sql ?? "").exact)
        < ($1.kind.rawValue, $1.name.exact, ($1.sql ?? "").exact)
    }
  }

  /// Applies a migration; when it fails, again with fewer rows, so that what comes after is looked
  /// at, too. False when it cannot be done even so.
  ///
  /// - Parameter timeline: what the migration did without rows; nil when nothing is to be noted.
  private func attempt(
    _ step: ScratchDatabase.Step, _ migration: Int, _ tables: Set<Identifier>,
    _ timeline: Timeline?,
    _ ground: Ground
  ) throws -> Bool {
    var emptied: Set<Identifier> = []
    var isReset = false
    for left in (0..<Self.tries).reversed() {
      do throws(Failure) {
        let done = try ground.replay.apply(step)
        if let timeline {
          if emptied.isEmpty, let message = ground.replay.scratch.brokenReferences {
            let trouble = Trouble(Failure(.migrationFailed, message), migration, timeline)
            if trouble.isOfRows { note(trouble.failure) }
          }
        }
        return done.delta.doesTheSame(as: step.delta)
      } catch {
        if error.exceeded != nil { throw error }
        guard error.status == .migrationFailed || ground.replay.askedForUnknown else {
          let isOfMachine = [.inputOutput, .permission, .busy, .interrupted].contains(error.status)
          if isOfMachine { throw error }
          return false
        }
        guard let timeline, left > 0 else {
          guard left > 0 else { return false }
          try ground.replay.empty(Set(definitions.keys).intersection(step.touched))
          continue
        }
        let trouble = Trouble(error, migration, timeline)
        // A row that was made up may stand in the place of one that a migration brings.
        let own = trouble.collidesWith.intersection(definitions.keys).subtracting(emptied)
        if let index = trouble.newUnique, !isReset {
          // Values that repeat only because they were made up are none that the app has written.
          isReset = true
          try ground.replay.reset(index)
          continue
        }
        if own.isEmpty, !ground.replay.askedForUnknown, trouble.isOfRows { note(trouble.failure) }
        let suspects = own.isEmpty ? trouble.tables.subtracting(emptied) : own
        let next = left == 1 || suspects.isEmpty ? tables.union(trouble.tables) : suspects
        emptied.formUnion(next)
        try ground.replay.empty(next.intersection(definitions.keys))
      }
    }
    return false
  }

  private func note(_ failure: RowFailure) {
    let isKnown = evidence.failures.contains { known in
      known.place == failure.place && known.message == failure.message
    }
    if !isKnown { evidence.failures.append(failure) }
  }
}

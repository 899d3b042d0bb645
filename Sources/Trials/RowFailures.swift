import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Finds the statements of a migration that fail on rows similar to those of an app.
///
/// The rows enter before the earlier migrations of the same release, which may prepare them.
struct RowFailures {
  let history: TriedHistory
  let timeline: Timeline
  let migration: Int

  /// The maximum number of migrations that run on the rows.
  private static let mostSteps = 20
  /// The maximum number of runs, each with fewer rows.
  private static let mostRuns = 5

  /// Whether the migration may leave rows whose parents are missing.
  func mayBreakReferences(_ tables: AffectedTables) -> Bool {
    !timeline.statementsThatBreakReferences(in: migration).isEmpty
      || !tables.children.isEmpty
        && history.migrations[migration].manifest.foreignKeys == .enforced
  }

  /// - Parameter isTogether: whether an earlier migration is released together with this one.
  func found(isTogether: (Int) -> Bool) throws -> [RowFailure] {
    var steps = history.leading(to: migration, limit: Self.mostSteps, isTogether)
    while true {
      switch try filled(after: steps) {
      case .experiment(let experiment): return try failures(in: experiment)
      // The rows of the next attempt enter later.
      case .failed(let failed): steps.removeAll { $0 <= failed }
      }
    }
  }

  private enum Filled {
    case experiment(Experiment)
    /// An earlier migration failed on the rows.
    case failed(Int)
  }

  /// A database on which the earlier ones of these migrations ran. Each table has rows from the first
  /// migration on that finds it.
  private func filled(after steps: [Int]) throws -> Filled {
    let tables = steps.reduce(into: Set<Identifier>()) { tables, step in
      tables.formUnion(history.affected[step].all.union(history.affected[step].children))
    }
    let (connection, schema, calls) = try history.database(before: steps, tables)
    let scratch = try ScratchDatabase(
      on: connection, history.application, calls, isCopy: false,
      interruption: history.interruption)
    try history.insertRows(before: steps[0], schema, on: connection)
    var marks = MarkMaker()
    func fill(before step: Int) throws(DatabaseError) -> FilledDatabase {
      var filler = RowFiller(
        connection, scratch.schema, StepText([]), kinds: RowFiller.likelyKinds, marks: marks,
        later: history.schemas[step + 1])
      try filler.fill(tables.sorted())
      marks = filler.marks
      return try FilledDatabase(filler, on: connection)
    }
    for step in steps.dropLast() {
      _ = try fill(before: step)
      do throws(Failure) {
        try scratch.apply(history.migrations[step])
      } catch {
        guard error.status == .migrationFailed else { throw error }
        return .failed(step)
      }
    }
    return .experiment(Experiment(try fill(before: migration), [migration], of: history))
  }

  /// Removes the rows of the tables at fault after each failure, so that later statements run, too.
  private func failures(in experiment: Experiment) throws -> [RowFailure] {
    var failures: [RowFailure] = []
    var emptied: Set<Identifier> = []
    var reset: [Experiment.Change] = []
    for _ in 0..<Self.mostRuns {
      let outcome = try experiment.run(
        emptied.sorted().map { .empty(table: $0.text) } + reset, checksReferences: emptied.isEmpty)
      guard
        let failure = outcome?.brokenReferences.map({ Failure(.migrationFailed, $0) })
          ?? experiment.failure, failure.status == .migrationFailed
      else { break }
      let analysis = FailureAnalysis(failure, migration, timeline)
      // Repeated values that were only generated are no evidence of values that the app has written.
      if let index = analysis.newUnique, reset.isEmpty,
        let table = ([index.table.identifier] + analysis.tables.sorted()).lazy.compactMap({
          experiment.database.tables[$0]?.shape
        }).first
      {
        reset = index.columns.compactMap { $0.flatMap(table.column) }.map {
          .reset(table: table.name, column: $0)
        }
        if !reset.isEmpty { continue }
      }
      // A generated row may have the same key as a row that the migration inserts.
      let own = analysis.collidesWith.intersection(experiment.database.tables.keys)
        .subtracting(emptied)
      if own.isEmpty, !experiment.calledUnknown, analysis.isOfRows,
        !failures.contains(where: {
          $0.place == analysis.failure.place && $0.message == analysis.failure.message
        })
      {
        failures.append(analysis.failure)
      }
      let next = (own.isEmpty ? analysis.tables : own)
        .intersection(experiment.database.tables.keys).subtracting(emptied)
      guard outcome == nil, !next.isEmpty else { break }
      emptied.formUnion(next)
    }
    return failures
  }
}

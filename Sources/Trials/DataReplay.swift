import SchemaCopies
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The effect on the rows of a copy of a database.
package struct DataReport: Sendable {
  package struct Table: Sendable, Hashable {
    package let name: String
    /// The number of rows before the first migration; nil if the table did not exist.
    package let before: Int64?
    /// The number of rows after the last migration; nil if the table does not exist.
    package let after: Int64?
  }

  package let database: String
  /// The migrations that ran on the copy, in order.
  package let applied: [String]
  /// By name.
  package let tables: [Table]
  /// Why a migration failed. Those after it did not run.
  package let failure: Failure?
}

/// Runs the pending migrations of a real database on a private copy.
package final class DataReplay {
  package private(set) var failures: [RowFailure] = []
  private let copy: TrialCopy
  private let project: Project
  private let replay: ScratchDatabase
  private let before: [Identifier: Int64]
  /// The changes of the history's migrations so far.
  private var deltas: [SchemaDelta] = []
  private var applied: [String] = []
  private var drift: [SchemaChange] = []
  private var failure: Failure?

  package init(
    _ copy: TrialCopy, _ project: Project, _ application: Application, _ interruption: Interruption
  ) throws(Failure) {
    self.copy = copy
    self.project = project
    do {
      before = try copy.connection.rowCounts(project)
    } catch {
      throw copy.reported(Failure(error, database: copy.database))
    }
    replay = try ScratchDatabase(
      on: copy.connection, application, copy.calls, isCopy: true, interruption: interruption)
  }

  /// Call it for each migration after it ran on empty tables.
  package func follow(_ step: ScratchDatabase.Step, _ timeline: Timeline) throws(Failure) {
    defer { deltas.append(step.delta) }
    let id = step.migration.id
    guard !copy.known.contains(id), failure == nil else { return }
    let migration = deltas.count
    if applied.isEmpty {
      drift = try copy.trustIfUnchanged(Schema(applying: deltas), project)
    }
    failure = step.refusal ?? step.obstacle(among: drift)
    guard failure == nil else { return }
    do {
      copy.calls.clear()
      try replay.apply(step.migration, touching: step.touched)
      applied.append(id)
    } catch {
      let failure = copy.reported(error)
      guard [.migrationFailed, .invalidInput].contains(failure.status) else { throw failure }
      self.failure = failure
      guard failure.status == .migrationFailed else { return }
      var found = FailureAnalysis(error, migration, timeline).failure
      found.database = copy.database
      failures.append(found)
    }
  }

  /// The row counts before and after.
  package func report() throws(Failure) -> DataReport? {
    do {
      let after = try copy.connection.rowCounts(project)
      let names = Set(before.keys).union(after.keys).sorted()
      return DataReport(
        database: copy.database, applied: applied,
        tables: names.map { .init(name: $0.text, before: before[$0], after: after[$0]) },
        failure: failure)
    } catch {
      throw copy.reported(Failure(error, database: copy.database))
    }
  }
}

extension Connection {
  /// The number of rows in each table that the history manages.
  fileprivate func rowCounts(_ project: Project) throws(DatabaseError) -> [Identifier: Int64] {
    let schema = try Schema(of: self).withoutShadowTables()
    var counts: [Identifier: Int64] = [:]
    for table in schema.tables {
      guard !table.isInternal, !project.foreign.contains(table.name)
      else { continue }
      do {
        counts[table.name] =
          try value("SELECT count(*) FROM main.\(Quoting.quoted(table.name))")?.integer
      } catch  where !error.isFault {
        // The module of a virtual table may be missing.
      }
    }
    return counts
  }
}

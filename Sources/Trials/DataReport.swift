import SchemaApply
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
  /// The tables with their numbers of rows, sorted by name.
  package let tables: [Table]
  /// The failure of a migration; nil if all succeeded. Later migrations did not run.
  package let failure: Failure?
  /// The same failure with its statement and tables, if SQLite or the migration refused the rows.
  package let rowFailure: RowFailure?
}

extension Project {
  /// Runs the pending migrations of a database on a copy of it.
  ///
  /// - Parameter timeline: the effects of the migrations on empty tables.
  package func dataReport(
    on readable: ReadableDatabase, _ timeline: Timeline, timeout: Double,
    interruption: Interruption, onEvent: @escaping (MigrateEvent) -> Void
  ) throws(Failure) -> DataReport {
    let database = readable.name
    var project = self
    project.application.plansOperationsAlone = true
    var options = MigrateOptions(database: database)
    options.timeout = timeout
    let before = try rowCounts(in: readable.connection, of: database)
    var after = before
    let run = try project.rehearse(
      options, for: readable, interruption: interruption, onEvent: onEvent
    ) { (copy) throws(Failure) in
      after = try rowCounts(in: copy, of: database)
    }.run
    if let failure = run.failure, !failure.status.isResult, failure.status != .invalidInput {
      throw failure
    }
    return DataReport(
      database: database, applied: run.applied.map(\.id),
      tables: Set(before.keys).union(after.keys).sorted().map {
        .init(name: $0.text, before: before[$0], after: after[$0])
      }, failure: run.failure,
      rowFailure: run.failure.flatMap { rowFailure($0, timeline, database) })
  }

  private func rowFailure(
    _ failure: Failure, _ timeline: Timeline, _ database: String
  ) -> RowFailure? {
    guard failure.status == .migrationFailed,
      let migration = migrations.firstIndex(where: { $0.id == failure.migration?.id })
    else { return nil }
    var found = FailureAnalysis(failure, migration, timeline).failure
    found.database = database
    // The other lines show rows.
    found.message = failure.lines[0]
    return found
  }

  /// The number of rows in each table that the history manages.
  private func rowCounts(
    in connection: Connection, of database: String
  ) throws(Failure) -> [Identifier: Int64] {
    var counts: [Identifier: Int64] = [:]
    do throws(DatabaseError) {
      for table in try Schema(of: connection).withoutShadowTables().tables
      where !table.isInternal && !foreign.contains(table.name) {
        do throws(DatabaseError) {
          counts[table.name] =
            try connection.value("SELECT count(*) FROM main.\(Quoting.quoted(table.name))")?.integer
        } catch  where !error.isFault {
          // The module of a virtual table may be missing.
        }
      }
    } catch {
      throw Failure(error, database: database)
    }
    return counts
  }
}

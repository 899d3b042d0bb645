import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaTimeline

/// Runs the steps of a history on tables with rows, after each ran on empty ones.
package protocol RowTrial: AnyObject {
  var failures: [RowFailure] { get }

  /// Call it for each migration after it ran on empty tables.
  ///
  /// - Parameter scratch: the scratch database of that run.
  func follow(
    _ step: ScratchDatabase.Step, on scratch: ScratchDatabase, _ timeline: Timeline
  ) throws(Failure)

  /// The row counts of a real database before and after; nil for generated rows.
  func report() throws(Failure) -> DataReport?
}

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

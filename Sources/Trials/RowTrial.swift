import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaTimeline

/// Runs the steps of a history on tables that hold rows, after each has run on empty ones.
package protocol RowTrial: AnyObject {
  var evidence: RowEvidence { get }

  /// Must be called for each migration once it has run without rows.
  ///
  /// - Parameter scratch: where it ran.
  func follow(
    _ step: ScratchDatabase.Step, on scratch: ScratchDatabase, _ timeline: Timeline
  ) throws(Failure)

  /// How many rows the tables of a real database had and have; nil when the rows were made up.
  func report() throws(Failure) -> DataReport?
}

/// What became of the rows of a copy of a database.
package struct DataReport: Sendable {
  package struct Table: Sendable, Hashable {
    package let name: String
    /// How many rows it had before the first migration; nil: it did not exist.
    package let before: Int64?
    /// How many it has after the last one; nil: it does not exist.
    package let after: Int64?
  }

  package let database: String
  /// What ran on the copy, in order.
  package let applied: [String]
  /// By name.
  package let tables: [Table]
  /// Why the next migration did not run; nothing after it did.
  package let failure: Failure?
}

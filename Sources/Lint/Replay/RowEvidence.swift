import SchemaManifest
import SchemaSQLText

/// What became of rows when steps of a history ran on tables that hold some.
struct RowEvidence: Sendable {
  var failures: [RowFailure] = []
}

/// A migration that runs on empty tables, and not on these.
struct RowFailure: Sendable {
  let place: StatementPlace
  /// A place in its operation, where it is known better.
  let position: Position?
  /// The table that it writes.
  let object: String?
  /// What SQLite or the migration said.
  let message: String
  /// The tables that the statement reads and writes.
  let tables: Set<Identifier>
  /// `map` of a move_column does not name a value that is there.
  let isOfMap: Bool
  /// The database whose rows they are; nil for rows that were made up.
  var database: String?
}

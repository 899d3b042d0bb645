import SchemaManifest
import SchemaSQLText

/// What became of rows when steps of a history ran on tables that hold some.
package struct RowEvidence: Sendable {
  package var failures: [RowFailure] = []

  package init() {}
}

/// A migration that runs on empty tables, and not on these.
package struct RowFailure: Sendable {
  package let place: StatementPlace
  /// A place in its operation, where it is known better.
  package let position: Position?
  /// The table that it writes.
  package let object: String?
  /// What SQLite or the migration said.
  package let message: String
  /// The tables that the statement reads and writes.
  package let tables: Set<Identifier>
  /// `map` of a move_column does not name an existing value.
  package let isOfMap: Bool
  /// The database whose rows they are; nil for rows that were made up.
  package var database: String?

  package init(
    place: StatementPlace, position: Position?, object: String?, message: String,
    tables: Set<Identifier>, isOfMap: Bool
  ) {
    self.place = place
    self.position = position
    self.object = object
    self.message = message
    self.tables = tables
    self.isOfMap = isOfMap
  }
}

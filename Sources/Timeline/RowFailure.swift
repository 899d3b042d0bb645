import SchemaManifest
import SchemaSQLText

/// A migration that runs on empty tables but fails on these rows.
package struct RowFailure: Sendable {
  package let place: StatementPlace
  /// The place within the operation, if it is known.
  package let position: Position?
  /// The table that the statement writes to.
  package let object: String?
  /// The message of SQLite or of the migration.
  package let message: String
  /// The tables that the statement reads and writes.
  package let tables: Set<Identifier>
  /// Whether the `map` of a `move_column` lacks an existing value.
  package let isOfMap: Bool
  /// The database that contains the rows; nil for generated rows.
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

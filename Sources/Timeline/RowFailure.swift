import SchemaManifest
import SchemaSQLText

/// A migration that runs on empty tables but fails on these rows.
package struct RowFailure: Sendable {
  package let place: StatementPlace
  /// The place within the operation, if it is known.
  package let position: Position?
  /// The table that the statement writes to, by its name after the migration.
  package let object: String?
  /// The name of the table in the message, if the migration renames it later.
  package var formerName: String?
  /// The message of SQLite or of the migration.
  package var message: String
  /// The tables that the statement reads and writes.
  package let tables: Set<Identifier>
  /// Whether the `map` of a `move_column` lacks an existing value.
  package let isOfMap: Bool
  /// Whether a UNIQUE, a foreign key or a CHECK of computed values that the table did not have before refuses
  /// existing rows.
  package var isOfNewConstraint: Bool
  /// Whether the failure is an INSERT whose key equals that of the table's only possible row.
  package var insertsOnlyRow = false
  /// Set if the migration removes rows to which others refer, or changes their keys.
  package var removedParents: RemovedParents?
  /// The database that contains the rows; nil for generated rows.
  package var database: String?

  /// In the order of search: a DELETE explains missing parents better than a rebuild.
  package enum RemovedParents: Sendable, CaseIterable {
    /// The foreign key has an action, such as CASCADE.
    case withAction
    /// The foreign key has no action: an app may know that the removed rows have no children.
    case withoutAction
    /// The migration copies the rows to a new table.
    case rebuilt
  }

  /// Kinds of constraints that refuse rows. Each raw value is a word of the messages for its kind.
  /// Their order is the order of search, because the text of a CHECK may contain the other words.
  package enum Constraint: String, Sendable, CaseIterable {
    case check = "CHECK"
    case unique = "UNIQUE"
    /// ADD COLUMN refuses a stored generated column.
    case stored = "STORED"
    case notNull = "NULL"
    /// STRICT: "cannot store TEXT value in INTEGER column".
    case type = "cannot store"
  }

  /// The kind of constraint, according to the message. The result code does not identify it,
  /// because ALTER TABLE reports refused rows with a generic one.
  package var constraint: Constraint? {
    Constraint.allCases.first { message.contains($0.rawValue) }
  }

  /// The words of the message. They include the names of the columns.
  package var words: Set<Identifier> { message.words }

  package init(
    place: StatementPlace, position: Position?, object: String?, message: String,
    tables: Set<Identifier>, isOfMap: Bool, isOfNewConstraint: Bool
  ) {
    self.place = place
    self.position = position
    self.object = object
    self.message = message
    self.tables = tables
    self.isOfMap = isOfMap
    self.isOfNewConstraint = isOfNewConstraint
  }
}

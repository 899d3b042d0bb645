import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// What is odd about a statement, and SQLite itself does not tell of when it runs it.
package struct StatementWarnings: Sendable {
  /// Functions and collations that nobody has declared.
  package internal(set) var missing: [MissingName] = []
  /// A name in double quotes that nothing has, and that SQLite takes for a string.
  package internal(set) var doubleQuotedString: QuotedString?

  package struct QuotedString: Sendable {
    /// With its quotes, as it is written.
    package let text: String
    package let position: Position
  }

  /// It is an UPDATE that reads, row by row, values of its own table that it writes.
  package internal(set) var readsItself = false
}

extension DatabaseError {
  var missingName: MissingName? { MissingName(message: message) }
}

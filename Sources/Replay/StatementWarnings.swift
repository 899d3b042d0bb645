import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// Suspicious parts of a statement that SQLite itself does not report.
package struct StatementWarnings: Sendable {
  /// Undeclared functions and collations.
  package internal(set) var missing: [MissingName] = []
  /// A name in double quotes that no object has, and that SQLite reads as a string.
  package internal(set) var doubleQuotedString: QuotedString?

  package struct QuotedString: Sendable {
    /// With its quotes, as it is written.
    package let text: String
    package let position: Position
  }

  /// It is an UPDATE that reads, row by row, values of its own table that it writes.
  package internal(set) var readsItself = false
}

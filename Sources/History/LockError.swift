import SchemaManifest
import SchemaSQLText

/// Why a history lock cannot be read, or why a line cannot be written to it.
package struct LockError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Kind: Sendable, Equatable {
    case header
    /// Version 1 of the format, which `freeze` converts.
    case olderVersion
    /// A format version that this program does not know.
    case newerVersion
    /// The markers that git writes where two branches changed the same lines.
    case mergeConflict
    case malformed
    /// Two lines with one id or one number.
    case duplicate
  }

  package let kind: Kind
  package let position: Position
  /// The problem and what to do, without the position.
  package let message: String
  /// The lines that the message is about, where it is about several.
  package let details: [String]

  package init(
    _ kind: Kind, line: Int, column: Int = 1, _ message: String, details: [String] = []
  ) {
    self.kind = kind
    position = Position(line: line, column: column)
    self.message = message
    self.details = details
  }

  package var description: String { "line \(position.line): \(message)" }

  package func diagnostic(file: String) -> Diagnostic {
    Diagnostic(file: file, position: position, message: message)
  }
}

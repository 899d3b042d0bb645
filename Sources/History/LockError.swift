import ManifestFormat
import SQLText

/// What is wrong with a history lock, or with what was to be written to it.
package struct LockError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    case header
    /// A format version that this program does not know.
    case newerVersion
    /// The marks that git leaves where two branches changed the same lines.
    case mergeConflict
    case malformed
    /// The line, or one before it, is not what `freeze` wrote.
    case brokenChain
    case duplicate
    case order
    /// An edit is accepted of a migration that no line before it freezes.
    case unknownMigration
  }

  package let kind: Kind
  /// Counted from 1.
  package let line: Int
  /// What is wrong and what to do, without the place.
  package let message: String

  package init(_ kind: Kind, line: Int, _ message: String) {
    self.kind = kind
    self.line = line
    self.message = message
  }

  package var description: String { "line \(line): \(message)" }

  package func diagnostic(file: String) -> Diagnostic {
    Diagnostic(file: file, position: Position(line: line, column: 1), message: message)
  }
}

import SchemaSQLText

/// A place in a text file, counted from 1. Columns count Unicode code points, as editors do.
package struct Position: Hashable, Sendable, Comparable {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static func < (a: Position, b: Position) -> Bool {
    (a.line, a.column) < (b.line, b.column)
  }
}

/// A problem in a file that a person wrote, with its position.
package struct Diagnostic: Error, Hashable, Sendable {
  package let file: String
  package let position: Position?
  /// The problem with the advice, on one line.
  package let message: String
  /// The problem alone.
  package let statement: String
  /// What to do, where the problem does not say it.
  package let help: String?

  package init(file: String, position: Position? = nil, message: String) {
    self.init(file: file, position: position, statement: message, help: nil, message: message)
  }

  init(file: String, position: Position?, statement: String, help: String?, message: String) {
    self.file = file
    self.position = position
    self.message = message
    self.statement = statement
    self.help = help
  }

  /// `file:line:column: error: message`, the form that editors and CI systems make clickable.
  package var description: String {
    let place = position.map { ":\($0.line):\($0.column)" } ?? ""
    return "\(file)\(place): error: \(message)"
  }
}

/// Every problem that one reading of the files found.
package struct InvalidInput: Error, Sendable {
  package let diagnostics: [Diagnostic]

  package init(_ diagnostics: [Diagnostic]) {
    self.diagnostics = diagnostics
  }
}

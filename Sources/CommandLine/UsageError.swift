/// A command line that does not make sense, said so that the next attempt does.
package struct UsageError: Error, Sendable, CustomStringConvertible {
  package let program: String
  /// What is wrong, without the program's name or a full stop.
  package let message: String
  /// The command it is about, as far as it was recognised.
  package let commandPath: [String]
  /// A sentence: what was probably meant.
  package let hint: String?

  /// For what only the program can know to be wrong: two options that exclude each other.
  package init(program: String, message: String, commandPath: [String], hint: String? = nil) {
    self.program = program
    self.message = message
    self.commandPath = commandPath
    self.hint = hint
  }

  /// What is wrong, and what was probably meant.
  package var sentence: String { "\(message)." + (hint.map { " \($0)" } ?? "") }

  /// Where to read more.
  package var advice: String {
    "See '\(([program] + commandPath + ["--help"]).joined(separator: " "))'."
  }

  /// Two lines, without a last line end.
  package var description: String { "\(program): \(sentence)\n\(advice)" }
}

/// A word of the user's in quotes, with what would disturb a terminal escaped.
package func quoted(_ word: String) -> String {
  let escaped = word.unicodeScalars.map { scalar in
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: scalar.escaped(asASCII: true)
    default: String(scalar)
    }
  }
  return "'\(escaped.joined())'"
}

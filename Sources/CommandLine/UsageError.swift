import SchemaSQLText

/// An error in a command line, with advice on how to correct it.
package struct UsageError: Error, Sendable {
  package let program: String
  /// The problem, without the program's name or a full stop.
  package let message: String
  /// The command, as far as the parser recognised it.
  package let commandPath: [String]
  /// A sentence with the probably intended word.
  package let hint: String?

  /// Creates an error that only the program can detect, such as two options that exclude each other.
  package init(program: String, message: String, commandPath: [String], hint: String? = nil) {
    self.program = program
    self.message = message
    self.commandPath = commandPath
    self.hint = hint
  }

  /// A sentence that refers to the help of the command.
  package var advice: String {
    "See `\(([program] + commandPath + ["--help"]).joined(separator: " "))`."
  }
}

/// Quotes a word of the user.
func quoted(_ word: String) -> String { "`\(word.visible)`" }

/// Returns the candidate that a misspelt or unfinished word probably means.
func nearest(to word: String, among candidates: [String]) -> String? {
  if let near = suggestion(for: word, among: candidates) { return near }
  let matches = candidates.filter { $0.utf8.starts(with: word.utf8) }
  return matches.count == 1 && word.utf8.contains { $0 != UInt8(ascii: "-") } ? matches[0] : nil
}

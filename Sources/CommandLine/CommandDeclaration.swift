/// Declares a command or a subcommand.
package struct CommandDeclaration: Sendable {
  package let name: String
  /// One line.
  package let summary: String
  /// Paragraphs with a blank line between them.
  package let discussion: String
  /// Commands as typed, including the program's name.
  package let examples: [HelpEntry]
  package let arguments: [ArgumentDeclaration]
  package let options: [OptionDeclaration]
  /// A command with subcommands does nothing itself.
  package let subcommands: [CommandDeclaration]

  package init(
    name: String, summary: String, discussion: String = "", examples: [HelpEntry] = [],
    arguments: [ArgumentDeclaration] = [], options: [OptionDeclaration] = [],
    subcommands: [CommandDeclaration] = []
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.examples = examples
    self.arguments = arguments
    self.options = options
    self.subcommands = subcommands
  }
}

/// A word of help or of the manual page, such as a command, a file or an exit code, and its meaning.
package struct HelpEntry: Sendable {
  package let label: String
  package let meaning: String

  package init(_ label: String, _ meaning: String) {
    self.label = label
    self.meaning = meaning
  }
}

/// Declares a positional argument of a command.
package struct ArgumentDeclaration: Sendable {
  /// The name in help: `FILE`.
  package let name: String
  package let summary: String
  package let required: Bool
  /// Whether it takes all further words. Only the last argument may repeat.
  package let repeats: Bool
  package let completion: Completion

  package init(
    name: String, summary: String, required: Bool = true, repeats: Bool = false,
    completion: Completion = .files
  ) {
    self.name = name
    self.summary = summary
    self.required = required
    self.repeats = repeats
    self.completion = completion
  }

  /// `FILE`, `[FILE]`, `FILE...`, `[FILE...]`.
  var usage: String {
    let word = repeats ? "\(name)..." : name
    return required ? word : "[\(word)]"
  }
}

/// Declares a program's whole command line. The parser, the help, the manual page and the
/// completions use this value.
///
/// Every program has `--help`, `-h`, `--version` and the command `help` without declaring them.
package struct CommandLineProgram: Sendable {
  package let name: String
  package let version: String
  /// One line that does not contain the program's name.
  package let summary: String
  /// Paragraphs for the program's own help and the manual, with a blank line between them.
  package let discussion: String
  /// The commands, grouped under the headings of help.
  package let groups: [(name: String, commands: [NamedCommand])]
  package let exitCodes: HelpEntries
  /// Hints for commands of other tools: a sentence for each name.
  package let hints: [String: String]
  /// Environment variables that do not belong to an option.
  package let environment: HelpEntries
  package let files: HelpEntries
  /// The date of this version, such as `2026-11-22`.
  package let date: String

  package init(
    name: String, version: String, summary: String, discussion: String = "",
    groups: [(name: String, commands: [NamedCommand])], exitCodes: HelpEntries = [:],
    hints: [String: String] = [:], environment: HelpEntries = [:], files: HelpEntries = [:],
    date: String = ""
  ) {
    self.name = name
    self.version = version
    self.summary = summary
    self.discussion = discussion
    self.groups = groups
    self.exitCodes = exitCodes
    self.hints = hints
    self.environment = environment
    self.files = files
    self.date = date
  }

  package var commands: [CommandDeclaration] {
    groups.flatMap(\.commands).map { $0.declaration() }
  }

  func command(named name: String) -> CommandDeclaration? {
    groups.lazy.flatMap(\.commands).first { $0.name == name }?.declaration()
  }
}

/// A command's name, and a closure that creates its declaration: a run needs the declaration of only one
/// command.
package typealias NamedCommand = (name: String, declaration: @Sendable () -> CommandDeclaration)

/// Words of help or of the manual page, such as commands, files or exit codes, with their meanings.
package typealias HelpEntries = KeyValuePairs<String, String>

/// Declares a command or a subcommand.
package struct CommandDeclaration: Sendable {
  package let name: String
  /// A summary of one line.
  package let summary: String
  /// Paragraphs with a blank line between them.
  package let discussion: String
  /// Examples: commands as the user types them, including the program's name, with their meanings.
  package let examples: HelpEntries
  package let arguments: [ArgumentDeclaration]
  package let options: [OptionDeclaration]
  /// A command with subcommands does nothing itself.
  package let subcommands: [CommandDeclaration]

  package init(
    name: String, summary: String, discussion: String = "", examples: HelpEntries = [:],
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

/// Declares a positional argument of a command.
package struct ArgumentDeclaration: Sendable {
  /// The name in help: `FILE`.
  package let name: String
  package let summary: String
  package let required: Bool
  /// Whether the argument takes all remaining words. Only the last argument may repeat.
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

  /// The argument in the usage line: `FILE`, `[FILE]`, `FILE...` or `[FILE...]`.
  var usage: String {
    let word = repeats ? "\(name)..." : name
    return required ? word : "[\(word)]"
  }
}

/// Declares an option: `--name`, with an optional `-n`, value and environment variable.
package struct OptionDeclaration: Sendable {
  package enum Kind: Sendable {
    case flag
    case text(_ placeholder: String)
    /// A decimal number; with `whole`, an integer. `Int.max` means that there is no upper limit.
    case number(_ placeholder: String, ClosedRange<Int>, whole: Bool = false)
    case choice(_ placeholder: String, [String])
    /// `--name` alone or `--name=VALUE`, never `--name VALUE`.
    case optionalText(_ placeholder: String)
  }

  /// The name without the dashes.
  package let name: String
  package let short: Character?
  package let kind: Kind
  /// The environment variable that supplies the value if the command line does not. An empty
  /// variable counts as unset.
  package let environment: String?
  package let repeats: Bool
  package let summary: String
  /// The completions for the value.
  let completion: Completion
  /// Hints for frequent wrong values.
  let hints: [String: String]
  /// Whether a word that belongs to no option is probably the option's value.
  let claims: @Sendable (String) -> Bool

  /// Declares an option.
  ///
  /// - Parameters:
  ///   - completion: the completion of a text value.
  ///   - hints: sentences that suggest replacements for frequent wrong values.
  ///   - claims: whether an unexpected word is probably the option's value.
  package init(
    _ name: String, short: Character? = nil, _ kind: Kind = .flag, environment: String? = nil,
    repeats: Bool = false, completion: Completion = .files, hints: [String: String] = [:],
    claims: @escaping @Sendable (String) -> Bool = { _ in false }, summary: String
  ) {
    self.name = name
    self.short = short
    self.kind = kind
    self.environment = environment
    self.repeats = repeats
    self.summary = summary
    self.hints = hints
    self.claims = claims
    self.completion =
      switch kind {
      case .text, .optionalText: completion
      case .choice(_, let choices): .words(choices)
      case .flag, .number: .nothing
      }
  }

  var spelling: String { "--\(name)" }

  /// `--name` and, if declared, `-n`.
  var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [spelling] }

  /// Whether the spelling belongs to the option. Compares bytes for speed, because parsing asks every option
  /// for every word.
  func isSpelled(_ spelling: String) -> Bool {
    guard spelling.utf8.starts(with: "--".utf8) else {
      return short.map { spelling == "-\($0)" } ?? false
    }
    return spelling.utf8.dropFirst(2).elementsEqual(name.utf8)
  }

  static let help = OptionDeclaration("help", short: "h", summary: "Show this help.")
  static let version = OptionDeclaration("version", summary: "Show the version.")
}

extension OptionDeclaration.Kind {
  /// Whether the option takes the next word as its value if the word has no `=`.
  var takesNextWord: Bool {
    switch self {
    case .flag, .optionalText: false
    case .text, .number, .choice: true
    }
  }

  var placeholder: String? {
    switch self {
    case .flag: nil
    case .text(let name), .number(let name, _, _), .choice(let name, _), .optionalText(let name):
      name
    }
  }

  var choices: [String] {
    if case .choice(_, let choices) = self { choices } else { [] }
  }

  /// Whether the text is a valid value.
  func accepts(_ text: String) -> Bool {
    switch self {
    case .flag: false
    case .text, .optionalText: true
    case .number(_, let range, whole: true): Int(text).map(range.contains) ?? false
    case .number(_, let range, whole: false):
      // `Double` would also accept hexadecimal numbers.
      text.utf8.allSatisfy("0123456789.+-eE".utf8.contains)
        && Double(text).map { Double(range.lowerBound)...Double(range.upperBound) ~= $0 } ?? false
    case .choice(_, let choices): choices.contains(text)
    }
  }

  /// The expected value, to follow "must be"; nil if every text is valid.
  var expectation: String? {
    switch self {
    case .flag, .text, .optionalText: nil
    case .number(_, let range, let whole):
      (whole ? "a whole number" : "a number")
        + (range.upperBound == .max
          ? ", at least \(range.lowerBound)" : " from \(range.lowerBound) to \(range.upperBound)")
    case .choice(_, let choices): "one of " + choices.map { "`\($0)`" }.joined(separator: ", ")
    }
  }
}

/// Declares an option: `--name`, with an optional `-n`, value and environment variable.
package struct OptionDeclaration: Sendable {
  package enum Kind: Sendable {
    case flag
    case text(_ placeholder: String)
    case integer(_ placeholder: String, ClosedRange<Int>)
    /// Finite decimal numbers only.
    case number(_ placeholder: String, ClosedRange<Double>)
    case choice(_ placeholder: String, [String])
    /// `--name` alone or `--name=VALUE`, never `--name VALUE`.
    case optionalText(_ placeholder: String)
  }

  /// Without the dashes.
  package let name: String
  package let short: Character?
  package let kind: Kind
  /// The environment variable that supplies the value if the command line does not. An empty
  /// variable counts as unset.
  package let environment: String?
  package let repeats: Bool
  package let summary: String
  private let textCompletion: Completion

  /// - Parameter completion: for a text value.
  package init(
    _ name: String, short: Character? = nil, _ kind: Kind = .flag, environment: String? = nil,
    repeats: Bool = false,
    completion: Completion = .files, summary: String
  ) {
    self.name = name
    self.short = short
    self.kind = kind
    self.environment = environment
    self.repeats = repeats
    textCompletion = completion
    self.summary = summary
  }

  /// The completions for the value.
  var completion: Completion {
    switch kind {
    case .text, .optionalText: textCompletion
    case .choice(_, let choices): .words(choices)
    case .flag, .integer, .number: .nothing
    }
  }

  var spelling: String { "--\(name)" }

  /// `--name` and, if declared, `-n`.
  var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [spelling] }

  /// Whether the spelling belongs to the option. Fast, because parsing asks every option for every
  /// word.
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
  /// Whether the option takes the next word as its value when there is no `=`.
  var takesNextWord: Bool {
    switch self {
    case .flag, .optionalText: false
    case .text, .integer, .number, .choice: true
    }
  }

  var placeholder: String? {
    switch self {
    case .flag: nil
    case .text(let name), .integer(let name, _), .number(let name, _), .choice(let name, _),
      .optionalText(let name):
      name
    }
  }

  var choices: [String] {
    if case .choice(_, let choices) = self { choices } else { [] }
  }
}

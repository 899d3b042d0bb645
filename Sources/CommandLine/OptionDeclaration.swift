/// What a shell offers for a value; other values are accepted, too.
package enum Completion: Sendable {
  case nothing, files
  case words([String])
  /// The lines that a command of the shell prints.
  case lines(of: String)
}

/// An option: `--name`, perhaps `-n`, perhaps a value, perhaps an environment variable behind it.
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
  /// The variable that is read when the command line does not give the option. Empty is unset.
  package let environment: String?
  package let repeats: Bool
  package let summary: String
  private let textCompletion: @Sendable () -> Completion

  /// - Parameter completion: for a text.
  package init(
    _ name: String, short: Character? = nil, _ kind: Kind = .flag, environment: String? = nil,
    repeats: Bool = false,
    completion: @autoclosure @escaping @Sendable () -> Completion = .files, summary: String
  ) {
    self.name = name
    self.short = short
    self.kind = kind
    self.environment = environment
    self.repeats = repeats
    textCompletion = completion
    self.summary = summary
  }

  /// What completions offer for the value.
  var completion: Completion {
    switch kind {
    case .text, .optionalText: textCompletion()
    case .choice(_, let choices): .words(choices)
    case .flag, .integer, .number: .nothing
    }
  }

  var spelling: String { "--\(name)" }

  /// `--name` and, when there is one, `-n`.
  var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [spelling] }

  /// Whether it is one of them: asked of every option for every word of a command line.
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
  /// Whether the next word belongs to the option when no `=` does.
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

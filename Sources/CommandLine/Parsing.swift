/// The result of parsing a valid command line.
package enum ParsedCommandLine: Sendable {
  case run(Invocation)
  /// The text to print, including its final line feed.
  case help(String)
  case version(String)
}

/// A command to run, with its arguments and options. Options are looked up by their long name
/// without dashes. The result is nil or false for an option that was not given or that the command
/// does not have.
package struct Invocation: Sendable {
  package let commandPath: [String]
  package let arguments: [String]
  /// The valid values of each option; empty for `--name` without a value.
  let values: [String: [String]]
  /// The options from the command line, as opposed to the environment.
  let typed: Set<String>

  /// Whether the command line itself contains the option.
  package func isOnCommandLine(_ name: String) -> Bool { typed.contains(name) }

  /// Whether the command line or the environment sets the option.
  package func isGiven(_ name: String) -> Bool { values[name] != nil }

  /// Returns the option's value; the first value if the option repeats.
  package func text(_ name: String) -> String? { texts(name).first }

  /// Returns the option's values in the order of the command line.
  package func texts(_ name: String) -> [String] { values[name] ?? [] }

  package func integer(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

  package func number(_ name: String) -> Double? { text(name).flatMap { Double($0) } }
}

extension CommandLineProgram {
  /// Parses a command line.
  ///
  /// - Parameters:
  ///   - arguments: the words after the program's name.
  ///   - environment: returns the value of an environment variable; nil or empty means unset.
  package func parse(
    _ arguments: [String], environment: (String) -> String?
  ) throws(UsageError) -> ParsedCommandLine {
    if arguments.isEmpty { return .help(helpText()) }
    // Usually the command comes before its options. Otherwise the declarations of all commands apply. A test
    // ensures that these declarations agree.
    let start = root.descending(arguments.prefix { !CommandLineItem.isOption($0) }).scope
    let items = CommandLineItem.items(of: arguments) {
      start.option(spelled: $0) ?? scopes.option(spelled: $0)
    }
    let words = items.compactMap { if case .argument(let word) = $0 { word } else { nil } }
    let spellings = items.compactMap { if case .option(let word, _) = $0 { word } else { nil } }
    let asksForHelp = spellings.contains(where: OptionDeclaration.help.isSpelled)
    if words.first == "help" {
      if let option = spellings.first, !asksForHelp {
        throw root.error("`help` has no option \(quoted(option))")
      }
      let (scope, rest) = root.descending(words.drop { $0 == "help" })
      if let word = rest.first, !asksForHelp { throw scope.unknownCommand(word) }
      return .help(helpText(for: scope))
    }
    let (scope, rest) = root.descending(words[...])
    if asksForHelp { return .help(helpText(for: scope)) }
    if spellings.contains(OptionDeclaration.version.spelling) {
      return .version("\(name) \(version)\n")
    }
    try scope.checkCommand(spellings, rest: rest)
    let typed = try scope.values(of: items)
    let values = try scope.adding(environment, to: typed)
    try scope.checkArguments(Array(rest), typed)
    return .run(
      Invocation(
        commandPath: scope.names, arguments: Array(rest), values: values, typed: Set(typed.keys)))
  }
}

/// An option or an argument, parsed before the command is known.
enum CommandLineItem {
  /// `--name` or `-n`, with a value attached by `=` or taken from the next word.
  case option(spelling: String, value: String?)
  case argument(String)

  /// Divides words into options and arguments.
  ///
  /// - Parameter option: returns the declaration of a spelling in any command.
  static func items(
    of words: [String], option: (String) -> OptionDeclaration?
  ) -> [CommandLineItem] {
    var items: [CommandLineItem] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        return items + rest.map(CommandLineItem.argument)
      } else if !isOption(word) {
        items.append(.argument(word))
      } else if word.utf8.starts(with: "--".utf8) {
        var (spelling, value) = split(word)
        if value == nil, option(spelling)?.kind.takesNextWord ?? false,
          let next = rest.first, !isOption(next)
        {
          value = rest.popFirst()
        }
        items.append(.option(spelling: spelling, value: value))
      } else if option(String(word.prefix(2))) == nil {
        // Keep the whole word, so that an error about `-timeout` can suggest `--timeout`.
        items.append(.option(spelling: word, value: nil))
      } else {
        // Only flags have short names.
        let (letters, value) = split(word)
        items += letters.dropFirst().map { .option(spelling: "-\($0)", value: value) }
      }
    }
    return items
  }

  /// Whether a word is an option. `-` alone names a stream, and `-5` is a number.
  static func isOption(_ word: String) -> Bool {
    let bytes = word.utf8
    guard bytes.first == UInt8(ascii: "-"), let second = bytes.dropFirst().first else {
      return false
    }
    return !("0123456789.".utf8.contains(second) && Double(word) != nil)
  }

  /// Splits a word at the first byte `=`. A search by characters would miss a `=` that a combining mark
  /// follows.
  static func split(_ word: String) -> (spelling: String, value: String?) {
    guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (word, nil) }
    return (String(word[..<equals]), String(word[word.utf8.index(after: equals)...]))
  }
}

extension CommandScope {
  /// Throws unless the command line names a runnable command.
  fileprivate func checkCommand(
    _ spellings: [String], rest: ArraySlice<String>
  ) throws(UsageError) {
    if command != nil, subcommands.isEmpty { return }
    // The value of an unknown option would look like a command, so report the option first.
    for spelling in spellings where program.scopes.option(spelled: spelling) == nil {
      throw unknownOption(spelling)
    }
    if let word = rest.first { throw unknownCommand(word) }
    let names = subcommands.map { "`\($0.name)`" }.joined(separator: ", ")
    if path.isEmpty { throw error("a command is missing", hint: "The commands are \(names).") }
    throw error("\(target) needs a subcommand", hint: "The subcommands are \(names).")
  }

  fileprivate func values(of items: [CommandLineItem]) throws(UsageError) -> [String: [String]] {
    var values: [String: [String]] = [:]
    for case .option(let spelling, let text) in items {
      guard let option = option(spelled: spelling) else { throw unknownOption(spelling) }
      let name = "option `\(spelling)`"
      if let text {
        if case .flag = option.kind {
          throw error("\(name) takes no value, but has \(quoted(text))")
        }
        try check(text, of: option, named: name)
      } else if option.kind.takesNextWord {
        throw error(
          "\(name) needs a value",
          hint: "Write a value that begins with `-` as `\(option.spelling)=VALUE`.")
      }
      if values[option.name] != nil, !option.repeats {
        throw error("\(name) appears more than once")
      }
      values[option.name, default: []] += text.map { [$0] } ?? []
    }
    return values
  }

  /// Adds the values of options that only the environment sets.
  fileprivate func adding(
    _ environment: (String) -> String?, to typed: [String: [String]]
  ) throws(UsageError) -> [String: [String]] {
    var values = typed
    for option in options where values[option.name] == nil {
      guard let variable = option.environment, let text = environment(variable), !text.isEmpty
      else { continue }
      try check(text, of: option, named: "the environment variable `\(variable)`")
      values[option.name] = [text]
    }
    return values
  }

  private func check(
    _ text: String, of option: OptionDeclaration, named name: String
  ) throws(UsageError) {
    if option.kind.accepts(text) { return }
    throw error(
      "\(name) must be \(option.kind.expectation ?? "a text"), not \(quoted(text))",
      hint: option.hints[text] ?? didYouMean(text, among: option.kind.choices))
  }

  fileprivate func checkArguments(
    _ words: [String], _ typed: [String: [String]]
  ) throws(UsageError) {
    let required = arguments.filter(\.required)
    if words.count < required.count {
      throw error(
        "argument `\(required[words.count].name)` is missing for \(target)",
        hint: required[words.count].completion.hint)
    }
    if words.count > arguments.count, arguments.last?.repeats != true {
      let usage = arguments.map(\.usage).joined(separator: " ")
      throw error(
        "unexpected argument \(quoted(words[arguments.count])) for \(target)",
        hint: !arguments.isEmpty
          ? "It takes `\(usage)`."
          : optionHint(for: words[0], typed)
            ?? "It takes no arguments. Quote a pattern such as `*.db`.")
    }
  }

  // MARK: Errors

  /// The command in quotes, without the program's name.
  private var target: String { "`\(names.joined(separator: " "))`" }

  fileprivate func error(_ message: String, hint: String? = nil) -> UsageError {
    UsageError(program: program.name, message: message, commandPath: names, hint: hint)
  }

  /// Returns a hint for a word that the user probably meant as the value of an option: of an option that
  /// accepts only `=VALUE` and has no value, of the options that claim the word, or of an option with an
  /// environment variable, because that is the main input of a command.
  private func optionHint(for word: String, _ typed: [String: [String]]) -> String? {
    let withoutValue = options.filter { typed[$0.name] == [] && $0.kind.placeholder != nil }
    let absent = options.filter { typed[$0.name] == nil }
    let candidates = [
      withoutValue, absent.filter { $0.claims(word) },
      absent.filter { if case .text = $0.kind { $0.environment != nil } else { false } },
    ]
    guard let options = candidates.first(where: { !$0.isEmpty }) else { return nil }
    let texts = options.map { option in
      let takesWord = option.kind.takesNextWord && !CommandLineItem.isOption(word)
      return quoted(option.spelling + (takesWord ? " " : "=") + word)
    }
    return "Did you mean \(texts.joined(separator: " or "))?"
  }

  private func didYouMean(_ word: String, among candidates: [String]) -> String? {
    nearest(to: word, among: candidates).map { "Did you mean `\($0)`?" }
  }

  fileprivate func unknownCommand(_ word: String) -> UsageError {
    let candidates = subcommands.map(\.name) + (path.isEmpty ? ["help"] : [])
    return error(
      "unknown command " + quoted((names + [word]).joined(separator: " ")),
      hint: (path.isEmpty ? program.hints[word] : nil) ?? didYouMean(word, among: candidates))
  }

  private func unknownOption(_ spelling: String) -> UsageError {
    let message = "unknown option \(quoted(spelling))" + (path.isEmpty ? "" : " for \(target)")
    let hint = program.hints[spelling] ?? didYouMean(spelling, among: options.map(\.spelling))
    let owners = program.scopes.filter { $0.option(spelled: spelling) != nil }.map(\.target)
    let more = owners.count - 6
    let others =
      "It is an option of \(owners.prefix(6).joined(separator: ", "))"
      + (more > 0 ? " and \(more) other commands." : ".")
    return error(message, hint: hint ?? (owners.isEmpty ? nil : others))
  }
}

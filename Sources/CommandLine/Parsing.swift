extension CommandLineProgram {
  /// Parses a command line.
  ///
  /// - Parameters:
  ///   - arguments: the words after the program's name.
  ///   - environment: returns the value of an environment variable; nil or empty means unset.
  package func parse(
    _ arguments: [String], environment: (String) -> String?
  ) throws(UsageError) -> ParsedCommandLine {
    if arguments.isEmpty { return .help(helpText(for: root)) }
    // Before the command is known, the declarations of all commands apply: a test ensures that they agree.
    let items = CommandLineItem.items(of: arguments, option: scopes.option)
    let words = items.compactMap { if case .argument(let word) = $0 { word } else { nil } }
    let isAsked = { (option: OptionDeclaration) in
      items.contains { item in
        if case .option(let spelling, _) = item {
          option.spellings.contains(spelling)
        } else {
          false
        }
      }
    }
    if words.first == "help" {
      let (scope, rest) = root.descending(words.dropFirst())
      if let word = rest.first, !isAsked(.help) { throw scope.unknownCommand(word) }
      return .help(helpText(for: scope))
    }
    let (scope, rest) = root.descending(words[...])
    if isAsked(.help) { return .help(helpText(for: scope)) }
    if isAsked(.version) { return .version("\(name) \(version)\n") }
    try scope.checkCommand(of: items, rest: rest)
    let values = try scope.values(of: items, environment: environment)
    try scope.checkArguments(Array(rest))
    let typed = items.compactMap { item -> String? in
      guard case .option(let spelling, _) = item else { return nil }
      return scope.option(spelled: spelling)?.name
    }
    return .run(
      Invocation(
        commandPath: scope.names, arguments: Array(rest), values: values, typed: Set(typed)))
  }
}

extension [CommandScope] {
  /// The first of the options that share a spelling.
  func option(spelled spelling: String) -> OptionDeclaration? {
    lazy.compactMap { $0.option(spelled: spelling) }.first
  }
}

extension CommandScope {
  /// Throws unless the command line names a runnable command.
  fileprivate func checkCommand(
    of items: [CommandLineItem], rest: ArraySlice<String>
  ) throws(UsageError) {
    if command != nil, subcommands.isEmpty { return }
    // The value of an unknown option would look like a command, so report the option first.
    for case .option(let spelling, _) in items where program.scopes.option(spelled: spelling) == nil
    {
      throw unknownOption(spelling)
    }
    if let word = rest.first { throw unknownCommand(word) }
    let names = subcommands.map(\.name).joined(separator: ", ")
    if path.isEmpty { throw error("a command is missing", hint: "The commands are \(names).") }
    throw error("\(target) needs a subcommand", hint: "The subcommands are \(names).")
  }

  fileprivate func values(
    of items: [CommandLineItem], environment: (String) -> String?
  ) throws(UsageError) -> [String: [String]] {
    var values: [String: [String]] = [:]
    for case .option(let spelling, let text) in items {
      guard let option = option(spelled: spelling) else { throw unknownOption(spelling) }
      try check(text, of: option, spelling)
      if values[option.name] != nil, !option.repeats {
        throw error("option '\(spelling)' is given more than once", hint: nil)
      }
      values[option.name, default: []] += text.map { [$0] } ?? []
    }
    for option in options where values[option.name] == nil {
      guard let variable = option.environment, let text = environment(variable), !text.isEmpty
      else { continue }
      guard option.kind.accepts(text) else {
        throw refusal(of: text, for: option, named: "the environment variable \(variable)")
      }
      values[option.name] = [text]
    }
    return values
  }

  private func check(
    _ text: String?, of option: OptionDeclaration, _ spelling: String
  ) throws(UsageError) {
    switch (option.kind, text) {
    case (.flag, nil), (.optionalText, nil): break
    case (.flag, let text?):
      throw error("option '\(spelling)' takes no value, and has \(quoted(text))", hint: nil)
    case (_, nil):
      throw error(
        "option '\(spelling)' needs a value",
        hint: "A value that begins with '-' is written '\(option.spelling)=VALUE'.")
    case (_, let text?):
      guard option.kind.accepts(text) else {
        throw refusal(of: text, for: option, named: "option '\(spelling)'")
      }
    }
  }

  fileprivate func checkArguments(_ words: [String]) throws(UsageError) {
    let declared = command?.arguments ?? []
    let required = declared.filter(\.required)
    if words.count < required.count {
      throw error("argument \(required[words.count].name) is missing for \(target)", hint: nil)
    }
    if words.count > declared.count, declared.last?.repeats != true {
      let usage = declared.map(\.usage).joined(separator: " ")
      throw error(
        "unexpected argument \(quoted(words[declared.count])) for \(target)",
        hint: declared.isEmpty
          ? optionHint(for: words[0]) ?? "It takes none." : "It takes \(usage).")
    }
  }

  /// For a word that was meant as the value of an option. An option with an environment variable is the
  /// main input of a command.
  private func optionHint(for word: String) -> String? {
    let option = options.first { option in
      if case .text = option.kind { option.environment != nil } else { false }
    }
    guard let option else { return nil }
    return "Did you mean \(quoted("\(option.spelling) \(word)"))?"
  }

  // MARK: - Errors

  /// The command in quotes, without the program's name.
  private var target: String { "'\(names.joined(separator: " "))'" }

  private func error(_ message: String, hint: String?) -> UsageError {
    UsageError(program: program.name, message: message, commandPath: names, hint: hint)
  }

  private func didYouMean(_ word: String, among candidates: [String]) -> String? {
    nearest(to: word, among: candidates).map { "Did you mean '\($0)'?" }
  }

  fileprivate func unknownCommand(_ word: String) -> UsageError {
    let candidates = subcommands.map(\.name) + (path.isEmpty ? ["help"] : [])
    return error(
      "unknown command " + quoted((names + [word]).joined(separator: " ")),
      hint: path.isEmpty && program.hints[word] != nil
        ? program.hints[word] : didYouMean(word, among: candidates))
  }

  private func unknownOption(_ spelling: String) -> UsageError {
    let message = "unknown option \(quoted(spelling))" + (path.isEmpty ? "" : " for \(target)")
    let owners = program.scopes.filter { $0.option(spelled: spelling) != nil }
    let hint = didYouMean(spelling, among: options.map(\.spelling))
    guard hint == nil, !owners.isEmpty else {
      return error(message, hint: program.hints[spelling] ?? hint)
    }
    let commands = owners.map { "'\($0.names.joined(separator: " "))'" }.joined(separator: ", ")
    return error(message, hint: "It is an option of \(commands).")
  }

  private func refusal(
    of text: String, for option: OptionDeclaration, named name: String
  ) -> UsageError {
    error(
      "\(name) must be \(option.kind.expectation), not \(quoted(text))",
      hint: didYouMean(text, among: option.kind.choices))
  }
}

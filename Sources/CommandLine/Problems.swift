extension CommandLineProgram {
  /// Errors in the declarations, a sentence each. A program's tests check that there are none,
  /// because parsing relies on it.
  package var problems: [String] {
    scopes.flatMap { $0.problems } + ambiguities
  }

  /// Spellings that take the next word in one command but not in another. Such an option could not
  /// be parsed before the command is known.
  private var ambiguities: [String] {
    var meanings: [String: Bool] = [:]
    var ambiguous: Set<String> = []
    for option in scopes.flatMap(\.options) {
      for spelling in option.spellings {
        let takes = option.kind.takesNextWord
        if meanings.updateValue(takes, forKey: spelling) == !takes { ambiguous.insert(spelling) }
      }
    }
    return ambiguous.sorted().map { "'\($0)' takes a value for some commands and not for others" }
  }
}

extension CommandScope {
  fileprivate var problems: [String] {
    let spellings = repeated(options.flatMap(\.spellings)).map { "option '\($0)'" }
    let commands = repeated(subcommands.map(\.name)).map { "command '\($0)'" }
    let twice = (spellings + commands).map { "\($0) of '\(invocation)' is declared twice" }
    let arguments = command?.arguments ?? []
    var misplaced: [String] = []
    for (argument, next) in zip(arguments, arguments.dropFirst()) {
      if argument.repeats { misplaced.append("\(argument.name) repeats and is not the last") }
      if !argument.required, next.required {
        misplaced.append("\(next.name) is required and comes after \(argument.name), which is not")
      }
    }
    return twice + misplaced.map { "argument \($0), of '\(invocation)'" }
  }
}

private func repeated(_ names: [String]) -> [String] {
  Dictionary(grouping: names, by: \.self).filter { $0.value.count > 1 }.keys.sorted()
}

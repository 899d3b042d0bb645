import SchemaCommandLine

extension CommandLineProgram {
  /// Contradictions in the declarations, a sentence each. Parsing relies on their absence.
  var problems: [String] {
    let all: [Level] = [([name], commands, [], [])] + commands.flatMap { $0.levels(below: [name]) }
    return all.flatMap { problems(of: $0) } + ambiguities(all.flatMap(\.options))
      + groups.flatMap(\.commands).filter { $0.name != $0.declaration().name }
      .map { "the command `\($0.name)` is declared as `\($0.declaration().name)`" }
  }

  private typealias Level = (
    path: [String], commands: [CommandDeclaration], arguments: [ArgumentDeclaration],
    options: [OptionDeclaration]
  )

  private func problems(of level: Level) -> [String] {
    let path = level.path.joined(separator: " ")
    let spellings = level.options.flatMap(\.allSpellings) + ["-h", "--help"]
    let twice =
      repeated(spellings).map { "option `\($0)`" }
      + repeated(level.commands.map(\.name)).map { "command `\($0)`" }
    var misplaced: [String] = []
    for (argument, next) in zip(level.arguments, level.arguments.dropFirst()) {
      if argument.repeats { misplaced.append("\(argument.name) repeats and is not the last") }
      if !argument.required, next.required {
        misplaced.append("\(next.name) is required and comes after \(argument.name), which is not")
      }
    }
    return twice.map { "\($0) of `\(path)` is declared twice" }
      + misplaced.map { "argument \($0), of `\(path)`" }
  }

  /// An option that takes the next word in one command but not in another could not be parsed before
  /// the command is known.
  private func ambiguities(_ options: [OptionDeclaration]) -> [String] {
    let meanings = Dictionary(
      grouping: options.flatMap { option in
        option.allSpellings.map { (spelling: $0, takesValue: option.takesValue) }
      }, by: \.spelling)
    return meanings.filter { Set($0.value.map(\.takesValue)).count > 1 }.keys.sorted()
      .map { "`\($0)` takes a value for some commands and not for others" }
  }
}

extension CommandDeclaration {
  fileprivate func levels(
    below path: [String]
  ) -> [([String], [CommandDeclaration], [ArgumentDeclaration], [OptionDeclaration])] {
    let own = path + [name]
    return [(own, subcommands, arguments, options)] + subcommands.flatMap { $0.levels(below: own) }
  }
}

extension OptionDeclaration {
  fileprivate var allSpellings: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(name)"] }

  fileprivate var takesValue: Bool {
    switch kind {
    case .flag, .optionalText: false
    case .text, .number, .choice: true
    }
  }
}

private func repeated(_ names: [String]) -> [String] {
  Dictionary(grouping: names, by: \.self).filter { $0.value.count > 1 }.keys.sorted()
}

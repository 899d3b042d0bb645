extension CommandLineProgram {
  /// The output of `--help` for a command; for the program when the path is empty or unknown.
  package func helpText(for commandPath: [String] = []) -> String {
    helpText(for: root.descending(commandPath[...]).scope)
  }

  func helpText(for scope: CommandScope) -> String {
    let sections = [
      scope.title, scope.usageSection,
      scope.path.isEmpty ? [] : TextLayout.paragraphs(scope.discussion),
      scope.commandsSection, scope.argumentsSection, scope.optionsSection, scope.examplesSection,
    ]
    let lines = sections.filter { !$0.isEmpty }.joined(separator: [""])
    return lines.map { $0 + "\n" }.joined()
  }
}

extension CommandScope {
  var summary: String { command?.summary ?? program.summary }
  var discussion: String { command?.discussion ?? program.discussion }

  /// The usage line, including the program's name.
  var usage: String {
    guard let command, subcommands.isEmpty else { return "\(invocation) COMMAND [OPTIONS]" }
    return ([invocation, "[OPTIONS]"] + command.arguments.map(\.usage)).joined(separator: " ")
  }

  fileprivate var title: [String] {
    let name = path.isEmpty ? "\(program.name) \(program.version)" : invocation
    return TextLayout.paragraphs("\(name): \(summary)")
  }

  fileprivate var usageSection: [String] {
    ["USAGE", TextLayout.pad(usage, by: 2)]
  }

  /// The program's commands by group. A command with subcommands is one line, because its own help
  /// lists them.
  fileprivate var commandsSection: [String] {
    let rows = subcommands.map { ($0.name, $0.summary) }
    let lines = TextLayout.table(rows)
    guard path.isEmpty else { return rows.isEmpty ? [] : ["COMMANDS"] + lines }
    var section: [String] = []
    var group = ""
    for line in lines {
      let name = line.dropFirst(2).prefix { $0 != " " }
      let next = program.groups.first { $0.commands.contains { $0.name == name } }?.name ?? group
      if next != group { section.append(next.uppercased()) }
      group = next
      section.append(line)
    }
    return section
  }

  fileprivate var argumentsSection: [String] {
    guard let arguments = command?.arguments, !arguments.isEmpty else { return [] }
    return ["ARGUMENTS"] + TextLayout.table(arguments.map { ($0.name, $0.summary) })
  }

  fileprivate var optionsSection: [String] {
    ["OPTIONS"] + TextLayout.table(options.map { ($0.label, $0.explanation) })
  }

  fileprivate var examplesSection: [String] {
    guard let examples = command?.examples, !examples.isEmpty else { return [] }
    let blocks = examples.map { example in
      [TextLayout.pad(example.label, by: 2)]
        + TextLayout.paragraphs(example.meaning, indent: 6)
    }
    return ["EXAMPLES"] + blocks.joined()
  }
}

extension OptionDeclaration {
  /// `-t, --timeout SECONDS`. An option without a short name is indented to align with the others.
  fileprivate var label: String {
    (short.map { "-\($0), " } ?? "    ") + spelling + valueUsage
  }

  /// The text after the long name: ` PATH`, `[=PATH]` or empty.
  var valueUsage: String {
    guard let placeholder = kind.placeholder else { return "" }
    return kind.takesNextWord ? " \(placeholder)" : "[=\(placeholder)]"
  }

  /// The summary, followed by the valid values, repetition and environment variable.
  var explanation: String {
    var facts: [String] = []
    switch kind {
    case .choice, .integer, .number: facts.append(kind.expectation)
    case .flag, .text, .optionalText: break
    }
    if repeats { facts.append("may be repeated") }
    if let environment { facts.append("environment: \(environment)") }
    return facts.isEmpty ? summary : "\(summary) (\(facts.joined(separator: "; ")))"
  }
}

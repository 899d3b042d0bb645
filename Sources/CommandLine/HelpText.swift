extension CommandLineProgram {
  /// What `--help` prints for a command; for the program when the path is empty or unknown.
  package func helpText(for commandPath: [String] = []) -> String {
    helpText(for: root.descending(commandPath[...]).scope)
  }

  func helpText(for scope: CommandScope) -> String {
    let sections = [
      scope.title, scope.usageSection,
      scope.path.isEmpty ? [] : TextLayout.paragraphs(scope.discussion),
      scope.commandsSection, scope.argumentsSection, scope.optionsSection, scope.examplesSection,
      scope.seeAlsoSection,
    ]
    let lines = sections.filter { !$0.isEmpty }.joined(separator: [""])
    return lines.map { $0 + "\n" }.joined()
  }
}

extension CommandScope {
  var summary: String { command?.summary ?? program.summary }
  var discussion: String { command?.discussion ?? program.discussion }

  /// The ways to call it, the program's name included.
  var usages: [String] {
    let needsSubcommand = "\(invocation) COMMAND [OPTIONS]"
    guard let command else { return [needsSubcommand] }
    let words = [invocation, "[OPTIONS]"] + command.arguments.map(\.usage)
    let own = command.isRunnable ? [words.joined(separator: " ")] : []
    return own + (visibleSubcommands.isEmpty ? [] : [needsSubcommand])
  }

  var seeAlso: [String] { command?.seeAlso ?? program.seeAlso }

  fileprivate var title: [String] {
    let name = path.isEmpty ? "\(program.name) \(program.version)" : invocation
    return TextLayout.paragraphs("\(name): \(summary)")
  }

  fileprivate var usageSection: [String] {
    ["USAGE"] + usages.map { TextLayout.pad($0, by: 2) }
  }

  /// The program's commands under the headings of their groups; a command with subcommands, which have
  /// help of their own, is one line.
  fileprivate var commandsSection: [String] {
    let rows = visibleSubcommands.map { ($0.name, $0.summary) }
    let lines = TextLayout.table(rows)
    guard path.isEmpty else { return rows.isEmpty ? [] : ["COMMANDS"] + lines }
    var section: [String] = []
    var group = ""
    for line in lines {
      let name = line.dropFirst(2).prefix { $0 != " " }
      let next = name.isEmpty ? group : program.group(of: String(name))
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
      [TextLayout.pad(example.command, by: 2)]
        + TextLayout.paragraphs(example.meaning, indent: 6)
    }
    return ["EXAMPLES"] + blocks.joined()
  }

  fileprivate var seeAlsoSection: [String] {
    seeAlso.isEmpty ? [] : ["SEE ALSO"] + seeAlso.map { TextLayout.pad($0, by: 2) }
  }
}

extension OptionDeclaration {
  /// `-t, --timeout SECONDS`; a long name alone stands where it would after a short one.
  fileprivate var label: String {
    (short.map { "-\($0), " } ?? "    ") + spelling + valueUsage
  }

  /// What follows the long name: ` PATH`, `[=PATH]` or nothing.
  var valueUsage: String {
    guard let placeholder = kind.placeholder else { return "" }
    return kind.takesNextWord ? " \(placeholder)" : "[=\(placeholder)]"
  }

  /// The summary, then what the declaration itself says of the value.
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

extension CommandLineProgram {
  /// What `--help` prints for a command; for the program when the path is empty or unknown.
  package func helpText(for commandPath: [String] = []) -> String {
    helpText(for: root.descending(commandPath[...]).scope)
  }

  func helpText(for scope: CommandScope) -> String {
    let sections = [
      scope.title, scope.usageSection, TextLayout.paragraphs(scope.discussion),
      scope.commandsSection, scope.argumentsSection, scope.optionsSection, scope.examplesSection,
      scope.exitCodesSection, scope.seeAlsoSection,
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

  /// The runnable commands below, under the names that follow this one's.
  var commandsBelow: [(name: String, summary: String)] {
    program.visibleScopes
      .filter { $0.names.starts(with: names) && $0.path.count > path.count }
      .filter { $0.command?.isRunnable ?? false }
      .map { ($0.names.dropFirst(path.count).joined(separator: " "), $0.summary) }
  }

  /// Where to read on: the declared places, then the help of the commands around this one.
  var seeAlso: [String] {
    let declared = command?.seeAlso ?? program.seeAlso
    guard !path.isEmpty else { return declared + ["\(program.name) help COMMAND"] }
    return declared + ["\(CommandScope(program: program, path: path.dropLast()).invocation) --help"]
  }

  fileprivate var title: [String] {
    let name = path.isEmpty ? "\(program.name) \(program.version)" : invocation
    return TextLayout.paragraphs("\(name): \(summary)")
  }

  fileprivate var usageSection: [String] {
    ["USAGE"] + usages.map { TextLayout.pad($0, by: 2) }
  }

  fileprivate var commandsSection: [String] {
    let below = commandsBelow
    return below.isEmpty ? [] : ["COMMANDS"] + TextLayout.table(below.map { ($0.name, $0.summary) })
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

  fileprivate var exitCodesSection: [String] {
    guard path.isEmpty, !program.exitCodes.isEmpty else { return [] }
    let rows = program.exitCodes.map { (label: String($0.code), text: $0.meaning) }
    return ["EXIT CODES"] + TextLayout.table(rows)
  }

  fileprivate var seeAlsoSection: [String] {
    ["SEE ALSO"] + seeAlso.map { TextLayout.pad($0, by: 2) }
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

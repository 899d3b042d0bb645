extension CommandLineProgram {
  /// A completion script for fish's completions folder.
  package func fishCompletions() -> String {
    let function = "__\(shellIdentifier)_at"
    var lines = ["# Completions of \(name) for fish."]
    lines += ["function \(function)"]
    lines += ["    set -l command \(name)", "    set -l skip 0"]
    lines += ["    for word in (commandline -opc)[2..-1]"]
    lines += ["        if test $skip = 1", "            set skip 0", "            continue"]
    lines += ["        end", "        switch $word"]
    if !optionsWithValues.isEmpty {
      lines += ["            case \(optionsWithValues.joined(separator: " "))"]
      lines += ["                set skip 1", "                continue"]
    }
    lines += ["            case '-*'", "                continue", "        end"]
    lines += ["        switch \"$command $word\""]
    let paths = visibleScopes.dropFirst().map { quoted(fish: $0.invocation) }
    lines += ["            case \(paths.joined(separator: " "))"]
    lines += ["                set command \"$command $word\""]
    lines += ["            case '*'", "                break", "        end", "    end"]
    lines += ["    test $command = \"$argv\"", "end"]
    lines += visibleScopes.flatMap { $0.fishLines(function: function) }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension CommandScope {
  fileprivate func fishLines(function: String) -> [String] {
    let complete = "complete -c \(program.name) -n \(quoted(fish: "\(function) \(invocation)"))"
    var commands = visibleSubcommands.map { ($0.name, $0.summary) }
    if path.isEmpty { commands.append(("help", OptionDeclaration.help.summary)) }
    let offers = (command?.arguments ?? []).compactMap { argument in
      argument.completion.fishWords.map {
        "\(complete) -f -a \($0) -d \(quoted(fish: argument.summary))"
      }
    }
    return commands.map { "\(complete) -f -a \($0.0) -d \(quoted(fish: $0.1))" } + offers
      + options.map { "\(complete) \($0.fishFlags)" }
  }
}

extension OptionDeclaration {
  fileprivate var fishFlags: String {
    var flags = (short.map { "-s \($0) " } ?? "") + "-l \(name)"
    if kind.takesNextWord {
      if case .files = completion { flags += " -r -F" } else { flags += " -x" }
    }
    if let words = completion.fishWords { flags += " -a \(words)" }
    return flags + " -d " + SchemaCommandLine.quoted(fish: summary)
  }
}

extension Completion {
  fileprivate var fishWords: String? {
    switch self {
    case .nothing, .files: nil
    case .words(let words): quoted(fish: words.joined(separator: " "))
    case .lines(let command): quoted(fish: "(\(command) 2>/dev/null)")
    }
  }
}

private func quoted(fish text: String) -> String {
  "'" + text.with("\\\\", for: "\\").with("\\'", for: "'") + "'"
}

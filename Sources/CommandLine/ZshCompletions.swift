extension CommandLineProgram {
  /// A completion script for zsh: either a file `_name` in `$fpath`, or sourced after `compinit`.
  package func zshCompletions() -> String {
    let functions = visibleScopes.map { $0.zshFunction.map { $0 + "\n" }.joined() }
    let function = root.zshName
    return """
      #compdef \(name)
      # Completions of \(name) for zsh.

      \(functions.joined(separator: "\n"))
      if [[ $funcstack[1] == \(function) ]]; then
        \(function) "$@"
      else
        compdef \(function) \(name)
      fi

      """
  }
}

extension CommandScope {
  fileprivate var zshName: String {
    "_"
      + ([program.shellIdentifier] + names.map { $0.with("_", for: "-") })
      .joined(separator: "_")
  }

  fileprivate var zshFunction: [String] {
    let commands = visibleSubcommands
    let positions =
      commands.isEmpty
      ? zshArguments : ["'1:command:->command'", "'*::argument:->arguments'"]
    let specifications = options.map(\.zshSpecification) + positions
    let arguments = specifications.map { " \\\n    \($0)" }.joined()
    guard !commands.isEmpty else {
      return ["\(zshName)() {", "  _arguments -s\(arguments)", "}"]
    }
    var described = commands.map { ($0.name, $0.summary) }
    if path.isEmpty { described.append(("help", OptionDeclaration.help.summary)) }
    var lines = ["\(zshName)() {"]
    lines += ["  local context state state_descr line ret=1", "  typeset -A opt_args"]
    lines += ["  _arguments -C -s\(arguments) && ret=0", "  case $state in", "  command)"]
    lines += ["    local -a commands=("]
    lines += described.map {
      "      " + quoted(zsh: $0.0.with("\\:", for: ":") + ":" + $0.1)
    }
    lines += ["    )", "    _describe command commands && ret=0", "    ;;"]
    lines += ["  arguments)", "    case $line[1] in"]
    lines += commands.map { "    \($0.name)) \(entering($0).zshName) && ret=0 ;;" }
    return lines + ["    esac", "    ;;", "  esac", "  return ret", "}"]
  }

  private var zshArguments: [String] {
    (command?.arguments ?? []).enumerated().map { index, argument in
      let place = argument.repeats ? "*" : String(index + 1)
      let separator = argument.required || argument.repeats ? ":" : "::"
      return quoted(
        zsh: place + separator + zshMessage(argument.name) + ":" + argument.completion.zshAction)
    }
  }
}

extension OptionDeclaration {
  /// The specification of the option for `_arguments`.
  fileprivate var zshSpecification: String {
    let prefix = repeats ? "*" : spellings.count > 1 ? "(\(spellings.joined(separator: " ")))" : ""
    let text = "[\(zshMessage(summary))]" + zshValue
    let long = spelling + (kind.placeholder == nil ? "" : kind.takesNextWord ? "=" : "=-")
    guard let short else { return SchemaCommandLine.quoted(zsh: prefix + long + text) }
    let brief = "-\(short)" + (kind.takesNextWord ? "+" : "")
    return (prefix.isEmpty ? "" : SchemaCommandLine.quoted(zsh: prefix))
      + "{\(brief),\(long)}" + SchemaCommandLine.quoted(zsh: text)
  }

  private var zshValue: String {
    guard let placeholder = kind.placeholder else { return "" }
    let separator = kind.takesNextWord ? ":" : "::"
    return separator + zshMessage(placeholder) + ":" + completion.zshAction
  }
}

extension Completion {
  fileprivate var zshAction: String {
    switch self {
    case .nothing: " "
    case .files: "_files"
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .lines(let command): "{ compadd -- ${(f)\"$(\(command) 2>/dev/null)\"} }"
    }
  }
}

/// Escapes a text for a specification of `_arguments`.
private func zshMessage(_ text: String) -> String {
  var escaped = ""
  for character in text {
    if "\\:[]".contains(character) { escaped += "\\" }
    escaped.append(character)
  }
  return escaped
}

private func quoted(zsh text: String) -> String {
  "'" + text.with("'\\''", for: "'") + "'"
}

extension CommandLineProgram {
  /// A completion script for bash 3.2 or later, to be sourced. Without a completion of its own it
  /// leaves bash to offer files.
  package func bashCompletions() -> String {
    let function = "_\(shellIdentifier)"
    let scopes = visibleScopes
    return """
      # Completions of \(name) for bash.
      # shellcheck shell=bash disable=SC2207
      \(function)() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
        local command=\(name) index skip='' word words=''
        # Bash cuts words at '=': '--name=va' comes as three.
        if [ "$current" = '=' ]; then
          current=''
        elif [ "$previous" = '=' ]; then
          previous=${COMP_WORDS[COMP_CWORD-2]}
        fi
        for ((index = 1; index < COMP_CWORD; index++)); do
          word=${COMP_WORDS[index]}
          if [ -n "$skip" ] && [ "$word" != '=' ]; then skip=''; continue; fi
          case $word in
            \((optionsWithValues + ["="]).joined(separator: " | "))) skip=1; continue ;;
            -*) continue ;;
          esac
          case "$command $word" in
      \(lines(scopes.dropFirst().map { "'\($0.invocation)') command='\($0.invocation)' ;;" }, indent: 6))
            *) break ;;
          esac
        done
        case "$command:$previous" in
      \(lines(scopes.flatMap(\.bashChoiceCases) + anyValueCase, indent: 4))
        esac
        case "$command:$current" in
      \(lines(scopes.map(\.bashOptionsCase), indent: 4))
      \(lines(scopes.compactMap(\.bashCommandsCase), indent: 4))
        esac
        [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$current"))
      }
      complete -o default -F \(function) \(name)

      """
  }

  /// The case for all other options with a value, which offers bash's defaults.
  private var anyValueCase: [String] {
    let patterns = optionsWithValues.map { "*:\($0)" }.joined(separator: " | ")
    return patterns.isEmpty ? [] : ["\(patterns)) return ;;"]
  }

  private func lines(_ lines: [String], indent: Int) -> String {
    lines.map { TextLayout.pad($0, by: indent) }.joined(separator: "\n")
  }

  /// The program's name as an identifier for a shell function.
  var shellIdentifier: String { name.with("_", for: "-") }

  /// The spellings of all options, of any command, that take the next word as a value.
  var optionsWithValues: [String] {
    let options = scopes.flatMap(\.options).filter { $0.kind.takesNextWord }
    return Set(options.flatMap(\.spellings)).sorted()
  }
}

extension CommandScope {
  fileprivate var bashChoiceCases: [String] {
    options.compactMap { option in
      let words = option.completion.bashWords
      guard !words.isEmpty else { return nil }
      let patterns = option.spellings.map { "'\(invocation):\($0)'" }.joined(separator: " | ")
      return "\(patterns)) COMPREPLY=($(compgen -W \(words) -- \"$current\")); return ;;"
    }
  }

  fileprivate var bashOptionsCase: String {
    "'\(invocation):-'*) words='\(options.flatMap(\.spellings).joined(separator: " "))' ;;"
  }

  fileprivate var bashCommandsCase: String? {
    let names = visibleSubcommands.map(\.name) + (path.isEmpty ? ["help"] : [])
    let words =
      names.isEmpty
      ? command?.arguments.first?.completion.bashWords ?? ""
      : Completion.words(names).bashWords
    return words.isEmpty ? nil : "'\(invocation):'*) words=\(words) ;;"
  }
}

extension Completion {
  /// A quoted word of a bash script.
  fileprivate var bashWords: String {
    switch self {
    case .nothing, .files: ""
    case .words(let words): "'\(words.joined(separator: " "))'"
    case .lines(let command): "\"$(\(command) 2>/dev/null)\""
    }
  }
}

/// The completions that a shell offers for a value. The program also accepts other values.
package enum Completion: Sendable {
  package static let nothing = Completion.words([])

  case files
  case words([String])
  /// Values that the program looks up.
  case lookup(String)

  /// A sentence with the valid values; nil if they are unknown.
  var hint: String? {
    guard case .words(let words) = self, !words.isEmpty else { return nil }
    return "It is one of " + words.map { "`\($0)`" }.joined(separator: ", ") + "."
  }
}

/// The line in the output of `completions` that asks the shell to complete file names itself.
private let fileNames = ":files"

extension CommandLineProgram {
  /// Returns completions of a command line for the shell scripts: lines of a word and its summary, with a tab
  /// between them.
  ///
  /// - Parameters:
  ///   - words: the words after the program's name. The last one, which may be empty, is unfinished. Bash
  ///     passes `=` as a separate word.
  ///   - lookup: returns the values of a `Completion.lookup`.
  package func completions(of words: [String], lookup: (String) -> [String]) -> [String] {
    var scope = root
    var arguments = 0
    /// The previous word, if it is an option. Then `takesValue` says whether its value follows.
    var option: OptionDeclaration?
    var takesValue = false
    for word in words.dropLast() {
      if word == "=" {
        takesValue = option != nil
      } else if takesValue {
        (option, takesValue) = (nil, false)
      } else if CommandLineItem.isOption(word) {
        option = scope.scopes.option(spelled: word)
        takesValue = option?.kind.takesNextWord ?? false
      } else {
        option = nil
        let command = scope.subcommands.first { $0.name == word }
        if let command { scope = scope.entering(command) } else { arguments += 1 }
      }
    }
    let last = words.last ?? ""
    if last == "=" || takesValue {
      return lines(option?.completion, beginningWith: last == "=" ? "" : last, lookup)
    }
    guard CommandLineItem.isOption(last) || last == "-" || last == "--" else {
      return scope.subcommands.isEmpty
        ? lines(scope.completion(ofArgument: arguments), beginningWith: last, lookup)
        : lines(
          scope.subcommands.map { ($0.name, $0.summary) }
            + (scope.path.isEmpty ? [("help", OptionDeclaration.help.summary)] : []),
          beginningWith: last)
    }
    let (spelling, value) = CommandLineItem.split(last)
    guard let value else {
      let options = scope.options.flatMap { option in
        option.spellings.map { ($0, option.summary) }
      }
      return lines(options, beginningWith: last)
    }
    return lines(scope.option(spelled: spelling)?.completion, beginningWith: value, lookup)
      .map { $0 == fileNames ? $0 : "\(spelling)=\($0)" }
  }

  private func lines(
    _ completion: Completion?, beginningWith start: String, _ lookup: (String) -> [String]
  ) -> [String] {
    switch completion {
    case nil: []
    case .files: [fileNames]
    case .words(let words): lines(words.map { ($0, "") }, beginningWith: start)
    case .lookup(let name): lines(lookup(name).map { ($0, "") }, beginningWith: start)
    }
  }

  private func lines(
    _ candidates: [(word: String, summary: String)], beginningWith start: String
  ) -> [String] {
    candidates.filter { $0.word.utf8.starts(with: start.utf8) }.map { "\($0.word)\t\($0.summary)" }
  }
}

extension CommandScope {
  fileprivate func completion(ofArgument index: Int) -> Completion? {
    guard !arguments.indices.contains(index) else { return arguments[index].completion }
    return arguments.last.flatMap { $0.repeats ? $0.completion : nil }
  }
}

/// A shell that completes command lines.
package enum CompletingShell: String, CaseIterable, Sendable {
  case bash, zsh, fish
}

extension CommandLineProgram {
  /// Returns a script that asks the program for completions.
  ///
  /// - Parameter query: the words of the command that prints completions. The script puts them between the
  ///   program's name and the words to complete.
  package func completionScript(for shell: CompletingShell, asking query: String) -> String {
    let function = "_\(name.split(separator: "-").joined(separator: "_"))"
    switch shell {
    case .bash:
      // If the function finds no completions, `-o default` offers files.
      return """
        # Completions of \(name) for bash.
        # shellcheck shell=bash disable=SC2207
        \(function)() {
          local IFS=$'\\n'
          COMPREPLY=($(\(name) \(query) "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
          if [ "${COMPREPLY[*]}" = '\(fileNames)' ]; then COMPREPLY=(); fi
        }
        complete -o default -F \(function) \(name)

        """
    case .zsh:
      // The script works as a file `_name` in `$fpath`, or when it is sourced after `compinit`.
      return """
        #compdef \(name)
        # Completions of \(name) for zsh.
        \(function)() {
          local line
          local -a candidates
          for line in "${(@f)$(\(name) \(query) "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
            case $line in
            '\(fileNames)') compset -P '-*='; _files; return ;;
            *$'\\t'*) candidates+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}") ;;
            esac
          done
          _describe '\(name)' candidates
        }
        if [[ $funcstack[1] == \(function) ]]; then
          \(function) "$@"
        else
          compdef \(function) \(name)
        fi

        """
    case .fish:
      return """
        # Completions of \(name) for fish.
        function _\(function)
            set -l current (commandline -ct)
            for line in (\(name) \(query) (commandline -opc)[2..-1] "$current" 2>/dev/null)
                if test "$line" = '\(fileNames)'
                    __fish_complete_path "$current"
                else
                    echo $line
                end
            end
        end
        complete -c \(name) -f -a '(_\(function))'

        """
    }
  }
}

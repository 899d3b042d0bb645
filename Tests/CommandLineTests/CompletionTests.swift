import SchemaCommandLine
import Testing

@Suite("Completions") struct CompletionTests {
  /// A program whose scripts are small enough to read completely.
  static let raft = CommandLineProgram(
    name: "raft", version: "1", summary: "floats",
    commands: [
      CommandDeclaration(
        name: "drift", summary: "Drifts: it's [free].",
        arguments: [ArgumentDeclaration(name: "RIVER", summary: "Which.", required: false)],
        options: [
          OptionDeclaration(
            "to", short: "t", .choice("SEA", ["north", "south"]), summary: "Where.")
        ])
    ])

  @Test("bash accepts its script without a message", .enabled(if: Shell.bash.isThere))
  func bashSyntax() throws {
    #expect(try Shell.bash.output(["-n"], input: ferry.bashCompletions()) == "")
    #expect(try Shell.bash.output(["-n"], input: Self.raft.bashCompletions()) == "")
  }

  @Test("zsh accepts its script without a message", .enabled(if: Shell.zsh.isThere))
  func zshSyntax() throws {
    #expect(try Shell.zsh.output(["-n"], input: ferry.zshCompletions()) == "")
  }

  @Test("fish accepts its script without a message", .enabled(if: Shell.fish.isThere))
  func fishSyntax() throws {
    #expect(try Shell.fish.output(["--no-execute"], input: ferry.fishCompletions()) == "")
  }

  /// Uses words as bash splits them, with `=` as a separate word.
  @Test(
    "bash completes", .enabled(if: Shell.bash.isThere),
    arguments: [
      (["ferry", "c"], "cross"), (["ferry", ""], "cross ledger fog help"),
      (["ferry", "ledger", ""], "show repair"), (["ferry", "-q", "ledger", "re"], "repair"),
      (["ferry", "--timeout", "5", "ledger", "s"], "show"),
      (["ferry", "--timeout", "=", "5", "ledger", "s"], "show"),
      (["ferry", "cross", "--dr"], "--dry-run"), (["ferry", "ledger", "repair", "--y"], "--yes"),
      (["ferry", "cross", "--course", "s"], "scenic"),
      (["ferry", "cross", "--course", "="], "direct scenic"),
      (["ferry", "cross", "--course", "=", "d"], "direct"),
      (["ferry", "cross", "--logbook", "s"], ""), (["ferry", "cross", "no"], ""),
      (["ferry", "cross", "--backup", "=", "x", "--cr"], "--crew"),
    ])
  func bash(words: [String], expected: String) throws {
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let script = """
      \(ferry.bashCompletions())
      COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); COMPREPLY=()
      _ferry
      echo "${COMPREPLY[*]}"
      """
    #expect(try Shell.bash.output(input: script) == expected + "\n")
  }

  @Test(
    "fish completes", .enabled(if: Shell.fish.isThere),
    arguments: [
      ("ferry cr", ["cross"]), ("ferry ledger ", ["show", "repair"]),
      ("ferry --timeout 5 ledger re", ["repair"]), ("ferry cross --course ", ["direct", "scenic"]),
      ("ferry cross --dr", ["--dry-run"]),
    ])
  func fish(line: String, expected: [String]) throws {
    let script = ferry.fishCompletions() + "complete -C '\(line)'\n"
    let words = try Shell.fish.output(["--no-config"], input: script).split(separator: "\n")
      .map { $0.split(separator: "\t").first.map(String.init) ?? "" }
    #expect(Set(words) == Set(expected))
  }

  @Test("the script for zsh matches the expected text") func zshScript() {
    #expect(
      Self.raft.zshCompletions() == #"""
        #compdef raft
        # Completions of raft for zsh.

        _raft() {
          local context state state_descr line ret=1
          typeset -A opt_args
          _arguments -C -s \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '--version[Show the version.]' \
            '1:command:->command' \
            '*::argument:->arguments' && ret=0
          case $state in
          command)
            local -a commands=(
              'drift:Drifts: it'\''s [free].'
              'help:Show this help.'
            )
            _describe command commands && ret=0
            ;;
          arguments)
            case $line[1] in
            drift) _raft_drift && ret=0 ;;
            esac
            ;;
          esac
          return ret
        }

        _raft_drift() {
          _arguments -s \
            '(-t --to)'{-t+,--to=}'[Where.]:SEA:(north south)' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1::RIVER:_files'
        }

        if [[ $funcstack[1] == _raft ]]; then
          _raft "$@"
        else
          compdef _raft raft
        fi

        """#)
  }

  @Test("the script for fish matches the expected text") func fishScript() {
    #expect(
      Self.raft.fishCompletions() == #"""
        # Completions of raft for fish.
        function __raft_at
            set -l command raft
            set -l skip 0
            for word in (commandline -opc)[2..-1]
                if test $skip = 1
                    set skip 0
                    continue
                end
                switch $word
                    case --to -t
                        set skip 1
                        continue
                    case '-*'
                        continue
                end
                switch "$command $word"
                    case 'raft drift'
                        set command "$command $word"
                    case '*'
                        break
                end
            end
            test $command = "$argv"
        end
        complete -c raft -n '__raft_at raft' -f -a drift -d 'Drifts: it\'s [free].'
        complete -c raft -n '__raft_at raft' -f -a help -d 'Show this help.'
        complete -c raft -n '__raft_at raft' -s h -l help -d 'Show this help.'
        complete -c raft -n '__raft_at raft' -l version -d 'Show the version.'
        complete -c raft -n '__raft_at raft drift' -s t -l to -x -a 'north south' -d 'Where.'
        complete -c raft -n '__raft_at raft drift' -s h -l help -d 'Show this help.'

        """#)
  }
}

@Suite("Manual page") struct ManPageTests {
  @Test("the page matches the expected text") func page() {
    #expect(
      CompletionTests.raft.manPage() == #"""
        .TH RAFT 1 "" "raft 1"
        .SH NAME
        raft \- floats
        .SH SYNOPSIS
        .B raft COMMAND [OPTIONS]
        .SH OPTIONS
        .TP
        .B \-h, \-\-help
        Show this help.
        .TP
        .B \-\-version
        Show the version.
        .SH COMMANDS
        .SS drift
        Drifts: it\(aqs [free].
        .PP
        .B raft drift [OPTIONS] [RIVER]
        .TP
        .B [RIVER]
        Which.
        .TP
        .B \-t, \-\-to SEA
        Where. (one of north, south)

        """#)
  }

  @Test("groff formats the page without a warning", .enabled(if: Shell.groff.isThere))
  func groff() throws {
    let page = try Shell.groff.output(
      ["-man", "-Tascii", "-ww", "-P-cbou"], input: ferry.manPage())
    #expect(!page.contains("warning") && !page.contains("error") && !page.hasSuffix("failed"))
    #expect(page.contains("ferry cross [OPTIONS] PIER [CARGO...]"))
  }

  @Test("text of a declaration never becomes a command of roff") func escapes() {
    let text = ".so /etc/passwd \\*x 'y' -z"
    let page = CommandLineProgram(
      name: "raft", version: "1", summary: text, discussion: "\(text)\n\n'\(text)",
      commands: [CommandDeclaration]()
    ).manPage()
    #expect(page.contains("\n\\&.so /etc/passwd \\e*x \\(aqy\\(aq \\-z\n.PP\n\\(aq.so"))
  }
}

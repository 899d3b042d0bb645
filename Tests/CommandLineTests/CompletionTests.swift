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
            "to", .choice("SEA", ["north", "south"]), summary: "Where.")
        ])
    ])

  private static func words(_ line: [String]) -> [String] {
    ferry.completions(of: line) { $0 == "days" ? ["monday", "sunday"] : [] }
  }

  @Test("bash accepts its script without a message", .enabled(if: Shell.bash.isThere))
  func bashSyntax() throws {
    let script = ferry.completionScript(for: .bash, asking: "words --")
    #expect(try Shell.bash.output(["-n"], input: script) == "")
  }

  @Test("zsh accepts its script without a message", .enabled(if: Shell.zsh.isThere))
  func zshSyntax() throws {
    let script = ferry.completionScript(for: .zsh, asking: "words --")
    #expect(try Shell.zsh.output(["-n"], input: script) == "")
  }

  @Test("fish accepts its script without a message", .enabled(if: Shell.fish.isThere))
  func fishSyntax() throws {
    let script = ferry.completionScript(for: .fish, asking: "words --")
    #expect(try Shell.fish.output(["--no-execute"], input: script) == "")
  }

  /// The words as bash splits them, with `=` as a separate word, and as zsh and fish do.
  @Test(
    "the last word is completed",
    arguments: [
      (["c"], "cross"), ([""], "cross ledger fog help"), (["h"], "help"), (["fog", ""], ""),
      (["ledger", ""], "show repair"), (["-q", "ledger", "re"], "repair"),
      (["ledger", "show", ""], "monday sunday"), (["ledger", "show", "monday", ""], ""),
      (["--timeout", "5", "ledger", "s"], "show"),
      (["--timeout", "=", "5", "ledger", "s"], "show"), (["--timeout=5", "ledger", "s"], "show"),
      (["cross", "--dr"], "--dry-run"), (["ledger", "repair", "--y"], "--yes"),
      (
        ["fog", "-"], "-q --quiet --timeout --logbook -h --help"
      ),
      (["cross", "--course", "s"], "scenic"), (["cross", "--course", "="], "direct scenic"),
      (["cross", "--course", "=", "d"], "direct"), (["cross", "--course=d"], "--course=direct"),
      (["cross", "--logbook", "s"], ":files"), (["cross", "no"], ":files"),
      (["cross", "--crew", ""], ""), (["cross", "pier", "cow", ""], ":files"),
      (["cross", "--backup", "=", "x", "--cr"], "--crew"),
    ])
  func completed(words: [String], expected: String) {
    let found = Self.words(words).map { $0.prefix { $0 != "\t" } }
    #expect(found.joined(separator: " ") == expected)
  }

  @Test("a summary follows each command and option") func summaries() {
    #expect(Self.words(["ledger", "show", "--lo"]) == ["--logbook\tWhere the captain writes."])
    #expect(Self.words(["h"]) == ["help\tShow this help."])
  }

  @Test(
    "bash offers the answer of the program", .enabled(if: Shell.bash.isThere),
    arguments: [
      (["ferry", "cross", "--course", "="], "direct\\tx\\nscenic\\t", "direct scenic"),
      (["ferry", "cross", ""], ":files\\n", ""), (["ferry", "x"], "", ""),
    ])
  func bash(words: [String], answer: String, expected: String) throws {
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let script = """
      \(ferry.completionScript(for: .bash, asking: "words --"))
      ferry() { echo "$*" >&2; printf '\(answer)'; }
      exec 2>&1
      COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); COMPREPLY=()
      _ferry
      IFS=' '; echo "${COMPREPLY[*]}"
      """
    #expect(try Shell.bash.output(input: script) == expected + "\n")
  }

  @Test(
    "fish offers the answer of the program", .enabled(if: Shell.fish.isThere))
  func fish() throws {
    let script = """
      function ferry; printf 'cross\\tGoes.\\ncrawl\\t\\n'; end
      \(ferry.completionScript(for: .fish, asking: "words --"))
      complete -C 'ferry cr'
      """
    let words = try Shell.fish.output(["--no-config"], input: script).split(separator: "\n")
    #expect(Set(words) == ["cross\tGoes.", "crawl"])
  }

  @Test("the script for zsh matches the expected text") func zshScript() {
    #expect(
      Self.raft.completionScript(for: .zsh, asking: "words --") == #"""
        #compdef raft
        # Completions of raft for zsh.
        _raft() {
          local line
          local -a candidates
          for line in "${(@f)$(raft words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
            case $line in
            ':files') compset -P '-*='; _files; return ;;
            *$'\t'*) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            esac
          done
          _describe 'raft' candidates
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
      Self.raft.completionScript(for: .fish, asking: "words --") == #"""
        # Completions of raft for fish.
        function __raft
            set -l current (commandline -ct)
            for line in (raft words -- (commandline -opc)[2..-1] "$current" 2>/dev/null)
                if test "$line" = ':files'
                    __fish_complete_path "$current"
                else
                    echo $line
                end
            end
        end
        complete -c raft -f -a '(__raft)'

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
        .B \-\-to SEA
        Where. (one of \(ganorth\(ga, \(gasouth\(ga)

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

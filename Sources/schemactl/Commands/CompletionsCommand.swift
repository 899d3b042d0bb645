import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaLint
import SchemaSQLText

enum CompletionsCommand: Command {
  private static let shells = CompletingShell.allCases.map(\.rawValue) + ["man"]

  static let declaration = CommandDeclaration(
    name: "completions", summary: "Print shell completions or the manual page.",
    discussion: """
      Prints a script that completes commands, options, migration ids and git revisions in bash, \
      zsh or fish. With `man`, prints the manual page. The scripts call `schemactl completions \
      words`, which prints the words that complete a command line.
      """,
    examples: [
      "schemactl completions bash > ~/.local/share/bash-completion/completions/schemactl":
        "Install the completions for bash.",
      "schemactl completions man > ~/.local/share/man/man1/schemactl.1": "Install the manual page.",
    ],
    arguments: [
      .init(name: "SHELL", summary: "`bash`, `zsh`, `fish` or `man`.", completion: .words(shells)),
      .init(
        name: "WORD", summary: "After `words`: the words of an unfinished command line.",
        required: false, repeats: true),
    ], options: [.migrations, .config])

  static func readsConfiguration(_ invocation: Invocation) -> Bool { false }

  static func run(_ session: Session) throws -> ExitStatus {
    let words = session.arguments
    let shell = words.first ?? ""
    let program = CommandLineProgram.schemactl
    if shell == "words" {
      let lines = program.completions(of: Array(words.dropFirst())) { name in
        let folder = (try? session.configured().migrations).map(MigrationFolder.init)
        let values =
          switch name {
          case "revisions": try? GitRepository.revisions(of: "")
          case "releases": try? folder?.lock()?.releases.map(\.name)
          case "rules": Rule.all.map(\.id)
          default: try? folder?.ids()
          }
        return (values ?? []).map(\.visible)
      }
      for line in lines { session.output.write(line + "\n") }
      return .success
    }
    try session.require(words.count == 1, "unexpected argument `\(words[1].visible)`")
    if let shell = CompletingShell(rawValue: shell) {
      session.output.write(program.completionScript(for: shell, asking: "completions words --"))
    } else if shell == "man" {
      session.output.write(program.manPage())
    } else {
      // A typing error rarely changes the first letter. Other words probably name another shell.
      let near = suggestion(for: shell, among: shells.filter { $0.first == shell.first })
      throw session.usageError(
        "`\(shell.visible)` is not a supported shell",
        hint: near.map { "Did you mean `\($0)`?" } ?? "Use `bash`, `zsh`, `fish` or `man`.")
    }
    return .success
  }
}

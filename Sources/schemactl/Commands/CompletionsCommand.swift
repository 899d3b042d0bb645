import SchemaCommandLine
import SchemaHistory
import SchemaManifest
import SchemaSQLText

enum CompletionsCommand: Command {
  private static let shells = ["bash", "zsh", "fish", "man"]

  static let name = "completions"
  static let declaration = CommandDeclaration(
    name: name, summary: "Prints completions for a shell, or the manual page.",
    discussion: """
      Prints a script that lets bash, zsh or fish complete commands and options; for 'man' the \
      manual page of all commands.
      """,
    examples: [
      .init(
        "schemactl completions bash > ~/.local/share/bash-completion/completions/schemactl",
        "Installs them for bash."),
      .init(
        "schemactl completions fish > ~/.config/fish/completions/schemactl.fish",
        "Installs them for fish."),
      .init(
        "schemactl completions man > ~/.local/share/man/man1/schemactl.1",
        "Installs the manual page."),
    ],
    arguments: [
      ArgumentDeclaration(name: "SHELL", summary: "bash, zsh, fish or man.", offers: shells)
    ])

  static func run(_ session: Session) throws -> ExitStatus {
    let shell = session.invocation.arguments.first ?? ""
    let program = CommandLineProgram.schemactl
    switch shell {
    case "bash": session.output.write(program.bashCompletions())
    case "zsh": session.output.write(program.zshCompletions())
    case "fish": session.output.write(program.fishCompletions())
    case "man": session.output.write(program.manPage())
    default:
      // A slip keeps the first letter; another shell is not meant when it does not.
      let near = suggestion(for: shell, among: shells.filter { $0.first == shell.first })
      throw session.usageError(
        "there are no completions for '\(shell.visible)'",
        hint: near.map { "Did you mean '\($0)'?" }
          ?? "There are completions for bash, zsh and fish.")
    }
    return .success
  }
}

import CommandLineParsing
import ManifestFormat
import Migrating

enum CompletionsCommand: Command {
  private static let shells = ["bash", "zsh", "fish"]

  static let declaration = CommandDeclaration(
    name: "completions", summary: "Prints completions for a shell.",
    discussion: "Prints a script that lets bash, zsh or fish complete commands and options.",
    examples: [
      .init(
        "schemactl completions bash > ~/.local/share/bash-completion/completions/schemactl",
        "Installs them for bash."),
      .init(
        "schemactl completions fish > ~/.config/fish/completions/schemactl.fish",
        "Installs them for fish."),
    ],
    arguments: [ArgumentDeclaration(name: "SHELL", summary: "bash, zsh or fish.")])

  static func run(_ session: Session) throws -> ExitStatus {
    let shell = session.invocation.arguments.first ?? ""
    let program = CommandLineProgram.schemactl
    switch shell {
    case "bash": session.output.write(program.bashCompletions())
    case "zsh": session.output.write(program.zshCompletions())
    case "fish": session.output.write(program.fishCompletions())
    default:
      let near = suggestion(for: shell, among: shells).map { "Did you mean '\($0)'?" }
      throw session.usageError(
        "there are no completions for '\(shell.visible)'",
        hint: near ?? "There are completions for bash, zsh and fish.")
    }
    return .success
  }
}

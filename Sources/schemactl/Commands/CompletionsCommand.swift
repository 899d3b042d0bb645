import SchemaCommandLine
import SchemaHistory
import SchemaManifest
import SchemaSQLText

enum CompletionsCommand: Command {
  private static let shells = ["bash", "zsh", "fish", "man"]

  static let name = "completions"
  static let declaration = CommandDeclaration(
    name: name, summary: "Print shell completions or the manual page.",
    discussion: """
      Prints a script that completes commands, options, migration ids and git revisions in bash, zsh \
      or fish; with 'man', the manual page. The scripts call `schemactl completions ids`, which prints \
      the ids of the project's migrations.
      """,
    examples: [
      .init(
        "schemactl completions bash > ~/.local/share/bash-completion/completions/schemactl",
        "Install the completions for bash."),
      .init(
        "schemactl completions man > ~/.local/share/man/man1/schemactl.1",
        "Install the manual page."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "SHELL", summary: "bash, zsh, fish or man.", completion: .words(shells))
    ], options: [.migrations, .config])

  static func run(_ session: Session) throws -> ExitStatus {
    let shell = session.invocation.arguments.first ?? ""
    let program = CommandLineProgram.schemactl
    switch shell {
    case "bash": session.output.write(program.bashCompletions())
    case "zsh": session.output.write(program.zshCompletions())
    case "fish": session.output.write(program.fishCompletions())
    case "man": session.output.write(program.manPage())
    case "ids":
      let ids = try? MigrationFolder(Settings(session).migrations).ids()
      for id in ids ?? [] { session.output.write(id.visible + "\n") }
    default:
      // A typing error rarely changes the first letter. Other words name another shell.
      let near = suggestion(for: shell, among: shells.filter { $0.first == shell.first })
      throw session.usageError(
        "no completions exist for '\(shell.visible)'",
        hint: near.map { "Did you mean '\($0)'?" }
          ?? "Completions exist for bash, zsh and fish.")
    }
    return .success
  }
}

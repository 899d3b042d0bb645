/// A program's whole command line, declared: what parses it, explains it and completes it is made
/// from this value.
///
/// `--help`, `-h`, `--version` and the command `help` are there without being declared.
package struct CommandLineProgram: Sendable {
  /// What an exit code of the program means.
  package struct ExitCode: Sendable {
    package let code: Int
    package let meaning: String

    package init(_ code: Int, _ meaning: String) {
      self.code = code
      self.meaning = meaning
    }
  }

  package let name: String
  package let version: String
  /// One line, without the program's name.
  package let summary: String
  /// Paragraphs for the program's own help and the manual, with a blank line between them.
  package let discussion: String
  package let commands: [CommandDeclaration]
  /// Every command takes these besides its own.
  package let options: [OptionDeclaration]
  package let exitCodes: [ExitCode]
  package let seeAlso: [String]

  package init(
    name: String, version: String, summary: String, discussion: String = "",
    commands: [CommandDeclaration], options: [OptionDeclaration] = [],
    exitCodes: [ExitCode] = [], seeAlso: [String] = []
  ) {
    self.name = name
    self.version = version
    self.summary = summary
    self.discussion = discussion
    self.commands = commands
    self.options = options
    self.exitCodes = exitCodes
    self.seeAlso = seeAlso
  }

  /// The program itself, before any command is chosen.
  var root: CommandScope { CommandScope(program: self, path: []) }

  /// The program and every command and subcommand, parents first, hidden ones too.
  var scopes: [CommandScope] {
    func below(_ scope: CommandScope) -> [CommandScope] {
      [scope] + scope.subcommands.flatMap { below(scope.entering($0)) }
    }
    return below(root)
  }

  /// The scopes that help, completions and the manual tell of.
  var visibleScopes: [CommandScope] { scopes.filter { !$0.isHidden } }
}

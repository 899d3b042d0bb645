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

  /// A command by its name. Its declaration is made when it is needed: a program that starts for one
  /// command makes one.
  package struct Entry: Sendable {
    let name: String
    let declaration: @Sendable () -> CommandDeclaration

    package init(
      _ name: String, _ declaration: @autoclosure @escaping @Sendable () -> CommandDeclaration
    ) {
      self.name = name
      self.declaration = declaration
    }
  }

  package let name: String
  package let version: String
  /// One line, without the program's name.
  package let summary: String
  /// Paragraphs for the program's own help and the manual, with a blank line between them.
  package let discussion: String
  private let entries: [Entry]
  /// Every command takes these besides its own.
  package let options: [OptionDeclaration]
  package let exitCodes: [ExitCode]
  package let seeAlso: [String]

  package init(
    name: String, version: String, summary: String, discussion: String = "",
    commands: [Entry], options: [OptionDeclaration] = [],
    exitCodes: [ExitCode] = [], seeAlso: [String] = []
  ) {
    self.name = name
    self.version = version
    self.summary = summary
    self.discussion = discussion
    entries = commands
    self.options = options
    self.exitCodes = exitCodes
    self.seeAlso = seeAlso
  }

  package var commands: [CommandDeclaration] { entries.map { $0.declaration() } }

  func command(named name: String) -> CommandDeclaration? {
    entries.first { $0.name == name }?.declaration()
  }

  /// The program itself, before any command is chosen.
  var root: CommandScope { CommandScope(program: self, path: []) }

  /// The program and every command and subcommand, parents first, hidden ones too.
  var scopes: [CommandScope] { root.scopes }

  /// The scopes that help, completions and the manual tell of.
  var visibleScopes: [CommandScope] { scopes.filter { !$0.isHidden } }
}

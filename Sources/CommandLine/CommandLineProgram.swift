/// Declares a program's whole command line. The parser, the help and the completions use this
/// value.
///
/// Every program has `--help`, `-h`, `--version` and the command `help` without declaring them.
package struct CommandLineProgram: Sendable {
  /// The meaning of one of the program's exit codes.
  package struct ExitCode: Sendable {
    package let code: Int
    package let meaning: String

    package init(_ code: Int, _ meaning: String) {
      self.code = code
      self.meaning = meaning
    }
  }

  /// A command by its name. The declaration is created on demand: a program creates only that of
  /// the command that it runs.
  package struct Entry: Sendable {
    let name: String
    /// The heading under which help lists the command.
    let group: String
    let declaration: @Sendable () -> CommandDeclaration

    package init(
      _ name: String, group: String = "Commands",
      _ declaration: @autoclosure @escaping @Sendable () -> CommandDeclaration
    ) {
      self.name = name
      self.group = group
      self.declaration = declaration
    }
  }

  /// An entry of the manual page: a file or an environment variable.
  package struct ManualEntry: Sendable {
    package let name: String
    package let meaning: String

    package init(_ name: String, _ meaning: String) {
      self.name = name
      self.meaning = meaning
    }
  }

  package let name: String
  package let version: String
  /// One line, without the program's name.
  package let summary: String
  /// Paragraphs for the program's own help and the manual, with a blank line between them.
  package let discussion: String
  private let entries: [Entry]
  /// Options of every command.
  package let options: [OptionDeclaration]
  package let exitCodes: [ExitCode]
  package let seeAlso: [String]
  /// Hints for commands of other tools: a sentence for each name.
  package let hints: [String: String]
  /// Environment variables that do not belong to an option.
  package let environment: [ManualEntry]
  package let files: [ManualEntry]
  /// The date of this version, as `2026-11-22`.
  package let date: String

  package init(
    name: String, version: String, summary: String, discussion: String = "",
    commands: [Entry], options: [OptionDeclaration] = [],
    exitCodes: [ExitCode] = [], seeAlso: [String] = [], hints: [String: String] = [:],
    environment: [ManualEntry] = [], files: [ManualEntry] = [], date: String = ""
  ) {
    self.name = name
    self.version = version
    self.summary = summary
    self.discussion = discussion
    entries = commands
    self.options = options
    self.exitCodes = exitCodes
    self.seeAlso = seeAlso
    self.hints = hints
    self.environment = environment
    self.files = files
    self.date = date
  }

  func group(of command: String) -> String {
    entries.first { $0.name == command }?.group ?? ""
  }

  package var commands: [CommandDeclaration] { entries.map { $0.declaration() } }

  func command(named name: String) -> CommandDeclaration? {
    entries.first { $0.name == name }?.declaration()
  }

  /// The scope of the program itself.
  var root: CommandScope { CommandScope(program: self, path: []) }

  /// The scopes of the program and of every command and subcommand, parents first, including hidden
  /// ones.
  var scopes: [CommandScope] { root.scopes }

  /// The scopes that help, completions and the manual include.
  var visibleScopes: [CommandScope] { scopes.filter { !$0.isHidden } }
}

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
  /// The commands under the headings of help.
  let groups: [(name: String, commands: [CommandDeclaration])]
  package let exitCodes: [ExitCode]
  /// Hints for commands of other tools: a sentence for each name.
  package let hints: [String: String]
  /// Environment variables that do not belong to an option.
  package let environment: [ManualEntry]
  package let files: [ManualEntry]
  /// The date of this version, as `2026-11-22`.
  package let date: String

  package init(
    name: String, version: String, summary: String, discussion: String = "",
    groups: [(name: String, commands: [CommandDeclaration])], exitCodes: [ExitCode] = [],
    hints: [String: String] = [:],
    environment: [ManualEntry] = [], files: [ManualEntry] = [], date: String = ""
  ) {
    self.name = name
    self.version = version
    self.summary = summary
    self.discussion = discussion
    self.groups = groups
    self.exitCodes = exitCodes
    self.hints = hints
    self.environment = environment
    self.files = files
    self.date = date
  }

  package var commands: [CommandDeclaration] { groups.flatMap(\.commands) }

  /// The scope of the program itself.
  var root: CommandScope { CommandScope(program: self, path: []) }

  /// The scopes of the program and of every command and subcommand, parents first.
  var scopes: [CommandScope] { root.scopes }
}

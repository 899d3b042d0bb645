/// Declares a program's whole command line. The parser, the help and the completions use this
/// value.
///
/// Every program has `--help`, `-h`, `--version` and the command `help` without declaring them.
package struct CommandLineProgram: Sendable {
  package let name: String
  package let version: String
  /// One line, without the program's name.
  package let summary: String
  /// Paragraphs for the program's own help and the manual, with a blank line between them.
  package let discussion: String
  /// The commands under the headings of help.
  let groups: [(name: String, commands: [CommandDeclaration])]
  package let exitCodes: [HelpEntry]
  /// Hints for commands of other tools: a sentence for each name.
  package let hints: [String: String]
  /// Environment variables that do not belong to an option.
  package let environment: [HelpEntry]
  package let files: [HelpEntry]
  /// The date of this version, as `2026-11-22`.
  package let date: String

  package init(
    name: String, version: String, summary: String, discussion: String = "",
    groups: [(name: String, commands: [CommandDeclaration])], exitCodes: [HelpEntry] = [],
    hints: [String: String] = [:], environment: [HelpEntry] = [], files: [HelpEntry] = [],
    date: String = ""
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

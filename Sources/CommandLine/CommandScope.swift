/// A level of a program's command tree: the program, a command or a subcommand.
struct CommandScope {
  let program: CommandLineProgram
  /// The commands from the outermost to the innermost; empty for the program.
  let path: [CommandDeclaration]

  var command: CommandDeclaration? { path.last }
  var names: [String] { path.map(\.name) }
  var subcommands: [CommandDeclaration] { command?.subcommands ?? program.commands }
  var arguments: [ArgumentDeclaration] { command?.arguments ?? [] }
  var summary: String { command?.summary ?? program.summary }

  /// The words to type: `ferry ledger repair`.
  var invocation: String { ([program.name] + names).joined(separator: " ") }

  /// The usage line, including the program's name.
  var usage: String {
    guard subcommands.isEmpty else { return "\(invocation) COMMAND [OPTIONS]" }
    return ([invocation, "[OPTIONS]"] + arguments.map(\.usage)).joined(separator: " ")
  }

  var ownOptions: [OptionDeclaration] { command?.options ?? [] }
  var sharedOptions: [OptionDeclaration] { path.isEmpty ? [.help, .version] : [.help] }
  var options: [OptionDeclaration] { ownOptions + sharedOptions }

  func option(spelled spelling: String) -> OptionDeclaration? {
    options.first { $0.isSpelled(spelling) }
  }

  private func subcommand(named name: String) -> CommandDeclaration? {
    guard let command else { return program.command(named: name) }
    return command.subcommands.first { $0.name == name }
  }

  func entering(_ command: CommandDeclaration) -> CommandScope {
    CommandScope(program: program, path: path + [command])
  }

  /// This scope and its subcommands, parents first.
  var scopes: [CommandScope] { [self] + subcommands.flatMap { entering($0).scopes } }

  /// Returns the scope that the first words name, and the remaining words.
  func descending(_ words: ArraySlice<String>) -> (scope: CommandScope, rest: ArraySlice<String>) {
    guard let word = words.first, let command = subcommand(named: word) else {
      return (self, words)
    }
    return entering(command).descending(words.dropFirst())
  }
}

extension CommandLineProgram {
  /// The scope of the program itself.
  var root: CommandScope { CommandScope(program: self, path: []) }

  /// The scopes of the program and of every command and subcommand, parents first.
  var scopes: [CommandScope] { root.scopes }
}

extension [CommandScope] {
  /// The first of the options that share a spelling.
  func option(spelled spelling: String) -> OptionDeclaration? {
    lazy.compactMap { $0.option(spelled: spelling) }.first
  }
}

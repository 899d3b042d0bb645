import Foundation
import SchemaCommandLine
import SchemaTestPrograms
import Testing
import schemactl

@Test("the declared command line has no contradictions")
func declaredCommandLine() {
  #expect(CommandLineProgram.schemactl.problems.isEmpty)
}

@Test("every command has a summary, a description and an example")
func everyCommandIsExplained() {
  for command in CommandLineProgram.schemactl.commands {
    #expect(command.summary.hasSuffix("."), "\(command.name)")
    #expect(!command.discussion.isEmpty, "\(command.name)")
    #expect(!command.examples.isEmpty, "\(command.name)")
  }
}

private let pages = [""] + CommandLineProgram.schemactl.commands.map(\.name)

@Test("--help prints the golden file", arguments: pages)
func help(of command: String) throws {
  let folder = try WorkingFolder()
  let run =
    command.isEmpty ? try folder.expect(0, "--help") : try folder.expect(0, command, "--help")
  #expect(run.errors.isEmpty)
  try expectGolden(run.output, "help\(command.isEmpty ? "" : "-\(command)").txt")
}

@Test("help has at most 40 lines for the program and 60 for a command", arguments: pages)
func size(of command: String) throws {
  let help = CommandLineProgram.schemactl.helpText(for: command.isEmpty ? [] : [command])
  #expect(
    help.split(separator: "\n", omittingEmptySubsequences: false).count - 1
      <= (command.isEmpty ? 40 : 60))
}

@Test("there are at most 34 options, and each name has one meaning")
func options() {
  let counted = CommandLineProgram.schemactl.commands.filter {
    !["fleet", "report", "diagram", "bundle", "generate", "import", "squash"].contains($0.name)
  }
  let names = Set(counted.flatMap(\.options).map(\.name)).union(["help", "version"])
    .subtracting(["report"])
  #expect(names.count <= 34, "\(names.sorted())")
}

@Test(
  "a command of another tool is answered with the equivalent command",
  arguments: [
    ("up", "schemactl migrate"), ("apply", "schemactl migrate"), ("down", "schemactl restore"),
    ("rollback", "schemactl restore"), ("seed", "schemactl new"), ("dump", "schemactl inspect"),
    ("baseline", "schemactl init --from"), ("stamp", "schemactl adopt --to"),
    ("rebase", "schemactl renumber"), ("ledger", "schemactl status"),
  ])
func otherTools(word: String, command: String) throws {
  let run = try WorkingFolder().expect(64, word)
  #expect(run.errors.hasPrefix("schemactl: error: unknown command `\(word)`\nhelp: "))
  #expect(run.errors.contains("`\(command)"), "\(run.errors)")
}

/// The words that complete a command line.
private func completed(_ folder: WorkingFolder, _ words: String...) throws -> [Substring] {
  let run = try folder.start(["completions", "words", "--"] + words).wait()
  #expect(run.status == 0 && run.errors.isEmpty)
  return run.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
}

@Test("completions offer the ids of the migrations; without migrations, nothing")
func ids() throws {
  let folder = try WorkingFolder.of(["0001_notes": tableOfNotes, "0002_tags": tableOfNotes])
  #expect(try completed(folder, "migrate", "--to", "") == ["0001_notes", "0002_tags"])
  #expect(try completed(folder, "renumber", "0002") == ["0002_tags"])
  #expect(try completed(WorkingFolder(), "migrate", "--to", "").isEmpty)
}

@Test("completions offer the branches and tags of git; elsewhere, nothing")
func revisions() throws {
  let folder = try WorkingFolder.committed(["0001_notes": tableOfNotes])
  try folder.git("branch", "topic")
  #expect(try completed(folder, "verify", "--base", "to") == ["topic"])
  #expect(try completed(WorkingFolder(), "verify", "--base", "").isEmpty)
}

@Test("the manual page contains the date, the environment and the files")
func manualSections() throws {
  let page = try WorkingFolder().expect(0, "completions", "man").output
  #expect(page.hasPrefix(".TH SCHEMACTL 1 \"20"))
  for section in ["ENVIRONMENT", "FILES", "EXIT STATUS"] {
    #expect(page.contains("\n.SH \(section)\n"))
  }
  #expect(page.contains(".B SCHEMACTL_DATABASE") && page.contains(".B NO_COLOR"))
}

@Test("`help COMMAND` is `COMMAND --help`, and no arguments are `--help`")
func otherWaysToHelp() throws {
  let folder = try WorkingFolder()
  #expect(
    try folder.expect(0, "help", "plan").output == folder.expect(0, "plan", "--help").output)
  #expect(try folder.expect(0).output == folder.expect(0, "--help").output)
}

@Test("--version prints one line")
func version() throws {
  let run = try WorkingFolder().expect(0, "--version")
  #expect(run.output == "schemactl \(CommandLineProgram.schemactl.version)\n")
}

@Test("completions contain every command")
func everyCommand() throws {
  let names = CommandLineProgram.schemactl.commands.map(\.name)
  #expect(try completed(WorkingFolder(), "").map(String.init) == names + ["help"])
}

@Test("the scripts ask schemactl", arguments: ["bash", "zsh", "fish"])
func scripts(shell: String) throws {
  let script = try WorkingFolder().expect(0, "completions", shell).output
  #expect(script.contains("(schemactl completions words -- "), "\(script)")
  try WorkingFolder().expect(64, "completions", shell, "more")
}

@Test("an unknown shell is refused with the nearest one")
func unknownShell() throws {
  let run = try WorkingFolder().expect(64, "completions", "zhs")
  #expect(run.errors.contains("Did you mean `zsh`?"))
}

@Test("no shell is suggested for a dissimilar name")
func otherShell() throws {
  let run = try WorkingFolder().expect(64, "completions", "tcsh")
  #expect(run.errors.contains("Use `bash`, `zsh`, `fish` or `man`."))
  #expect(!run.errors.contains("Did you mean"))
}

@Test("the manual page describes every command")
func manualPage() throws {
  let page = try WorkingFolder().expect(0, "completions", "man").output
  #expect(page.hasPrefix(".TH SCHEMACTL 1"))
  for command in CommandLineProgram.schemactl.commands {
    #expect(page.contains(".SS \(command.name)"))
  }
}

@Test("completions offer shells and rules")
func offers() throws {
  #expect(try completed(WorkingFolder(), "completions", "") == ["bash", "zsh", "fish", "man"])
  #expect(
    try completed(WorkingFolder(), "lint", "--explain", "drop-c")
      == ["drop-column", "drop-constraint"])
}

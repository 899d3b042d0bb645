import Foundation
import SchemaCommandLine
import SchemaTestSupport
import Testing
import schemactl

@Test("the declared command line contradicts itself nowhere")
func declaredCommandLine() {
  #expect(CommandLineProgram.schemactl.problems.isEmpty)
}

@Test("every command says what it is for, at length too, and shows an example")
func everyCommandIsExplained() {
  for command in CommandLineProgram.schemactl.commands {
    #expect(command.summary.hasSuffix("."), "\(command.name)")
    #expect(!command.discussion.isEmpty, "\(command.name)")
    #expect(!command.examples.isEmpty, "\(command.name)")
  }
}

private let pages = [""] + CommandLineProgram.schemactl.commands.map(\.name)

@Test("--help prints exactly what the golden file holds", arguments: pages)
func help(of command: String) throws {
  let folder = try WorkingFolder()
  let run =
    command.isEmpty ? try folder.expect(0, "--help") : try folder.expect(0, command, "--help")
  #expect(run.errors.isEmpty)
  try expectGolden(run.output, "help\(command.isEmpty ? "" : "-\(command)").txt")
}

@Test("`help COMMAND` is `COMMAND --help`, and no words at all are `--help`")
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

@Test("completions know every command", arguments: ["bash", "zsh", "fish"])
func completions(shell: String) throws {
  let script = try WorkingFolder().expect(0, "completions", shell).output
  for command in CommandLineProgram.schemactl.commands {
    #expect(script.contains(command.name))
  }
}

@Test("completions for another shell are refused with the nearest one")
func unknownShell() throws {
  let run = try WorkingFolder().expect(64, "completions", "zhs")
  #expect(run.errors.contains("Did you mean 'zsh'?"))
}

@Test("a shell that is none of them is not taken for one")
func otherShell() throws {
  let run = try WorkingFolder().expect(64, "completions", "tcsh")
  #expect(run.errors.contains("There are completions for bash, zsh and fish."))
  #expect(!run.errors.contains("Did you mean"))
}

@Test("the manual page tells of every command")
func manualPage() throws {
  let page = try WorkingFolder().expect(0, "completions", "man").output
  #expect(page.hasPrefix(".TH SCHEMACTL 1"))
  for command in CommandLineProgram.schemactl.commands {
    #expect(page.contains(".SS \(command.name)"))
  }
}

@Test("bash is offered the shells and the rules")
func offers() throws {
  let script = try WorkingFolder().expect(0, "completions", "bash").output
  #expect(script.contains("words='bash zsh fish man'"))
  #expect(
    script.contains(
      "'schemactl lint:--explain') COMPREPLY=($(compgen -W 'drop-column drop-constraint "))
}

/// Compares with a file of `Golden`; with UPDATE_GOLDEN=1 the file is written instead.
func expectGolden(
  _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Golden").appendingPathComponent(name)
  if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
    try Data(text.utf8).write(to: file)
  }
  let golden = (try? String(contentsOf: file, encoding: .utf8)) ?? "there is no \(name)"
  #expect(text == golden, sourceLocation: sourceLocation)
}

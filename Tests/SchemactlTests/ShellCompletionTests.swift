import Foundation
import SchemaTestPrograms
import Testing

#if os(Linux)
  /// A shell that loads the completions of schemactl from the file `completions`.
  struct CompletingShell: CustomTestStringConvertible {
    let name: String
    let arguments: [String]
    /// The file in the home folder that the shell reads at its start, and its text.
    let startFile: (name: String, text: String)

    static let all = [
      CompletingShell(
        name: "bash", arguments: ["--noprofile", "--rcfile", "start", "-i"],
        startFile: ("start", "PS1='ready> '; source completions\n")),
      CompletingShell(
        name: "zsh", arguments: ["-i"],
        startFile: (
          ".zshrc", "PS1='ready> '; autoload -Uz compinit; compinit -u; source completions\n"
        )),
      CompletingShell(
        name: "fish", arguments: ["--no-config", "--init-command", "source start"],
        startFile: ("start", "function fish_prompt; echo 'ready> '; end; source completions\n")),
    ].filter { shell in
      let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
      return folders.contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(shell.name)")
      }
    }

    var testDescription: String { name }

    /// The terminal's text after the line is typed and the tabulator pressed, up to `expected`.
    func text(after line: String, until expected: String, in folder: WorkingFolder) throws -> String
    {
      let script = try folder.expect(0, "completions", name).output
      try folder.write("completions", script)
      try folder.write(startFile.name, startFile.text)
      let terminal = try Terminal(columns: 120)
      // The leader of a new session gets the first terminal that it opens.
      let leader = #"exec timeout --foreground 60 "$@" < "$0" > "$0" 2>&1"#
      let path = ProcessInfo.processInfo.environment["PATH", default: ""]
      let child = try start(
        "/usr/bin/env",
        ["setsid", "--wait", "sh", "-c", leader, terminal.path, name] + arguments,
        in: folder.path,
        environment: [
          "HOME": folder.path, "ZDOTDIR": folder.path, "XDG_CONFIG_HOME": folder.path,
          "PATH": "\(programs.path):\(path)", "TERM": "xterm",
        ])
      terminal.read(until: "ready>")
      terminal.closeOnThisSide()
      terminal.write(line + "\t")
      let text = terminal.read(until: expected)
      // Closing the terminal ends the shell.
      terminal.write("\u{15}exit\n")
      _ = terminal.readToEnd()
      _ = try child.wait()
      return text
    }
  }

  @Suite("Completions in a terminal")
  struct ShellCompletionTests {
    @Test(
      "each shell completes ids, revisions and words", arguments: CompletingShell.all,
      [
        ("schemactl migrate --to 0002", "0002_tags"), ("schemactl check --base to", "topic"),
        ("schemactl schema m", "manifest"),
      ])
    func completes(shell: CompletingShell, typed: (line: String, expected: String)) throws {
      let folder = try WorkingFolder.committed(
        ["0001_notes": tableOfNotes, "0002_tags": manifest("CREATE TABLE tags (id)")])
      try folder.git("branch", "topic")
      let text = try shell.text(after: typed.line, until: typed.expected, in: folder)
      #expect(text.contains(typed.expected), "\(text)")
    }
  }
#endif

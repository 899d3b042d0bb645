import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// The text output of the commands, one golden file for each exit code, so that it can be reviewed
/// together.
@Suite("Messages of the commands")
struct CommandMessageTests {
  private static let usage = [
    "migrat", "version", "--json", "down", "migrate", "migrate --databas x",
    "migrate --timeout x --database x",
    "status extra --database x", "migrate --database app.sqlite --reset-drafts --frozen",
    "migrate --database app.sqlite --backup bk", "report --format json",
    "plan --sql --on-copy", "lint --fix --on-copy", "lint --explain drop-colum",
    "lint --write-baseline", "inspect --write",
    "diff --to 1", "diff --to 1 app.sqlite app.sqlite", "new !", "new x --rename a=b",
    "new x --from migrations --rename a", "freeze --reason x", "freeze --accept 1 --release 2",
    "freeze --accept 1", "freeze --accept 99 --reason x", "freeze --release a/b", "renumber",
    "check --base -x", "schema x",
    "repair 1 guess --reason x --database app.sqlite", "repair 1 applied --database app.sqlite",
    "repair 7 applied --reason x --database app.sqlite",
    "lint --profile none", "completions zhs", "completions tcsh", "status --database :memory:",
  ]

  /// Lint and `check` have golden files of their own.
  private static let documents =
    Document.all.filter { document in
      !["lint", "check"].contains { document.command.hasPrefix($0) }
        && document.command != "freeze"
    } + usage.map { Document(64, .pending, $0) }

  @Test(
    "messages match the golden files", arguments: Set(documents.map(\.status)).sorted())
  func golden(status: Int32) throws {
    var text = ""
    var seen: Set<String> = []
    for document in Self.documents where document.status == status {
      guard seen.insert("\(document.scene) \(document.command)").inserted else { continue }
      let words = document.command.split(separator: " ").map(String.init)
      let run = try document.scene.folder().start(words).wait()
      #expect(run.status == status, "\(document): \(run.output)\(run.errors)")
      text += shown(run, document.command, "\(document.scene)")
    }
    try expectGolden(text, "messages-\(status).txt")
  }

  @Test("messages about a busy database match the golden file")
  func busy() throws {
    let folder = try Scene.pending.folder()
    let writer = try folder.connection()
    try writer.execute("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
    var text = ""
    for command in ["migrate --backup", "plan --on-copy", "status"] {
      let words = command.split(separator: " ").map(String.init)
      let run = try folder.start(words + ["--database", "app.sqlite", "--timeout", "0"]).wait()
      #expect(run.status == 75, "\(command): \(run.output)\(run.errors)")
      text += shown(run, command, "another connection holds an exclusive lock")
    }
    try writer.execute("ROLLBACK")
    try expectGolden(text, "messages-75.txt")
  }

  @Test(
    "messages about missing permissions match the golden file",
    .enabled(if: geteuid() == 0, "needs root, to be somebody else"))
  func forbidden() throws {
    let folder = try Scene.pending.folder()
    try folder.setMode(0o755, of: "")
    try folder.setMode(0o600, of: "app.sqlite")
    var text = ""
    for command in [
      "migrate --database app.sqlite", "status --database app.sqlite",
      "migrate --database new.sqlite", "freeze", "new x", "init --migrations db --profile local",
    ] {
      let words = command.split(separator: " ").map(String.init)
      let run = try folder.start(words, asStranger: true).wait()
      #expect(run.status == 77, "\(command): \(run.output)\(run.errors)")
      text += shown(run, command, "another user")
    }
    try expectGolden(text, "messages-77.txt")
  }

  #if os(Linux)
    @Test("messages about an interruption match the golden file")
    func interrupted() throws {
      var text = ""
      for command in ["migrate --database app.sqlite", "verify", "lint"] {
        let folder = try WorkingFolder.endlessHistory()
        let child = try folder.start(command.split(separator: " ").map(String.init))
        try waitUntil { child.takes(SIGINT) || !child.isRunning }
        child.send(SIGINT)
        let run = try child.wait()
        #expect(run.status == 130, "\(command): \(run.output)\(run.errors)")
        text += shown(run, command, "a replay that does not end")
      }
      try expectGolden(text, "messages-130.txt")
    }
  #endif

  private func shown(_ run: Finished, _ command: String, _ scene: String) -> String {
    // A schema or an explanation is not a message.
    let output = run.output.split(separator: "\n", omittingEmptySubsequences: false)
    let lines = output.count > 45 ? output.prefix(12) + ["[and so on]", ""] : output[...]
    return "$ schemactl \(command)   # \(scene)\n"
      + steady(run.errors + lines.joined(separator: "\n")) + "\n"
  }

  /// Replaces parts that differ between two runs.
  private func steady(_ text: String) -> String {
    text.replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/, with: "TIME")
      .replacing(/[0-9]{8}T[0-9]{6}Z/, with: "TIME")
      .replacing(/\b[0-9.]+ (ms|s|kB)\b/) { "N \($0.output.1)" }
  }
}

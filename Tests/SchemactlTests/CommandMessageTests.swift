import Foundation
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
    "completions zhs", "completions tcsh", "status --database :memory:",
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
      // A schema or an explanation is not a message.
      let output = run.output.split(separator: "\n", omittingEmptySubsequences: false)
      let shown = output.count > 45 ? output.prefix(12) + ["[and so on]", ""] : output[...]
      text += "$ schemactl \(document.command)   # \(document.scene)\n"
      text += steady(run.errors + shown.joined(separator: "\n")) + "\n"
    }
    try expectGolden(text, "messages-\(status).txt")
  }

  /// Replaces parts that differ between two runs.
  private func steady(_ text: String) -> String {
    text.replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/, with: "TIME")
      .replacing(/[0-9]{8}T[0-9]{6}Z/, with: "TIME")
      .replacing(/\b[0-9.]+ (ms|s|kB)\b/) { "N \($0.output.1)" }
  }
}

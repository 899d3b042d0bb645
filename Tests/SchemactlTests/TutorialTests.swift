import Foundation
import SchemaTestPrograms
import Testing

/// A page with a tutorial. Its `yaml` blocks are files, named by a comment in their first line.
/// Its `console` blocks are commands after `$ `, followed by their output.
private struct Tutorial {
  private let lines: [String]

  init(_ text: String) { lines = text.components(separatedBy: "\n") }

  /// The page with the current output of each command.
  func followed(in folder: WorkingFolder) throws -> String {
    var written: [String] = []
    var rest = lines[...]
    while let line = rest.popFirst() {
      written.append(line)
      guard line == "```yaml" || line == "```console" else { continue }
      let block = Array(rest.prefix { $0 != "```" })
      rest = rest.dropFirst(block.count)
      if line == "```yaml" {
        try write(block, in: folder)
        written += block
      } else {
        written += try run(block, in: folder)
      }
    }
    return written.joined(separator: "\n")
  }

  private func write(_ block: [String], in folder: WorkingFolder) throws {
    let name = try #require(block.first?.hasPrefix("# ") == true ? block.first?.dropFirst(2) : nil)
    try folder.write(String(name), block.joined(separator: "\n") + "\n")
  }

  private func run(_ block: [String], in folder: WorkingFolder) throws -> [String] {
    var written: [String] = []
    var rest = block[...]
    while let line = rest.popFirst() {
      written.append(line)
      let command = try #require(line.hasPrefix("$ ") ? line.dropFirst(2) : nil, "\(line)")
      let expected = Array(rest.prefix { !$0.hasPrefix("$ ") })
      rest = rest.dropFirst(expected.count)
      let run = try bash("{ \(command)\n} 2>&1", in: folder.path, Self.environment)
      var output = run.output.components(separatedBy: "\n")
      while output.last?.isEmpty == true { output.removeLast() }
      if run.status != 0 { output.append("(exit code \(run.status))") }
      // Parts that differ between runs stay as on the page.
      written += output.map(Self.lasting) == expected.map(Self.lasting) ? expected : output
    }
    return written
  }

  private static let environment = [
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.invalid", "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.invalid", "LC_ALL": "C",
  ]

  /// Replaces times, sizes and commits.
  private static func lasting(_ line: String) -> String {
    line.replacing(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/, with: "TIME")
      .replacing(/\d{8}T\d{6}Z/, with: "TIME")
      .replacing(/git checkout [0-9a-f]+/, with: "git checkout COMMIT")
      .replacing(/\d+(\.\d+)? (ms|s|kB|KB|MB|bytes)\b/, with: "N")
  }
}

@Suite("The tutorial")
struct TutorialTests {
  @Test("each command prints the output on the page", arguments: ["docs/tutorial.md", "README.md"])
  func tutorial(path: String) throws {
    let file = repository.appendingPathComponent(path)
    let page = try String(contentsOf: file, encoding: .utf8)
    let folder = try WorkingFolder()
    let followed = try Tutorial(page).followed(in: folder)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
      try Data(followed.utf8).write(to: file)
    }
    #expect(
      followed == page, "regenerate it: UPDATE_GOLDEN=1 swift test --filter TutorialTests")
  }
}

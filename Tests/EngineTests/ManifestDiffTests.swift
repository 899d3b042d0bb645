import Foundation
import SchemaAuthoring
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaSQLText
import Testing

@Suite("Differences of edits")
struct ManifestDiffTests {
  /// Paths of the migrations directory in the repository.
  static let folders = ["migrations", "", "a b/it's \"quoted\"/Übung 💾", "deep/er/down"]

  @Test("an edit is shown as git's diff, with the difference of the schemas", arguments: folders)
  func shown(folder: String) throws {
    let sandbox = try GitSandbox.frozen(folder: folder)
    try sandbox.edit("0002_priority.yaml", "type: INTEGER", "type: REAL")
    let report = try sandbox.verify()
    #expect(report.state("0002_priority") == .edited)
    let diff = try #require(report.edits["0002_priority"])
    let commit = try sandbox.git("rev-parse", "HEAD")
    #expect(diff.problem == nil)
    #expect(diff.commit == commit)
    #expect(diff.restore?.hasPrefix("git checkout \(commit.prefix(10)) -- ") == true)
    #expect(
      diff.text.contains(
        "\n-  - add_column: { table: lists, column: { name: priority, type: INTEGER } }\n"))
    #expect(
      diff.text.contains(
        "\n+  - add_column: { table: lists, column: { name: priority, type: REAL } }\n"))
    #expect(diff.schema.map(\.object) == ["lists.priority"])
  }

  @Test("the frozen text is found after any number of edits and commits")
  func older() throws {
    let sandbox = try GitSandbox.frozen()
    let commit = try sandbox.git("rev-parse", "HEAD")
    for name in ["low", "middle", "high"] {
      try sandbox.write("0002_priority", GitSandbox.priority.replacing("urgent", with: name))
      try sandbox.commit(name)
    }
    let diff = try #require(try sandbox.verify().edits["0002_priority"])
    #expect(diff.commit == commit)
    #expect(diff.text.contains("= 'urgent'"))
    #expect(diff.text.contains("= 'high'"))
    #expect(diff.schema.isEmpty)
  }

  @Test("several edits are shown, each compared on top of the others' frozen forms")
  func several() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.edit("0001_lists.yaml", "type: TEXT", "type: BLOB")
    try sandbox.edit("0002_priority.yaml", "type: INTEGER", "type: REAL")
    let report = try sandbox.verify()
    for (id, object) in [("0001_lists", "lists.title"), ("0002_priority", "lists.priority")] {
      let diff = try #require(report.edits[id])
      #expect(diff.schema.map(\.object) == [object])
      #expect(diff.text.components(separatedBy: "diff --git").count == 2)
      #expect(diff.text.contains("/\(id).yaml"))
    }
  }

  @Test("an edit of a manifest that a squash replaces is shown by a command")
  func squashed() throws {
    let sandbox = try GitSandbox.frozen()
    let commit = try sandbox.git("rev-parse", "--short=10", "HEAD")
    try sandbox.project().squashing(through: "2").write()
    try sandbox.commit("squash")
    try sandbox.edit("squashed/0002_priority.yaml", "INTEGER", "REAL")
    let report = try sandbox.verify()
    #expect(report.state("0002_priority") == .edited)
    let command = report.edits["0002_priority"]?.problem ?? ""
    #expect(
      command.hasPrefix("`git diff '\(commit):migrations/0002_priority.yaml' -- "), "\(command)")
    #expect(command.hasSuffix("/squashed/0002_priority.yaml` shows the edit"), "\(command)")
    #expect(report.edits.count == 1)
  }

  @Test("of edits since different commits, one is shown, and the others get a command")
  func severalCommits() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.edit("0001_lists.yaml", "TEXT", "BLOB")
    try sandbox.commit("edit")
    try sandbox.git("rm", "--quiet", "--cached", "migrations/0002_priority.yaml")
    try sandbox.git("commit", "--quiet", "--amend", "-m", "edit, and forget")
    try sandbox.git("add", "--all")
    try sandbox.git("commit", "--quiet", "-m", "again")
    try sandbox.edit("0002_priority.yaml", "INTEGER", "REAL")
    let report = try sandbox.verify()
    let diffs = report.edits.values
    #expect(diffs.count == 2)
    #expect(diffs.filter { !$0.text.isEmpty }.count + diffs.filter { $0.problem != nil }.count == 2)
    for diff in diffs where diff.problem != nil {
      #expect(diff.problem?.hasPrefix("`git diff ") == true)
    }
  }

  @Test("the frozen text is found under the former name of the folder")
  func renamed() throws {
    let sandbox = try GitSandbox.frozen(folder: "db/migrations")
    try sandbox.git("tag", "v1")
    try sandbox.git("mv", "db/migrations", "moved")
    let moved = sandbox.top + "/moved"
    try GitSandbox.lists.replacing("TEXT", with: "BLOB").write(
      toFile: moved + "/0001_lists.yaml", atomically: true, encoding: .utf8)
    try sandbox.git("add", "--all")
    try sandbox.git("commit", "--quiet", "-m", "move")
    let diff = try #require(try sandbox.verify(folder: moved).edits["0001_lists"])
    #expect(diff.restore?.contains(":db/migrations/0001_lists.yaml") == true)
    #expect(diff.schema.map(\.object) == ["lists.title"])
  }

  @Test("a text that was committed with CRLF is the frozen one")
  func lineEnds() throws {
    let sandbox = try GitSandbox(commits: false)
    try sandbox.write("0001_lists", GitSandbox.lists.replacing("\n", with: "\r\n"))
    try sandbox.freeze()
    try sandbox.commit("windows")
    try sandbox.write("0001_lists", GitSandbox.lists.replacing("TEXT", with: "BLOB"))
    #expect(try sandbox.verify().edits["0001_lists"]?.schema.map(\.object) == ["lists.title"])
  }

  @Test("a removed manifest is shown with the command that restores it")
  func removed() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.remove("0002_priority.yaml")
    let report = try sandbox.verify()
    #expect(report.state("0002_priority") == .removed)
    let diff = try #require(report.edits["0002_priority"])
    #expect(diff.restore?.hasPrefix("git checkout ") == true)
    #expect(diff.schema.map(\.object) == ["lists.priority"])
  }

  @Test("a frozen text without a revision is reported as missing")
  func neverCommitted() throws {
    let sandbox = try GitSandbox(commits: true)
    try sandbox.write("0001_lists", GitSandbox.lists)
    try sandbox.freeze()
    try sandbox.edit("0001_lists.yaml", "TEXT", "BLOB")
    let report = try sandbox.verify()
    #expect(report.status == .brokenHistory)
    #expect(report.edits["0001_lists"]?.problem == "no revision has the frozen text")

    try sandbox.commit("edit")
    let shallow = try sandbox.clone(depth: 1)
    #expect(try shallow.verify().edits["0001_lists"]?.problem?.contains("shallow") == true)
  }

  @Test("a frozen form that cannot be replayed is reported, and the texts are shown")
  func unplayable() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.edit("0002_priority.yaml", "table: lists", "table: nowhere")
    let diff = try #require(try sandbox.verify().edits["0002_priority"])
    #expect(diff.text.contains("nowhere"))
    #expect(diff.problem?.contains("schemactl did not compare the schemas") == true)
  }
}

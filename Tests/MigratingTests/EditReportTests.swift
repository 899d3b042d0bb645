import Foundation
import History
import ManifestFormat
import Migrating
import SQLText
import TestSupport
import Testing

@Suite("Edits, shown from git")
struct EditReportTests {
  /// Where a repository may lie and what it may be.
  static let folders = ["migrations", "", "a b/it's \"quoted\"/Übung 💾", "deep/er/down"]

  @Test("an edit is shown with its keys, the commit and what devices have", arguments: folders)
  func shown(folder: String) throws {
    let sandbox = try GitSandbox.frozen(folder: folder)
    try sandbox.edit(
      "0002_priority.yaml", "type: INTEGER", "type: INTEGER, not_null: true, default: 1")
    let report = try sandbox.verify()
    #expect(report.status == .brokenHistory)
    #expect(report.state("0002_priority") == .edited)
    let edit = try #require(report.edits["0002_priority"])
    #expect(edit.problem == nil)
    #expect(edit.commit == (try sandbox.git("rev-parse", "HEAD")))
    let change = try #require(edit.changes.first)
    #expect(edit.changes.count == 1)
    #expect(change.name == "add_column")
    #expect(change.newNumber == 1)
    #expect(change.position?.line == 2)
    #expect(change.keys.map(\.path).sorted() == ["column.default", "column.not_null"])
    #expect(
      edit.devices == """
        a device that ran the frozen form has lists.priority as `"priority" INTEGER`, a new install \
        would have `"priority" INTEGER NOT NULL DEFAULT 1`. Nothing will ever bring them together
        """)
    let commit = try #require(edit.commit).prefix(10)
    #expect(report.detail("0002_priority").contains("git checkout \(commit) -- "))
  }

  @Test("the frozen text is found however often the file was edited and committed since")
  func older() throws {
    let sandbox = try GitSandbox.frozen()
    let commit = try sandbox.git("rev-parse", "HEAD")
    for name in ["low", "middle", "high"] {
      try sandbox.write("0002_priority", GitSandbox.priority.replacing("urgent", with: name))
      try sandbox.commit(name)
    }
    let edit = try #require(try sandbox.verify().edits["0002_priority"])
    #expect(edit.commit == commit)
    #expect(edit.changes.first?.keys.first?.path == "where")
    #expect(edit.devices.contains("the rows are not"))
  }

  @Test("the frozen text is found under the folder's former name, and on a branch that was merged")
  func renamed() throws {
    let sandbox = try GitSandbox.frozen(folder: "db/migrations")
    try sandbox.git("mv", "db/migrations", "moved")
    try sandbox.commit("move")
    try sandbox.git("checkout", "--quiet", "-b", "feature")
    let moved = sandbox.top + "/moved"
    try "operations: []\n".write(
      toFile: moved + "/0002_priority.yaml", atomically: true, encoding: .utf8)
    let edit = try #require(try sandbox.verify(folder: moved).edits["0002_priority"])
    #expect(edit.problem == nil)
    #expect(edit.changes.map(\.kind) == [.removed, .removed])
    #expect(edit.restore?.contains("git checkout") == true)
  }

  @Test("a text that was committed with CRLF is the frozen one")
  func lineEnds() throws {
    let sandbox = try GitSandbox(commits: false)
    try sandbox.write("0001_lists", GitSandbox.lists.replacing("\n", with: "\r\n"))
    try sandbox.freeze()
    try sandbox.commit("windows")
    try sandbox.write("0001_lists", GitSandbox.lists.replacing("TEXT", with: "BLOB"))
    let edit = try #require(try sandbox.verify().edits["0001_lists"])
    #expect(edit.changes.first?.keys.map(\.path) == ["columns.title.type"])
  }

  @Test("a removed manifest is shown with what it did, and what new installs would lack")
  func removed() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.remove("0002_priority.yaml")
    let report = try sandbox.verify()
    #expect(report.state("0002_priority") == .removed)
    let edit = try #require(report.edits["0002_priority"])
    #expect(edit.changes.map(\.name) == ["add_column", "update"])
    #expect(edit.devices.contains("a device that ran the frozen form has column lists.priority"))
    #expect(edit.restore.map { report.detail("0002_priority").contains($0) } == true)
  }

  @Test("later migrations are replayed too: they may end the difference, or fail on it")
  func later() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.write("0003_gone", "operations:\n- drop_table: { table: lists }\n")
    try sandbox.edit("0002_priority.yaml", "type: INTEGER", "type: TEXT")
    #expect(
      try sandbox.verify().edits["0002_priority"]?.devices.contains("make the schemas equal again")
        == true)

    try sandbox.write("0002_priority", GitSandbox.priority.replacing("priority", with: "rank"))
    try sandbox.write("0003_gone", "operations:\n- drop_column: { table: lists, column: rank }\n")
    #expect(
      try sandbox.verify().edits["0002_priority"]?.devices.contains(
        "On such a device 0003_gone would then fail") == true)
  }

  @Test("an edit of what is only checked changes neither schema nor rows")
  func checks() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.edit(
      "0002_priority.yaml", "operations:",
      "before:\n  - { query: SELECT 1, equals: 1 }\noperations:")
    let edit = try #require(try sandbox.verify().edits["0002_priority"])
    #expect(edit.changes.map(\.name) == ["before"])
    #expect(edit.devices.contains("only what is checked"))
  }

  @Test(
    "an edit by which no row can differ is said to be one",
    arguments: [
      ("index: { name: i,", "index: { unique: false, name: i,"),
      ("operations:", "foreign_keys: deferred\noperations:"),
      (
        "  - create_index: { name: i, table: lists, columns: [priority] }\n"
          + "  - update: { table: lists, set: { priority: \"2\" }, all: true }\n",
        "  - update: { table: lists, set: { priority: \"2\" }, all: true }\n"
          + "  - create_index: { name: i, table: lists, columns: [priority] }\n"
      ),
    ])
  func sameRows(old: String, new: String) throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.write(
      "0003_index",
      """
      operations:
        - create_index: { name: i, table: lists, columns: [priority] }
        - update: { table: lists, set: { priority: "2" }, all: true }

      """)
    try sandbox.freeze()
    try sandbox.commit("index")
    try sandbox.edit("0003_index.yaml", old, new)
    let devices = try #require(try sandbox.verify().edits["0003_index"]).devices
    #expect(devices.contains("the schema and the rows are the same either way"))
    try sandbox.edit("0003_index.yaml", "\"2\"", "\"3\"")
    #expect(
      try sandbox.verify().edits["0003_index"]?.devices.contains("the rows are not") == true)
  }

  @Test("several edits are compared after the same beginning, each by itself")
  func several() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.edit("0001_lists.yaml", "type: TEXT", "type: BLOB")
    try sandbox.edit("0002_priority.yaml", "type: INTEGER", "type: REAL")
    let report = try sandbox.verify()
    #expect(report.edits["0001_lists"]?.devices.contains("lists.title") == true)
    #expect(report.edits["0002_priority"]?.devices.contains("lists.title") == false)
    #expect(report.edits["0002_priority"]?.devices.contains("lists.priority") == true)
  }

  @Test("a frozen text that was never committed cannot be shown, which is said and changes nothing")
  func neverCommitted() throws {
    let sandbox = try GitSandbox(commits: true)
    try sandbox.write("0001_lists", GitSandbox.lists)
    try sandbox.freeze()
    try sandbox.edit("0001_lists.yaml", "TEXT", "BLOB")
    let report = try sandbox.verify()
    #expect(report.status == .brokenHistory)
    #expect(report.edits["0001_lists"]?.problem == "no commit holds the frozen text")
    #expect(report.says("it is not in the last commit yet"))
  }
}

@Suite("Where git is asked")
struct GitPlaceTests {
  private func expectShown(_ report: VerifyReport) {
    #expect(report.status == .brokenHistory)
    #expect(report.edits["0001_lists"]?.problem == nil)
    #expect(report.edits["0001_lists"]?.changes.count == 1)
  }

  @Test("a linked worktree with a detached head shows the edit")
  func worktree() throws {
    let sandbox = try GitSandbox.frozen()
    let linked = try sandbox.linkedWorktree()
    try linked.edit("0001_lists.yaml", "TEXT", "BLOB")
    expectShown(try linked.verify())
  }

  @Test("a folder behind a link shows the edit")
  func link() throws {
    let sandbox = try GitSandbox.frozen()
    let link = sandbox.top + "-link"
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: sandbox.path(""))
    defer { try? FileManager.default.removeItem(atPath: link) }
    try sandbox.edit("0001_lists.yaml", "TEXT", "BLOB")
    expectShown(try sandbox.verify(folder: link))
  }

  @Test("a submodule is asked itself, not the repository around it")
  func submodule() throws {
    let inner = try GitSandbox.frozen(folder: "")
    let outer = try GitSandbox()
    try outer.git("submodule", "--quiet", "add", "file://" + inner.top, "sub")
    try outer.commit("submodule")
    let folder = outer.top + "/sub"
    try GitSandbox.lists.replacing("TEXT", with: "BLOB")
      .write(toFile: folder + "/0001_lists.yaml", atomically: true, encoding: .utf8)
    expectShown(try outer.verify(folder: folder))
  }

  @Test("a shallow clone shows what its commits hold, and says that it is shallow otherwise")
  func shallow() throws {
    let sandbox = try GitSandbox.frozen()
    let fresh = try sandbox.clone(depth: 1)
    try fresh.edit("0001_lists.yaml", "TEXT", "BLOB")
    expectShown(try fresh.verify())

    try sandbox.edit("0001_lists.yaml", "TEXT", "BLOB")
    try sandbox.commit("edit")
    try FileManager.default.removeItem(atPath: fresh.top)
    let late = try sandbox.clone(depth: 1)
    let report = try late.verify()
    #expect(report.status == .brokenHistory)
    #expect(report.edits["0001_lists"]?.problem?.contains("the clone is shallow") == true)
  }

  @Test("a repository without a commit says so, and verifies")
  func noCommit() throws {
    let sandbox = try GitSandbox(commits: false)
    try sandbox.write("0001_lists", GitSandbox.lists)
    try sandbox.freeze()
    let report = try sandbox.verify(base: "main")
    #expect(report.status == .success)
    #expect(report.says("the repository has no commit yet"))
  }

  @Test("without a repository the lock is held against the files alone, and verify succeeds")
  func noRepository() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze()
    let report = try sandbox.project().verify(
      database: nil, timeout: 1, versionControl: .git(base: "main"))
    #expect(report.status == .success)
    #expect(report.says("nothing was held against main"))
    #expect(report.says("is in no git repository"))
    #expect(throws: GitError.self) { try GitRepository(containing: sandbox.folder) }
  }

  @Test("a repository inside a bare one's folder is no working tree")
  func bare() throws {
    let sandbox = try GitSandbox.frozen()
    let error = #expect(throws: GitError.self) {
      try GitRepository(containing: sandbox.top + "/.git")
    }
    #expect(error?.kind == .notARepository)
  }

  @Test("a text of many megabytes and many objects are read whole")
  func large() throws {
    let sandbox = try GitSandbox(commits: false)
    for number in 1...300 {
      try sandbox.write("\(number)_t", creating("t\(number)"))
    }
    try sandbox.write(
      "301_large", "# \(String(repeating: "x", count: 5_000_000))\noperations: []\n")
    try sandbox.commit("all")
    let git = try GitRepository(containing: sandbox.path(""))
    let merged = try MergedHistory(
      branch: "main", commit: try #require(try git.commit("main")), in: git)
    #expect(merged.migrations.count == 301)
    #expect(
      merged.migrations.map(\.rawDigest) == (try sandbox.project().migrations.map(\.rawDigest)))
  }
}

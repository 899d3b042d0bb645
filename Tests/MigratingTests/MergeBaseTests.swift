import Foundation
import History
import Migrating
import SQLText
import TestSupport
import Testing

@Suite("verify --base")
struct MergeBaseTests {
  /// On main: two frozen migrations and a merged draft; now on a branch of it.
  private func branch() throws -> GitSandbox {
    let sandbox = try GitSandbox.frozen()
    try sandbox.write("0003_merged", creating("merged"))
    try sandbox.commit("merged")
    try sandbox.git("checkout", "--quiet", "-b", "feature")
    return sandbox
  }

  @Test("a branch that only adds a migration at the end is verified")
  func added() throws {
    let sandbox = try branch()
    try sandbox.write("0004_new", creating("new"))
    try sandbox.commit("new")
    let report = try sandbox.verify(base: "main")
    #expect(report.status == .success)
    #expect(report.notes.isEmpty)
    #expect(report.history.map(\.state) == [.unchanged, .unchanged, .draft, .draft])
  }

  @Test("what is merged may not change, be removed or renamed, though it is a draft")
  func changed() throws {
    let sandbox = try branch()
    #expect(try sandbox.verify(base: "main").status == .success)
    try sandbox.edit("0003_merged.yaml", "(x)", "(y)")
    #expect(try sandbox.verify().status == .success)
    let edited = try sandbox.verify(base: "main")
    #expect(edited.status == .brokenHistory)
    #expect(edited.state("0003_merged") == .edited)
    #expect(edited.detail("0003_merged").contains("merged into main"))
    #expect(!edited.detail("0003_merged").contains("--accept"))
    let edit = try #require(edited.edits["0003_merged"])
    #expect(edit.changes.count == 1)
    #expect(edit.devices.contains("a device that ran the merged form has"))

    try sandbox.git("mv", "-f", "migrations/0003_merged.yaml", "migrations/0004_merged.yaml")
    try sandbox.write("0004_merged", creating("merged"))
    let renamed = try sandbox.verify(base: "main")
    #expect(renamed.history.map(\.state) == [.unchanged, .unchanged, .renamed])

    try sandbox.remove("0004_merged.yaml")
    let removed = try sandbox.verify(base: "main")
    #expect(removed.status == .brokenHistory)
    #expect(removed.state("0003_merged") == .removed)
    #expect(removed.edits["0003_merged"]?.changes.map(\.kind) == [.removed])
  }

  @Test("a comment in what is merged is cosmetic, CRLF a matter of line ends")
  func cosmetic() throws {
    let sandbox = try branch()
    try sandbox.write("0003_merged", "# a comment\n" + creating("merged"))
    let report = try sandbox.verify(base: "main")
    #expect(report.status == .success)
    #expect(report.state("0003_merged") == .cosmetic)
    try sandbox.write("0003_merged", creating("merged").replacing("\n", with: "\r\n"))
    #expect(try sandbox.verify(base: "main").state("0003_merged") == .lineEnds)
  }

  @Test("a new migration that comes before a merged one is named with the command that moves it")
  func inserted() throws {
    let sandbox = try branch()
    try sandbox.git("mv", "migrations/0003_merged.yaml", "migrations/0005_merged.yaml")
    try sandbox.commit("renumber")
    try sandbox.git("branch", "--force", "main")
    try sandbox.write("0004_new", creating("new"))
    #expect(try sandbox.verify().status == .success)
    let report = try sandbox.verify(base: "main")
    #expect(report.status == .brokenHistory)
    #expect(report.state("0004_new") == .inserted)
    #expect(report.detail("0004_new").contains("schemactl rebase 0004_new"))
  }

  @Test("freezing what was merged otherwise does not make it right")
  func frozenAfterEdit() throws {
    let sandbox = try branch()
    try sandbox.edit("0003_merged.yaml", "(x)", "(y)")
    try sandbox.freeze()
    try sandbox.commit("freeze")
    #expect(try sandbox.verify().status == .success)
    let report = try sandbox.verify(base: "main")
    #expect(report.state("0003_merged") == .edited)
    #expect(report.history.first { $0.id == "0003_merged" }?.frozen == true)
  }

  /// A branch with `new`, and main, which has got `mine` since.
  private func parted(_ new: String, _ mine: String) throws -> GitSandbox {
    let sandbox = try branch()
    try sandbox.git("checkout", "--quiet", "main")
    try sandbox.write(mine, creating("mine"))
    try sandbox.commit("mine")
    try sandbox.git("checkout", "--quiet", "feature")
    try sandbox.write(new, creating("new"))
    try sandbox.commit("new")
    return sandbox
  }

  @Test("what only this branch has is free, and what main has got since is told")
  func free() throws {
    let sandbox = try parted("0005_new", "0004_mine")
    try sandbox.edit("0005_new.yaml", "(x)", "(y)")
    try sandbox.commit("other")
    for base in ["main", try sandbox.git("rev-parse", "main")] {
      let report = try sandbox.verify(base: base)
      #expect(report.status == .success)
      #expect(report.says("\(base) has 1 migration that this branch does not have (0004_mine)"))
    }
    // The same manifest on both is nothing new.
    try sandbox.write("0004_mine", creating("mine"))
    #expect(try sandbox.verify(base: "main").status == .success)
    #expect(try sandbox.verify(base: "main").notes.isEmpty)
  }

  @Test(
    "what would not come last once main is merged is found while the branch is behind",
    arguments: [
      ("0004_new", "0004_mine", "with the same number"), ("0004_new", "0005_mine", "before it"),
    ])
  func behind(new: String, mine: String, text: String) throws {
    let sandbox = try parted(new, mine)
    let report = try sandbox.verify(base: "main")
    #expect(report.status == .brokenHistory)
    #expect(report.state(new) == .inserted)
    #expect(report.detail(new).contains("main has \(mine) by now"))
    #expect(report.detail(new).contains(text))
    #expect(report.detail(new).contains("schemactl rebase \(new)"))
    try sandbox.freeze()
    try sandbox.commit("freeze")
    let frozen = try sandbox.verify(base: "main")
    #expect(frozen.state(new) == .inserted)
    #expect(frozen.detail(new).contains("git checkout main -- "))
  }

  @Test("what main has got since is found in a folder that this branch has moved")
  func behindAndMoved() throws {
    let sandbox = try parted("0004_new", "0004_mine")
    try sandbox.git("mv", "migrations", "db")
    try sandbox.commit("move")
    let report = try sandbox.verify(base: "main", folder: sandbox.top + "/db")
    #expect(report.state("0004_new") == .inserted)
  }

  @Test("a lock that was cut short, rewritten or removed since is found, with and without --base")
  func lock() throws {
    let sandbox = try branch()
    let text = try String(contentsOfFile: sandbox.path("history.lock"), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let short = (lines.dropLast(2) + [""]).joined(separator: "\n")
    try Data(short.utf8).write(to: URL(fileURLWithPath: sandbox.path("history.lock")))
    for base in [nil, "main"] {
      let report = try sandbox.verify(base: base)
      #expect(report.status == .brokenHistory)
      #expect(report.lock.first?.kind == .truncated)
      #expect(report.lock.first?.message.contains("0002_priority") == true)
    }
    // A commit of it is past for the last commit, and not for the base.
    try sandbox.commit("cut short")
    let alone = try sandbox.verify()
    #expect(alone.status == .success)
    #expect(alone.says("whether a commit rewrote it"))
    #expect(try sandbox.verify(base: "main").lock.map(\.kind) == [.truncated])

    try sandbox.edit("0001_lists.yaml", "TEXT", "BLOB")
    try sandbox.remove("history.lock")
    try sandbox.freeze(release: "1.0")
    try sandbox.commit("rewritten as a whole")
    #expect(try sandbox.verify().status == .success)
    let rewritten = try sandbox.verify(base: "main")
    #expect(rewritten.lock.map(\.kind) == [.rewritten])
    #expect(rewritten.lock.first?.message.contains("0001_lists with other digests") == true)
    #expect(rewritten.status == .brokenHistory)

    try sandbox.remove("history.lock")
    #expect(try sandbox.verify().lock.map(\.kind) == [.removed])
    try sandbox.commit("removed")
    #expect(try sandbox.verify(base: "main").lock.map(\.kind) == [.removed])
  }

  @Test("a freeze that is not merged may be taken back")
  func takenBack() throws {
    let sandbox = try branch()
    try sandbox.freeze(release: "1.1")
    try sandbox.commit("freeze")
    try sandbox.git("checkout", "--quiet", "main", "--", "migrations/history.lock")
    #expect(try sandbox.verify().lock.map(\.kind) == [.truncated])
    #expect(try sandbox.verify(base: "main").status == .success)
  }

  @Test("what this branch froze before main's last one is named with the way to move it")
  func frozenTooEarly() throws {
    let sandbox = try branch()
    try sandbox.git("checkout", "--quiet", "main")
    try sandbox.git("mv", "migrations/0003_merged.yaml", "migrations/0005_merged.yaml")
    try sandbox.commit("renumber")
    try sandbox.git("checkout", "--quiet", "-B", "feature")
    try sandbox.write("0004_new", creating("new"))
    try sandbox.freeze()
    try sandbox.commit("freeze")
    let report = try sandbox.verify(base: "main")
    #expect(report.state("0004_new") == .inserted)
    #expect(report.detail("0004_new").contains("git checkout "))
    #expect(report.detail("0004_new").contains("schemactl rebase 0004_new"))
  }

  @Test("moving the folder does not make what is merged free")
  func movedFolder() throws {
    let sandbox = try branch()
    try sandbox.git("mv", "migrations", "db")
    try sandbox.commit("move")
    let folder = sandbox.top + "/db"
    #expect(try sandbox.verify(base: "main", folder: folder).status == .success)
    try creating("other").write(
      toFile: folder + "/0003_merged.yaml", atomically: true, encoding: .utf8)
    let report = try sandbox.verify(base: "main", folder: folder)
    #expect(report.state("0003_merged") == .edited)
    #expect(report.says("was migrations/"))
    let commit = try sandbox.git("rev-parse", "main").prefix(10)
    #expect(
      report.detail("0003_merged").contains(
        "`git show '\(commit):migrations/0003_merged.yaml' > "
          + "\(folder)/0003_merged.yaml`"))
    try FileManager.default.removeItem(atPath: folder + "/history.lock")
    #expect(
      try sandbox.verify(base: "main", folder: folder).lock.first?.message.contains(
        "`git show '\(commit):migrations/history.lock' > \(folder)/history.lock`") == true)
  }

  @Test("a copy of the folder is not what is merged, which is said")
  func copiedFolder() throws {
    let sandbox = try branch()
    let copy = sandbox.top + "/copy"
    try FileManager.default.copyItem(atPath: sandbox.path(""), toPath: copy)
    let report = try sandbox.verify(base: "main", folder: copy)
    #expect(report.status == .success)
    #expect(report.says("is in main, so nothing was held against it"))
    #expect(report.says("the lock there is migrations/history.lock"))
    #expect(try !sandbox.verify(base: "main").says("the lock there"))
  }

  @Test("a base that is not there is 66, in a shallow clone too, which is told what to fetch")
  func unknown() throws {
    let sandbox = try branch()
    for base in ["nowhere", "-x", "main:migrations"] {
      let failure = #expect(throws: Failure.self) { try sandbox.verify(base: base) }
      #expect(failure?.status == .notFound)
      #expect(failure?.message.contains("shallow") == false)
    }
    try sandbox.commit("second")
    let shallow = try sandbox.clone(depth: 1)
    for (base, fetched) in [("nowhere", "nowhere"), ("origin/main", "main")] {
      let failure = #expect(throws: Failure.self) { try shallow.verify(base: base) }
      #expect(failure?.status == .notFound)
      #expect(failure?.message.contains("`git fetch origin \(fetched)`") == true)
    }
    try shallow.git("fetch", "--quiet", "origin", "main")
    #expect(try shallow.verify(base: "FETCH_HEAD").status == .success)
  }

  @Test("a shallow clone that has the base, but not where HEAD left it, only says so")
  func shallow() throws {
    let sandbox = try branch()
    try sandbox.commit("second")
    try sandbox.git("checkout", "--quiet", "main")
    try sandbox.commit("third")
    try sandbox.git("checkout", "--quiet", "feature")
    let shallow = try sandbox.clone(depth: 1)
    try shallow.git("fetch", "--quiet", "--depth", "1", "origin", "main")
    let report = try shallow.verify(base: "FETCH_HEAD")
    #expect(report.status == .success)
    #expect(report.says("the clone is shallow"))
  }

  @Test("a base without a commit in common is 66")
  func unrelated() throws {
    let sandbox = try branch()
    try sandbox.git("checkout", "--quiet", "--orphan", "other")
    try sandbox.commit("other")
    let failure = #expect(throws: Failure.self) { try sandbox.verify(base: "main") }
    #expect(failure?.status == .notFound)
  }

  @Test("a merged manifest that could not be read may be repaired")
  func unreadable() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.write("0003_bad", "operations: 7\n")
    try sandbox.commit("bad")
    try sandbox.git("checkout", "--quiet", "-b", "feature")
    try sandbox.write("0003_bad", creating("good"))
    let report = try sandbox.verify(base: "main")
    #expect(report.status == .success)
    #expect(report.says("0003_bad.yaml cannot be read"))
  }
}

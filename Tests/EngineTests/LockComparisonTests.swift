import Foundation
import SchemaAuthoring
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLText
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("The lock compared with other revisions")
struct LockComparisonTests {
  /// Returns a repository with two frozen migrations on main, on a new branch.
  private func branch() throws -> GitSandbox {
    let sandbox = try GitSandbox.frozen()
    try sandbox.git("checkout", "--quiet", "-b", "feature")
    return sandbox
  }

  private func lockText(_ sandbox: GitSandbox) throws -> String {
    try String(contentsOfFile: sandbox.path("history.lock"), encoding: .utf8)
  }

  private func writeLock(_ sandbox: GitSandbox, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: sandbox.path("history.lock")))
  }

  @Test("a branch that adds and freezes migrations is valid")
  func added() throws {
    let sandbox = try branch()
    try sandbox.write("0003_new", creating("new"))
    try sandbox.freeze(release: "1.1")
    try sandbox.commit("new")
    let report = try sandbox.verify(base: "main")
    #expect(report.status == .success)
    #expect(report.notes.isEmpty)
  }

  @Test("a merged draft remains editable")
  func draft() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.write("0003_merged", creating("merged"))
    try sandbox.commit("merged")
    try sandbox.git("checkout", "--quiet", "-b", "feature")
    try sandbox.edit("0003_merged.yaml", "(x)", "(y)")
    #expect(try sandbox.verify(base: "main").status == .success)
  }

  @Test("a missing line is found by comparison with HEAD, the merge base and every tag")
  func missing() throws {
    let sandbox = try branch()
    let lines = try lockText(sandbox).split(separator: "\n")
    try writeLock(sandbox, lines.dropLast().joined(separator: "\n") + "\n")
    let uncommitted = try sandbox.verify()
    #expect(uncommitted.status == .brokenHistory)
    #expect(uncommitted.lock.map(\.kind) == [.missing])
    #expect(uncommitted.lock.first?.older == "HEAD")
    #expect(uncommitted.lock.first?.message.contains("`0002_priority`") == true)
    try sandbox.commit("cut short")
    #expect(try sandbox.verify().lock.isEmpty)
    #expect(try sandbox.verify(base: "main").lock.map(\.kind) == [.missing])
    try sandbox.git("tag", "v1", "main")
    #expect(try sandbox.verify().lock.map(\.older) == ["tag v1"])
  }

  @Test(
    "another release, canonical or raw digest is found; the fingerprint is not compared",
    arguments: ["release", "canonical", "raw", "schema", "sqlite"])
  func changed(field: String) throws {
    let sandbox = try branch()
    let replacement =
      ["release": "9", "sqlite": "3.1.1"][field] ?? String(repeating: "0", count: 64)
    let text = try lockText(sandbox)
    let start = try #require(text.firstRange(of: "\(field)=")).upperBound
    let end = text[start...].firstIndex { $0 == " " || $0 == "\n" } ?? text.endIndex
    try writeLock(sandbox, text.replacingCharacters(in: start..<end, with: replacement))
    let isIdentity = !["schema", "sqlite"].contains(field)
    for base in [nil, "main"] {
      let report = try sandbox.verify(base: base)
      #expect(report.lock.map(\.kind) == (isIdentity ? [.changed] : []))
      #expect((report.status == .brokenHistory) == isIdentity)
    }
  }

  @Test("only accepting an edit makes it valid, and the acceptance remains recorded")
  func accepted() throws {
    let sandbox = try branch()
    try sandbox.git("tag", "v1")
    for type in ["BLOB", "REAL"] {
      try sandbox.write("0001_lists", GitSandbox.lists.replacing("TEXT", with: type))
      #expect(try sandbox.verify(base: "main").status == .brokenHistory)
      let (lock, _) = try sandbox.project().accepting("0001_lists", reason: "to \(type)")
      try sandbox.project().folder.write(lock)
      let report = try sandbox.verify(base: "main")
      #expect(report.status == .success)
      #expect(report.state("0001_lists") == .accepted)
      #expect(report.detail("0001_lists").hasSuffix("to \(type)"))
      try sandbox.commit("accept \(type)")
    }
    // Removing the record of an accepted edit is detected.
    try writeLock(
      sandbox, try lockText(sandbox).replacing(#/ accepted=\w+ reason="to BLOB"/#, with: ""))
    let report = try sandbox.verify()
    #expect(report.lock.first?.message.contains("a missing `accepted=`") == true)
  }

  @Test("a line that a merge lost is to be put back")
  func lostInMerge() throws {
    let sandbox = try branch()
    try sandbox.write("0003_ours", creating("ours"))
    try sandbox.freeze(release: "1.1")
    try sandbox.commit("ours")
    try sandbox.git("checkout", "--quiet", "main")
    try sandbox.write("0004_theirs", creating("theirs"))
    try sandbox.freeze(release: "1.2")
    try sandbox.commit("theirs")
    try sandbox.git("merge", "--quiet", "--strategy-option", "ours", "feature", mayFail: true)
    let lost = try lockText(sandbox).split(separator: "\n").filter { !$0.hasPrefix("0003_") }
    try writeLock(sandbox, lost.joined(separator: "\n") + "\n")
    try sandbox.commit("bad merge")
    let report = try sandbox.verify()
    #expect(report.state("0003_ours") == .inserted)
    #expect(
      report.detail("0003_ours").contains(
        "If it was ever frozen, restore its line (`git log -p -- "),
      "\(report.detail("0003_ours"))")
  }

  @Test("a deleted lock is found")
  func removed() throws {
    let sandbox = try branch()
    try sandbox.remove("history.lock")
    #expect(try sandbox.verify().lock.map(\.kind) == [.removed])
    try sandbox.commit("removed")
    #expect(try sandbox.verify().lock.isEmpty)
    #expect(try sandbox.verify(base: "main").lock.map(\.kind) == [.removed])
  }

  @Test("an uncommitted freeze may be undone, a tagged one may not")
  func takenBack() throws {
    let sandbox = try branch()
    try sandbox.write("0003_new", creating("new"))
    try sandbox.freeze(release: "1.1")
    try sandbox.git("checkout", "--quiet", "--", "migrations/history.lock")
    #expect(try sandbox.verify(base: "main").status == .success)
    try sandbox.freeze(release: "1.1")
    try sandbox.commit("freeze")
    try sandbox.git("tag", "-m", "annotated", "v1.1")
    try sandbox.git("checkout", "--quiet", "main", "--", "migrations/history.lock")
    try sandbox.commit("taken back")
    #expect(try sandbox.verify(base: "main").lock.map(\.older) == ["tag v1.1"])
  }

  @Test("version 1 of another revision's lock is compared, too")
  func version1() throws {
    let sandbox = try branch()
    let text = try lockText(sandbox)
    let chain = " chain=\(String(repeating: "0", count: 64))"
    let old = text.split(separator: "\n").dropFirst().map { line in
      line.replacing(/(canonical=\w+) (raw=\w+)/) { "\($0.output.2) \($0.output.1)" } + chain
    }
    try writeLock(
      sandbox,
      "# schemactl history lock, version 1\n# a\n# b\n" + old.joined(separator: "\n") + "\n")
    try sandbox.commit("version 1")
    try writeLock(sandbox, text)
    #expect(try sandbox.verify().status == .success)
    try writeLock(sandbox, text.replacing("release=1.0", with: "release=1.1"))
    #expect(try sandbox.verify().lock.map(\.kind) == [.changed, .changed])
  }

  @Test("a lock that moved to another directory is found in that revision's tree")
  func movedFolder() throws {
    let sandbox = try branch()
    try sandbox.git("tag", "v1")
    try sandbox.git("mv", "migrations", "db")
    try sandbox.commit("move")
    let folder = sandbox.top + "/db"
    #expect(try sandbox.verify(base: "main", folder: folder).status == .success)
    let text = try String(contentsOfFile: folder + "/history.lock", encoding: .utf8)
    try text.replacing("release=1.0", with: "release=2").write(
      toFile: folder + "/history.lock", atomically: true, encoding: .utf8)
    try sandbox.commit("rewrite")
    let report = try sandbox.verify(folder: folder)
    #expect(report.lock.map(\.older) == ["tag v1", "tag v1"])
    #expect(report.lock.first?.message.contains("refs/tags/v1:migrations/history.lock") == true)
    try FileManager.default.removeItem(atPath: folder + "/history.lock")
    #expect(
      try sandbox.verify(base: "main", folder: folder).lock.map(\.kind) == [.removed])
  }

  @Test("a lock that moved behind a symbolic link is found, too")
  func movedBehindLink() throws {
    let sandbox = try branch()
    try sandbox.git("tag", "v1")
    try sandbox.git("mv", "migrations", "real")
    try FileManager.default.createSymbolicLink(
      atPath: sandbox.top + "/migrations", withDestinationPath: "real")
    let lock = sandbox.top + "/real/history.lock"
    let text = try String(contentsOfFile: lock, encoding: .utf8)
    try text.replacing("release=1.0", with: "release=2").write(
      toFile: lock, atomically: true, encoding: .utf8)
    #expect(try sandbox.verify().lock.map(\.older).contains("HEAD"))
    try sandbox.commit("link")
    #expect(try sandbox.verify().lock.map(\.older) == ["tag v1", "tag v1"])
  }

  @Test("a lock that is a symbolic link is refused, because git does not follow it")
  func linkedWorkingLock() throws {
    let sandbox = try GitSandbox.frozen()
    try FileManager.default.moveItem(
      atPath: sandbox.path("history.lock"), toPath: sandbox.top + "/shared.lock")
    try FileManager.default.createSymbolicLink(
      atPath: sandbox.path("history.lock"), withDestinationPath: "../shared.lock")
    let failure = #expect(throws: Failure.self) { try sandbox.verify() }
    #expect(failure?.status == .brokenHistory)
    #expect(failure?.message.contains("is a symbolic link") == true)
  }

  @Test("the lock of another history is ignored")
  func otherHistory() throws {
    let sandbox = try branch()
    try sandbox.git("tag", "v1")
    let other = sandbox.top + "/other"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    try creating("other").write(
      toFile: other + "/0001_other.yaml", atomically: true, encoding: .utf8)
    let project = try sandbox.project(other)
    try project.folder.write(try project.freezing(release: "1.0", through: nil).lock)
    // The second time, the first history is deleted.
    for _ in 0..<2 {
      let report = try sandbox.verify(base: "main", folder: other)
      #expect(report.status == .success)
      #expect(report.says("no other revision has it"))
      try? FileManager.default.removeItem(atPath: sandbox.path(""))
    }
  }

  @Test(
    "66: an impossible comparison with a base", arguments: ["nowhere", "-x", "main:a"])
  func unknown(base: String) throws {
    let sandbox = try branch()
    let failure = #expect(throws: Failure.self) { try sandbox.verify(base: base) }
    #expect(failure?.status == .notFound)
    #expect(failure?.message.contains("shallow") == false)
  }

  @Test("66: a shallow clone without the base or the merge base, with the commits to fetch")
  func shallow() throws {
    let sandbox = try branch()
    try sandbox.commit("second")
    try sandbox.git("checkout", "--quiet", "main")
    try sandbox.commit("third")
    try sandbox.git("checkout", "--quiet", "feature")
    let shallow = try sandbox.clone(depth: 1)
    let missing = #expect(throws: Failure.self) { try shallow.verify(base: "origin/main") }
    #expect(missing?.status == .notFound)
    #expect(missing?.message.contains("`git fetch origin main`") == true)
    try shallow.git("fetch", "--quiet", "--depth", "1", "origin", "main")
    let parted = #expect(throws: Failure.self) { try shallow.verify(base: "FETCH_HEAD") }
    #expect(parted?.status == .notFound)
    #expect(parted?.message.contains("the clone is shallow") == true)
    #expect(try shallow.verify().status == .success)
    try shallow.git("fetch", "--quiet", "--unshallow", "origin", "main", "feature")
    #expect(try shallow.verify(base: "FETCH_HEAD").status == .success)
  }

  @Test("without a repository, a commit or a common ancestor, only a base is an error (66)")
  func incomparable() throws {
    let plain = try Sandbox.reminders()
    try plain.freeze()
    let empty = try GitSandbox(commits: false)
    try empty.write("0001_lists", GitSandbox.lists)
    try empty.freeze()
    let unrelated = try branch()
    try unrelated.git("checkout", "--quiet", "--orphan", "other")
    try unrelated.commit("other")
    for project in [try plain.project(), try empty.project(), try unrelated.project()] {
      let failure = #expect(throws: Failure.self) {
        try project.verify(nil, base: "main")
      }
      #expect(failure?.status == .notFound)
      let report = try project.verify(nil, base: nil)
      #expect(report.status == .success)
    }
    #expect(
      try plain.project().verify(nil, base: nil)
        .says("is not in a git repository"))
  }

  @Test("an unreadable lock of a tag is a note, that of the base an error (66)")
  func unreadable() throws {
    let sandbox = try branch()
    let text = try lockText(sandbox)
    try writeLock(sandbox, "broken\n")
    try sandbox.commit("broken")
    try sandbox.git("tag", "bad")
    try writeLock(sandbox, text)
    let report = try sandbox.verify()
    #expect(report.status == .success)
    #expect(report.says("cannot read the `history.lock` of tag bad"))
    #expect(#expect(throws: Failure.self) { try sandbox.verify(base: "bad") }?.status == .notFound)
  }
}

@Suite("Repositories")
struct GitPlaceTests {
  @Test("a symbolic link in place of another revision's lock is an error and not ignored")
  func linkedLock() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.git("tag", "v1")
    let lock = sandbox.path("history.lock")
    let text = try Data(contentsOf: URL(fileURLWithPath: lock))
    try FileManager.default.moveItem(atPath: lock, toPath: sandbox.top + "/shared.lock")
    try FileManager.default.createSymbolicLink(
      atPath: lock, withDestinationPath: "../shared.lock")
    try sandbox.commit("link")
    try FileManager.default.removeItem(atPath: lock)
    try text.write(to: URL(fileURLWithPath: lock))
    #expect(try sandbox.verify().says("cannot read the `history.lock` of HEAD"))
    #expect(#expect(throws: Failure.self) { try sandbox.verify(base: "HEAD") }?.status == .notFound)
  }

  @Test("locks that moved twice, below odd names, are found in tags")
  func movedTwice() throws {
    let sandbox = try GitSandbox.frozen()
    try sandbox.git("tag", "v1")
    var place = "migrations"
    for (tag, next) in [("v2", "a b/été"), ("v3", "now")] {
      try FileManager.default.createDirectory(
        atPath: (sandbox.top + "/" + next as NSString).deletingLastPathComponent,
        withIntermediateDirectories: true)
      try sandbox.git("mv", place, next)
      try sandbox.commit(next)
      try sandbox.git("tag", tag)
      place = next
    }
    let folder = sandbox.top + "/now"
    let lock = try #require(try sandbox.project(folder).lock)
    let others = try OtherRevisions(of: MigrationFolder(folder), lock: lock)
    #expect(others.problems.isEmpty)
    #expect(others.locks.map(\.name) == ["HEAD", "tag v1", "tag v2", "tag v3"])
    #expect(others.locks.map(\.folder) == ["now/", "migrations/", "a b/été/", "now/"])
  }

  @Test("the frozen text of an edit that was committed is found in an earlier commit")
  func committedEdit() throws {
    let sandbox = try GitSandbox.frozen()
    let frozen = try sandbox.git("rev-parse", "HEAD")
    try sandbox.edit("0001_lists.yaml", "TEXT", "BLOB")
    try sandbox.commit("edit")
    try sandbox.git("commit", "--quiet", "--allow-empty", "--message", "more")
    let report = try sandbox.verify()
    expectShown(report)
    #expect(frozen.hasPrefix(report.edits["0001_lists"]?.commit ?? "none"))
  }

  private func expectShown(_ report: VerifyReport) {
    #expect(report.status == .brokenHistory)
    #expect(report.edits["0001_lists"]?.problem == nil)
    #expect(report.edits["0001_lists"]?.text.contains("BLOB") == true)
  }

  @Test("an edit is found in a linked worktree with a detached HEAD")
  func worktree() throws {
    let sandbox = try GitSandbox.frozen()
    let linked = try sandbox.linkedWorktree()
    try linked.edit("0001_lists.yaml", "TEXT", "BLOB")
    expectShown(try linked.verify())
  }

  @Test("an edit is found behind a link to the folder")
  func link() throws {
    let sandbox = try GitSandbox.frozen()
    let link = sandbox.top + "-link"
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: sandbox.path(""))
    defer { try? FileManager.default.removeItem(atPath: link) }
    try sandbox.edit("0001_lists.yaml", "TEXT", "BLOB")
    expectShown(try sandbox.verify(folder: link))
  }

  @Test("a submodule is compared with its own revisions")
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

  @Test("a bare repository is not a working tree")
  func bare() throws {
    let sandbox = try GitSandbox.frozen()
    let error = #expect(throws: Failure.self) {
      try GitRepository(containing: sandbox.top + "/.git")
    }
    #expect(error?.message.contains("is not in a working tree of git") == true)
  }

  @Test("hundreds of tags and a large lock are read completely")
  func large() throws {
    let sandbox = try GitSandbox(commits: false)
    var lock = HistoryLock()
    for number in 1...1000 {
      let digest = rawDigest(of: Array("\(number)".utf8))
      try lock.freeze(
        LockEntry(
          id: "\(number)_t", release: nil,
          digests: LockedDigests(raw: digest, canonical: digest, schema: digest, sqlite: "3.40.1")))
    }
    try sandbox.project().folder.write(lock)
    try sandbox.commit("all")
    for number in 0..<300 { try sandbox.git("update-ref", "refs/tags/t\(number)", "HEAD") }
    let others = try OtherRevisions(of: sandbox.project().folder, lock: lock)
    #expect(others.locks.count == 301)
    #expect(others.locks[0].lock == lock)
    #expect(Set(others.locks.map(\.content)).count == 1)
  }
}

import Foundation
import JSONSchemaChecking
import TestSupport
import Testing

private func creating(_ table: String) -> String {
  "operations:\n- sql: CREATE TABLE \(table) (x)\n"
}

@Suite("verify in a repository")
struct VerifyInRepositoryTests {
  private func edited() throws -> WorkingFolder {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
    try folder.write("migrations/0002_b.yaml", creating("b").replacing("(x)", with: "(x, y)"))
    return folder
  }

  @Test("an edit is shown under its migration, from wherever verify is run")
  func text() throws {
    let folder = try edited()
    let run = try folder.expect(2, "verify")
    let commit = try folder.git("rev-parse", "HEAD").prefix(10)
    #expect(
      run.output == """
        0002_b: edited
          it is not what was frozen for release 1.0; restore it from git (`git checkout \(commit) -- \
        migrations/0002_b.yaml`) and put the change into a new migration, or, if no device has run \
        it, accept the edit with `schemactl freeze --accept 0002_b --reason …`
          what changed since commit \(commit):
            changed: operation 1 sql (line 2)
              sql: CREATE TABLE b (x) → CREATE TABLE b (x, y)
          a device that ran the frozen form has no column b.y (`y`), a new install would. Nothing \
        will ever bring them together
        2 migrations: 1 unchanged, 1 edited.

        """)
    try folder.makeFolder("src")
    #expect(
      try folder.expect(2, "verify", "--migrations", "../migrations", in: "src").output
        .contains("CREATE TABLE b (x, y)"))
    try folder.git("checkout", "--quiet", String(commit), "--", "migrations/0002_b.yaml")
    try folder.expect(0, "verify")
  }

  #if os(Linux)
    @Test(
      "git that is ended in the middle has not said no: what could not be asked is said",
      arguments: ["ls-tree -z TIP", "cat-file", "rev-parse --verify --quiet HEAD", "merge-base"])
    func endedGit(words: String) throws {
      let folder = try WorkingFolder.committed(["0001_a": creating("a")])
      try folder.git("checkout", "--quiet", "-b", "feature")
      try folder.commit("ours")
      try folder.git("checkout", "--quiet", "main")
      try folder.write("migrations/0002_b.yaml", creating("b"))
      try folder.commit("theirs")
      let tip = try folder.git("rev-parse", "main").trimmingCharacters(in: .whitespacesAndNewlines)
      try folder.git("checkout", "--quiet", "feature")
      try folder.makeFolder("bin")
      try folder.write(
        "bin/git",
        """
        #!/bin/sh
        case "$*" in *"\(words.replacing("TIP", with: tip))"*) kill -9 $$;; esac
        PATH=${PATH#*:} exec git "$@"

        """)
      try folder.setMode(0o755, of: "bin/git")
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      let run = try folder.expect(
        0, "verify", "--base", "main", environment: ["PATH": folder.path("bin") + ":" + path])
      #expect(
        (run.output + run.errors).contains("git ended with status 137"),
        "\(run.output)\(run.errors)")
      #expect(!(run.output + run.errors).contains("no commit"), "\(run.errors)")
    }
  #endif

  @Test("the document of an edit fits its schema, and holds what the text says")
  func json() throws {
    let folder = try edited()
    let run = try folder.expect(2, "verify", "--format", "json")
    let schema = repository.appendingPathComponent("docs/json/verify.schema.json")
    let tree = try JSONTree(parsing: run.output)
    #expect(try SchemaChecker(contentsOf: schema, isClosed: true).problems(of: tree) == [])
    let history = try #require(try run.json()["history"] as? [[String: Any]])
    #expect(history[0]["edit"] is NSNull)
    let edit = try #require(history[1]["edit"] as? [String: Any])
    let operation = try #require((edit["operations"] as? [[String: Any]])?.first)
    #expect(operation["name"] as? String == "sql")
    #expect(operation["line"] as? Int == 2)
    #expect((edit["devices"] as? String)?.contains("b.y") == true)

    try folder.write("migrations/history.lock", "")
    try folder.remove("migrations/history.lock")
    let removed = try folder.expect(2, "verify", "--format", "json")
    let other = try JSONTree(parsing: removed.output)
    #expect(try SchemaChecker(contentsOf: schema, isClosed: true).problems(of: other) == [])
    let lock = try #require(try removed.json()["lock"] as? [[String: Any]])
    #expect(lock.map { $0["state"] as? String } == ["removed"])
  }

  @Test("without git, or with a repository of somebody else, the edit is found and not shown")
  func withoutGit() throws {
    let folder = try edited()
    let noGit = try folder.expect(2, "verify", environment: ["PATH": "/nowhere"])
    #expect(noGit.output.contains("the edit cannot be shown: git is not installed"))
    #expect(noGit.errors.contains("git is not installed"))
    let strange = try folder.expect(
      2, "verify", environment: ["GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"])
    #expect(strange.output.contains("safe.directory"))
    try folder.git("checkout", "--quiet", ".")
    let intact = try folder.expect(0, "verify", "--base", "main", environment: ["PATH": "/nowhere"])
    #expect(intact.errors.contains("nothing was held against main"))
  }

  @Test("what a git hook is given (GIT_DIR, GIT_INDEX_FILE) does not lead astray")
  func hook() throws {
    let folder = try edited()
    let run = try folder.expect(
      2, "verify", environment: ["GIT_DIR": ".git", "GIT_INDEX_FILE": "nowhere", "GIT_PREFIX": "x"])
    #expect(run.output.contains("what changed since commit"))
  }

  @Test("--base: a name that a tag and a branch share is 66, and their full names are not")
  func ambiguousBase() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    let first = try folder.git("rev-parse", "HEAD").prefix(40)
    try folder.commit("second")
    try folder.git("update-ref", "refs/remotes/origin/main", "HEAD")
    try folder.expect(0, "verify", "--base", "origin/main")
    // A tag, a branch, and a tag of the same commit, which may move tomorrow.
    for (ref, commit) in [
      ("refs/tags/origin/main", first), ("refs/heads/origin/main", first),
      ("refs/tags/origin/main", "HEAD"),
    ] {
      try folder.git("update-ref", ref, String(commit))
      for command in ["verify", "check"] {
        for revision in ["origin/main", "origin/main~0", "origin/main^{commit}"] {
          for format in ["text", "json", "github", "sarif"] {
            let run = try folder.expect(66, command, "--base", revision, "--format", format)
            #expect(
              (run.output + run.errors).contains("\(revision) is ambiguous in the repository"),
              "\(run.output)\(run.errors)")
            for name in [ref, "refs/remotes/origin/main"] {
              #expect((run.output + run.errors).contains("--base \(name)"))
            }
          }
        }
        try folder.expect(0, command, "--base", ref)
        try folder.expect(0, command, "--base", "refs/remotes/origin/main")
      }
      try folder.git("update-ref", "-d", ref)
    }
    let short = try #require(first.first)
    let run = try folder.run("verify", "--base", "\(first.prefix(4))")
    #expect(run.status == 0, "\(run.errors) \(short)")
  }

  @Test("--base: a base that is not there is 66, one that is no name 64, and main is held against")
  func base() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    try folder.expect(66, "verify", "--base", "nowhere")
    try folder.expect(64, "verify", "--base", "--upload-pack=x")
    try folder.write("migrations/0002_b.yaml", creating("b"))
    try folder.commit("merged")
    try folder.git("checkout", "--quiet", "-b", "feature")
    try folder.expect(0, "verify", "--base", "main")
    try folder.write("migrations/0002_b.yaml", creating("c"))
    try folder.expect(0, "verify")
    let run = try folder.expect(2, "verify", "--base", "main")
    #expect(run.output.contains("0002_b: edited"))
    #expect(run.output.contains("merged into main"))
  }
}

@Suite("freeze in a repository")
struct FreezeInRepositoryTests {
  @Test("an edit is accepted with a reason alone, and every verify shows it")
  func accept() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    let lock = try folder.text("migrations/history.lock")
    try folder.write("migrations/0001_a.yaml", creating("a") + "- sql: CREATE INDEX i ON a (x)\n")
    try folder.expect(2, "verify")
    try folder.expect(64, "freeze", "--accept", "1")
    try folder.expect(64, "freeze", "--accept", "1", "--reason", " ")
    try folder.expect(64, "freeze", "--accept", "1", "--reason", "a\nb")
    try folder.expect(64, "freeze", "--reason", "x")
    try folder.expect(64, "freeze", "--accept", "1", "--reason", "x", "--release", "2.0")
    try folder.expect(64, "freeze", "--accept", "0002_b", "--reason", "x")
    try folder.expect(66, "freeze", "--accept", "0003_c", "--reason", "x")
    #expect(try folder.text("migrations/history.lock") == lock)

    try folder.expect(0, "freeze", "--accept", "1", "--reason", "only tests had it")
    #expect(try folder.text("migrations/history.lock").hasPrefix(lock))
    for _ in 0..<2 {
      let run = try folder.expect(0, "verify")
      #expect(run.output.contains("0001_a: accepted\n"))
      #expect(run.output.contains("only tests had it"))
    }
    let run = try folder.expect(1, "verify", "--database", "app.sqlite")
    #expect(run.output.contains("0001_a: accepted in app.sqlite"))
    try folder.expect(64, "freeze", "--accept", "1", "--reason", "again")
    try folder.write("migrations/0001_a.yaml", creating("a"))
    try folder.expect(2, "verify")
    try folder.expect(0, "freeze", "--accept", "1", "--reason", "back again")
    try folder.expect(0, "verify", "--database", "app.sqlite")
    try folder.commit("accepted")
    try folder.expect(0, "verify", "--base", "HEAD~1")
  }

  @Test("an accepted edit must pass lint")
  func acceptedLint() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
    try folder.write("migrations/0002_b.yaml", "operations:\n- drop_table: { table: a }\n")
    let lock = try folder.text("migrations/history.lock")
    try folder.expect(1, "freeze", "--accept", "2", "--reason", "x")
    #expect(try folder.text("migrations/history.lock") == lock)
  }

  @Test("the first freeze offers the attributes, once, and writes them when asked")
  func attributes() throws {
    let folder = try WorkingFolder.of(["0001_a": creating("a")])
    #expect(try !folder.expect(0, "freeze").errors.contains("gitattributes"))
    try folder.remove("migrations/history.lock")
    try folder.git("init", "--quiet", ".")
    let first = try folder.expect(0, "freeze")
    #expect(first.errors.contains("`*.yaml text eol=lf`"))
    #expect(first.errors.contains("history.lock -merge"))
    try folder.write("migrations/0002_b.yaml", creating("b"))
    #expect(try !folder.expect(0, "freeze").errors.contains("gitattributes"))

    try folder.expect(64, "freeze", "--gitattributes", "--through", "1")
    try folder.expect(0, "freeze", "--gitattributes")
    #expect(
      try folder.text("migrations/.gitattributes") == "*.yaml text eol=lf\nhistory.lock -merge\n")
    #expect(
      try folder.expect(0, "freeze", "--gitattributes").output.contains("has the lines already"))
    try folder.remove("migrations/history.lock")
    #expect(try !folder.expect(0, "freeze").errors.contains("gitattributes"))
  }
}

@Suite("Two branches that both froze")
struct TwoBranchesTests {
  /// On `main`, with a merge of `feature` that has stopped.
  private func conflict(
    attributes: Bool, feature: [String] = ["0003_c"], main: [String] = ["0004_d"]
  ) throws -> WorkingFolder {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
    if attributes { try folder.expect(0, "freeze", "--gitattributes") }
    try folder.commit("attributes")
    for (branch, ids) in [("feature", feature), ("main", main)] {
      if branch == "feature" { try folder.git("checkout", "--quiet", "-b", branch) }
      for id in ids { try folder.write("migrations/\(id).yaml", creating("t\(id)")) }
      try folder.expect(0, "freeze", "--release", branch)
      try folder.commit(branch)
      if branch == "feature" { try folder.git("checkout", "--quiet", "main") }
    }
    #expect(try folder.git("merge", "feature", mayFail: true).contains("CONFLICT"))
    return folder
  }

  @Test("conflict in git, and --resolve makes one lock of the two", arguments: [true, false])
  func resolved(attributes: Bool) throws {
    let folder = try conflict(attributes: attributes)
    #expect(try folder.text("migrations/history.lock").contains("<<<<<<<") == !attributes)
    // With `-merge` git leaves our side as it is: that theirs is not in it must not pass.
    try folder.expect(attributes ? 2 : 65, "verify")
    let run = try folder.expect(0, "freeze", "--resolve")
    #expect(run.output.contains("4 migrations frozen"))
    try folder.expect(0, "verify")
    try folder.commit("merge")
    try folder.expect(0, "verify")
    // The branch that went on from the other's last one keeps its promise to it.
    try folder.expect(0, "verify", "--base", "feature")
    #expect(try folder.expect(0, "freeze", "--resolve").output.contains("no merge conflict"))
    let order = try folder.text("migrations/history.lock").split(separator: "\n").dropFirst(3)
      .map { $0.prefix(6) }
    #expect(order == ["0001_a", "0002_b", "0003_c", "0004_d"])
  }

  @Test("git that fails has not said that there is no conflict")
  func failingGit() throws {
    let folder = try conflict(attributes: true)
    let lock = try folder.text("migrations/history.lock")
    try folder.write(".git/index", "no index")
    for command in [["freeze", "--resolve"], ["rebase", "0004_d"]] {
      let run = try folder.start(command).wait()
      #expect(run.status == 74, "\(command): \(run.errors)")
      #expect(run.errors.contains("git"))
    }
    #expect(try folder.text("migrations/history.lock") == lock)
  }

  @Test("an edit that one branch accepted and what the other froze pass the gate of both")
  func acceptedAndFrozen() throws {
    for (ours, theirs) in [("main", "feature"), ("feature", "main")] {
      let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
      try folder.git("checkout", "--quiet", "-b", "feature")
      try folder.write("migrations/0002_b.yaml", creating("b").replacing("(x)", with: "(x, y)"))
      try folder.expect(0, "freeze", "--accept", "2", "--reason", "only tests had it")
      try folder.commit("accept")
      try folder.git("checkout", "--quiet", "main")
      try folder.write("migrations/0003_q.yaml", creating("q"))
      try folder.expect(0, "freeze", "--release", "1.1")
      try folder.commit("freeze")
      try folder.git("checkout", "--quiet", ours)
      #expect(try folder.git("merge", theirs, mayFail: true).contains("CONFLICT"))
      try folder.expect(0, "freeze", "--resolve")
      try folder.expect(0, "verify")
      try folder.commit("merge")
      for base in ["HEAD^1", "HEAD^2"] { try folder.expect(0, "verify", "--base", base) }
    }
  }

  @Test("of two releases for one migration the merged branch's stays, which is said")
  func releases() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    for branch in ["main", "feature"] {
      try folder.git("checkout", "--quiet", "-B", branch, branch == "main" ? "main" : "main~1")
      try folder.write("migrations/0002_m.yaml", creating("m"))
      try folder.expect(0, "freeze", "--release", branch)
      try folder.commit(branch)
    }
    try folder.git("merge", "main", mayFail: true)
    let run = try folder.expect(0, "freeze", "--resolve")
    #expect((run.output + run.errors).contains("the release feature instead of main"))
    try folder.expect(0, "verify")
    try folder.commit("merge")
    try folder.expect(0, "verify", "--base", "main")
    #expect(
      try folder.expect(2, "verify", "--base", "HEAD^1").output
        .contains("with the release main instead of feature"))
  }

  @Test("--resolve says when no gate will pass what it made")
  func interleaved() throws {
    let folder = try conflict(
      attributes: true, feature: ["0004_d"], main: ["0003_c", "0005_e"])
    let run = try folder.expect(0, "freeze", "--resolve")
    #expect((run.output + run.errors).contains("by `--base` of either branch"))
    try folder.commit("merge")
    for base in ["HEAD^1", "HEAD^2"] { try folder.expect(2, "verify", "--base", base) }
  }

  @Test("and what it says to do instead keeps the order of what moves")
  func movedBehind() throws {
    let folder = try conflict(
      attributes: true, feature: ["0004_d"], main: ["0003_c", "0005_e"])
    let run = try folder.expect(0, "freeze", "--resolve")
    let lock = "migrations/history.lock"
    let taking = "git checkout --theirs -- \(lock) && git add \(lock)"
    #expect((run.output + run.errors).contains("(`\(taking)`), renumber this one's"))
    #expect((run.output + run.errors).contains("(`schemactl rebase 0003_c 0005_e`)"))
    #expect(try folder.shell(taking).status == 0)
    try folder.expect(0, "rebase", "0003_c", "0005_e")
    #expect(folder.exists("migrations/0005_c.yaml"))
    try folder.expect(0, "freeze")
    try folder.expect(0, "check")
    try folder.commit("merge")
    try folder.expect(0, "check", "--base", "feature")
  }

  @Test("--base names what comes before the other branch's, and how to move it")
  func base() throws {
    let folder = try conflict(attributes: true)
    try folder.expect(0, "freeze", "--resolve")
    try folder.commit("merge")
    let run = try folder.expect(2, "verify", "--base", "HEAD~1")
    #expect(run.output.contains("0003_c: inserted"))
    #expect(run.output.contains("schemactl rebase 0003_c"))
  }

  @Test("the marks are enough, without git")
  func marks() throws {
    let folder = try conflict(attributes: false)
    try folder.remove(".git")
    try folder.expect(0, "freeze", "--resolve")
    try folder.expect(0, "verify")
  }

  @Test("a number that both froze is refused, and both are named")
  func repeated() throws {
    let folder = try conflict(attributes: true, feature: ["0003_c"], main: ["0003_d"])
    let lock = try folder.text("migrations/history.lock")
    let run = try folder.expect(2, "freeze", "--resolve")
    #expect(run.errors.contains("0003_c"))
    #expect(run.errors.contains("0003_d"))
    #expect(try folder.text("migrations/history.lock") == lock)
  }

  @Test(
    "what --resolve says about a number that both froze works, in a hook of the merge too",
    arguments: [true, false], ["--theirs", "--ours"])
  func recipe(attributes: Bool, side: String) throws {
    let folder = try conflict(
      attributes: attributes, feature: ["0003_c", "0004_e"], main: ["0003_d"])
    let errors = try folder.expect(2, "freeze", "--resolve").errors
    let lock = "migrations/history.lock"
    #expect(errors.contains("`git checkout --theirs -- \(lock) && git add \(lock)`"))
    #expect(errors.contains("renumber this one's (`schemactl rebase 0003_d`)"))
    #expect(errors.contains("renumber the other one's (`schemactl rebase 0003_c 0004_e`)"))
    try folder.git("checkout", side, "--", lock)
    if side == "--theirs" {
      // The side that was chosen counts, whether git was told or not.
      try folder.expect(0, "rebase", "0003_d", "--dry-run")
      try folder.expect(64, "rebase", "0003_c")
    }
    try folder.git("add", lock)
    let moving = side == "--theirs" ? ["0003_d"] : ["0003_c", "0004_e"]
    #expect(try folder.start(["rebase"] + moving).wait().status == 0)
    let unfrozen = try folder.expect(2, "verify")
    #expect(unfrozen.output.contains("(`schemactl rebase`, `schemactl freeze`)"))
    try folder.expect(0, "freeze", "--release", "1.2")
    try folder.git("add", "--all")
    try folder.expect(0, "check")
    try folder.commit("merge")
    try folder.expect(0, "check", "--base", side == "--theirs" ? "feature" : "HEAD^1")
  }

  @Test("what only got another number is no excuse for what was edited on the way")
  func editedOnTheWay() throws {
    let folder = try conflict(attributes: false, feature: ["0003_c"], main: ["0003_d"])
    try folder.git("checkout", "--theirs", "--", "migrations/history.lock")
    try folder.expect(0, "rebase", "0003_d")
    try folder.write("migrations/0004_d.yaml", creating("another"))
    try folder.expect(0, "freeze")
    try folder.git("add", "--all")
    #expect(try folder.expect(2, "verify").output.contains("has frozen (0003_d)"))
  }

  @Test("what this branch froze before the other one's may be renumbered, as --resolve says")
  func early() throws {
    let folder = try conflict(attributes: true, feature: ["0004_d"], main: ["0003_c"])
    let run = try folder.expect(0, "freeze", "--resolve")
    #expect((run.output + run.errors).contains("`schemactl rebase 0003_c`"))
    try folder.git("checkout", "--theirs", "--", "migrations/history.lock")
    try folder.expect(0, "rebase", "0003_c")
    try folder.expect(0, "freeze", "--release", "1.2")
    try folder.git("add", "--all")
    try folder.expect(0, "check")
    try folder.expect(0, "check", "--base", "feature")
  }

  @Test("a lock that lacks a branch's, and is in no conflict, is told to be made anew")
  func chosenSide() throws {
    let folder = try conflict(attributes: true)
    let lock = "migrations/history.lock"
    #expect(try folder.expect(2, "verify").output.contains("; run `schemactl freeze --resolve`\n"))
    try folder.git("add", lock)
    let run = try folder.expect(2, "verify")
    #expect(
      run.output.contains(
        "make git bring the conflict back (`git checkout -m -- \(lock)`) and run `schemactl freeze "
          + "--resolve`"))
    try folder.git("checkout", "-m", "--", lock)
    try folder.expect(0, "freeze", "--resolve")
    try folder.git("add", "--all")
    try folder.expect(0, "verify")
  }

  @Test("where one branch alone froze, the lock is that branch's")
  func onlyOneFroze() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    try folder.git("checkout", "--quiet", "-b", "feature")
    try folder.write("migrations/0002_b.yaml", creating("b"))
    try folder.expect(0, "freeze")
    try folder.commit("freeze")
    try folder.git("checkout", "--quiet", "main")
    try folder.git("merge", "--no-commit", "--no-ff", "feature")
    try folder.git("checkout", "HEAD", "--", "migrations/history.lock")
    let command = "git checkout MERGE_HEAD -- migrations/history.lock"
    #expect(try folder.expect(2, "verify").output.contains("restore the lock with `\(command)`"))
    #expect(try folder.shell(command).status == 0)
    try folder.expect(0, "verify")
  }

  @Test("what the other branch froze is no draft, though git has left our lock in place")
  func untouched() throws {
    let folder = try conflict(attributes: true)
    let lock = "migrations/history.lock"
    try folder.expect(64, "rebase", "0004_d")
    for advice in ["run `schemactl freeze --resolve`", "(`git checkout -m -- \(lock)`)"] {
      let refused = try folder.expect(64, "rebase", "0003_c").errors
      #expect(refused.contains("0003_c is frozen on the branch that is being merged"), "\(refused)")
      #expect(refused.contains(advice), "\(refused)")
      for command in [
        ["check"], ["verify", "--base", "HEAD"], ["migrate", "--database=app.sqlite"],
      ] {
        let run = try folder.start(command).wait()
        let said = run.output + run.errors
        #expect(run.status == 2, "\(said)")
        #expect(said.contains("0003_c: inserted"), "\(said)")
        #expect(said.contains("the branch that is being merged has frozen it"), "\(said)")
        #expect(said.contains(advice), "\(said)")
        #expect(!said.contains("schemactl rebase"), "\(said)")
      }
      // Whoever keeps our lock has not made a draft of theirs.
      try folder.git("add", lock)
    }
  }

  @Test("of a frozen manifest and a draft with its number the draft is told to move")
  func draftOfOneNumber() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    try folder.git("checkout", "--quiet", "-b", "feature")
    try folder.write("migrations/0002_add.yaml", creating("draft"))
    try folder.commit("draft")
    try folder.git("checkout", "--quiet", "main")
    try folder.write("migrations/0002_b.yaml", creating("b"))
    try folder.expect(0, "freeze")
    try folder.commit("freeze")
    try folder.git("checkout", "--quiet", "feature")
    try folder.git("merge", "--quiet", "main")
    let run = try folder.expect(65, "check")
    #expect(
      run.errors.contains(
        "migrations/0002_add.yaml: error: 0002_b.yaml has the number 2 too, and is frozen: renumber "
          + "this one (`schemactl rebase 0002_add`)\n"),
      "\(run.output)\(run.errors)")
    #expect(!(run.output + run.errors).contains("migrations/0002_b.yaml"))
    try folder.expect(0, "rebase", "2")
    try folder.expect(0, "check")
  }

  @Test("while the lock is in conflict, --resolve says what to renumber", arguments: [true, false])
  func oneNumberInConflict(attributes: Bool) throws {
    let folder = try conflict(attributes: attributes, feature: ["0003_c"], main: ["0003_d"])
    let run = try folder.expect(65, "check")
    #expect(
      (run.output + run.errors).contains(
        "0003_c.yaml has the number 3 too, and the lock is in conflict: run `schemactl freeze "
          + "--resolve`, which says what to renumber"),
      "\(run.output)\(run.errors)")
  }

  @Test("drafts that come before what is frozen now are named, and rebase moves them")
  func drafts() throws {
    let folder = try conflict(attributes: false, feature: ["0006_f"], main: ["0004_d"])
    try folder.write("migrations/0005_draft.yaml", creating("draft"))
    let run = try folder.expect(0, "freeze", "--resolve")
    #expect(run.output.contains("schemactl rebase 0005_draft"))
    try folder.expect(2, "verify")
    try folder.expect(0, "rebase", "0005_draft")
    #expect(folder.exists("migrations/0007_draft.yaml"))
    try folder.expect(0, "verify")
  }

  @Test("a draft with the number of a frozen one is renumbered while the lock is in conflict")
  func draftInTheWay() throws {
    let folder = try conflict(attributes: false)
    try folder.write("migrations/0003_mine.yaml", creating("mine"))
    let run = try folder.expect(65, "freeze", "--resolve")
    #expect(run.errors.contains("schemactl rebase 0003_mine"))
    try folder.expect(64, "rebase", "0003_c")
    try folder.expect(0, "rebase", "0003_mine")
    #expect(folder.exists("migrations/0005_mine.yaml"))
    try folder.expect(0, "freeze", "--resolve")
    try folder.expect(0, "verify")
  }

  @Test("a lock that one branch removed is named as such")
  func removed() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    try folder.git("checkout", "--quiet", "-b", "feature")
    try folder.remove("migrations/history.lock")
    try folder.commit("remove")
    try folder.git("checkout", "--quiet", "main")
    try folder.write("migrations/0002_b.yaml", creating("b"))
    try folder.expect(0, "freeze")
    try folder.commit("freeze")
    try folder.git("merge", "feature", mayFail: true)
    let run = try folder.expect(65, "freeze", "--resolve")
    #expect(run.errors.contains("git checkout --ours -- migrations/history.lock"))
  }

  @Test("marks that somebody has touched are refused")
  func brokenMarks() throws {
    let folder = try conflict(attributes: false)
    try folder.remove(".git")
    let text = try folder.text("migrations/history.lock").replacing("=======\n", with: "")
    try folder.write("migrations/history.lock", text)
    let run = try folder.expect(65, "freeze", "--resolve")
    #expect(run.errors.contains("nested or broken"))
    #expect(try folder.text("migrations/history.lock") == text)
  }
}

@Suite("rebase")
struct RebaseTests {
  @Test("renames the files of drafts, says so, and rehearses when asked")
  func rename() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0004_d": creating("d")])
    try folder.write("migrations/0002_x.yaml", creating("x"))
    try folder.write("migrations/0003_y.yaml", creating("y"))
    try folder.expect(2, "verify")
    let rehearsal = try folder.expect(0, "rebase", "0003_y", "2", "--dry-run")
    #expect(
      rehearsal.output == """
        Would rename 0002_x to 0005_x.
        Would rename 0003_y to 0006_y.
        Nothing was changed.

        """)
    #expect(folder.exists("migrations/0002_x.yaml"))
    let json = try folder.expect(0, "rebase", "0003_y", "2", "--format", "json").json()
    #expect(
      json["renamed"] as? [[String: String]] == [
        ["from": "0002_x", "to": "0005_x"], ["from": "0003_y", "to": "0006_y"],
      ])
    #expect(!folder.exists("migrations/0002_x.yaml"))
    try folder.expect(0, "verify")
    #expect(try folder.expect(0, "rebase", "0005_x", "0006_y").output.contains("Nothing to rename"))
  }

  @Test("drafts that move to each other's names are all renamed")
  func chain() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
    for name in ["0000_fix", "0003_fix", "0004_fix"] {
      try folder.write("migrations/\(name).yaml", creating("t\(name)"))
    }
    try folder.expect(0, "rebase", "0", "3", "4")
    for (new, old) in [("0003", "0000"), ("0004", "0003"), ("0005", "0004")] {
      #expect(
        try folder.text("migrations/\(new)_fix.yaml") == creating("t\(old)_fix"))
    }
    try folder.expect(0, "verify")
  }

  @Test("refuses what is frozen (64) or not there (66), and changes nothing then")
  func refused() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0004_d": creating("d")])
    try folder.write("migrations/0002_x.yaml", creating("x"))
    #expect(try folder.expect(64, "rebase", "0002_x", "0001_a").errors.contains("0001_a is frozen"))
    try folder.expect(66, "rebase", "0002_x", "0003_none")
    try folder.expect(64, "rebase")
    #expect(folder.exists("migrations/0002_x.yaml"))
  }
}

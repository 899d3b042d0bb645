import Foundation
import SchemaJSONChecking
import SchemaTestPrograms
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

  @Test("verify shows an edit below its migration, in any working folder")
  func text() throws {
    let folder = try edited()
    let run = try folder.expect(2, "verify")
    let commit = try folder.git("rev-parse", "HEAD").prefix(10)
    let blobs = try folder.git("diff", "--", "migrations").split(separator: "\n")[1]
    #expect(
      run.output == """
        migrations/0002_b.yaml: error: `0002_b`: it differs from the frozen manifest for release \
        1.0; restore it with `git checkout \(commit) -- migrations/0002_b.yaml` and put the change \
        into a new migration, or, if no device has run it, accept the edit with `schemactl freeze \
        --accept 0002_b --reason …` [history/edited]
          diff --git a/migrations/0002_b.yaml b/migrations/0002_b.yaml
          \(blobs)
          --- a/migrations/0002_b.yaml
          +++ b/migrations/0002_b.yaml
          @@ -1,2 +1,2 @@
           operations:
          -- sql: CREATE TABLE b (x)
          +- sql: CREATE TABLE b (x, y)
          schema difference: column `b.y` is not in the history: `y`
        2 migrations: 1 unchanged, 1 edited.

        """)
    try folder.makeFolder("src")
    #expect(
      try folder.expect(2, "verify", "--migrations", "../migrations", in: "src").output
        .contains("+- sql: CREATE TABLE b (x, y)"))
    try folder.git("checkout", "--quiet", String(commit), "--", "migrations/0002_b.yaml")
    try folder.expect(0, "verify")
  }

  #if os(Linux)
    /// Adds a `git` earlier in the path, which runs `script` before the real one.
    private func path(_ folder: WorkingFolder, git script: String) throws -> [String: String] {
      try folder.makeFolder("bin")
      try writeProgram(folder.path("bin/git"), "\(script)\nPATH=${PATH#*:} exec git \"$@\"")
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      return ["PATH": folder.path("bin") + ":" + path]
    }

    @Test(
      "a killed git process makes the comparison impossible",
      arguments: ["rev-parse", "for-each-ref", "cat-file"])
    func endedGit(words: String) throws {
      let folder = try WorkingFolder.committed(["0001_a": creating("a")])
      let environment = try path(folder, git: "case \"$*\" in *\(words)*) kill -9 $$;; esac")
      let run = try folder.expect(66, "verify", "--base", "main", environment: environment)
      #expect(run.errors.contains("cannot compare the history with `main`"), "\(run.errors)")
      let note = try folder.expect(0, "verify", environment: environment)
      #expect(
        note.errors.contains("schemactl did not compare `history.lock` with git"), "\(note.errors)")
    }

    @Test("a command starts git at most four times")
    func processes() throws {
      let folder = try edited()
      for number in 1...20 { try folder.git("tag", "v\(number)") }
      try folder.write("migrations/0001_a.yaml", creating("a").replacing("(x)", with: "(z)"))
      let environment = try path(folder, git: "echo x >> '\(folder.path("starts"))'")
      func starts(_ code: Int32, _ words: String...) throws -> Int {
        try folder.write("starts", "")
        let run = try folder.start(words, environment: environment).wait()
        #expect(run.status == code, "\(words): \(run.output)\(run.errors)")
        return try folder.text("starts").split(separator: "\n").count
      }
      #expect(try starts(2, "verify", "--base", "main") == 4)
      #expect(try starts(2, "check", "--base", "main") == 4)
      #expect(try starts(2, "migrate", "--database", "app.sqlite") == 0)
      try folder.git("checkout", "--quiet", "--", "migrations")
      #expect(try starts(0, "verify", "--base", "main") == 3)
      try folder.write("migrations/0000_early.yaml", creating("early"))
      #expect(try starts(2, "freeze") <= 4)
      #expect(try starts(2, "check") <= 4)
      try folder.write("migrations/0002_twin.yaml", creating("twin"))
      #expect(try starts(65, "verify", "--base", "main") <= 4)
      #expect(try starts(0, "renumber", "0002_twin") <= 4)
    }
  #endif

  @Test("the JSON of an edit conforms to its schema and contains the information of the text")
  func json() throws {
    let folder = try edited()
    let run = try folder.expect(2, "verify", "--format", "json")
    let schema = repository.appendingPathComponent("docs/json/verify.schema.json")
    let tree = try JSONTree(parsing: run.output)
    #expect(try SchemaChecker(contentsOf: schema, isClosed: true).problems(of: tree) == [])
    let history = try #require(try run.json()["history"] as? [[String: Any]])
    #expect(history[0]["edit"] is NSNull)
    let edit = try #require(history[1]["edit"] as? [String: Any])
    #expect((edit["diff"] as? String)?.contains("+- sql: CREATE TABLE b (x, y)") == true)
    let change = try #require((edit["schema"] as? [[String: Any]])?.first)
    #expect(change["object"] as? String == "b.y")

    try folder.write("migrations/history.lock", "")
    try folder.remove("migrations/history.lock")
    let removed = try folder.expect(2, "verify", "--format", "json")
    let other = try JSONTree(parsing: removed.output)
    #expect(try SchemaChecker(contentsOf: schema, isClosed: true).problems(of: other) == [])
    let lock = try #require(try removed.json()["lock"] as? [[String: Any]])
    #expect(lock.map { $0["state"] as? String } == ["removed"])
  }

  @Test("without a usable repository, edits are found; --base is 66")
  func withoutGit() throws {
    let folder = try edited()
    for (environment, reason) in [
      (["PATH": "/nowhere"], "git is not installed"),
      (["GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"], "safe.directory"),
    ] {
      let run = try folder.expect(2, "verify", environment: environment)
      #expect(run.output.contains("[history/edited]"))
      #expect(run.errors.contains("note: schemactl did not compare `history.lock` with git: "))
      #expect(run.errors.contains(reason))
      for command in ["verify", "check"] {
        for format in ["text", "github", "json", "sarif", "xcode"] {
          let based = try folder.expect(
            66, command, "--base", "main", "--format", format, environment: environment)
          let text = based.output + based.errors
          #expect(text.contains("cannot compare the history with `main`"), "\(text)")
          #expect(text.contains(reason), "\(text)")
          #expect(
            format != "github"
              || based.output.contains("::error title=schemactl::cannot compare the history"))
        }
      }
    }
  }

  @Test("the environment of a git hook (GIT_DIR, GIT_INDEX_FILE) is ignored")
  func hook() throws {
    let folder = try edited()
    let run = try folder.expect(
      2, "verify", environment: ["GIT_DIR": ".git", "GIT_INDEX_FILE": "nowhere", "GIT_PREFIX": "x"])
    #expect(run.output.contains("diff --git"))
  }

  @Test("--base: an ambiguous name of a tag and a branch is 66; full names work")
  func ambiguousBase() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    let first = try folder.git("rev-parse", "HEAD").prefix(40)
    try folder.commit("second")
    try folder.git("update-ref", "refs/remotes/origin/main", "HEAD")
    try folder.expect(0, "verify", "--base", "origin/main")
    // A tag, a branch, and a tag of the same commit, which may move later.
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
              (run.output + run.errors).contains("`\(revision)` is ambiguous in the repository"),
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

  @Test("--base: an unknown base is 66, an invalid name 64, and the lock of main is compared")
  func base() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    try folder.expect(66, "verify", "--base", "nowhere")
    try folder.expect(64, "verify", "--base", "--upload-pack=x")
    try folder.git("checkout", "--quiet", "-b", "feature")
    try folder.expect(0, "verify", "--base", "main")
    let lock = try folder.text("migrations/history.lock")
    try folder.write(
      "migrations/history.lock", lock.replacing("release=1.0", with: "release=1.1"))
    try folder.commit("rewritten")
    try folder.expect(0, "verify")
    let run = try folder.expect(2, "verify", "--base", "main")
    #expect(run.output.contains("[history/lock]"))
    #expect(run.output.contains("with release 1.1 instead of 1.0"))
  }
}

@Suite("freeze in a repository")
struct FreezeInRepositoryTests {
  @Test("a manifest whose line is lost is not frozen again")
  func lostLine() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
    let lock = try folder.text("migrations/history.lock")
    let lines = lock.split(separator: "\n", omittingEmptySubsequences: false)
    let shortened = lines.filter { !$0.hasPrefix("0002_b") }.joined(separator: "\n")
    try folder.write("migrations/history.lock", shortened)
    try folder.write("migrations/0002_b.yaml", creating("c"))
    let run = try folder.expect(2, "freeze", "--release", "1.2")
    #expect(run.errors.contains("another revision has frozen `0002_b`, and its line is missing"))
    #expect(try folder.text("migrations/history.lock") == shortened)
    try folder.write("migrations/history.lock", lock)
    try folder.write("migrations/0002_b.yaml", creating("b"))
    try folder.expect(0, "verify")
  }

  @Test("an edit is accepted only with a reason, and every verify shows it")
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
    try folder.expect(64, "freeze", "--accept", "0003_c", "--reason", "x")
    #expect(try folder.text("migrations/history.lock") == lock)

    try folder.expect(0, "freeze", "--accept", "1", "--reason", "only tests had it")
    let accepted = try folder.text("migrations/history.lock").split(separator: "\n")[1]
    let canonical = try #require(lock.firstMatch(of: /0001_a \S+ canonical=(\w+)/)?.output.1)
    #expect(accepted.hasSuffix(" accepted=\(canonical) reason=\"only tests had it\""))
    for _ in 0..<2 {
      let run = try folder.expect(0, "verify")
      #expect(
        run.output.contains(
          "migrations/0001_a.yaml: suppressed: history/edited: only tests had it\n"))
    }
    let run = try folder.expect(1, "verify", "--database", "app.sqlite")
    #expect(
      run.errors.contains(
        "note: `0001_a`: the database has run it as it was before an accepted edit")
    )
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

  @Test("a reason may contain quotes, backslashes, control and bidirectional characters")
  func hostileReason() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    let reason = "a \"b\" \\ c\t\u{1B}[31m \u{202E}live\u{202C} é"
    try folder.write("migrations/0001_a.yaml", creating("a").replacing("(x)", with: "(y)"))
    try folder.expect(0, "freeze", "--accept", "1", "--reason", reason)
    let lock = try folder.text("migrations/history.lock")
    #expect(lock.contains(#"reason="a \"b\" \\ c\t\u001b[31m \u202elive\u202c é""#), "\(lock)")
    let json = try folder.expect(0, "verify", "--format", "json").json()
    let entry = try #require((json["history"] as? [[String: Any]])?.first)
    #expect((entry["detail"] as? String)?.hasSuffix(reason) == true)
    let text = try folder.expect(0, "verify").output
    #expect(!text.unicodeScalars.contains("\u{202E}") && !text.unicodeScalars.contains("\u{1B}"))
  }

  @Test("accepting an edit changes the fingerprints of the lines after it")
  func laterFingerprints() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
    try folder.write("migrations/0001_a.yaml", creating("a").replacing("(x)", with: "(x, y)"))
    try folder.expect(0, "freeze", "--accept", "1", "--reason", "no release")
    try folder.expect(0, "verify")
    try folder.expect(0, "check")
  }

  @Test("freeze converts version 1 once, and every other command reports it")
  func version1() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a")])
    try folder.write("migrations/0002_draft.yaml", creating("draft"))
    let lock = try folder.text("migrations/history.lock")
    let chain = " chain=" + String(repeating: "0", count: 64)
    let old = lock.split(separator: "\n")[1].replacing(/(canonical=\w+) (raw=\w+)/) {
      "\($0.output.2) \($0.output.1)"
    }
    try folder.write(
      "migrations/history.lock", "# schemactl history lock, version 1\n# x\n# y\n\(old)\(chain)\n")
    for command in [["verify"], ["check"], ["migrate", "--database", "app.sqlite"], ["lint"]] {
      let run = try folder.start(command).wait()
      #expect(run.status == 2, "\(command): \(run.errors)")
      #expect((run.output + run.errors).contains("migrations/history.lock:1:1: error: "))
      #expect((run.output + run.errors).contains("schemactl freeze"))
    }
    #expect(try folder.expect(0, "freeze").output.contains("Converted"))
    #expect(try folder.text("migrations/history.lock") == lock)
    try folder.expect(0, "verify", "--base", "main")
    #expect(try folder.expect(0, "freeze").output.contains("Froze `0002_draft`"))
  }
}

@Suite("renumber")
struct RenumberTests {
  @Test("it renames the files of drafts and reports them; --dry-run only reports")
  func rename() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0004_d": creating("d")])
    try folder.write("migrations/0002_x.yaml", creating("x"))
    try folder.write("migrations/0003_y.yaml", creating("y"))
    try folder.expect(2, "verify")
    let rehearsal = try folder.expect(0, "renumber", "0003_y", "2", "--dry-run")
    #expect(
      rehearsal.output == """
        Would rename `0002_x` to `0005_x`.
        Would rename `0003_y` to `0006_y`.
        Nothing changed.

        """)
    #expect(folder.exists("migrations/0002_x.yaml"))
    let json = try folder.expect(0, "renumber", "0003_y", "2", "--format", "json").json()
    #expect(
      json["renamed"] as? [[String: String]] == [
        ["from": "0002_x", "to": "0005_x"], ["from": "0003_y", "to": "0006_y"],
      ])
    #expect(!folder.exists("migrations/0002_x.yaml"))
    try folder.expect(0, "verify")
    #expect(
      try folder.expect(0, "renumber", "0005_x", "0006_y").output.contains("Nothing to renumber"))
  }

  @Test("drafts that exchange their names are all renamed")
  func chain() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
    for name in ["0000_fix", "0003_fix", "0004_fix"] {
      try folder.write("migrations/\(name).yaml", creating("t\(name)"))
    }
    try folder.expect(0, "renumber", "0", "3", "4")
    for (new, old) in [("0003", "0000"), ("0004", "0003"), ("0005", "0004")] {
      #expect(
        try folder.text("migrations/\(new)_fix.yaml") == creating("t\(old)_fix"))
    }
    try folder.expect(0, "verify")
  }

  @Test("a frozen or missing migration is refused without changes")
  func refused() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0004_d": creating("d")])
    try folder.write("migrations/0002_x.yaml", creating("x"))
    #expect(
      try folder.expect(64, "renumber", "0002_x", "0001_a").errors.contains("`0001_a` is frozen"))
    try folder.expect(64, "renumber", "0002_x", "0003_none")
    try folder.expect(64, "renumber")
    #expect(folder.exists("migrations/0002_x.yaml"))
  }
}

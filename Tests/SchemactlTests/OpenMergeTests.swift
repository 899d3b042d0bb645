import Foundation
import SchemaTestPrograms
import Testing

private func creating(_ table: String) -> String {
  "operations:\n- sql: CREATE TABLE \(table) (x)\n"
}

private let lock = "migrations/history.lock"

/// How two branches are joined.
enum Joining: String, CaseIterable {
  case mergeMain = "merge main"
  case mergeFeature = "merge feature"
  case rebase
  case cherryPick = "cherry-pick"
}

extension WorkingFolder {
  /// A history with two frozen migrations, and two branches that each add files.
  ///
  /// - Parameter freezing: the branches that freeze their files.
  fileprivate static func parted(
    feature: [String], main: [String], freezing: Set<String> = ["feature", "main"]
  ) throws -> WorkingFolder {
    let folder = try committed(["0001_a": creating("a"), "0002_b": creating("b")])
    // Another conflict, so that the operation stays open.
    try folder.write("notes.txt", "base\n")
    try folder.commit("notes")
    for (branch, ids) in [("feature", feature), ("main", main)] {
      try folder.git("checkout", "--quiet", branch == "main" ? "main" : "-b\(branch)")
      for id in ids { try folder.write("migrations/\(id).yaml", creating("t\(id)")) }
      try folder.write("notes.txt", "\(branch)\n")
      if freezing.contains(branch) { try folder.expect(0, "freeze", "--release", branch) }
      try folder.commit(branch)
    }
    return folder
  }

  fileprivate func join(_ joining: Joining, mergeStyle: String = "merge") throws {
    let (branch, words) =
      switch joining {
      case .mergeMain: ("feature", ["merge", "main"])
      case .mergeFeature: ("main", ["merge", "feature"])
      case .rebase: ("feature", ["rebase", "main"])
      case .cherryPick: ("main", ["cherry-pick", "feature"])
      }
    try git("checkout", "--quiet", branch)
    try git("config", "merge.conflictStyle", mergeStyle)
    _ = try git(words[0], words[1], mayFail: true)
    #expect(try git("status").contains("notes.txt"))
  }
}

@Suite("Two branches with frozen migrations")
struct OpenMergeTests {
  @Test(
    "freeze joins both sides, and every other command reports the markers",
    arguments: Joining.allCases, oneIn(3, of: ["merge", "diff3", "zdiff3"]))
  func joined(joining: Joining, style: String) throws {
    let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0004_d"])
    try folder.join(joining, mergeStyle: style)
    let text = try folder.text(lock)
    #expect(text.contains("<<<<<<<"))
    #expect(text.contains("|||||||") == (style != "merge"))
    for command in [["verify"], ["check"], ["lint"], ["migrate", "--database", "app.sqlite"]] {
      let run = try folder.start(command).wait()
      #expect(run.status == 2, "\(command): \(run.errors)")
      #expect((run.output + run.errors).contains("\(lock):4:1: error: merge conflict markers"))
      #expect((run.output + run.errors).contains("schemactl freeze"))
    }
    #expect(try folder.expect(0, "freeze").output.contains("4 migrations frozen"))
    // The fingerprints of later migrations are recomputed.
    try folder.expect(0, "verify")
    try folder.expect(0, "check")
    try folder.git("add", "--all")
    try folder.git("commit", "--quiet", "-m", "joined")
    for base in ["main", "feature"] { try folder.expect(0, "verify", "--base", base) }
    let ids = try folder.text(lock).split(separator: "\n").dropFirst().map { $0.prefix(6) }
    #expect(ids == ["0001_a", "0002_b", "0003_c", "0004_d"])
    #expect(try folder.expect(0, "freeze").output.contains("Nothing to freeze"))
  }

  @Test("a merge that also edits the layout of a later manifest is repaired by freeze")
  func layout() throws {
    let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0004_d"])
    try folder.join(.mergeMain)
    try folder.expect(0, "freeze")
    let joined = try folder.text(lock).split(separator: "\n").map(String.init)
    // As git joins two locks whose lines do not touch: the last fingerprint is the one of `main`.
    let stale = try folder.git("show", "main:migrations/history.lock").split(separator: "\n").last
    try folder.write(
      lock, (joined.dropLast() + [String(try #require(stale))]).joined(separator: "\n") + "\n")
    let manifest = try folder.text("migrations/0004_d.yaml")
    try folder.write("migrations/0004_d.yaml", "# The same in another layout.\n" + manifest)
    #expect(try folder.expect(1, "verify").output.contains("[history/engine-differs]"))
    try folder.expect(0, "freeze")
    #expect(try folder.expect(0, "verify").output.contains("1 cosmetic"))
  }

  @Test("freeze includes drafts only if requested")
  func drafts() throws {
    let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0004_d"])
    try folder.join(.mergeMain)
    let text = try folder.text(lock)
    try folder.write("migrations/0005_draft.yaml", creating("draft"))
    try folder.expect(0, "freeze")
    #expect(try !folder.text(lock).contains("0005_draft"))
    try folder.write(lock, text)
    try folder.expect(0, "freeze", "--release", "2.0")
    #expect(try folder.text(lock).contains("0005_draft release=2.0"))
  }

  @Test("freezing before the latest frozen migration recomputes all fingerprints")
  func limited() throws {
    let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0004_d"])
    try folder.join(.mergeMain)
    try folder.expect(0, "freeze", "--release", "2.0", "--to", "0003_c")
    try folder.expect(0, "verify")
  }

  @Test("a draft before frozen migrations is named, and renumber moves it")
  func insertedDraft() throws {
    let folder = try WorkingFolder.parted(feature: ["0006_f"], main: ["0004_d"])
    try folder.join(.mergeMain)
    try folder.write("migrations/0005_draft.yaml", creating("draft"))
    #expect(try folder.expect(0, "freeze").output.contains("schemactl renumber 0005_draft"))
    try folder.expect(2, "verify")
    try folder.expect(0, "renumber", "0005_draft")
    try folder.expect(0, "verify")
  }

  @Test("if git joins the lines itself, freeze recomputes outdated fingerprints")
  func mergedByGit() throws {
    let folder = try WorkingFolder.committed(["0001_a": creating("a"), "0002_b": creating("b")])
    let stale = try #require(try folder.text(lock).split(separator: "\n").last)
    try folder.write("migrations/0001_a.yaml", creating("a").replacing("(x)", with: "(x, y)"))
    try folder.expect(0, "freeze", "--accept", "1", "--reason", "only tests had it")
    let accepted = try folder.text(lock).split(separator: "\n").dropLast()
    try folder.write(lock, (accepted + [stale]).joined(separator: "\n") + "\n")
    #expect(try folder.expect(1, "verify").output.contains("[history/engine-differs]"))
    #expect(try folder.expect(0, "freeze").output.contains("Updated fingerprints"))
    try folder.expect(0, "verify")
  }

  @Test("an accepted edit of one branch and a frozen migration of the other are both kept")
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
      try folder.expect(0, "freeze")
      try folder.expect(0, "verify")
      try folder.commit("merge")
      for base in ["HEAD^1", "HEAD^2"] { try folder.expect(0, "verify", "--base", base) }
    }
  }

  @Test("different releases for one migration are refused with both lines")
  func releases() throws {
    let folder = try WorkingFolder.parted(feature: ["0003_m"], main: ["0003_m"])
    try folder.join(.mergeMain)
    try folder.write("migrations/0003_m.yaml", creating("t0003_m"))
    let text = try folder.text(lock)
    let run = try folder.expect(2, "freeze")
    #expect(run.errors.contains("two lines freeze `0003_m` in the same form"), "\(run.errors)")
    #expect(run.errors.contains("line 5: 0003_m release=feature"))
    #expect(run.errors.contains("line 7: 0003_m release=main"))
    #expect(try folder.text(lock) == text)
    // As the message says.
    let kept = text.split(separator: "\n").filter { line in
      !line.hasPrefix("0003_m release=feature")
        && !["<<<<<<<", "=======", ">>>>>>>"].contains(where: line.hasPrefix)
    }
    try folder.write(lock, kept.joined(separator: "\n") + "\n")
    let open = try folder.expect(2, "verify")
    #expect(open.output.contains("Keep the line of the release that shipped it first"), "\(open)")
    #expect(!open.output.contains("--accept"))
    try folder.commit("merge")
    try folder.expect(0, "verify", "--base", "main")
  }

  @Test("the markers are resolved without git")
  func markers() throws {
    let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0004_d"])
    try folder.join(.mergeMain)
    try folder.remove(".git")
    try folder.expect(0, "freeze")
    try folder.expect(0, "verify")
  }

  @Test(
    "for a number that both sides froze, freeze reports both lines, and one side is renumbered",
    arguments: oneIn(2, of: Joining.allCases))
  func disputed(joining: Joining) throws {
    // The order of the names must not matter.
    for (feature, main) in [("0003_c", "0003_d"), ("0003_z", "0003_d")] {
      let folder = try WorkingFolder.parted(feature: [feature, "0004_e"], main: [main])
      try folder.join(joining)
      let run = try folder.expect(2, "freeze")
      #expect(run.errors.contains("release=feature") && run.errors.contains("release=main"))
      #expect(run.errors.contains("two migrations have the number 3"), "\(run.errors)")
      for command in ["verify", "check"] {
        let other = try folder.expect(65, command)
        #expect((other.output + other.errors).contains("both are frozen: run `schemactl freeze`"))
      }
      // With the lock of the other side, verify and renumber agree.
      try folder.git("checkout", "feature", "--", lock)
      #expect(
        try folder.expect(65, "verify").errors.contains(
          "migrations/\(feature).yaml: error: `\(main).yaml` has the number 3 too and is upstream; "
            + "both are frozen: keep the lock of the upstream branch, then renumber this one"))
      try folder.expect(64, "renumber", feature)
      try folder.git("checkout", "main", "--", lock)
      #expect(
        try folder.expect(65, "verify").errors.contains(
          "renumber this one (`schemactl renumber \(feature)`)"))
      try folder.expect(0, "renumber", feature, "0004_e")
      try folder.expect(0, "freeze", "--release", "1.2")
      try folder.git("add", "--all")
      try folder.expect(0, "check")
      try folder.git("commit", "--quiet", "-m", "joined")
      try folder.expect(0, "check", "--base", "main")
    }
  }

  @Test(
    "a number that a tag released is never renumbered", arguments: Joining.allCases)
  func released(joining: Joining) throws {
    let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0003_d"])
    try folder.git("tag", "v2", "feature")
    try folder.join(joining)
    try folder.expect(2, "freeze")
    let verify = try folder.expect(65, "verify")
    #expect(verify.errors.contains("`0003_c.yaml` has the number 3 too and is released"))
    #expect(!verify.errors.contains("rebase 0003_c"))
  }

  @Test("of two frozen migrations after a squash merge, neither is advised to be renumbered")
  func squashMerge() throws {
    let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0003_d"])
    try folder.git("checkout", "--quiet", "feature")
    _ = try folder.git("merge", "--squash", "main", mayFail: true)
    try folder.git("checkout", "main", "--", lock)
    let errors = try folder.expect(65, "verify").errors
    #expect(
      errors.contains("; both are frozen, and no merge or rebase is in progress: "), "\(errors)")
    #expect(!errors.contains("renumber 0003_c"))
    try folder.expect(64, "renumber", "0003_c")
  }

  @Test("edits of a renumbered migration are found")
  func editedOnTheWay() throws {
    let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0003_d"])
    try folder.join(.mergeMain)
    try folder.git("checkout", "--theirs", "--", lock)
    try folder.git("add", lock)
    try folder.expect(0, "renumber", "0003_c")
    try folder.write("migrations/0004_c.yaml", creating("another"))
    try folder.expect(0, "freeze")
    let run = try folder.expect(2, "verify")
    #expect(run.output.contains("the line of `0003_c` in HEAD is missing"), "\(run.output)")
  }

  @Test(
    "a resolution that drops one side's line is found", arguments: oneIn(2, of: Joining.allCases))
  func droppedLine(joining: Joining) throws {
    for side in ["--ours", "--theirs"] {
      let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0004_d"])
      try folder.join(joining)
      try folder.git("checkout", side, "--", lock)
      try folder.git("add", lock)
      let dropped = try folder.text(lock).contains("0003_c") ? "0004_d" : "0003_c"
      let run = try folder.expect(2, "verify")
      #expect(run.output.contains("[history/lock]"))
      #expect(run.output.contains("the line of `\(dropped)` in"), "\(run.output)")
      // Another revision has frozen it, so renumber refuses.
      try folder.expect(64, "renumber", dropped)
    }
  }

  @Test("a linked worktree has its own open merge")
  func worktree() throws {
    let folder = try WorkingFolder.parted(feature: ["0003_c"], main: ["0004_d"])
    try folder.git("checkout", "--quiet", "main")
    try folder.git("worktree", "add", "--quiet", "linked", "feature")
    _ = try folder.git("-C", "linked", "merge", "main", mayFail: true)
    try folder.git("-C", "linked", "checkout", "--ours", "--", lock)
    #expect(
      try folder.expect(2, "verify", in: "linked").output
        .contains("the line of `0004_d` in MERGE_HEAD is missing"))
    try folder.expect(0, "verify", "--migrations", "migrations")
  }
}

@Suite("Drafts with one number")
struct TwinDraftTests {
  @Test(
    "the advice is to renumber the draft that is not upstream, whatever its name",
    arguments: Joining.allCases)
  func open(joining: Joining) throws {
    for (feature, main) in [("0003_add", "0003_make"), ("0003_zoo", "0003_make")] {
      let folder = try WorkingFolder.parted(feature: [feature], main: [main], freezing: [])
      try folder.join(joining)
      for command in ["verify", "check"] {
        let run = try folder.expect(65, command)
        #expect(
          (run.output + run.errors).contains(
            "migrations/\(feature).yaml: error: `\(main).yaml` has the number 3 too and is upstream: "
              + "renumber this one (`schemactl renumber \(feature)`)"), "\(run.output)\(run.errors)"
        )
        #expect(!(run.output + run.errors).contains("rebase \(main)"))
      }
      try folder.expect(0, "renumber", feature)
      try folder.expect(0, "verify")
    }
  }

  @Test(
    "the frozen migration keeps its number, whether upstream or not", arguments: Joining.allCases)
  func frozen(joining: Joining) throws {
    for branch in ["feature", "main"] {
      let folder = try WorkingFolder.parted(
        feature: ["0003_c"], main: ["0003_d"], freezing: [branch])
      try folder.join(joining)
      let (kept, moved) = branch == "main" ? ("0003_d", "0003_c") : ("0003_c", "0003_d")
      let run = try folder.expect(65, "verify")
      #expect(
        run.errors.contains("`\(kept).yaml` has the number 3 too and is frozen: renumber this one"),
        "\(run.errors)")
      #expect(run.errors.contains("schemactl renumber \(moved)"))
      #expect(!run.errors.contains("rebase \(kept)"))
      try folder.expect(64, "renumber", kept)
      try folder.expect(0, "renumber", "3")
      try folder.expect(0, "verify")
    }
  }

  @Test("after the merge commit, the branch main determines upstream")
  func committed() throws {
    let folder = try WorkingFolder.parted(
      feature: ["0003_add"], main: ["0003_make"], freezing: [])
    try folder.join(.mergeMain)
    try folder.write("notes.txt", "both\n")
    try folder.commit("merge")
    #expect(try folder.expect(65, "verify").errors.contains("schemactl renumber 0003_add"))
  }
}

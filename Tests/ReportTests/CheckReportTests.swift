import Foundation
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("The report in CI")
struct CheckReportTests {
  @Test("check --report writes the page, even if it has findings")
  func writes() throws {
    let sandbox = try Sandbox.reminders()
    let run = try start("schemactl", ["check", "--report", "r.html"], in: sandbox.folder).wait()
    #expect(run.code == 0, "\(run.output)\(run.errors)")
    try sandbox.addSQL("0008_again", "CREATE TABLE tags (id)")
    let failed = try start("schemactl", ["check", "--report", "f.html"], in: sandbox.folder).wait()
    #expect(failed.code == 3)
    for file in ["r.html", "f.html"] {
      let page = try String(contentsOfFile: "\(sandbox.folder)/\(file)", encoding: .utf8)
      #expect(page.contains("id=\"t-reminders\"") && page.contains("id=\"lint\""))
    }
  }

  @Test("without readable manifests there is no page, and check reports it")
  func unreadable() throws {
    let sandbox = try Sandbox()
    try sandbox.add("0001_a", "operations: nothing")
    let run = try start("schemactl", ["check", "--report", "r.html"], in: sandbox.folder).wait()
    #expect(run.code == 65)
    #expect(run.errors.contains("schemactl did not write `r.html`"))
    #expect(!FileManager.default.fileExists(atPath: sandbox.folder + "/r.html"))
  }

  @Test("a page that cannot be written is not a failure of the replay")
  func unwritable() throws {
    let sandbox = try Sandbox.reminders()
    try "".write(toFile: sandbox.folder + "/file", atomically: true, encoding: .utf8)
    let run = try start("schemactl", ["check", "--report", "file/r.html"], in: sandbox.folder)
      .wait()
    #expect(run.code != 0)
    #expect(run.output.contains("ok      replay"), "\(run.output)")
    #expect(run.output.contains("failed  report     not written.\n"), "\(run.output)")
  }

  @Test("without lint there is no page, and check reports it")
  func withoutLint() throws {
    let sandbox = try Sandbox.reminders()
    try "lint: { rules: { no-such-rule: off } }".write(
      toFile: sandbox.folder + "/schemactl.yaml", atomically: true, encoding: .utf8)
    let run = try start("schemactl", ["check", "--report", "r.html"], in: sandbox.folder).wait()
    #expect(run.code == 65)
    #expect(run.errors.contains("schemactl did not write `r.html`, because lint could not run"))
  }

  @Test("the GitHub action comments once, with the tables that a branch changes")
  func comment() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE same (id)")
    try git(sandbox, "init", "--quiet", "--initial-branch=main")
    try commit(sandbox)
    try git(sandbox, "checkout", "--quiet", "-b", "branch")
    try sandbox.addSQL("0002_b", "ALTER TABLE a ADD COLUMN b TEXT")
    try commit(sandbox)

    let posted = try postedComments(sandbox, knownComment: "")
    #expect(posted.contains("--method\nPOST\nrepos/owner/name/issues/7/comments"))
    #expect(posted.contains("```mermaid\nerDiagram\n  a[\"a (changed)\"] {"))
    #expect(posted.contains("TEXT b \"new\""))
    #expect(!posted.contains("same"))

    let updated = try postedComments(sandbox, knownComment: "42")
    #expect(updated.contains("--method\nPATCH\nrepos/owner/name/issues/comments/42"))

    try git(sandbox, "checkout", "--quiet", "main")
    #expect(try !postedComments(sandbox, knownComment: "").contains("POST"))
  }

  /// The arguments that the script passes to GitHub's program, one on each line.
  private func postedComments(_ sandbox: Sandbox, knownComment: String) throws -> String {
    let tools = sandbox.folder + "/tools"
    let log = sandbox.folder + "/log"
    try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
    try writeProgram(
      tools + "/gh",
      """
      printf '%s\\n' "$@" >> \(log)
      case "$*" in *--paginate*) echo "\(knownComment)" ;; esac
      """)
    try? FileManager.default.removeItem(atPath: log)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let run = try start(
      "/usr/bin/env", ["bash", repository.path + "/Scripts/comment-diagram"], in: sandbox.folder,
      environment: [
        "PATH": "\(tools):\(programs.path):\(path)", "BASE": "main", "NUMBER": "7",
        "GH_TOKEN": "none",
        "GITHUB_REPOSITORY": "owner/name",
      ]
    ).wait()
    #expect(run.code == 0, "\(run.errors)")
    return try String(contentsOfFile: log, encoding: .utf8)
  }

  private func git(_ sandbox: Sandbox, _ words: String...) throws {
    let run = try start("/usr/bin/env", ["git"] + words, in: sandbox.folder).wait()
    try #require(run.code == 0, "\(run.errors)")
  }

  private func commit(_ sandbox: Sandbox) throws {
    try git(sandbox, "add", "migrations")
    try git(
      sandbox, "-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "commit",
      "--quiet", "--message", "Change the schema")
  }
}

import Foundation
import SchemaTestPrograms
import Testing

@Suite("lint --fix")
struct FixCommandTests {
  private static let whole = """
    # kept
    operations:
      - sql: CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT
      - drop_table: { table: notes } # on purpose

    """
  private static let suppressed = whole + allowed
  private static let allowed = """
    lint:
      allow:
        - { rule: drop-column, reason: Nobody reads it. }

    """
  private static let referring =
    "operations:\n  - sql: CREATE TABLE notes (a TEXT PRIMARY KEY, b TEXT REFERENCES notes (a)) STRICT\n"

  @Test("it changes drafts, reports the changes, and exits with the code of the remaining findings")
  func fix() throws {
    let folder = try WorkingFolder.of(["0001_notes": Self.suppressed])
    let file = folder.path("migrations/0001_notes.yaml")
    try folder.setMode(0o640, of: "migrations/0001_notes.yaml")
    let run = try folder.expect(0, "lint", "--fix", "--profile", "local")
    #expect(
      run.output == """
        migrations/0001_notes.yaml:7:7: fixed: removed the suppression [unused-suppression]
        Profile local: nothing syncs.
        Found no problems; 1 fixed

        """)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text == Self.whole)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o640)
    let again = try folder.expect(0, "lint", "--fix", "--profile", "local")
    #expect(
      again.output == "Profile local: nothing syncs.\nFound no problems; 0 fixed\n")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("migrations")).count == 1)
  }

  @Test("a finding without a safe correction remains and determines the exit code")
  func remains() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": "operations:\n  - sql: CREATE TABLE notes (a TEXT) STRICT\n" + Self.allowed,
      "0002_drop": "operations:\n  - drop_table: { table: notes }\n",
    ])
    let run = try folder.expect(1, "lint", "--fix")
    #expect(run.output.contains("fixed: removed the suppression"))
    #expect(run.output.contains("[drop-table]"))
  }

  @Test("frozen manifests and manifests behind a link are unchanged")
  func frozen() throws {
    let folder = try WorkingFolder.of(["0001_notes": Self.referring])
    try folder.expect(0, "freeze")
    let text = try String(
      contentsOfFile: folder.path("migrations/0001_notes.yaml"), encoding: .utf8)
    let run = try folder.expect(0, "lint", "--fix", "--profile", "local")
    #expect(run.output.contains("1 finding in frozen migrations; see `lint --verbose`\n"))
    #expect(run.output.hasSuffix("Found 1 note; 0 fixed\n"))
    try folder.write("migrations/more.txt", text.replacing("notes", with: "more"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("migrations/0002_more.yaml"), withDestinationPath: "more.txt")
    #expect(
      try folder.expect(0, "lint", "--fix", "--profile", "local").output.contains("0 fixed"))
    try folder.expect(0, "verify")
  }

  @Test("it works in every format, and JSON contains the fixes")
  func formats() throws {
    for format in ["json", "sarif", "github", "xcode"] {
      let folder = try WorkingFolder.of(["0001_notes": Self.suppressed])
      let run = try folder.expect(
        0, "lint", "--fix", "--profile", "local", "--format", format)
      let text = try String(
        contentsOfFile: folder.path("migrations/0001_notes.yaml"), encoding: .utf8)
      #expect(text == Self.whole)
      if format == "json" {
        let fixed = try #require(try run.json()["fixed"] as? [[String: Any]])
        #expect(fixed.map { $0["rule"] as? String } == ["unused-suppression"])
        #expect(fixed.map { $0["line"] as? Int } == [7])
      } else {
        #expect((run.output + run.errors).contains("fixed: removed the suppression"))
      }
    }
  }

  @Test("64: --explain cannot be combined with --fix")
  func explanation() throws {
    let folder = try WorkingFolder.of(["0001_notes": Self.suppressed])
    try folder.expect(64, "lint", "--explain", "drop-column", "--fix")
  }

  @Test("64: --fix cannot be combined with --write-baseline")
  func conflict() throws {
    let folder = try WorkingFolder.of(["0001_notes": Self.suppressed])
    try folder.expect(64, "lint", "--fix", "--write-baseline")
  }

  @Test("77: a file cannot be written")
  func readOnly() throws {
    let folder = try WorkingFolder.of(["0001_notes": Self.suppressed])
    try folder.setMode(0o755, of: "")
    try folder.setMode(0o555, of: "migrations")
    let run = try folder.run("lint", "--fix", "--profile", "local", asStranger: true)
    #expect(run.status == 77, "\(run.output)\(run.errors)")
  }
}

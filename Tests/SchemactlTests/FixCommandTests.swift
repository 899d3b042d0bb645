import Foundation
import SchemaTestPrograms
import Testing

@Suite("lint --fix")
struct FixCommandTests {
  private static let indexed = """
    # kept
    operations:
      - sql: |
          CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
      - drop_table: { table: notes } # on purpose

    """

  /// IF NOT EXISTS is a finding only if the configuration enables it.
  private func folder(_ manifests: KeyValuePairs<String, String>) throws -> WorkingFolder {
    let folder = try WorkingFolder.of(manifests)
    try folder.write("schemactl.yaml", "lint: { rules: { if-not-exists: warning } }\n")
    return folder
  }

  @Test("it changes drafts, reports the changes, and exits with the code of the remaining findings")
  func fix() throws {
    let folder = try folder(["0001_notes": Self.indexed])
    let file = folder.path("migrations/0001_notes.yaml")
    try folder.setMode(0o640, of: "migrations/0001_notes.yaml")
    let run = try folder.expect(0, "lint", "--fix", "--profile", "local")
    #expect(
      run.output == """
        migrations/0001_notes.yaml:4:7: fixed: left out IF NOT EXISTS [if-not-exists]
        Profile local: nothing syncs.
        Found no problems; 1 fixed

        """)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text == Self.indexed.replacing("IF NOT EXISTS ", with: ""))
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
    let folder = try folder([
      "0001_notes": "operations:\n  - sql: CREATE TABLE IF NOT EXISTS notes (a TEXT) STRICT\n",
      "0002_drop": "operations:\n  - drop_table: { table: notes }\n",
    ])
    let run = try folder.expect(1, "lint", "--fix")
    #expect(run.output.contains("fixed: left out IF NOT EXISTS"))
    #expect(run.output.contains("[drop-table]"))
  }

  @Test("frozen manifests and manifests behind a link are unchanged")
  func frozen() throws {
    let folder = try folder([
      "0001_notes": "operations:\n  - sql: CREATE TABLE IF NOT EXISTS notes (a TEXT) STRICT\n"
    ])
    try folder.expect(0, "freeze")
    let text = try String(
      contentsOfFile: folder.path("migrations/0001_notes.yaml"), encoding: .utf8)
    let run = try folder.expect(0, "lint", "--fix", "--profile", "local")
    #expect(run.output.contains("1 finding in frozen migrations; see `lint --verbose`\n"))
    #expect(run.output.hasSuffix("Found 1 warning; 0 fixed\n"))
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
      let folder = try folder(["0001_notes": Self.indexed])
      let run = try folder.expect(
        0, "lint", "--fix", "--profile", "local", "--format", format)
      let text = try String(
        contentsOfFile: folder.path("migrations/0001_notes.yaml"), encoding: .utf8)
      #expect(!text.contains("IF NOT EXISTS"))
      if format == "json" {
        let fixed = try #require(try run.json()["fixed"] as? [[String: Any]])
        #expect(fixed.map { $0["rule"] as? String } == ["if-not-exists"])
        #expect(fixed.map { $0["line"] as? Int } == [4])
      } else {
        #expect((run.output + run.errors).contains("fixed: left out IF NOT EXISTS"))
      }
    }
  }

  @Test("64: --explain cannot be combined with --fix")
  func explanation() throws {
    let folder = try folder(["0001_notes": Self.indexed])
    try folder.expect(64, "lint", "--explain", "drop-column", "--fix")
  }

  @Test("64: --fix cannot be combined with --write-baseline")
  func conflict() throws {
    let folder = try folder(["0001_notes": Self.indexed])
    try folder.expect(64, "lint", "--fix", "--write-baseline")
  }

  @Test("77: a file cannot be written")
  func readOnly() throws {
    let folder = try folder(["0001_notes": Self.indexed])
    try folder.setMode(0o755, of: "")
    try folder.setMode(0o555, of: "migrations")
    let run = try folder.run("lint", "--fix", "--profile", "local", asStranger: true)
    #expect(run.status == 77, "\(run.output)\(run.errors)")
  }
}

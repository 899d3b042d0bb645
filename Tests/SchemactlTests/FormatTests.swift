import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// Formats for code review tools and editors.
@Suite("Formats of annotations")
struct FormatTests {
  // MARK: SARIF

  @Test("the SARIF log of a history with problems matches the golden file")
  func sarif() throws {
    let run = try troubledHistory().expect(2, "check", "--format", "sarif")
    #expect(run.errors.isEmpty)
    let data = try JSONSerialization.data(
      withJSONObject: run.json(), options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    let version = /"semanticVersion" : "[^"]*"/
    let text = String(decoding: data, as: UTF8.self)
      .replacing(version, with: "\"semanticVersion\" : \"VERSION\"")
    try expectGolden(text + "\n", "check-troubled.sarif")
  }

  @Test(
    "a SARIF log has the structure of version 2.1.0",
    arguments: [
      ["check"], ["check", "--full"], ["lint"], ["verify"], ["verify", "--database", "no.sqlite"],
      ["check", "--bogus"], ["check", "--config", "no.yaml"], ["check", "--migrations", "nowhere"],
      ["verify", "--database", "theirs.sqlite"],
    ])
  func sarifShape(arguments: [String]) throws {
    let folder = try troubledHistory()
    try folder.connection("theirs.sqlite").execute("CREATE TABLE theirs (id)")
    let run = try folder.start(arguments + ["--format", "sarif"]).wait()
    #expect(run.errors.isEmpty)
    let log = try run.json()
    #expect(SARIFShape.log.problems(of: log).isEmpty)
    let invocation = try #require(invocations(log).first)
    #expect(invocation["exitCode"] as? Int32 == run.status)
    #expect(invocation["executionSuccessful"] as? Bool == (run.status < 64))
  }

  @Test("the check of the structure detects errors")
  func sarifShapeCanFail() throws {
    var log = try WorkingFolder.ofReminders().expect(0, "lint", "--format", "sarif").json()
    #expect(SARIFShape.log.problems(of: log).isEmpty)
    log["version"] = "2.0.0"
    log["extra"] = true
    log["runs"] = [["tool": ["driver": [:] as [String: Any]], "results": [["level": "bad"]]]]
    #expect(SARIFShape.log.problems(of: log).count == 5)
  }

  @Test("a result keeps its fingerprint when lines move")
  func fingerprints() throws {
    let folder = try troubledHistory()
    let before = try results(of: folder)
    for id in ["0002_drop", "0003_allowed", "0004_twice"] {
      let file = "migrations/\(id).yaml"
      let text = try String(contentsOfFile: folder.path(file), encoding: .utf8)
      try folder.write(file, "# a comment\n\n" + text)
    }
    let after = try results(of: folder)
    #expect(before.map(\.fingerprint) == after.map(\.fingerprint))
    #expect(before.map(\.line) != after.map(\.line))
    #expect(Set(before.map(\.fingerprint)).count == before.count)
  }

  private func results(of folder: WorkingFolder) throws -> [(fingerprint: String, line: Int)] {
    let log = try folder.expect(2, "check", "--format", "sarif").json()
    let runs = try #require(log["runs"] as? [[String: Any]])
    return try #require(runs.first?["results"] as? [[String: Any]]).map { result in
      let fingerprints = result["partialFingerprints"] as? [String: String]
      let location = (result["locations"] as? [[String: Any]])?.first?["physicalLocation"]
      let region = (location as? [String: Any])?["region"] as? [String: Any]
      return (fingerprints?["schemactl/v1"] ?? "", region?["startLine"] as? Int ?? 0)
    }
  }

  private func invocations(_ log: [String: Any]) -> [[String: Any]] {
    (log["runs"] as? [[String: Any]])?.first?["invocations"] as? [[String: Any]] ?? []
  }

  @Test("an accepted edit is suppressed, with the reason from the lock")
  func accepted() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.write("migrations/0001_notes.yaml", manifest("CREATE TABLE notes (id)"))
    try folder.expect(0, "freeze", "--accept", "1", "--reason", "nobody ran it")
    let log = try folder.expect(0, "check", "--format", "sarif").json()
    let results = (log["runs"] as? [[String: Any]])?.first?["results"] as? [[String: Any]]
    let suppression = (results?.first?["suppressions"] as? [[String: Any]])?.first
    #expect(suppression?["kind"] as? String == "external")
    #expect(suppression?["justification"] as? String == "nobody ran it")
  }

  // MARK: GitHub and Xcode

  @Test("GitHub: standard output contains one workflow command for each finding, and nothing else")
  func github() throws {
    let run = try troubledHistory().expect(2, "check", "--format", "github")
    try expectGolden(run.output, "check-troubled.github.txt")
    #expect(run.output.split(separator: "\n").allSatisfy { $0.hasPrefix("::error ") })
    #expect(run.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("note: ") })
  }

  @Test("Xcode: each finding is a line with the file's absolute path")
  func xcode() throws {
    let folder = try troubledHistory()
    let run = try folder.expect(2, "check", "--format", "xcode")
    try expectGolden(
      run.output.replacingOccurrences(of: folder.path + "/", with: "/project/"),
      "check-troubled.xcode.txt")
  }

  @Test("lint and verify support the formats", arguments: ["github", "xcode", "sarif"])
  func otherCommands(format: String) throws {
    let folder = try troubledHistory()
    #expect(try folder.expect(3, "lint", "--format", format).output.contains("drop-column"))
    #expect(try folder.expect(2, "verify", "--format", format).output.contains("history/edited"))
    try folder.expect(64, "plan", "--format", format)
    try folder.expect(64, "lint", "--explain", "drop-column", "--format", format)
  }

  @Test("GitHub: special characters are escaped in names and messages")
  func githubEscapes() throws {
    let folder = try WorkingFolder.of([:])
    try folder.makeFolder("100%, a:b")
    try folder.write("100%, a:b/0001_x.yaml", "operations: [\"50% \\r\\n::error::\"]\n")
    let run = try folder.expect(65, "check", "--migrations", "100%, a:b", "--format", "github")
    let line = try #require(run.output.split(separator: "\n").first)
    #expect(line.hasPrefix("::error file=100%25%2C a%3Ab/0001_x.yaml,line=1,col="))
    #expect(run.output.split(separator: "\n").count == 1)
    #expect(!line.dropFirst(2).contains("\r"))
  }

  @Test("a finding without a place applies to the whole run")
  func withoutPlace() throws {
    let folder = try WorkingFolder()
    let github = try folder.expect(66, "check", "--format", "github").output
    #expect(
      github.hasPrefix(
        "::error title=schemactl::the migrations directory `migrations` does not exist"))
    let xcode = try folder.expect(66, "check", "--format=xcode").output
    #expect(xcode.hasPrefix("error: the migrations directory `migrations` does not exist"))
    let wrong = try folder.expect(64, "check", "--bogus", "--format=github").output
    #expect(wrong.hasPrefix("::error title=schemactl::unknown option `--bogus`"))
  }

  @Test("GitHub and SARIF name files relative to the top of the repository")
  func subfolder() throws {
    let folder = try WorkingFolder.of([:])
    try folder.makeFolder(".git")
    try folder.makeFolder("apps/one/migrations")
    try folder.write("apps/one/migrations/0001_x.yaml", "operation: []\n")
    let top = "apps/one/migrations/0001_x.yaml"
    func output(_ format: String) throws -> String {
      try folder.start(["check", "--format", format], in: "apps/one").wait().output
    }
    #expect(try output("github").hasPrefix("::error file=\(top),"))
    #expect(try output("sarif").contains("\"uri\": \"\(top)\", \"uriBaseId\": \"%SRCROOT%\""))
    #expect(try output("xcode").hasPrefix("\(folder.path)/\(top):1:1: error: "))
  }

  @Test("--quiet omits notes but no finding", arguments: ["github", "xcode"])
  func quiet(format: String) throws {
    let folder = try troubledHistory()
    let loud = try folder.expect(2, "check", "--format", format)
    let quiet = try folder.expect(2, "check", "--quiet", "--format", format)
    #expect(loud.output == quiet.output)
    #expect(quiet.errors.isEmpty)
  }
}

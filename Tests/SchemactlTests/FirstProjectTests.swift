import Foundation
import SchemaTestSupport
import Testing

@Suite("The first project of the README")
struct FirstProjectTests {
  @Test("its lines make a database, and a history in which lint finds nothing that is wrong")
  func lines() throws {
    let readme = try String(
      contentsOf: repository.appendingPathComponent("README.md"), encoding: .utf8)
    let section = try #require(readme.components(separatedBy: "## A first project").last)
    let lines = try #require(section.components(separatedBy: "```").dropFirst().first)
      .dropFirst("sh".count)
    let folder = try WorkingFolder()
    let run = try folder.shell("set -e\nschemactl() { \"$schemactl\" \"$@\"; }\n\(lines)")
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(try folder.applied() == ["0001_create_notes"])
    #expect(try folder.rows("INSERT INTO notes (id) VALUES (1) RETURNING body") == [""])
    try folder.expect(0, "verify", "--database", "app.sqlite")
    let verdict = try folder.expect(0, "lint").output.split(separator: "\n").last ?? ""
    #expect(verdict.hasPrefix("Found "))
    #expect(!verdict.contains("error") && !verdict.contains("warning"), "\(verdict)")
    try folder.expect(0, "new", "add", "title", "to", "notes")
  }
}

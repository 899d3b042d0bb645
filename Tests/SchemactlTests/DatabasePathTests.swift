import Foundation
import SchemaTestPrograms
import Testing

@Suite("The path of a database")
struct DatabasePathTests {
  private static let notFiles = [
    ":memory:", ":MEMORY:", "file::memory:", "file:app.sqlite?mode=memory",
    "file:app.sqlite?cache=shared&mode=MEMORY", "FILE:app.sqlite", "file:///app.sqlite",
  ]

  @Test("64: :memory: and URIs are refused, and no file is created", arguments: notFiles)
  func refused(path: String) throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    for command in [
      ["migrate"], ["migrate", "--dry-run"], ["plan", "--on-copy"], ["plan"], ["status"],
      ["verify"], ["diff"], ["adopt"], ["restore"], ["repair", "1", "applied", "--reason", "x"],
    ] {
      let run = try folder.start(command + ["--database", path]).wait()
      #expect(run.status == 64, "\(command): \(run.output)\(run.errors)")
    }
    let json = try folder.expect(64, "migrate", "--format", "json", "--database", path).json()
    #expect((json["error"] as? [String: Any])?["code"] as? Int == 64)
    try folder.expect(64, "status", environment: ["SCHEMACTL_DATABASE": path])
    try folder.write("schemactl.yaml", "database: \"\(path)\"\n")
    let run = try folder.expect(64, "migrate")
    #expect(run.errors.contains("`\(path)` is "))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
  }

  @Test("64: an empty path is refused")
  func empty() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(64, "migrate", "--database", "")
  }

  @Test("a printed command works for a file whose name begins with a dash")
  func dash() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write("-d.sqlite", "")
    let run = try folder.expect(0, "status", "--database=-d.sqlite")
    #expect(run.output.hasSuffix("Next: `schemactl migrate --database ./-d.sqlite`\n"))
    try folder.expect(0, "migrate", "--database", "./-d.sqlite")
    try folder.expect(0, "status", "--check", "--database=-d.sqlite")
  }

  @Test("a path with a folder can name a file of any name")
  func literal() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "migrate", "--database", "./:memory:")
    #expect(folder.exists(":memory:"))
  }
}

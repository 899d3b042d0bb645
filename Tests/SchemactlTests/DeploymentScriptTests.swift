import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("The deployment script of docs/operations.md")
struct DeploymentScriptTests {
  /// The script, with its paths replaced by those of a folder.
  private func script(in folder: WorkingFolder) throws -> String {
    let page = try String(
      contentsOf: repository.appendingPathComponent("docs/operations.md"), encoding: .utf8)
    let blocks = page.components(separatedBy: "```sh\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    return try #require(blocks.first { $0.hasPrefix("#!/bin/sh\n") })
      .replacingOccurrences(of: "/var/lib/app", with: folder.path)
      .replacingOccurrences(of: "/opt/app", with: folder.path)
  }

  /// The script's calls of system services in order, and its exit code.
  private func run(in folder: WorkingFolder) throws -> (services: String, status: Int32) {
    try writeProgram(
      folder.path("systemctl"), "echo \"$1\" >> '\(folder.path("services"))'")
    try folder.write("deploy.sh", try script(in: folder))
    try folder.write("services", "")
    let run = try bash("PATH=$PWD:$PATH sh deploy.sh", in: folder.path)
    return (
      try String(contentsOfFile: folder.path("services"), encoding: .utf8), run.status
    )
  }

  private func history() throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_color": manifest("ALTER TABLE notes ADD COLUMN color"),
    ])
    try folder.expect(0, "migrate", "--to", "1", "--database", "app.sqlite")
    try folder.expect(0, "freeze", "--release", "1.0")
    return folder
  }

  @Test("stops the app, keeps a backup, migrates and starts the app")
  func success() throws {
    let folder = try history()
    let (services, status) = try run(in: folder)
    #expect(status == 0)
    #expect(services == "stop\nstart\n")
    #expect(try folder.applied() == ["0001_notes", "0002_color"])
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.contains { $0.hasPrefix("app.sqlite.backup-0001-") })
  }

  @Test("does not start the app on a database that is not up to date")
  func failure() throws {
    let folder = try history()
    try folder.connection().execute("ALTER TABLE notes ADD COLUMN color TEXT")
    let (services, status) = try run(in: folder)
    #expect(status != 0)
    #expect(services == "stop\n")
    #expect(try folder.applied() == ["0001_notes"])
  }
}

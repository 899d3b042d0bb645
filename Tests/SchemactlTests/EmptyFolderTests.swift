import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("A folder without manifests")
struct EmptyFolderTests {
  private static let commands: [[String]] = [
    ["check"], ["verify"], ["lint"], ["migrate", "--database", "app.sqlite"], ["plan"], ["freeze"],
    ["diff", "migrations"], ["inspect"], ["new", "x"], ["renumber", "1", "--dry-run"],
  ]

  @Test(
    "every command reports missing manifests for a folder with another tool's history",
    arguments: commands)
  func otherHistory(arguments: [String]) throws {
    for file in [
      "0001_a.sql", "app/0001_a.yaml", "20260101_init/migration.sql", "app/db/2026/0001_a.yaml",
    ] {
      let folder = try WorkingFolder.of([:])
      try folder.makeFolder((("migrations/" + file) as NSString).deletingLastPathComponent)
      try folder.write("migrations/" + file, "CREATE TABLE t (a)")
      let run = try folder.start(arguments).wait()
      #expect(run.status == 66, "\(file): \(run.output)\(run.errors)")
      #expect((run.output + run.errors).contains("contains no manifests, but"))
      #expect((run.output + run.errors).contains("imports the history of another tool"))
      #expect(!folder.exists("app.sqlite"))
    }
  }

  @Test("the advice about another tool's history works")
  func advice() throws {
    let folder = try WorkingFolder.of([:])
    try folder.write("migrations/0001_a.sql", "CREATE TABLE t (a)")
    try folder.connection().execute("CREATE TABLE t (a)")
    #expect(
      try folder.expect(66, "init", "--from", "app.sqlite").errors
        .contains("`schemactl import migrations --migrations FOLDER`"))
    try folder.expect(0, "import", "migrations", "--migrations", "history")
    try folder.expect(0, "adopt", "--migrations", "history", "--database", "app.sqlite")
    try folder.expect(0, "verify", "--migrations", "history", "--database", "app.sqlite")
  }

  @Test(
    "an empty folder causes a warning in each format",
    arguments: ["text", "json", "sarif", "github", "xcode"])
  func empty(format: String) throws {
    for others in [[], ["README.md", "connection.sql"], ["queries/all.sql"]] {
      let folder = try WorkingFolder.of([:])
      for file in others {
        try folder.makeFolder((("migrations/" + file) as NSString).deletingLastPathComponent)
        try folder.write("migrations/" + file, "SELECT 1")
      }
      for command in ["check", "verify", "lint"] {
        let run = try folder.expect(0, command, "--format", format)
        #expect(
          (run.output + run.errors).contains("`migrations` has no migrations"),
          "\(command) \(others)")
        if format == "github" { #expect(run.output.hasPrefix("::warning title=schemactl::")) }
        if format == "text" { #expect(run.errors.hasPrefix("warning: ")) }
      }
    }
    let folder = try WorkingFolder.of([:])
    #expect(try !folder.expect(0, "new", "x").errors.contains("warning"))
  }

  @Test(
    "an empty folder with a lock that freezes nothing is a broken history",
    arguments: ["check", "lint", "bundle"])
  func emptiedLock(command: String) throws {
    let folder = try WorkingFolder.of([:])
    try folder.write("migrations/history.lock", "schemactl history 2\n")
    let run = try folder.expect(2, command)
    #expect((run.output + run.errors).contains("freezes no migration"))
  }

  @Test(
    "an empty folder with entries in the lock is a broken history",
    arguments: ["check", "verify", "migrate"])
  func emptied(command: String) throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "freeze")
    try folder.remove("migrations/0001_notes.yaml")
    let run = try folder.start(
      command == "migrate" ? [command, "--database", "app.sqlite"] : [command]
    ).wait()
    #expect(run.status == 2, "\(run.errors)")
  }

  @Test(
    "every command advises renaming a manifest with capitals in its extension",
    arguments: commands)
  func capitals(arguments: [String]) throws {
    let folder = try WorkingFolder.of([:])
    try folder.write("migrations/0001_a.YAML", tableOfNotes)
    let run = try folder.start(arguments).wait()
    let isRenumbering = arguments[0] == "renumber"
    #expect(run.status == (isRenumbering ? 64 : 65), "\(run.output)\(run.errors)")
    guard !isRenumbering else { return }
    #expect((run.output + run.errors).contains("rename it to `0001_a.yaml`"))
  }
}

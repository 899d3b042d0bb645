import SchemaTestPrograms
import Testing

@Suite("--to a migration before the database's current one")
struct BeyondTests {
  private func database() throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes, "0002_more": manifest("CREATE TABLE more (id)"),
      "0003_most": manifest("CREATE TABLE most (id)"),
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    return folder
  }

  private static let sentence =
    "`app.sqlite` has run later migrations than `0001_notes`: `0002_more`, `0003_most`. "
    + "schemactl does not migrate backwards; `schemactl restore` puts a backup back"

  @Test(
    "an error names the current migration and how to go back",
    arguments: [
      ["migrate"], ["migrate", "--dry-run"], ["plan", "--on-copy"], ["plan"],
      ["migrate", "--paranoid"],
    ], ["1", "0001_notes"])
  func told(command: [String], target: String) throws {
    let folder = try database()
    let run = try folder.start(command + ["--database", "app.sqlite", "--to", target]).wait()
    #expect(run.status == 0)
    #expect((run.output + run.errors).contains(Self.sentence), "\(run.output)\(run.errors)")
    #expect(!(run.output + run.errors).contains("drift"))
    #expect(try folder.applied().count == 3)
  }

  @Test(
    "the error is also reported in JSON",
    arguments: [["migrate"], ["migrate", "--dry-run"], ["plan", "--on-copy"], ["plan"]])
  func json(command: [String]) throws {
    let folder = try database()
    func beyond(_ target: String) throws -> [String]? {
      let options = ["--database", "app.sqlite", "--format", "json", "--to", target]
      return try folder.start(command + options).wait().json()["beyond"] as? [String]
    }
    #expect(try beyond("1") == ["0002_more", "0003_most"])
    #expect(try beyond("3") == [])
  }

  @Test("a database at the requested migration has nothing to do")
  func there() throws {
    let run = try database().expect(0, "migrate", "--database", "app.sqlite", "--to", "3")
    #expect(run.output.contains("nothing to do"))
  }
}

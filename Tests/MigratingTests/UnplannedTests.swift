import ManifestFormat
import Planning
import SQLite
import TestSupport
import Testing

@Suite("What the reference of the manifest says can run")
struct UnplannedTests {
  @Test("each operation's example is planned, unless the reference says that it cannot run yet")
  func examples() throws {
    let connection = try Connection(path: nil)
    try connection.execute(
      """
      CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, price INTEGER, isDone INTEGER)
      """)
    let planner = Planner(connection: connection, application: Application())
    for (name, example) in Grammar.examples {
      let manifest = try decodeManifest(Array(("operations:\n" + example).utf8), file: "m.yaml")
      let operation = try #require(manifest.operations.first)
      let refusal: String
      do throws(PlanningError) {
        _ = try planner.plan(operation)
        refusal = ""
      } catch {
        refusal = error.message
      }
      #expect(
        refusal.contains("cannot run yet") == Grammar.unplanned.contains(name),
        "\(name): \(refusal)")
      if !Grammar.unplanned.contains(name) { #expect(refusal.isEmpty, "\(name)") }
    }
  }
}

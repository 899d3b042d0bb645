import SchemaCommandLine
import SchemaManifest
import SchemaPlanning
import SchemaSQLite
import SchemaTestSupport
import SchemaYAML
import Testing

@Suite("Examples of the manifest reference")
struct UnplannedTests {
  @Test("each operation's example can be planned")
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
      #expect(throws: Never.self, "\(name)") { try planner.plan(operation) }
    }
  }
}
